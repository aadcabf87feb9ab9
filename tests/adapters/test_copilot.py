"""copilot: the request that the client sends and the calls that it takes; the runtime itself is not run."""

import anyio
import pytest

pytest.importorskip("copilot", exc_type=ImportError)

from copilot.tools import Tool, ToolBinaryResult, ToolResult
from copilot_runtime import runtime, text
from fleet_world import opened
from proofs import proves
from small_fleet import PICTURE, Small, deny, load_with
from test_api_examples import EXAMPLES, load

from packbelt.adapters.copilot import AdapterError, Belt, runner, wrap
from packbelt.model import Outcome, ToolCall
from packbelt.providers import Axis

TARGET = "copilot"


def fleet_of(home, ask, body, **options):
    async def main():
        async with runtime(ask) as (made, client):
            run = runner(client, **options)
            async with opened(home.workspace, run=run, approve=home.approve) as fleet:
                return await body(fleet, run), made

    return anyio.run(main)


async def go(fleet, run):
    async with fleet.agent("boss") as agent:
        return await run(agent, "go")


@proves(TARGET, Axis.VISIBLE, Axis.LATE, Axis.UNKNOWN)
@pytest.mark.parametrize(("tools", "sent"), [(["note", "draw"], ["draw", "note"]), ([], [])])
def test_ad26_the_request_names_the_belt_alone_and_an_empty_one_is_written_out(tmp_path, tools, sent):
    async def ask(create, prompt, read):
        return "done"

    said, made = fleet_of(Small(tmp_path, boss={"tools": tools}), ask, go, model="gpt-5.5")
    (create,) = made.sessions
    assert said == "done"
    assert create["availableTools"] == [f"custom:{name}" for name in sent]
    assert create["excludedTools"] == ["builtin:*", "mcp:*"]
    assert create["toolFilterPrecedence"] == "excluded"
    assert create["enableConfigDiscovery"] is False
    assert create["model"] == "gpt-5.5"
    assert create["systemMessage"]["content"].startswith("You are boss.")
    assert [tool["name"] for tool in create.get("tools", [])] == sent
    assert all(tool["skipPermission"] and tool["defer"] == "never" for tool in create.get("tools", []))
    assert "mcpServers" not in create


@proves(TARGET, Axis.CALLABLE, Axis.DENIED, Axis.AUTO_APPROVED)
def test_calls_pass_the_gate(tmp_path):
    home = Small(tmp_path, boss={"tools": ["note", "pay", "fail", "draw", "pack:box"]})
    calls = [
        ("1", "note", {"text": "milk"}),
        ("2", "pay", {"amount": 1}),
        ("3", "pay", {"amount": "much"}),
        ("4", "fail", {}),
        ("5", "draw", {}),
        ("6", "use_pack", {"pack": "box", "tool": "weigh", "arguments": {"thing": "it"}}),
    ]

    async def ask(create, prompt, read):
        return "done" if read else calls

    _, made = fleet_of(home, ask, go)
    assert text(made.read["1"]) == "noted milk"
    assert text(made.read["2"]) == "paid 1"
    assert "do not fit" in text(made.read["3"])
    assert made.read["4"]["resultType"] == "failure"
    assert "it broke" in text(made.read["4"])
    (picture,) = made.read["5"]["binaryResultsForLlm"]
    assert (picture["data"], picture["mimeType"]) == (PICTURE, "image/png")
    assert text(made.read["6"]) == "it: 3 kg"
    assert sorted(map(str, home.ran)) == ["['note', 'milk']", "['pay', 1]", "['weigh', 'it']"]
    assert sorted(home.asked) == ["pay", "weigh"]


@proves(TARGET, Axis.LATE, Axis.DENIED)
def test_what_is_gone_is_refused_with_why_and_the_next_session_has_what_came(tmp_path):
    home = Small(tmp_path, boss={"tools": ["note", "draw"]})

    async def body(fleet, run):
        async def ask(create, prompt, read):
            if read:
                return "done"
            deny(agent, "note")
            return [("1", "note", {"text": "x"})]

        async with fleet.agent("boss") as agent:
            made.ask = ask
            await run(agent, "go")
        made.ask = last
        async with fleet.agent("boss") as agent:
            await run(agent, "go")

    async def last(create, prompt, read):
        return "done"

    async def main():
        nonlocal made
        async with runtime(last) as (made, client):
            run = runner(client)
            async with opened(home.workspace, run=run) as fleet:
                await body(fleet, run)

    made = None
    anyio.run(main)
    assert "exists and is denied" in text(made.read["1"])
    assert home.ran == []
    assert [one["availableTools"] for one in made.sessions] == [
        ["custom:draw", "custom:note"],
        ["custom:draw"],
    ]


