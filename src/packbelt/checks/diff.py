"""`diff`: what another workspace or snapshot does to every agent's belt, and which rule did it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from packbelt.belt import Belt
from packbelt.belt.entitlement import granted_by
from packbelt.belt.rules import TABLE
from packbelt.catalog.registry import Registry, bits
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.checks.difference import AgentDiff, Change, Diff, Kind, Life, Prefix
from packbelt.checks.run import run
from packbelt.checks.workbench import Workbench
from packbelt.cost import line_tokens
from packbelt.model import Diagnostic, Reason, Rule, State, ToolId
from packbelt.turn import Turn

_ORDER = {state: place for place, (state, _) in enumerate(TABLE)}
_NOT_THERE = frozenset(
    {
        *(Rule.SERVER_STARTING, Rule.SERVER_FAILED, Rule.SERVER_DISCONNECTED),
        *(Rule.AGENT_BROKEN, Rule.WIRE_CLASH, Rule.NO_HANDLER, Rule.NO_RUNNER),
    }
)
"""Rules of `unavailable` that nobody decided: what they withhold was granted all the same."""
_GONE = Reason(Rule.NO_SUCH_TOOL, "the tool is gone")


def diff(
    old: Workspace,
    new: Workspace,
    old_snapshot: Snapshot | None = None,
    new_snapshot: Snapshot | None = None,
) -> Diff:
    """What changed for every agent from one workspace to another.

    Args:
        old: the workspace before.
        new: the workspace now.
        old_snapshot: what was connected; None for nothing.
        new_snapshot: what is connected; None for nothing.

    Raises:
        VocabularyError: the vocabulary that tokens are counted with is missing or is not the published one.
    """
    was, now = Workbench(old, old_snapshot), Workbench(new, new_snapshot)
    names = {*was.turns, *was.refused, *now.turns, *now.refused}
    order = sorted(names, key=lambda name: (name != now.root, name))
    before, after = _tools(was.registry), _tools(now.registry)
    found, mended = _diagnostics(run(old, old_snapshot), run(new, new_snapshot))
    return Diff(
        agents=tuple(_agent(was, now, name) for name in order),
        tools_new=_named(now.registry, after.keys() - before.keys()),
        tools_gone=_named(was.registry, before.keys() - after.keys()),
        tools_changed=_named(
            now.registry, {each for each in before.keys() & after.keys() if before[each] != after[each]}
        ),
        found=found,
        mended=mended,
    )


def _tools(registry: Registry) -> dict[ToolId, tuple[str, str]]:
    return {tool.id: (tool.digest, str(registry.permission(i))) for i, tool in enumerate(registry.tools)}


def _named(registry: Registry, ids: set[ToolId]) -> tuple[str, ...]:
    return tuple(tool.wire_name for tool in registry.tools if tool.id in ids)


def _life(bench: Workbench, agent: str) -> Life:
    if agent in bench.turns:
        return "starts"
    return "refused" if agent in bench.refused else "absent"


def _agent(was: Workbench, now: Workbench, agent: str) -> AgentDiff:
    old, new = was.turns.get(agent), now.turns.get(agent)
    refused = now.refused.get(agent, ())
    if old is not None and new is not None:
        changes = tuple(sorted(_changes(old.belt, new.belt), key=lambda one: _KINDS.index(one.kind)))
        unasked, asked = _approvals(old.belt, new.belt)
    else:
        changes = (*_all_lost(old, refused), *_all_gained(new))
        unasked = asked = ()
    return AgentDiff(
        agent=agent,
        before=_life(was, agent),
        after=_life(now, agent),
        refused=refused,
        changes=changes,
        unasked=unasked,
        asked=asked,
        tokens=old.cost.total if old else None,
        tokens_now=new.cost.total if new else None,
        prefix=_prefix(old, new) if old and new else None,
    )


_KINDS: tuple[Kind, ...] = ("lost", "gained", "moved")


def _all_gained(new: Turn | None) -> Iterator[Change]:
    if new is None:
        return
    belt = new.belt
    for i in bits(belt.callable):
        tool = belt.registry.tools[i]
        yield Change(tool.wire_name, tool.id, "gained", None, belt.state(i), granted_by(belt, i))


def _all_lost(old: Turn | None, refused: Sequence[Diagnostic]) -> Iterator[Change]:
    if old is None:
        return
    belt = old.belt
    why = Reason(Rule.NO_SUCH_TOOL, "the agent is gone")
    if refused:
        why = Reason(Rule.AGENT_BROKEN, refused[0].message, refused[0].where)
    for i in bits(belt.callable):
        tool = belt.registry.tools[i]
        yield Change(tool.wire_name, tool.id, "lost", belt.state(i), None, why)


def _states(belt: Belt) -> dict[ToolId, tuple[int, State]]:
    """Every tool of a belt, with its bit and its state."""
    tools = belt.registry.tools
    return {tools[i].id: (i, state) for state, mask in belt.fold.states.items() for i in bits(mask)}


def _changes(old: Belt, new: Belt) -> Iterator[Change]:
    before, after = _states(old), _states(new)
    kept = _kept(old)
    for identity, (i, state) in after.items():
        j, former = before.get(identity, (-1, State.UNKNOWN))
        if former is state or (former is State.UNKNOWN and not state.callable):
            continue
        cause, ended = cause_of(former, partial(_first, old, j), new, i)
        kind: Kind = "moved" if state.callable == former.callable else "gained" if state.callable else "lost"
        widened = kind == "gained" and former is not State.UNKNOWN and bool(kept >> j & 1)
        tool = new.registry.tools[i]
        yield Change(tool.wire_name, identity, kind, former, state, cause, ended, widened)
    for identity, (j, former) in before.items():
        if identity not in after and former.callable:
            tool = old.registry.tools[j]
            cause = Reason(_GONE.rule, _GONE.detail, tool.where)
            yield Change(tool.wire_name, identity, "lost", former, State.UNKNOWN, cause)


def cause_of(former: State, why: Callable[[], Reason], new: Belt, i: int) -> tuple[Reason, bool]:
    """The rule that moved a tool from one state into another.

    Rules are asked in order, so a later answer means that an earlier one ended.

    Args:
        former: the state it was in.
        why: the first reason of that.
        new: the belt now.
        i: the tool's bit there.

    Returns:
        The rule with its place, and whether it is the one that ended.
    """
    state = new.state(i)
    if state.callable and former in (State.UNKNOWN, State.OFF_BELT):
        return granted_by(new, i), False
    if former is State.UNKNOWN or _ORDER[state] < _ORDER[former]:
        return new.reasons(i)[0], False
    return why(), True


def _first(belt: Belt, i: int) -> Reason:
    return belt.reasons(i)[0]


def _kept(belt: Belt) -> int:
    """Mask of the tools that a rule which somebody wrote keeps from an agent, be they there or not."""
    mask = 0
    for state, rows in TABLE:
        for row, one in zip(rows, belt.fold.rows[state], strict=True):
            if not state.callable and row.rule not in _NOT_THERE:
                mask |= one
    return mask


def _approvals(old: Belt, new: Belt) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tools callable on both sides whose calls a person approves no more, and those of which he does now."""
    unasked: list[str] = []
    asked: list[str] = []
    before = {old.registry.tools[i].id: bool(old.approve >> i & 1) for i in bits(old.callable)}
    for i in bits(new.callable):
        tool = new.registry.tools[i]
        was, now = before.get(tool.id), bool(new.approve >> i & 1)
        if was is not None and was != now:
            (asked if now else unasked).append(tool.wire_name)
    return tuple(unasked), tuple(asked)


