"""One scene for every target: a fleet whose tools record what runs, and a model that follows a script.

A target joins by a module `driver_<name>.py` beside this one with a list `DRIVERS`; see `Driver`.
"""

import importlib
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fleet_world import agent_file, opened, place

from packbelt.model import ToolCall

HERE = Path(__file__).parent
AGENT = "boss"


@dataclass(frozen=True)
class Said:
    """A call that the model makes: its id, the wire name, and arguments."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """What the model says to one request; `then` happens before it is done."""

    calls: tuple[Said, ...]
    then: Callable[["Scene"], Awaitable[None]] | None = None


@dataclass
class Transcript:
    """What came of it.

    `ran`: [source/tool, arguments] in order, by those who ran; `read`: what the model read back, by the id of its
    call; `shown`: the names of the tools at each request, as the target spells them; `away`: those that
    the target's own deferral carries; `system`: the system text of each request, where the driver gives it; `asked`: the tools that a
    person was asked about; `answer`: the target's last word.
    """

    ran: list = field(default_factory=list)
    read: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[str, ...]] = field(default_factory=list)
    away: list[tuple[str, ...]] = field(default_factory=list)
    system: list[str] = field(default_factory=list)
    asked: list = field(default_factory=list)
    answer: str = ""


class Scene:
    """A fleet at work and the model's script; a driver's fake model asks it what to say."""

    def __init__(self, home, fleet, steps: Iterable[Step]) -> None:
        self.home = home
        self.fleet = fleet
        self.steps = list(steps)
        self.seen = Transcript()

    async def request(
        self, shown: Iterable[str], read: Mapping[str, str], away: Iterable[str] = (), system: str = ""
    ) -> tuple[Said, ...]:
        """The model is asked: what it is shown, and what it reads back by the ids of its calls so far.

        Gives the calls that it makes, by wire name; none at the end.
        """
        place_ = len(self.seen.shown)
        self.seen.shown.append(tuple(shown))
        self.seen.away.append(tuple(away))
        self.seen.system.append(system)
        self.seen.read |= read
        if place_ >= len(self.steps):
            return ()
        step = self.steps[place_]
        if step.then:
            await step.then(self)
        return step.calls


class Driver(Protocol):
    """One target, driven by the scene.

    `name`: for people, unique. `target`: of `packbelt.providers.TARGETS`. `module`: what must be importable, else
    its tests are skipped; a driver's own module must be importable without it. `omits`: by name of a row of the
    scenario, why the row means nothing there. `differs`: by name of a row, the words that its model reads instead.
    `spell`: a wire name as the target's model sees and says it.

    `run` opens the agent `boss` (AGENT) of `scene.fleet` through the target, with a fake model that answers each
    request by `await scene.request(shown, read)` and says those calls (`Said.name` is a wire name: spell it), or,
    where there are none, "done"; it gives the target's last words. Agents that are handed to are run by `keeper`.
    """

    name: str
    target: str
    module: str
    omits: Mapping[str, str]
    differs: Mapping[str, tuple[str, ...]]

    def spell(self, wire_name: str) -> str: ...

    async def run(self, scene: Scene) -> str: ...


# the fleet ------------------------------------------------------------------------------------------------


def tool(name, *required, description=""):
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": list(required),
        "additionalProperties": False,
    }
    return {"name": name, "description": description or f"Does {name}.", "inputSchema": schema}


CONFIG = """
orchestrator: boss
deny: [main/forbidden]
approve: [main/guarded]
servers:
  main: {exposure: direct, tools: {wipe: {permission: dangerous}}}
  boxed: {exposure: packed}
  late: {exposure: direct}
  vault: {access: handoff, owners: [keeper], exposure: direct}
"""
BODY = "You are {name}.\n\n{{{{ sections.connected_mcp_servers }}}}\n\n{{{{ sections.capabilities }}}}"
MAIN = ("echo", "fails", "forbidden", "guarded", "picture", "wipe")


class Home:
    """The workspace on disk. `main` has direct tools, `boxed` packed ones, `vault` is kept for `keeper`."""

    def __init__(self, root):
        self.root = root
        self.log = root / "log"
        self.servers = {}
        self.server("main", *(tool(name, *(["text"] if name == "echo" else [])) for name in MAIN))
        self.server("boxed", tool("measure"), tool("weigh"))
        self.server("vault", tool("unlock"))

    def server(self, name, *tools):
        command = ["-S", str(HERE / "recording_server.py"), str(self.log), name, json.dumps(tools)]
        self.servers[name] = {"command": sys.executable, "args": command}

    def place(self):
        agents = {
            "boss": agent_file("boss", body=BODY.format(name="boss"), delegates=["keeper"]),
            "keeper": agent_file("keeper", body=BODY.format(name="keeper"), handoff="ask_keeper"),
        }
        return place(self.root, servers=self.servers, agents=agents, config=CONFIG, tools=[self.note])

    def note(self, text: str) -> str:
        """Keeps a note."""
        with self.log.open("a") as file:
            file.write(json.dumps(["native/note", {"text": text}]) + "\n")
        return f"noted {text}"

    def ran(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


async def keeper(agent, request):
    """The agent that is handed to: it does the work itself, by one call, and says what it read."""
    turn = await agent.turn()
    (result,) = await turn.run([ToolCall("1", "mcp__vault__unlock", {"text": request})])
    return f"keeper: {result.text}"


async def connect_late(scene):
    scene.home.server("late", tool("fresh"))
    await scene.fleet.reload(scene.home.place())


# the scenario ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One call of the scenario: what runs because of it, what the model reads, and what it must not read."""

    name: str
    axis: str
    said: Said
    ran: tuple = ()
    reads: tuple[str, ...] = ()
    not_reads: tuple[str, ...] = ()


