"""The one ordered table of rules. Everything that says yes or no to a tool is a row of it.

Each row has a mask of the tools it applies to and can give its reasons for one of them; both read the same
masks, so that a belt and an explanation cannot differ. A state is settled by the first group of rows that
has the tool's bit: entitlement (may this agent call it?) comes before placement (how is it presented?).
"""

from dataclasses import dataclass

from packbelt.belt.availability import OVER_CEILING, RESERVED, UNAVAILABLE
from packbelt.belt.entitlement import DENIED, OFF_BELT
from packbelt.belt.presentation import DEFERRED, DIRECT, PACKED
from packbelt.belt.row import Ask, Row
from packbelt.model import Reason, State

TABLE: tuple[tuple[State, tuple[Row, ...]], ...] = (
    (State.DENIED, DENIED),
    (State.OFF_BELT, OFF_BELT),
    (State.UNAVAILABLE, UNAVAILABLE),
    (State.OVER_CEILING, OVER_CEILING),
    (State.RESERVED, RESERVED),
    (State.DIRECT, DIRECT),
    (State.DEFERRED, DEFERRED),
    (State.PACKED, PACKED),
)
"""The states in the order they are asked, each with its rules. Every tool is in one."""


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
