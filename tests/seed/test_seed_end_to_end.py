"""The report's five scenarios from the orchestrator's first turn to the disk, and each of its causes put back.

The sixth is the fifth with a server that nobody here wrote, mcp-server-time.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio
import pytest
import yaml
from seed_world import KEY, ROOT, World, entries, serving_registry

import packbelt
from packbelt.belt.unknown import Unknown
from packbelt.evals import Message, Result, Wish, choose, model_named, read_suites
from packbelt.evals.layouts import packed
from packbelt.evals.models import Scripted
from packbelt.evals.models.model import Request
from packbelt.model import Hint, HintClass

# what each scenario leaves behind -----------------------------------------------------------------------


def installed_and_run(world):
    assert world.skills == {"dynamic-workflow": {"SKILL.md", "scripts/run.py", "plan.json"}}
    plan = world.root / "skills" / "dynamic-workflow" / "plan.json"
    assert json.loads(plan.read_text()) == {"steps": ["look", "plan", "act"]}
    assert "ended with 0 and said: planned 3 steps" in world.answers["skill_executor"]


def benchmark_installed(world):
    assert world.skills == {"benchmark": {"SKILL.md", "reference/metrics.md"}}
    assert "Installed benchmark in skills/benchmark" in world.answers["skill_setup"]


def review_installed(world):
    assert world.skills == {"code-review": {"SKILL.md"}}


def uuid_generated(world):
    started, called = world.logged
    assert (started["event"], called["tool"], called["pid"]) == ("started", "generate", started["pid"])
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", called["said"])
    assert world.answers["mcp_agent"] == f"uuid/generate says: {called['said']}"
    assert world.called() == [("orchestrator/mcp_agent", "server:uuid/generate")]
    assert set(world.servers) == {"uuid"}
    assert world.approvals == []


def weather_set_up_and_asked(world):
    assert world.servers["weather"]["command"] == "uvx"
    assert world.servers["weather"]["env"] == {"WEATHER_KEY": "${WEATHER_KEY}"}
    assert KEY not in (world.root / ".mcp.json").read_text()
    (asked,) = world.approvals
    assert (asked.path, asked.tool.name) == (("orchestrator", "mcp_setup"), "mcp_registry_connect")
    assert asked.arguments["starts"].startswith("weather: uvx weather-mcp@1.2.0 ")
    uuid, started, called = world.logged
    assert uuid["pid"] != started["pid"] == called["pid"]
    assert started["key"] == hashlib.sha256(KEY.encode()).hexdigest()  # the variable reached the server
    assert (called["tool"], called["arguments"]) == ("forecast", {"city": "Lisbon"})
    assert world.answers["mcp_setup"] == "weather 1.2.0 is connected."
    assert world.answers["mcp_agent"] == "weather/forecast says: Rain in Lisbon, 12 degrees."
    assert world.called() == [("orchestrator/mcp_agent", "server:weather/forecast")]


def time_set_up_and_asked(world):
    assert world.servers["time"]["args"] == ["mcp-server-time@2026.10.19", "--local-timezone", "UTC"]
    assert [approval.arguments["server"] for approval in world.approvals] == ["time"]
    assert world.answers["mcp_setup"] == "time 2026.10.19 is connected."
    told = json.loads(world.answers["mcp_agent"].removeprefix("time/get_current_time says: "))
    assert (told["timezone"], told["datetime"][-6:]) == ("Asia/Tokyo", "+09:00")
    assert world.called() == [("orchestrator/mcp_agent", "server:time/get_current_time")]


def untouched(world):
    """Nothing was installed, no specialist was asked, and no tool of a server was called."""
    assert (world.skills, set(world.servers), world.answers) == ({}, {"uuid"}, {})
    assert [line["event"] for line in world.logged] == ["started"]
    assert world.called() == []
    assert world.approvals == []


SCENARIOS = {
    "skill-find-install-run": installed_and_run,
    "skill-install-from-source": benchmark_installed,
    "skill-install-by-purpose": review_installed,
    "mcp-use-connected": uuid_generated,
    "mcp-set-up-and-use": weather_set_up_and_asked,
    "mcp-set-up-and-use-time": time_set_up_and_asked,
}


# what a model may be like -------------------------------------------------------------------------------


class Reading:
    """A model that takes the prompt's word for whose job a request is: an unnamed hand-off is none to it."""

    def __init__(self, inner):
        self.inner = inner

    def begin(self, case):
        mind, handoffs = self.inner.begin(case), {name for step in case.wanted for name in step}

        class Mind:
            async def reply(self, request):
                prompt = str(request.messages[0]["content"])
                unnamed = {name for name in handoffs if name not in prompt}
                seen = [tool for tool in request.tools if tool["function"]["name"] not in unnamed]
                return await mind.reply(Request(seen, request.messages))

        return Mind()


PERSONA = {  # what the report's model did: the raw tool before the hand-off, the same again, a made-up name
    "skill-find-install-run": [
        Wish(("skill_registry_search", "setup_skills")),
        Wish(("run_skill",), guess="install_skill"),
    ],
    "skill-install-from-source": [
        Wish(("skill_registry_search", "setup_skills")),
        Wish(("setup_skills",), guess="install_skill"),
    ],
    "skill-install-by-purpose": [Wish(("skill_registry_search", "setup_skills"), times=3)],
    "mcp-use-connected": [
        Wish(("mcp_registry_installed_list", "use_mcp_server")),
        Wish(("mcp_registry_status", "use_mcp_server"), times=3),
    ],
    "mcp-set-up-and-use": [
        Wish(("mcp_registry_search", "setup_mcp_server")),
        Wish(("mcp_registry_status", "use_mcp_server"), times=3),
    ],
}