def _prefix(old: Turn, new: Turn) -> Prefix:
    sent, now = old.tools, new.tools
    kept = 0
    while kept < min(len(sent), len(now)) and sent[kept].line == now[kept].line:
        kept += 1
    before = {tool.line for tool in sent}
    arrived = [tool for tool in now[kept : kept + 1] if tool.line not in before]
    rest = (*arrived, *sent[kept:], *now[kept:])
    return Prefix(
        kept=kept,
        sent=len(sent),
        kept_tokens=sum(line_tokens(tool) for tool in sent[:kept]),
        sent_tokens=sum(line_tokens(tool) for tool in sent),
        breaks_at=rest[0].wire_name if rest else None,
        prompt_stays=old.prompt == new.prompt,
    )


def _diagnostics(
    old: Sequence[Diagnostic], new: Sequence[Diagnostic]
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """What is new and what has vanished. A line that moved makes no new diagnostic."""

    def key(one: Diagnostic) -> tuple[str, ...]:
        return one.level, one.code, one.message, one.name, one.where.file if one.where else ""

    def beyond(these: Sequence[Diagnostic], others: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
        left = Counter(key(one) for one in others)
        for one in these:
            if left[key(one)]:
                left[key(one)] -= 1
            else:
                yield one

    return tuple(beyond(new, old)), tuple(beyond(old, new))


__all__ = ["cause_of", "diff"]
