"""Assertions about belts that fail with the reasons, not with a diff of two sets."""

from collections.abc import Iterable
from typing import Protocol

from packbelt.belt import Belt, BeltTool, Denial, admit, hint
from packbelt.model import AmbiguousToolError, Reason, Route, State


class HasBelt(Protocol):
    """A turn, or anything else with a belt."""

    @property
    def belt(self) -> Belt:
        """The belt."""


def assert_belt(
    turn_or_belt: HasBelt | Belt,
    *,
    direct: Iterable[str] = (),
    packed: Iterable[str] = (),
    deferred: Iterable[str] = (),
    not_callable: Iterable[str] = (),
) -> None:
    """Assert how tools are presented to an agent; tools that are not named may be anything.

    Args:
        turn_or_belt: whose.
        direct: tools whose schemas are sent.
        packed: tools behind the opener.
        deferred: tools found by search.
        not_callable: tools that exist and that no path leads to a call of.

    Names are wire names, identities (`github/search`) or plain names that only one tool has.

    Raises:
        AssertionError: a tool is something else; lists each with its state, reasons and routes.
    """
    belt = _belt(turn_or_belt)
    wanted = ((State.DIRECT, direct), (State.PACKED, packed), (State.DEFERRED, deferred))
    wrong = [
        _said(belt, name, f"should be {state}")
        for state, names in wanted
        for name in _names(names)
        if _state(belt, name) is not state
    ]
    for name in _names(not_callable):
        state = _state(belt, name)
        if state is State.UNKNOWN:
            wrong.append(_said(belt, name, "should exist and not be callable"))
        elif state.callable:
            wrong.append(_said(belt, name, "should not be callable"))
    if wrong:
        raise AssertionError("\n".join([f"the belt of {belt.agent!r} is not as it should be:", *wrong]))


def assert_reachable(
    turn_or_belt: HasBelt | Belt, *names: str, via: str | None = None, through: str | None = None
) -> None:
    """Assert that an agent can get the work of tools done, itself or by handing it off.

    Every first step is put through the gate.

    Args:
        turn_or_belt: whose.
        names: tools, spelled as for `assert_belt`.
        via: the kind of way that must be among the routes: `direct`, `opener`, `search` or `handoff`.
        through: an agent that a hand-off's chain must lead through.

    Raises:
        AssertionError: one has no such route; says what it is and what cuts it.
    """
    belt = _belt(turn_or_belt)
    wrong = []
    for name in names:
        tool = _find(belt, name)
        routes = tool.decision.routes if tool else ()
        fit = [r for r in routes if via in (None, r.via) and through in (None, *r.agents)]
        if not fit:
            wanted = (
                "should be reachable"
                + (f" by {via}" if via else "")
                + (f" through {through}" if through else "")
            )
            wrong.append(_said(belt, name, wanted))
            continue
        wrong += [refused for route in fit if (refused := _refused(belt, name, route))]
    if wrong:
        raise AssertionError("\n".join([f"agent {belt.agent!r} lacks a way:", *wrong]))


def _belt(turn_or_belt: HasBelt | Belt) -> Belt:
    return turn_or_belt if isinstance(turn_or_belt, Belt) else turn_or_belt.belt


def _names(names: Iterable[str]) -> Iterable[str]:
    return (names,) if isinstance(names, str) else names


def _find(belt: Belt, name: str) -> BeltTool | None:
    try:
        return belt.find(name)
    except AmbiguousToolError as error:
        raise AssertionError(str(error)) from None


def _state(belt: Belt, name: str) -> State:
    tool = _find(belt, name)
    return tool.state if tool else State.UNKNOWN


def _refused(belt: Belt, name: str, route: Route) -> str:
    admitted = admit(belt, route.call, dict(route.arguments))
    if isinstance(admitted, Denial):
        return f"  {name}: its route {route.call!r} is refused: {hint(belt, admitted).text}"
    return ""


def _said(belt: Belt, name: str, wanted: str) -> str:
    tool = _find(belt, name)
    if tool is None:
        return f"  {name} {wanted}, and there is no such tool"
    decision = tool.decision
    lines = [f"  {name} {wanted}, and is {decision.state}:"]
    lines += [f"    because {_reason(reason)}" for reason in decision.reasons]
    lines += [f"    cut: {_reason(reason)}" for reason in decision.cuts]
    lines += [f"    way: {route.via} {route.call} {dict(route.arguments)}" for route in decision.routes]
    return "\n".join(lines)


def _reason(reason: Reason) -> str:
    return f"{reason.detail} [{reason.rule}]" + (f" ({reason.where})" if reason.where else "")


__all__ = ["assert_belt", "assert_reachable"]