def row(number, name, axis, call, arguments=None, *, ran=(), reads=(), not_reads=()):
    return Row(name, axis, Said(f"c{number}", call, arguments or {}), ran, tuple(reads), tuple(not_reads))


PERMISSION = ("denied", "not allowed", "ceiling", "forbidden")
ROWS = (
    row(1, "direct", "callable", "mcp__main__echo", {"text": "hi"}, ran=("main/echo", {"text": "hi"}),
        reads=['main/echo ran with {"text": "hi"}']),
    row(2, "native", "callable", "note", {"text": "milk"}, ran=("native/note", {"text": "milk"}),
        reads=["noted milk"]),
    row(3, "failing", "callable", "mcp__main__fails", ran=("main/fails", {}), reads=["it broke"]),
    row(4, "listing", "callable", "use_pack", {"pack": "mcp:boxed"},
        reads=["mcp__boxed__measure", "mcp__boxed__weigh"]),
    row(5, "opener", "callable", "use_pack",
        {"pack": "mcp:boxed", "tool": "mcp__boxed__measure", "arguments": {"text": "it"}},
        ran=("boxed/measure", {"text": "it"}), reads=['boxed/measure ran with {"text": "it"}']),
    row(6, "packed", "callable", "mcp__boxed__weigh", {"text": "gold"}, ran=("boxed/weigh", {"text": "gold"}),
        reads=["boxed/weigh ran"]),
    row(7, "reserved", "denied", "mcp__vault__unlock", {"text": "door"}, reads=["ask_keeper"],
        not_reads=["no tool"]),
    row(8, "denied", "denied", "mcp__main__forbidden", reads=["denied"], not_reads=["no tool", "not exist"]),
    row(9, "over_ceiling", "denied", "mcp__main__wipe", reads=["ceiling"], not_reads=["no tool", "not exist"]),
    row(10, "invalid", "denied", "mcp__main__echo", {"txt": "hi"}, reads=["do not fit", "text"]),
    row(11, "invented", "unknown", "mcp__main__ekko", {"text": "hi"}, reads=["mcp__main__echo"],
        not_reads=PERMISSION),
    row(12, "invented_bare", "unknown", "echo", {"text": "hi"}, reads=["mcp__main__echo"], not_reads=PERMISSION),
    row(13, "approved", "auto_approved", "mcp__main__guarded", {"text": "yes"},
        ran=("main/guarded", {"text": "yes"}), reads=["main/guarded ran"]),
    row(14, "declined", "auto_approved", "mcp__main__guarded", {"text": "no"}, reads=["declined"]),
    row(15, "handoff", "callable", "ask_keeper", {"request": "the safe"},
        ran=("vault/unlock", {"text": "the safe"}), reads=["keeper: vault/unlock ran"]),
    row(16, "late", "late", "mcp__late__fresh", {"text": "new"}, ran=("late/fresh", {"text": "new"}),
        reads=["late/fresh ran"]),
)  # fmt: skip
BY_NAME = {one.name: one for one in ROWS}
STEPS = (  # calls of one step are made side by side
    ("direct", "native", "failing"),
    ("listing", "opener", "packed"),
    ("reserved", "denied", "over_ceiling", "invalid"),
    ("invented", "invented_bare"),
    ("approved", "declined"),
    ("handoff",),
    ("late",),
)
DIRECT = frozenset(
    {
        "use_pack",
        "note",
        "ask_keeper",
        *(f"mcp__main__{name}" for name in ("echo", "fails", "guarded", "picture")),
    }
)
"""What `boss` is sent: of `main` all but what is denied and what is over the ceiling."""
PACKED = frozenset({"mcp__boxed__measure", "mcp__boxed__weigh"})
LATE = "mcp__late__fresh"


def steps_for(driver):
    """The model's script: the scenario without the rows that mean nothing there."""
    kept = [[BY_NAME[name].said for name in names if name not in driver.omits] for names in STEPS]
    kept = [tuple(calls) for calls in kept if calls]
    before_late = len(kept) - (1 if "late" not in driver.omits else 0) - 1
    return [Step(calls, connect_late if place_ == before_late else None) for place_, calls in enumerate(kept)]


async def play(driver, root, steps=None):
    """Run the script, by default the scenario, through a target; what came of it."""
    home = Home(root)
    asked = []

    def approve(approval):
        asked.append(str(approval.tool.id))
        return approval.arguments.get("text") == "yes"

    async with opened(home.place(), run=keeper, approve=approve) as fleet:
        scene = Scene(home, fleet, steps_for(driver) if steps is None else steps)
        scene.seen.answer = await driver.run(scene)
    scene.seen.ran = home.ran()
    scene.seen.asked = asked
    return scene.seen


def drivers():
    """Every target's drivers, those of `driver_*.py` beside this module."""
    found = []
    for path in sorted(HERE.glob("driver_*.py")):
        found += importlib.import_module(path.stem).DRIVERS
    return found
