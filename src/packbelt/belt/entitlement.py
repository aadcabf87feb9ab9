"""The rules of entitlement: what is denied to a scope, and what nothing grants it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packbelt.belt.row import Ask, Row
from packbelt.belt.selectors import Purpose, match, match_all
from packbelt.model import Reason, Rule

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt

# denied


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


# off_belt


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


DENIED = (
    Row(Rule.WORKSPACE_DENY, _workspace_deny, _workspace_deny_reasons),
    Row(Rule.SNAPSHOT_DENY, _snapshot_deny, _snapshot_deny_reasons),
    Row(Rule.SPAWN_DENY, _spawn_deny, _spawn_deny_reasons),
    Row(Rule.AGENT_DENY, _agent_deny, _agent_deny_reasons),
)

OFF_BELT = (
    Row(Rule.AGENT_TOOLS, _agent_tools, _agent_tools_reasons),
    Row(Rule.DEFAULT_TOOLS, _default_tools, _default_tools_reasons),
    Row(Rule.AGENT_DELEGATES, _delegates, _delegates_reasons),
    Row(Rule.SPAWN_TOOLS, _spawn_tools, _spawn_tools_reasons),
    Row(Rule.SCOPE_SERVERS, _scope_servers, _scope_servers_reasons),
)


def granted_by(belt: "Belt", i: int) -> Reason:
    """What grants a tool that no rule takes away: an entry, a default, or `delegates`."""
    subject = belt.subject
    registry, agent = subject.registry, subject.agent
    target = registry.tools[i].target
    if target is not None:
        said = '"*"' if agent.delegates == "*" else repr(target)
        return Reason(Rule.AGENT_DELEGATES, f"its `delegates` say {said}", agent.where("delegates"))
    for selector in agent.tools or ():
        if match(registry, selector, Purpose.GRANT, agent).mask >> i & 1:
            where = selector.where or agent.where("tools")
            return Reason(Rule.AGENT_TOOLS, f"entry {selector.text!r} of its `tools` grants it", where)
    where = registry.workspace.config.where("default_tools")
    return Reason(Rule.DEFAULT_TOOLS, "it has no `tools` list, and `default_tools` is inherit", where)