GUESSES = {
    "setup_skills": "install_skill",
    "run_skill": "execute_skill",
    "use_mcp_server": "call_mcp_server",
    "setup_mcp_server": "install_mcp_server",
}


def guessing(case):
    """Calls a name that does not exist, then what the refusal names."""
    return [wish for step in case.wanted for wish in (Wish((GUESSES[step[0]],), blind=True), Wish(told=True))]


# what is put back ---------------------------------------------------------------------------------------


def raw_tools_open(root):
    """The hand-offs stay promoted; the specialists' tools lie beside them, for everyone to call."""
    for name in ("integrations", "skills"):
        file = root / "packs" / f"{name}.yaml"
        pack = yaml.safe_load(file.read_text())
        file.write_text(yaml.safe_dump({**pack, "access": "open", "exposure": "direct"}, sort_keys=False))


def sections_by_hand(root):
    """Sections that are not derived from the belt: direct-first, the web for live facts, no hand-off named."""
    for file in (root / "prompts" / "sections").glob("*.j2"):
        file.write_text(f"## {file.stem}\n\nSee what is there.\n")
    rules = "1. Solvable with a direct tool: do it yourself.\n2. Weather and live facts: the web.\n"
    (root / "prompts" / "sections" / "routing.j2").write_text(f"## Routing\n\n{rules}")


def permission_first(patch):
    """An unknown name is answered from a list of what is allowed, before anybody asks whether it exists."""

    def answer(self, denial):
        text = f"Tool {denial.name} is not allowed in the current session."
        return Hint(HintClass.DENIED, text)

    patch.setattr(Unknown, "answer", answer)


@dataclass(frozen=True)
class Cause:
    """One of the report's causes.

    Attributes:
        model: who fails by it, and gets there without it.
        results: how, by the scenario; `""` for the others.
        change: puts it back into the files.
        layout: puts it back into the workspace that was read.
        patch: puts it back into the program.
    """

    model: object
    results: dict
    change: Callable | None = None
    layout: Callable = lambda workspace: workspace
    patch: Callable = lambda _: None


AGAIN = dict.fromkeys(
    ("skill-install-by-purpose", "mcp-use-connected", "mcp-set-up-and-use", "mcp-set-up-and-use-time"),
    Result.LOOPED,
)
CAUSES = {
    "packed": Cause(model_named("scripted"), {"": Result.RAW_TOOL, **AGAIN}, layout=packed),
    "open-raw-tools": Cause(model_named("bot:raw"), {"": Result.RAW_TOOL}, change=raw_tools_open),
    "static-sections": Cause(
        Reading(model_named("bot:web")), {"": Result.WEB_INSTEAD}, change=sections_by_hand
    ),
    "permission-first": Cause(
        Scripted("guessing", guessing), {"": Result.UNADVERTISED_CALL}, patch=permission_first
    ),
}


# the two arms -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cases(embedded):
    (suite,) = choose(read_suites(embedded), "seed")
    found = {case.id: replace(case, wishes=tuple(PERSONA[case.id])) for case in suite.cases}
    weather = found["mcp-set-up-and-use"]
    asked = Message("user", "Set up the time MCP server and use it")
    found["mcp-set-up-and-use-time"] = replace(weather, id="mcp-set-up-and-use-time", conversation=(asked,))
    return found


@pytest.fixture(scope="module")
def embedded():
    return packbelt.load(ROOT)


@pytest.fixture
def play(tmp_path, repositories, cases):
    def run(scenario, model, **options):
        with serving_registry(entries(tmp_path / "server.log")) as url:
            world = World(tmp_path, repositories, url, **options)
            return world, *anyio.run(world.play, cases[scenario], model)

    return run


def test_every_request_of_the_report_is_a_scenario(cases):
    assert set(cases) == set(SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_request_reaches_its_specialist_and_the_work_is_done(scenario, play):
    world, verdict, trace = play(scenario, model_named("scripted"))
    assert verdict.result is Result.REACHED, trace
    SCENARIOS[scenario](world)


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_with_its_cause_put_back_it_does_not(scenario, cause, play, monkeypatch):
    back = CAUSES[cause]
    back.patch(monkeypatch)
    world, verdict, trace = play(scenario, back.model, change=back.change, layout=back.layout)
    assert verdict.result is back.results.get(scenario, back.results[""]), trace
    untouched(world)


@pytest.mark.parametrize("cause", ["open-raw-tools", "static-sections", "permission-first"])
@pytest.mark.parametrize("scenario", ["skill-find-install-run", "mcp-set-up-and-use"])
def test_the_models_of_those_arms_get_there_where_nothing_is_put_back(scenario, cause, play):
    """Else their arms would prove nothing: shown on the two that need both hand-offs of a pack."""
    world, verdict, trace = play(scenario, CAUSES[cause].model)
    assert verdict.result in (Result.REACHED, Result.REACHED_LATE), trace
    SCENARIOS[scenario](world)
