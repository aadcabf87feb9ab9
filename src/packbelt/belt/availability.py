"""The rules of availability: what is not there now, over the ceiling, or kept for others."""

from collections.abc import Iterator

from packbelt.belt.row import Ask, Row, pack_at
from packbelt.belt.scope import Subject
from packbelt.model import Access, Reason, Rule, ServerStatus, Where

# unavailable


def _off(ask: Ask) -> int:
    return ask[0].registry.off


def _off_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    pack = pack_at(ask[0].registry, i)
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


# over_ceiling


def _ceiling(ask: Ask) -> int:
    return ask[0].registry.above[ask[0].ceiling]


def _ceiling_reasons(ask: Ask, i: int) -> Iterator[Reason]:
    subject = ask[0]
    registry, reason = subject.registry, subject.ceiling_reason
    needs = registry.permission(i)
    by_default = ", as server tools do unless `servers:` says less" if registry.tools[i].id.server else ""
    yield Reason(Rule.CEILING, f"it needs {needs}{by_default}, and {reason.detail}", reason.where)


# reserved


def keeps(pack_access: Access, owners: tuple[str, ...], carriers: tuple[str, ...], subject: Subject) -> bool:
    """Whether a pack's access keeps its tools from an agent. Depends on the workspace's files alone."""
    return subject.agent.kept_from(pack_access, owners, carriers, subject.registry.workspace.orchestrator)


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
    pack = pack_at(ask[0].registry, i)
    owners = ", ".join(pack.owners) or "nobody"
    detail = f"it is kept for {owners} (pack {pack.id!r}, access: {pack.access})"
    yield Reason(Rule.PACK_ACCESS, detail, pack.where("access"))


UNAVAILABLE = (
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
)

OVER_CEILING = (Row(Rule.CEILING, _ceiling, _ceiling_reasons),)

RESERVED = (Row(Rule.PACK_ACCESS, _reserved, _reserved_reasons),)
