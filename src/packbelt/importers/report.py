"""What became of everything that was found: mapped, approximated, left out or refused."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from packbelt.model import Code, Diagnostic, Origin, PackbeltError, Where

_NARROWER = frozenset({Code.AGENT_SPECIFIER, Code.SECRET_IN_ARGS})
"""What the catalogue reports of an entry that it reads otherwise than it is written."""


class Outcome(StrEnum):
    """What became of a thing, from best to worst.

    `mapped`: it is in the workspace as it was. `approximated`: it is there, and says less or something a
    little different; never more, but that a denial of some arguments becomes a question. `left_out`: it is
    not there, on purpose, and nothing is wider for it. `refused`: it could not be read without guessing, so
    it is not there; a person should look.
    """

    MAPPED = "mapped"
    APPROXIMATED = "approximated"
    LEFT_OUT = "left_out"
    REFUSED = "refused"


class Kind(StrEnum):
    """What a thing is."""

    AGENT = "agent"
    SERVER = "server"
    RULE = "rule"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Remark:
    """One difference between a thing and what it became.

    Attributes:
        outcome: `approximated`, or `left_out` for what could not be said.
        message: what differs, without a final dot.
        where: the place in the file that was read.
        mend: what a person can do about it; empty if nothing need be done.
    """

    outcome: Outcome
    message: str
    where: Where | None = None
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was found.

    Attributes:
        kind: what it is.
        name: its name; a file's for a file as a whole.
        outcome: what became of it.
        where: where it was found. Files are named from the path that was imported.
        client: whose format it is in.
        scope: where such a file counts: for a person, a project, or as part of a plugin.
        became: the file of the workspace that has it now, or how it is called there; empty if it is nowhere.
        remarks: differences; for something refused or left out, the reason.
    """

    kind: Kind
    name: str
    outcome: Outcome
    where: Where
    client: str
    scope: Origin
    became: str = ""
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found.

    Attributes:
        items: in the order in which they were found.
        variables: names of environment variables that stand for values which are not copied, with the
            servers that need them.
    """

    items: tuple[Item, ...] = ()
    variables: "dict[str, tuple[str, ...]]" = field(default_factory=dict)

    def counts(self) -> Counter[Outcome]:
        """How many things had each outcome."""
        return Counter(item.outcome for item in self.items)

    @property
    def refused(self) -> bool:
        """Whether anything was refused."""
        return any(item.outcome is Outcome.REFUSED for item in self.items)


def outcome_of(remarks: Iterable[Remark]) -> Outcome:
    """The outcome of a thing that is there: what a remark leaves out of it does not count against it."""
    approximated = any(one.outcome is Outcome.APPROXIMATED for one in remarks)
    return Outcome.APPROXIMATED if approximated else Outcome.MAPPED


def remark_of(one: Diagnostic) -> Remark:
    """What the catalogue says of a thing, as a difference."""
    outcome = Outcome.APPROXIMATED if one.code in _NARROWER else Outcome.LEFT_OUT
    return Remark(outcome, one.message, one.where, one.mend)


def reason_of(problem: PackbeltError) -> Remark:
    """Why a thing was refused."""
    return Remark(Outcome.REFUSED, problem.problem, problem.where, problem.mend)