def test_a_hand_off_runs_in_a_session_of_its_own_and_a_run_is_continued_in_its(tmp_path):
    home = Small(tmp_path, boss={"delegates": ["keeper"], "tools": []})

    async def ask(create, prompt, read):
        if create["systemMessage"]["content"].startswith("You are keeper."):
            return f"keeper did {prompt}"
        return "done" if read else [("1", "ask_keeper", {"request": "the safe"})]

    async def body(fleet, run):
        async with fleet.agent("boss") as agent:
            agent.output = await run(agent, "go")
        answer = await fleet.send_input(agent.run_id, "more")
        async with fleet.agent("boss") as again:
            await run(again, "go")
            async with again.spawn("keeper", fork_context=True) as child:
                with pytest.raises(AdapterError, match="which Copilot cannot"):
                    await run(child, "go")
        return answer

    answer, made = fleet_of(home, ask, body, trust_working_directory="session")  # of new sessions alone
    assert answer.outcome is Outcome.OK
    assert "keeper did the safe" in text(made.read["1"])
    methods = [method for method, _ in made.requests if method in ("session.create", "session.resume")]
    assert methods[:3] == ["session.create", "session.create", "session.resume"]
    assert made.sessions[2]["sessionId"] == made.sessions[0]["sessionId"]


@pytest.mark.parametrize(
    "option",
    [
        {"tools": [1]},
        {"available_tools": ["builtin:bash"]},
        {"available_tools": []},
        {"excluded_tools": ["custom:note"]},
        {"mcp_servers": {"s": {}}},
        {"custom_agents": [{}]},
        {"enable_config_discovery": True},
        {"plugin_directories": ["p"]},
    ],
    ids=str,
)
def test_an_option_that_cannot_go_with_a_belt_is_refused_and_named(option):
    with pytest.raises(AdapterError, match=f"`{next(iter(option))}`"):
        runner(None, **option)


def test_the_hosts_system_message_follows_the_agents(tmp_path):
    async def main():
        async with Small(tmp_path).boss() as agent:
            belt = Belt(agent)
            both = await belt.options(system_message={"mode": "replace", "content": "Be short."})
            assert both["system_message"]["mode"] == "replace"
            assert both["system_message"]["content"].startswith("You are boss.")
            assert both["system_message"]["content"].endswith("\n\nBe short.")
            with pytest.raises(AdapterError, match="system_message"):
                await belt.options(system_message={"mode": "customize", "sections": {}})

    anyio.run(main)


def test_the_hosts_own_tools_become_native_ones(tmp_path):
    def look(call):
        return ToolResult(
            f"saw {call.arguments['at']}", binary_results_for_llm=[ToolBinaryResult(PICTURE, "image/png")]
        )

    async def bad(call):
        return ToolResult("", result_type="failure", error="no")

    schema = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
    tools = wrap([Tool("look", "Looks.", look, schema), Tool("bad", "Fails.", bad)])
    with pytest.raises(AdapterError, match="no handler"):
        wrap([Tool("none", "None.")])

    async def main():
        async with opened(load_with(tmp_path, tools)) as fleet, fleet.agent("boss") as agent:
            return await agent.run(
                [ToolCall("1", "look", {"at": "it"}), ToolCall("2", "bad", {}), ToolCall("3", "look", {})]
            )

    seen, failed, missing = anyio.run(main)
    assert [one["type"] for one in seen.answer.content] == ["text", "image"]
    assert (failed.outcome, failed.text) == (Outcome.TOOL_ERROR, "no")
    assert missing.outcome is Outcome.REJECTED


def test_the_example_runs_as_it_stands(tmp_path, monkeypatch):
    home = Small(tmp_path, boss={"delegates": ["keeper"], "tools": []})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def ask(create, prompt, read):
        if create["systemMessage"]["content"].startswith("You are keeper."):
            return "It is open."
        return "All done." if read else [("1", "ask_keeper", {"request": "the safe"})]

    (tmp_path / "packs" / "box.yaml").unlink()  # its tools are the tests' own
    (tmp_path / "packbelt.yaml").write_text("orchestrator: boss\n")

    async def main():
        async with runtime(ask) as (made, client):
            example = load(EXAMPLES / "copilot/fleet.py")
            example.CopilotClient = lambda: _Started(client)
            return await example.main("Say hi"), made

    said, made = anyio.run(main)
    assert said == "All done."
    assert "It is open." in text(made.read["1"])
    assert home.ran == []
    assert len((EXAMPLES / "copilot/fleet.py").read_text().splitlines()) <= 50


class _Started:
    """The example's client, pointed at the runtime of the test."""

    def __init__(self, client):
        self._client = client

    async def __aenter__(self):
        return self._client

    async def __aexit__(self, *_):
        return None
