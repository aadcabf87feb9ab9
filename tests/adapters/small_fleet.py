"""A small fleet of native tools for the adapters' own tests: quick, and what ran is kept in a list."""

import json
from contextlib import asynccontextmanager

import anyio
from fleet_world import agent_file, opened, place

import packbelt
from packbelt.model import Answer, Outcome

CONFIG = """
orchestrator: boss
approve: [pay, "pack:box"]
default_tools: inherit
"""
BOX = """
id: box
summary: Things put away.
tools: [weigh]
"""
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Small:
    """A workspace; `ran` is what its tools were called with, `asked` whom a person was asked about."""

    def __init__(self, root, *, tools=(), config=CONFIG, boss=None, files=None):
        self.ran = []
        self.asked = []
        own = [self.note, self.pay, self.weigh, self.draw, self.fail]
        agents = {
            "boss": agent_file(
                "boss",
                body="You are boss.\n\n{{ sections.capabilities }}",
                **(boss or {"delegates": ["keeper"]}),
            ),
            "keeper": agent_file("keeper", body="You are keeper.", handoff="ask_keeper"),
        }
        self.workspace = place(
            root,
            agents=agents,
            config=config,
            tools=[*own, *tools],
            files={"packs/box.yaml": BOX, **(files or {})},
        )

    def note(self, text: str) -> str:
        """Keeps a note."""
        self.ran.append(["note", text])
        return f"noted {text}"

    def pay(self, amount: int) -> str:
        """Pays."""
        self.ran.append(["pay", amount])
        return f"paid {amount}"

    def weigh(self, thing: str) -> str:
        """Weighs a thing."""
        self.ran.append(["weigh", thing])
        return f"{thing}: 3 kg"

    def draw(self) -> Answer:
        """Draws."""
        blocks = [
            {"type": "text", "text": "here"},
            {"type": "image", "mimeType": "image/png", "data": PICTURE},
        ]
        return Answer(Outcome.OK, tuple(blocks))

    def fail(self) -> str:
        """Fails."""
        raise ValueError("it broke")

    def approve(self, approval):
        self.asked.append(approval.tool.name)
        return True

    @asynccontextmanager
    async def boss(self, **options):
        async with opened(self.workspace, **options) as fleet, fleet.agent("boss") as agent:
            yield agent


class Waiting:
    """A tool that waits until it is cancelled."""

    def __init__(self):
        self.begun = anyio.Event()
        self.cancelled = False

    async def wait(self) -> str:
        """Waits."""
        self.begun.set()
        try:
            await anyio.sleep_forever()
        except BaseException:
            self.cancelled = True
            raise


def load_with(root, tools):
    """A workspace whose only tools are these."""
    agents = {"boss": agent_file("boss", body="You are boss.")}
    return place(root, agents=agents, tools=tools)


def deny(agent, *selectors):
    """Another deny is in force from now on."""
    agent.fleet.revise(packbelt.Snapshot.from_data({"deny": list(selectors)}))


def kept(messages):
    """A conversation as a run's record keeps it."""
    return json.loads(json.dumps(messages))
