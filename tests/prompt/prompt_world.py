"""Small workspaces in memory, and a reader that holds a prompt's promises against the gate."""

import re
from dataclasses import replace
from pathlib import Path

from packbelt.belt import Denial, Scope, admit, belt_of
from packbelt.belt.arguments import sample
from packbelt.catalog.forms import handoff_tool, native_tool
from packbelt.catalog.registry import bind
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Agent, Config, Pack, ServerPolicy, Skill, Template, Workspace
from packbelt.model import Access, Permission, Selector, State
from packbelt.prompt import render_prompt, render_sections

REPOSITORY = Path(__file__).parents[2]
TEMPLATES = {
    path.stem: Template(path.stem, path.read_text(encoding="utf-8"), f"prompts/sections/{path.name}")
    for path in sorted((REPOSITORY / "prompts" / "sections").glob("*.j2"))
}
HANDOFFS = ("use_mcp_server", "setup_mcp_server", "setup_skills", "run_skill")


def selectors(*texts):
    return tuple(Selector(text) for text in texts)


def agent(name, handoff="", tools=None, **more):
    return Agent(
        name=name,
        description=more.pop("description", f"Does the work of {name}."),
        handoff=handoff or f"delegate_to_{name}",
        tools=None if tools is None else selectors(*tools),
        **more,
    )


def native(name, permission=Permission.READ):
    return native_tool("native", name, f"Tool {name}.", {"properties": {}}, permission=permission)


def workspace(agents, packs=(), natives=(), *, config=None, skills=(), templates=TEMPLATES, **more):
    tools = [native(name) if isinstance(name, str) else name for name in natives]
    tools += [
        handoff_tool(one.handoff, one.name, one.description, one.permission, None)
        for one in agents
        if one.name != "orchestrator"
    ]
    return Workspace(
        root=Path(),
        embedded=False,
        config=config or Config(),
        packs={pack.id: pack for pack in packs},
        agents={one.name: one for one in agents},
        broken={},
        servers={},
        inline={},
        skills=tuple(skills),
        tools=tuple(sorted(tools, key=lambda tool: tool.wire_name)),
        templates=templates,
        **more,
    )


def fleet(*, direct=HANDOFFS, access=Access.OWNERS, server_access=Access.HANDOFF, **more):
    """The report's fleet in small: an orchestrator, the four specialists and three packs."""
    agents = [
        agent("orchestrator", tools=("*",), delegates="*"),
        agent("mcp_agent", "use_mcp_server", ("pack:integrations", "*/*")),
        agent("mcp_setup", "setup_mcp_server", ("pack:integrations",)),
        agent("skill_setup", "setup_skills", ("pack:skills",)),
        agent("skill_executor", "run_skill", ("pack:skills",)),
        agent("bookkeeper", "keep_books", ("pack:ledger",)),
    ]
    packs = [
        Pack(
            "integrations",
            "MCP servers.",
            access=access,
            owners=("mcp_agent", "mcp_setup"),
            direct=tuple(name for name in direct if "mcp" in name),
            members=("use_mcp_server", "setup_mcp_server", "mcp_registry_search"),
        ),
        Pack(
            "skills",
            "Agent skills.",
            access=access,
            owners=("skill_setup", "skill_executor"),
            direct=tuple(name for name in direct if "skill" in name),
            members=("setup_skills", "run_skill", "skill_registry_search"),
        ),
        Pack("ledger", "The books.", owners=("bookkeeper",), members=("keep_books", "book_entry")),
    ]
    natives = ("mcp_registry_search", "skill_registry_search", "book_entry", "web_fetch")
    policy = ServerPolicy(access=server_access, owners=("mcp_agent",))
    config = Config(servers={"*": policy}, **more.pop("config", {}))
    return workspace(agents, packs, natives, config=config, **more)


def tool(name, description=""):
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


def connected(*servers, instructions=None, snapshot=None):
    now = snapshot or Snapshot()
    for server in servers:
        now = now.connect(server, [tool("one"), tool("two")], instructions=instructions)
    return now


def installed(*skills, **more):
    return Snapshot(
        skills=tuple(Skill(name, description, f"skills/{name}") for name, description in skills), **more
    )


def belt(made, snapshot=None, name="orchestrator", scope=None):
    return belt_of(bind(made, snapshot or Snapshot()), scope or Scope(name))


def sections(made, snapshot=None, name="orchestrator", **more):
    rendered = render_sections(belt(made, snapshot, name), **more)
    assert rendered.diagnostics == (), rendered.diagnostics
    return rendered.texts


def prompt(made, snapshot=None, name="orchestrator", spell=str):
    one = belt(made, snapshot, name)
    return render_prompt(one, render_sections(one, spell), spell)


def with_agent(made, name, **changes):
    return replace(made, agents={**made.agents, name: replace(made.agents[name], **changes)})


_NAME = r"`([^`\n]+)`"
_CALL = re.compile(rf"{_NAME} with pack {_NAME} and tool {_NAME}")
_OPENED = re.compile(rf"{_NAME} with pack {_NAME}")
_PACK_LINE = re.compile(rf"^- {_NAME}: (.*)$", re.MULTILINE)
_HANDS_OFF = re.compile(r"Hands off with tool (.+)\.$")
_DEFERRED = re.compile(rf"{_NAME} \(its schema is found with {_NAME}\)")
_LEFT = re.compile(_NAME)


def broken_promises(one, texts):
    """Every name in backticks that the gate refuses in the form in which it is given."""
    reader = _Reader(one)
    for section, text in texts.items():
        reader.read(section, text)
    return reader.bad


class _Reader:
    def __init__(self, one):
        self.belt = one
        self.opener = one.opener.wire_name if one.opener else ""
        self.sent = {tool.wire_name for tool in one.tools}
        self.bad = []

    def read(self, section, text):
        rest = self.take(_CALL, text, self.call)
        rest = self.take(_OPENED, rest, self.open_pack)
        rest = self.take(_DEFERRED, rest, self.deferred)
        if section == "capabilities":
            rest = self.take(_PACK_LINE, rest, self.pack_line)
        self.hold(*((name in self.sent, section, name) for name in _LEFT.findall(rest)))

    @staticmethod
    def take(pattern, text, use):
        for match in pattern.finditer(text):
            use(*match.groups())
        return pattern.sub("", text)

    def hold(self, *promises):
        self.bad += [promise[1:] for promise in promises if not promise[0]]

    def through(self, pack, name):
        known = self.belt[name].tool
        arguments = {"request": "x"} if known.target else sample(known.input_schema)
        admitted = admit(self.belt, self.opener, {"pack": pack, "tool": name, "arguments": arguments})
        held = self.belt[name].state is State.PACKED and not isinstance(admitted, Denial)
        self.hold((held, "packed", pack, name))

    def opened(self, pack):
        self.hold((not isinstance(admit(self.belt, self.opener, {"pack": pack}), Denial), "pack", pack))

    def call(self, name, pack, inner):
        self.hold((name == self.opener, "opener", name))
        self.through(pack, inner)

    def open_pack(self, name, pack):
        self.hold((name == self.opener, "opener", name))
        self.opened(pack)

    def pack_line(self, pack, rest):
        self.opened(pack)
        hands = _HANDS_OFF.search(rest)
        for name in _LEFT.findall(hands.group(1)) if hands else ():
            self.through(pack, name)

    def deferred(self, name, finder):
        self.hold((self.belt[name].state is State.DEFERRED and finder in self.belt, "deferred", name))
