"""Who asks: an agent, the agents that spawned it, and what the spawns cut."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from packbelt.belt.selectors import Purpose, match, match_all
from packbelt.catalog.near import listed, suggestion
from packbelt.catalog.registry import Registry
from packbelt.catalog.workspace import Agent, Skill
from packbelt.model import (
    AgentBrokenError,
    Code,
    Diagnostic,
    Level,
    Permission,
    Reason,
    Rule,
    Selector,
    SelectorError,
    UnknownAgentError,
    Where,
)

DEPTH = 64
"""The longest chain of spawns."""


@dataclass(frozen=True, slots=True)
class Scope:
    """An agent on its path. Everything a spawn says binds the whole subtree.

    Attributes:
        agent: who asks.
        parent: the scope that spawned it, or None for a root.
        mcp_servers: servers the spawn left it, or None for all it would have.
        tools: selectors the spawn left it, or None.
        deny: selectors the spawn denied.
        approve: selectors whose calls the spawn wants approved.
        ceiling: highest permission the spawn left it, or None.
    """

    agent: str
    parent: "Scope | None" = None
    mcp_servers: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    approve: tuple[str, ...] = ()
    ceiling: Permission | None = None

    def spawn(
        self,
        agent: str,
        *,
        mcp_servers: Sequence[str] | None = None,
        tools: Sequence[str] | None = None,
        deny: Sequence[str] = (),
        approve: Sequence[str] = (),
        ceiling: Permission | str | None = None,
    ) -> "Scope":
        """The scope of an agent spawned from this one.

        Raises:
            SelectorError: an argument is not of its kind, or the chain of spawns is too long.
        """
        if len(self.path) >= DEPTH:
            raise SelectorError(f"a chain of more than {DEPTH} spawns", mend="end the recursion", name=agent)
        return Scope(
            agent,
            self,
            _list("mcp_servers", mcp_servers),
            _list("tools", tools),
            _list("deny", deny) or (),
            _list("approve", approve) or (),
            _level(ceiling),
        )

    @property
    def path(self) -> tuple[str, ...]:
        """The agents from the root down to this one."""
        agents, scope = [self.agent], self.parent
        while scope:
            agents.append(scope.agent)
            scope = scope.parent
        return tuple(reversed(agents))


def _list(key: str, names: Sequence[str] | None) -> tuple[str, ...] | None:
    """A list of texts; a single text would be read letter by letter."""
    if names is None:
        return None
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise SelectorError(f"`{key}` of a spawn is {names!r}", mend="give a list of texts", name=key)
    return tuple(names)


def _level(ceiling: Permission | str | None) -> Permission | None:
    if ceiling is None or isinstance(ceiling, Permission):
        return ceiling
    try:
        return Permission.parse(ceiling)
    except (KeyError, AttributeError):
        levels = ", ".join(str(level) for level in Permission)
        mend = f"write one of {levels}"
        raise SelectorError(f"`ceiling` of a spawn is {ceiling!r}", mend=mend, name="ceiling") from None


def known_agent(registry: Registry, name: str) -> Agent:
    """An agent that loaded.

    Raises:
        AgentBrokenError: its file did not load.
        UnknownAgentError: there is none.
    """
    workspace = registry.workspace
    if name in workspace.agents:
        return workspace.agents[name]
    broken = workspace.broken.get(name)
    if broken:
        raise AgentBrokenError(
            f"agent {name!r} did not load: {broken.error.problem}",
            where=broken.error.where or Where(broken.file),
            mend=broken.error.mend,
            name=name,
        ) from broken.error
    names = sorted({*workspace.agents, *workspace.broken})
    mend = suggestion(name, names, otherwise=f"there are: {listed(names)}")
    raise UnknownAgentError(f"no agent is called {name!r}", mend=mend, name=name)


class Subject:
    """A scope resolved against a registry: what binds it, as masks.

    Attributes:
        agent: the agent's file.
        servers: names of the servers it has, in the registry's order.
        ceiling: the lowest along its path, with the reason that says whose it is.
        denies: masks of the spawns' denies along the path, each with its reason.
        allows: masks of what the spawns' `tools` left along the path, each with its reason.
        approve: mask of the calls that spawns along the path want approved.
        kept: servers that every `mcp_servers` cut along the path leaves, or None without a cut.
        lost: what spawns along the path name and nothing answers to, each with the place on the path of the
            agent that was spawned so. It matches nothing, so that it never widens; whether that refuses an
            agent is for `subject_of` to say.
        notes: what a person should know about entries of spawns along the path, such as a glob that matches
            nothing.
        key: equal keys, equal tools in equal states.
    """

    def __init__(self, registry: Registry, scope: Scope, parent: "Subject | None") -> None:
        self.registry = registry
        self.scope = scope
        self.agent: Agent = known_agent(registry, scope.agent)
        agent = self.agent
        if parent is None:
            self.ceiling, self.ceiling_reason = _base_ceiling(registry)
            self.denies: tuple[tuple[int, Reason], ...] = ()
            self.allows: tuple[tuple[int, Reason], ...] = ()
            self.approve = 0
            self.kept: frozenset[str] | None = None
            self.depth = 0
            self.lost: tuple[tuple[int, Diagnostic], ...] = ()
            self.notes: tuple[Diagnostic, ...] = ()
            inherited = [name for name in registry.servers if name not in registry.private]
        else:
            self.ceiling, self.ceiling_reason = parent.ceiling, parent.ceiling_reason
            self.denies, self.allows, self.approve = parent.denies, parent.allows, parent.approve
            self.kept = parent.kept
            self.depth = parent.depth + 1
            self.lost, self.notes = parent.lost, parent.notes
            inherited = list(parent.servers)
        self._lower(agent.ceiling, f"agent {agent.name!r}", agent.where("ceiling"))
        self._lower(scope.ceiling, f"the spawn of {agent.name!r}", None)
        self._cut(scope, inherited)
        self.servers: tuple[str, ...] = self._servers(inherited)
        self.key = (
            agent.name,
            self.ceiling,
            tuple(mask for mask, _ in self.denies),
            tuple(mask for mask, _ in self.allows),
            self.approve,
            *self._with_tools(),
        )

    def _with_tools(self) -> Iterator[frozenset[str] | None]:
        """What the servers add to the key: one that lists nothing makes no belt another."""
        masks = self.registry.masks
        yield frozenset(name for name in self.servers if masks[name])
        yield None if self.kept is None else frozenset(name for name in self.kept if masks[name])

    def _lower(self, ceiling: Permission | None, whose: str, where: Where | None) -> None:
        if ceiling is not None and ceiling < self.ceiling:
            self.ceiling = ceiling
            self.ceiling_reason = Reason(Rule.CEILING, f"the ceiling of {whose} is {ceiling}", where)

    def _cut(self, scope: Scope, inherited: Sequence[str]) -> None:
        """Take in what this spawn cuts."""
        registry, name = self.registry, scope.agent
        for text in scope.deny:
            reason = Reason(Rule.SPAWN_DENY, f"the spawn of {name!r} denies {text!r}")
            self.denies += ((self._mask(text, Purpose.DENY, None), reason),)
        if scope.tools is not None:
            mask = registry.handoffs
            for text in scope.tools:
                mask |= self._mask(text, Purpose.GRANT, self.agent)
            reason = Reason(Rule.SPAWN_TOOLS, f"the spawn of {name!r} leaves it {list(scope.tools)}")
            self.allows += ((mask, reason),)
        for text in scope.approve:
            self.approve |= self._mask(text, Purpose.APPROVE, None)
        if scope.mcp_servers is None:
            return
        inline = registry.workspace.inline
        known = {*registry.servers, *(spec.short_name for spec in inline.values())}
        for server in scope.mcp_servers:
            if server not in known:  # whoever cuts learns the names that he has to cut, and no others
                own = (*inherited, *self.agent.mcp_servers, *self.agent.inline)
                names = {inline[name].short_name if name in inline else name for name in own}
                mend = suggestion(server, names, otherwise=f"there are: {listed(names)}")
                self._lose(server, f"no server is called {server!r}", mend)
        kept = _named({*registry.servers, *inherited}, scope.mcp_servers, registry)
        self.kept = frozenset(kept if self.kept is None else kept & self.kept)

    def _mask(self, text: str, purpose: Purpose, agent: Agent | None) -> int:
        found = match(self.registry, Selector(text), purpose, agent)
        if found.problem:
            self._lose(text, found.problem.message, found.problem.mend)
        if found.note:
            self.notes += (found.note,)
        return found.mask

    def _lose(self, name: str, problem: str, mend: str) -> None:
        found = Diagnostic(Level.WARNING, Code.SELECTOR_VANISHED, problem, mend=mend, name=name)
        self.lost += ((self.depth, found),)

    def refuse(self, started: int) -> None:
        """Refuse a spawn that names what does not exist.

        Args:
            started: how many agents of the path, from its root on, have started: what was spawned so stays.

        Raises:
            SelectorError: the first entry that nothing answers to.
        """
        for depth, found in self.lost:
            if depth >= started:
                raise SelectorError(found.message, mend=found.mend, name=found.name)

    def _servers(self, inherited: Sequence[str]) -> tuple[str, ...]:
        agent, registry = self.agent, self.registry
        keep = agent.inherit_mcp_servers
        if keep is True and self.kept is None and not agent.mcp_servers and not agent.inline:
            return tuple(inherited)
        names = set(inherited) if keep is True else _named(inherited, keep or (), registry)
        names |= {n for n in agent.mcp_servers if n in registry.masks and n not in registry.private}
        names |= set(agent.inline)
        if self.kept is not None:
            names &= self.kept
        return tuple(name for name in registry.servers if name in names)

    @cached_property
    def server_tools(self) -> int:
        """Mask of the tools of the servers that it has."""
        registry = self.registry
        if len(self.servers) == len(registry.servers):
            return registry.server_tools
        mask = 0
        for name in self.servers:
            mask |= registry.masks[name]
        return mask

    @cached_property
    def skills(self) -> tuple[Skill, ...]:
        """The installed skills that it may use: those that its `skills` names, or all."""
        names = self.agent.skills
        return tuple(skill for skill in self.registry.skills if names is None or skill.name in names)

    @cached_property
    def granted(self) -> int | None:
        """Mask of what its `tools` list grants, or None where the list is absent."""
        tools = self.agent.tools
        return None if tools is None else match_all(self.registry, tools, Purpose.GRANT, self.agent)

    @cached_property
    def exact(self) -> int:
        """Mask of the tools that its `tools` list names exactly: these it carries directly."""
        mask = 0
        for selector in self.agent.tools or ():
            found = match(self.registry, selector, Purpose.GRANT, self.agent)
            if found.exact:
                mask |= found.mask
        return mask

    @cached_property
    def delegated(self) -> int:
        """Mask of the hand-offs that its `delegates` grant."""
        agent, root = self.agent, self.registry.workspace.orchestrator
        links = self.registry.index.to_agent
        if agent.delegates == "*":
            return sum(1 << i for name, i in links.items() if agent.delegates_to(name, root))
        return sum(1 << links[name] for name in set(agent.delegates) if name in links)


def _named(servers: Iterable[str], names: Collection[str], registry: Registry) -> set[str]:
    """The servers that a list names; an inline one also by the name that its own file gives it."""
    inline = registry.workspace.inline
    return {s for s in servers if s in names or (s in inline and inline[s].short_name in names)}


def _base_ceiling(registry: Registry) -> tuple[Permission, Reason]:
    config, snapshot = registry.workspace.config, registry.snapshot
    ceiling, where = config.ceiling, config.where("ceiling")
    if snapshot.ceiling is not None and snapshot.ceiling < ceiling:
        file = Where(snapshot.file) if snapshot.file else None
        return snapshot.ceiling, Reason(Rule.CEILING, f"the snapshot's ceiling is {snapshot.ceiling}", file)
    return ceiling, Reason(Rule.CEILING, f"the workspace's ceiling is {ceiling}", where)


def subject_of(registry: Registry, scope: Scope, *, started: int = 0) -> Subject:
    """The scope resolved; the same scope gives the same subject.

    Args:
        registry: what is known.
        scope: who asks.
        started: how many agents of its path, from the root on, have started. What their spawns named and is
            gone matches nothing and is found in `Subject.lost`.

    Raises:
        AgentBrokenError, UnknownAgentError: an agent on the path cannot be used.
        SelectorError: a spawn of one that has not started names what does not exist.
    """
    subject = _resolved(registry, scope)
    if subject.lost:
        subject.refuse(started)
    return subject


def _resolved(registry: Registry, scope: Scope) -> Subject:
    found = registry.memo.get(scope)
    if found is None:
        parent = _resolved(registry, scope.parent) if scope.parent else None
        found = registry.memo[scope] = Subject(registry, scope, parent)
    resolved: Subject = found
    return resolved
