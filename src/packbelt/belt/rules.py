"""The one ordered table of rules. Everything that says yes or no to a tool is a row of it.

Each row has a mask of the tools it applies to and can give its reasons for one of them; both read the same
masks, so that a belt and an explanation cannot differ. A state is settled by the first group of rows that
has the tool's bit: entitlement (may this agent call it?) comes before placement (how is it presented?).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from packbelt.belt.placement import Placement
from packbelt.belt.scope import Subject
from packbelt.belt.selectors import Purpose, match, match_all
from packbelt.catalog.registry import Registry
from packbelt.catalog.workspace import Pack
from packbelt.model import Access, Reason, Rule, ServerStatus, State, Where

Ask = tuple[Subject, Placement]


@dataclass(frozen=True, slots=True)
class Row:
    """One rule: whom it applies to, and why."""

    rule: Rule
    mask: Callable[[Ask], int]
    reasons: Callable[[Ask, int], Iterator[Reason]]


# denied ------------------------------------------------------------------------------------------------


def _workspace_deny(ask: Ask) -> int:
    registry = ask[0].registry
    return match_all(registry, registry.workspace.config.deny, Purpose.DENY)


def _workspace_deny_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    registry = ask[0].registry
    for selector in registry.workspace.config.deny:
        if match(registry, selector, Purpose.DENY).mask >> i & 1:
            yield Reason(Rule.WORKSPACE_DENY, f"deny entry {selector.text!r} matches", selector.where)


def _snapshot_deny(ask: Ask) -> int:
    registry = ask[0].registry
    return match_all(registry, registry.snapshot.deny, Purpose.DENY)


def _snapshot_deny_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    registry = ask[0].registry
    for selector in registry.snapshot.deny:
        if match(registry, selector, Purpose.DENY).mask >> i & 1:
            yield Reason(
                Rule.SNAPSHOT_DENY, f"the snapshot's deny entry {selector.text!r} matches", selector.where
            )


def _spawn_deny(ask: Ask) -> int:
    mask = 0
    for denied, _ in ask[0].denies:
        mask |= denied
    return mask


def _spawn_deny_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    return (reason for mask, reason in ask[0].denies if mask >> i & 1)


def _agent_deny(ask: Ask) -> int:
    subject = ask[0]
    return match_all(subject.registry, subject.agent.disallowed_tools, Purpose.DENY, subject.agent)


def _agent_deny_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    subject = ask[0]
    for selector in subject.agent.disallowed_tools:
        if match(subject.registry, selector, Purpose.DENY, subject.agent).mask >> i & 1:
            yield Reason(
                Rule.AGENT_DENY,
                f"entry {selector.text!r} of its `disallowed_tools` matches",
                selector.where or subject.agent.where("disallowed_tools"),
            )


# off_belt ----------------------------------------------------------------------------------------------


def _agent_tools(ask: Ask) -> int:
    registry, granted = ask[0].registry, ask[0].granted
    return 0 if granted is None else registry.all & ~registry.handoffs & ~granted


def _agent_tools_reasons(ask: Ask, _: int) -> Iterator[Reason]:
    agent = ask[0].agent
    said = (
        "`tools` is [], which grants nothing" if agent.tools == () else "its `tools` list does not grant it"
    )
    yield Reason(Rule.AGENT_TOOLS, said, agent.where("tools"))


def _default_tools(ask: Ask) -> int:
    registry = ask[0].registry
    inherits = registry.workspace.config.default_tools == "inherit"
    return 0 if inherits or ask[0].granted is not None else registry.all & ~registry.handoffs


def _default_tools_reasons(ask: Ask, _: int) -> Iterator[Reason]:
    config = ask[0].registry.workspace.config
    detail = "it has no `tools` list, and `default_tools` is none"
    yield Reason(Rule.DEFAULT_TOOLS, detail, config.where("default_tools"))


def _delegates(ask: Ask) -> int:
    return ask[0].registry.handoffs & ~ask[0].delegated


def _delegates_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    subject = ask[0]
    target = subject.registry.tools[i].target
    detail = f"its `delegates` do not name {target!r}"
    if target == subject.agent.name:
        detail = "an agent does not hand off to itself"
    yield Reason(Rule.AGENT_DELEGATES, detail, subject.agent.where("delegates"))


def _spawn_tools(ask: Ask) -> int:
    mask = 0
    for allowed, _ in ask[0].allows:
        mask |= ask[0].registry.all & ~allowed
    return mask


def _spawn_tools_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    return (reason for mask, reason in ask[0].allows if not mask >> i & 1)


def _scope_servers(ask: Ask) -> int:
    return ask[0].registry.server_tools & ~ask[0].server_tools


def _scope_servers_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    subject = ask[0]
    server = subject.registry.tools[i].id.server or ""
    spec = subject.registry.workspace.inline.get(server)
    if spec and spec.owner not in subject.scope.path:
        yield Reason(Rule.SCOPE_SERVERS, f"server {server!r} belongs to agent {spec.owner!r}", spec.where)
        return
    where = subject.agent.where("inherit_mcp_servers")
    yield Reason(Rule.SCOPE_SERVERS, f"server {server!r} is not among the servers that it has", where)


# unavailable -------------------------------------------------------------------------------------------


def _off(ask: Ask) -> int:
    return ask[0].registry.off


def _off_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    pack = _pack(ask[0].registry, i)
    yield Reason(Rule.PACK_OFF, f"pack {pack.id!r} is off", pack.where("exposure"))


def _disabled(ask: Ask) -> int:
    registry = ask[0].registry
    links = registry.index.to_agent
    return sum(1 << links[name] for name in set(registry.snapshot.disabled_agents) if name in links)


def _disabled_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    registry = ask[0].registry
    where = Where(registry.snapshot.file) if registry.snapshot.file else None
    yield Reason(Rule.AGENT_DISABLED, f"agent {registry.tools[i].target!r} is disabled", where)


def _broken(ask: Ask) -> int:
    registry = ask[0].registry
    links = registry.index.to_agent
    return sum(1 << links[name] for name in registry.workspace.broken if name in links)


def _broken_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    registry = ask[0].registry
    target = registry.tools[i].target or ""
    broken = registry.workspace.broken[target]
    where = broken.error.where or Where(broken.file)
    yield Reason(Rule.AGENT_BROKEN, f"agent {target!r} did not load: {broken.error.problem}", where)


def _server_row(rule: Rule, status: ServerStatus, said: str) -> Row:
    def mask(ask: Ask) -> int:
        return ask[0].registry.status[status]

    def reasons(ask: Ask, i: int) -> Iterator[Reason]:
        registry = ask[0].registry
        server = registry.tools[i].id.server or ""
        error = registry.state(server).error
        spec = registry.workspace.servers.get(server) or registry.workspace.inline.get(server)
        detail = f"server {server!r} {said}{': ' + error if error else ''}"
        yield Reason(rule, detail, spec.where if spec else None)

    return Row(rule, mask, reasons)


def _changed(ask: Ask) -> int:
    return ask[0].registry.changed


def _changed_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    tool = ask[0].registry.tools[i]
    detail = f"the definition of {tool.name!r} is not the accepted one; `packbelt connect --lock` accepts it"
    yield Reason(Rule.TOOL_CHANGED, detail, Where("packbelt.lock"))


def _clash(ask: Ask) -> int:
    return ask[0].registry.clashes


def _clash_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    tools = ask[0].registry.tools
    others = [str(t.id) for j, t in enumerate(tools) if j != i and t.wire_name == tools[i].wire_name]
    yield Reason(Rule.WIRE_CLASH, f"{', '.join(others)} has the same wire name")


def _no_handler(ask: Ask) -> int:
    runtime, names = ask[0].registry.runtime, ask[0].registry.index.native
    return 0 if runtime is None else sum(1 << i for name, i in names.items() if name not in runtime.handlers)


def _no_handler_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    name = ask[0].registry.tools[i].name
    yield Reason(Rule.NO_HANDLER, f"the host registered no function for {name!r}")


def _no_runner(ask: Ask) -> int:
    runtime = ask[0].registry.runtime
    return 0 if runtime is None or runtime.runner else ask[0].registry.handoffs


def _no_runner_reasons(_: Ask, __: int) -> Iterator[Reason]:
    yield Reason(Rule.NO_RUNNER, "the host gave no `run`, so nobody can take the request")


# over_ceiling ------------------------------------------------------------------------------------------


def _ceiling(ask: Ask) -> int:
    return ask[0].registry.above[ask[0].ceiling]


def _ceiling_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    subject = ask[0]
    needs = subject.registry.permission(i)
    reason = subject.ceiling_reason
    yield Reason(Rule.CEILING, f"it needs {needs}, and {reason.detail}", reason.where)


# reserved ----------------------------------------------------------------------------------------------


def keeps(pack_access: Access, owners: tuple[str, ...], carriers: tuple[str, ...], subject: Subject) -> bool:
    """Whether a pack's access keeps its tools from an agent. Depends on the workspace's files alone."""
    agent = subject.agent
    if pack_access is Access.OPEN or agent.name in owners or agent.name in carriers:
        return False
    root = subject.registry.workspace.orchestrator
    return pack_access is Access.OWNERS or any(agent.delegates_to(owner, root) for owner in owners)


def _reserved(ask: Ask) -> int:
    subject = ask[0]
    registry = subject.registry
    mask = 0
    for pack in registry.workspace.packs.values():
        if keeps(pack.access, pack.owners, pack.carriers, subject):
            mask |= registry.index.packs[pack.id]
    for group in registry.groups:
        policy = group.policy
        if keeps(policy.access, policy.owners, policy.carriers, subject):
            mask |= group.mask
    return mask & ~registry.handoffs


def _reserved_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    pack = _pack(ask[0].registry, i)
    owners = ", ".join(pack.owners) or "nobody"
    detail = f"access of pack {pack.id!r} is {pack.access}; it is the job of {owners}"
    yield Reason(Rule.PACK_ACCESS, detail, pack.where("access"))


# direct, deferred, packed ------------------------------------------------------------------------------


def _placement_row(
    rule: Rule, mask: Callable[[Placement], int], say: Callable[[Subject, Pack], Reason]
) -> Row:
    def reasons(ask: Ask, i: int) -> Iterator[Reason]:
        pack = ask[0].registry.pack_of(i)
        yield say(ask[0], ask[0].registry.pack(pack) if pack else Pack(""))

    return Row(rule, lambda ask: mask(ask[1]), reasons)


def _exposure_reason(_: Subject, pack: Pack) -> Reason:
    return Reason(
        Rule.PACK_EXPOSURE, f"exposure of pack {pack.id!r} is {pack.exposure}", pack.where("exposure")
    )


def _budget_reason(subject: Subject, pack: Pack) -> Reason:
    server = pack.id.partition(":")[2]
    budget = subject.registry.workspace.config.budget
    tokens = subject.registry.state(server).tokens
    detail = (
        f"exposure of server {server!r} is auto, and its tools cost {tokens} tokens "
        f"(budget: {budget.server_tokens} a server, {budget.belt_tokens} together)"
    )
    return Reason(Rule.SERVER_BUDGET, detail, subject.registry.workspace.config.where("budget"))


def _pack(registry: Registry, i: int) -> Pack:
    pack = registry.pack_of(i)
    return registry.pack(pack) if pack else Pack("")


_DIRECT = (
    _placement_row(
        Rule.NO_PACK, lambda p: p.unpacked, lambda _, __: Reason(Rule.NO_PACK, "it is in no pack")
    ),
    _placement_row(
        Rule.EXACT_SELECTOR,
        lambda p: p.exact,
        lambda s, _: Reason(Rule.EXACT_SELECTOR, "its `tools` names it exactly", s.agent.where("tools")),
    ),
    _placement_row(
        Rule.PACK_OWNER,
        lambda p: p.owned,
        lambda _, pack: Reason(Rule.PACK_OWNER, f"it owns pack {pack.id!r}", pack.where("owners")),
    ),
    _placement_row(
        Rule.PACK_CARRIER,
        lambda p: p.carried,
        lambda _, pack: Reason(Rule.PACK_CARRIER, f"it carries pack {pack.id!r}", pack.where("carriers")),
    ),
    _placement_row(
        Rule.PACK_DIRECT,
        lambda p: p.promoted,
        lambda _, pack: Reason(Rule.PACK_DIRECT, f"pack {pack.id!r} promotes it", pack.where("direct")),
    ),
    _placement_row(Rule.PACK_EXPOSURE, lambda p: p.exposed, _exposure_reason),
    _placement_row(
        Rule.ADMITTED,
        lambda p: p.recorded,
        lambda _, __: Reason(Rule.ADMITTED, "it was placed so when it was admitted"),
    ),
    _placement_row(Rule.SERVER_BUDGET, lambda p: p.fits, _budget_reason),
)

_DEFERRED = (_placement_row(Rule.PACK_EXPOSURE, lambda p: p.deferred, _exposure_reason),)

_PACKED = (
    _placement_row(Rule.PACK_EXPOSURE, lambda p: p.put_away, _exposure_reason),
    _placement_row(
        Rule.ADMITTED,
        lambda p: p.recorded_packed,
        lambda _, __: Reason(Rule.ADMITTED, "it was placed so when it was admitted"),
    ),
    _placement_row(Rule.SERVER_BUDGET, lambda p: p.over_budget, _budget_reason),
)

TABLE: tuple[tuple[State, tuple[Row, ...]], ...] = (
    (
        State.DENIED,
        (
            Row(Rule.WORKSPACE_DENY, _workspace_deny, _workspace_deny_reasons),
            Row(Rule.SNAPSHOT_DENY, _snapshot_deny, _snapshot_deny_reasons),
            Row(Rule.SPAWN_DENY, _spawn_deny, _spawn_deny_reasons),
            Row(Rule.AGENT_DENY, _agent_deny, _agent_deny_reasons),
        ),
    ),
    (
        State.OFF_BELT,
        (
            Row(Rule.AGENT_TOOLS, _agent_tools, _agent_tools_reasons),
            Row(Rule.DEFAULT_TOOLS, _default_tools, _default_tools_reasons),
            Row(Rule.AGENT_DELEGATES, _delegates, _delegates_reasons),
            Row(Rule.SPAWN_TOOLS, _spawn_tools, _spawn_tools_reasons),
            Row(Rule.SCOPE_SERVERS, _scope_servers, _scope_servers_reasons),
        ),
    ),
    (
        State.UNAVAILABLE,
        (
            Row(Rule.PACK_OFF, _off, _off_reasons),
            Row(Rule.AGENT_DISABLED, _disabled, _disabled_reasons),
            Row(Rule.AGENT_BROKEN, _broken, _broken_reasons),
            _server_row(Rule.SERVER_STARTING, ServerStatus.STARTING, "is starting"),
            _server_row(Rule.SERVER_FAILED, ServerStatus.FAILED, "failed"),
            _server_row(Rule.SERVER_DISCONNECTED, ServerStatus.DISCONNECTED, "is not connected"),
            Row(Rule.TOOL_CHANGED, _changed, _changed_reasons),
            Row(Rule.WIRE_CLASH, _clash, _clash_reasons),
            Row(Rule.NO_HANDLER, _no_handler, _no_handler_reasons),
            Row(Rule.NO_RUNNER, _no_runner, _no_runner_reasons),
        ),
    ),
    (State.OVER_CEILING, (Row(Rule.CEILING, _ceiling, _ceiling_reasons),)),
    (State.RESERVED, (Row(Rule.PACK_ACCESS, _reserved, _reserved_reasons),)),
    (State.DIRECT, _DIRECT),
    (State.DEFERRED, _DEFERRED),
    (State.PACKED, _PACKED),
)
"""The states in the order they are asked, each with its rules. The last group takes all that is left."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What the table says of every tool.

    Attributes:
        states: the mask of each state.
        rows: the mask of each row, by state, in the table's order.
    """

    states: dict[State, int]
    rows: dict[State, tuple[int, ...]]


def fold(ask: Ask) -> Fold:
    """Ask every row once; the first group that has a tool's bit settles its state."""
    left = ask[0].registry.all
    states: dict[State, int] = {}
    masks: dict[State, tuple[int, ...]] = {}
    for state, rows in TABLE:
        masks[state] = asked = tuple(row.mask(ask) for row in rows)
        mask = 0
        for one in asked:
            mask |= one
        states[state] = left & mask
        left &= ~mask
    return Fold(states, masks)


def reasons_of(ask: Ask, folded: Fold, state: State, i: int) -> tuple[Reason, ...]:
    """Every reason why a tool is in its state."""
    rows = next(rows for settled, rows in TABLE if settled is state)
    asked = zip(rows, folded.rows[state], strict=True)
    return tuple(reason for row, mask in asked if mask >> i & 1 for reason in row.reasons(ask, i))
