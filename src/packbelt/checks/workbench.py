"""`Workbench`: a workspace, a snapshot and every agent's turn, shared by all checks of one run."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from packbelt.belt import FIND_TOOLS, Belt
from packbelt.belt.routes import Way, ways
from packbelt.catalog.drafts import broken_diagnostic
from packbelt.catalog.registry import Registry, bind, bits
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import MCP, Agent, Workspace
from packbelt.checks.mentions import mentions
from packbelt.model import AgentRefusedError, Code, Diagnostic, Level, PackbeltError, Where
from packbelt.model.text import LIMIT, few, harmless, quoted
from packbelt.prompt.words import NAME, first_sentence
from packbelt.turn import NOTHING, Turn, turn

NAMED = 8
"""Names that one finding lists at most."""


class Workbench:
    """What the checks read. Each agent stands as a root; the ways from one to another are scoped by path.

    Attributes:
        workspace: what is checked.
        snapshot: what is taken to be true.
        registry: the two joined.
        turns: the turn of each agent that can start, by name.
        refused: why each other agent cannot, by name.
    """

    def __init__(self, workspace: Workspace, snapshot: Snapshot | None = None) -> None:
        self.workspace = workspace
        self.snapshot = NOTHING if snapshot is None else snapshot
        self.registry: Registry = bind(workspace, self.snapshot)
        self.turns: dict[str, Turn] = {}
        self.refused: dict[str, tuple[Diagnostic, ...]] = {
            name: (broken_diagnostic(name, broken.error),) for name, broken in workspace.broken.items()
        }
        for name in workspace.agents:
            try:
                self.turns[name] = turn(workspace, self.snapshot, name)
            except AgentRefusedError as error:
                self.refused[name] = tuple(_refusal(name, reason) for reason in error.reasons)
            except PackbeltError as error:
                message = f"agent {name!r} cannot start: {error.problem}"
                self.refused[name] = (
                    Diagnostic(Level.ERROR, Code.AGENT_REFUSED, message, error.where, error.mend, name),
                )

    @property
    def root(self) -> str:
        """The root agent's name."""
        return self.workspace.orchestrator

    @cached_property
    def belts(self) -> Mapping[str, Belt]:
        """The belt of each agent that can start."""
        return {name: one.belt for name, one in self.turns.items()}

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """Every chain of hand-offs from the root agent, shortest first; none if it cannot start."""
        return ways(self.belts[self.root]) if self.root in self.belts else ()

    @cached_property
    def reached(self) -> frozenset[str]:
        """The root agent and those that a chain of hand-offs from it leads to."""
        return frozenset({self.root, *(way.agents[-1] for way in self.ways)})

    @cached_property
    def callable_by(self) -> Mapping[str, int]:
        """Mask of what each agent that can start can call."""
        return {name: belt.callable for name, belt in self.belts.items()}

    @cached_property
    def callable_by_any(self) -> int:
        """Mask of what at least one agent can call, as a root or at the end of a chain from the root."""
        mask = 0
        for one in (*self.callable_by.values(), *(way.mask for way in self.ways)):
            mask |= one
        return mask

    @cached_property
    def packs(self) -> Mapping[str, int]:
        """The mask of each pack, servers' among them, by id; empty ones of servers are left out."""
        servers = {MCP + name: mask for name, mask in self.registry.masks.items() if mask}
        return {**self.registry.index.packs, **servers}

    @cached_property
    def known_names(self) -> Mapping[str, int | None]:
        """Every name that a text may mean as a tool's, with its bit.

        None for the opener, the search, and members of packs that have no tool behind them. Tools of servers
        go by their wire names, the only ones that they are called by.
        """
        members = [name for pack in self.workspace.packs.values() for name in pack.members]
        tools = {tool.wire_name: i for i, tool in enumerate(self.registry.tools)}
        return {**dict.fromkeys((self.workspace.config.opener, FIND_TOOLS, *members)), **tools}

    @cached_property
    def quoted(self) -> tuple[str, ...]:
        """The words of others that sections quote, in the form in which they quote them, longest first.

        What they promise is asked where they are written; in a section they are no words of packbelt's.
        """
        workspace = self.workspace
        texts = {harmless(pack.summary) for pack in workspace.packs.values()}
        texts |= {first_sentence(agent.description) for agent in workspace.agents.values()}
        texts |= {harmless(agent, NAME) for agent in workspace.agents}
        texts |= {quoted(state.instructions or "", LIMIT) for state in self.snapshot.servers.values()}
        texts |= {harmless(server, NAME) for server in self.registry.servers}
        for skill in self.registry.skills:
            texts |= {harmless(skill.name, NAME), quoted(skill.description, LIMIT), harmless(skill.path)}
        named = (text for text in texts if any(mentions(text, self.known_names)))
        return tuple(sorted(named, key=lambda text: (-len(text), text)))

    def names(self, mask: int) -> tuple[str, ...]:
        """The wire names of a mask's tools."""
        return tuple(self.registry.tools[i].wire_name for i in bits(mask))

    def at_rest(self, agent: str) -> Belt | None:
        """An agent's belt while nothing is connected and nothing switched off; None if it cannot start then.

        What is callable then and not now is the snapshot's doing, and no fault of the files. The workspace's
        own tools have the same bits in both.
        """
        try:
            return turn(self.workspace, NOTHING, agent).belt
        except PackbeltError:
            return None

    def place(self, server: str) -> Where | None:
        """Where a server is configured."""
        spec = self.workspace.servers.get(server) or self.workspace.inline.get(server)
        return spec.where if spec else None

    def level(self, agent: str, own: Level) -> Level:
        """The level of a finding in an agent's file: in one of another tool's format at most a warning."""
        return own if own is not Level.ERROR or not imported(self.workspace.agents[agent]) else Level.WARNING


def imported(agent: Agent) -> bool:
    """Whether an agent comes from a file of another tool's format."""
    return not agent.is_template


def by_pack(bench: Workbench, mask: int) -> Iterator[tuple[str | None, int]]:
    """A mask cut by pack, tools without one last."""
    left = mask
    for pack, members in bench.packs.items():
        if part := members & mask:
            left &= ~part
            yield pack, part
    if left:
        yield None, left


def called(pack_id: str) -> str:
    """A pack for people: a server's is its server."""
    return f"server {pack_id.removeprefix(MCP)!r}" if pack_id.startswith(MCP) else f"pack {pack_id!r}"


def listed(names: Iterable[str], most: int = NAMED) -> str:
    """Names for people, cut to a number of them."""
    return few(list(names), most=most)


def _refusal(agent: str, reason: Diagnostic) -> Diagnostic:
    return replace(reason, message=f"agent {agent!r} cannot start: {reason.message}", name=agent)
