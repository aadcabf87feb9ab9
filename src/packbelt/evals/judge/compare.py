"""Two sides, or the conditions of one run, against each other."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from packbelt.evals.judge.assessment import LEXICAL
from packbelt.evals.judge.cells import Cell, NoCasesError, asks, cells, conditions, under
from packbelt.evals.judge.many import holm
from packbelt.evals.judge.paired import ALPHA, Contrast, Finding, contrast, pairs_needed
from packbelt.evals.mutations import NULL
from packbelt.evals.trials import Condition, Played


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        name: what it is called: a file, a directory or a revision.
        played: what was played.
    """

    name: str
    played: Sequence[Played]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two conditions and what is found of them.

    Attributes:
        before, after: the conditions.
        contrast: the figures.
        p: the p-value, adjusted by Holm for all pairings of the comparison.
        finding: what that says of the second one.
        needed: how many pairs it would take, roughly, to tell a difference such as was seen, with as many
            pairings tested; None where none was seen.
    """

    before: Condition
    after: Condition
    contrast: Contrast
    p: float
    finding: Finding
    needed: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Pairings that were tested together.

    Attributes:
        before, after: what the sides are called; for conditions of one run both name what differs between
            them: `layout`, `model` or `mutation`.
        pairings: in the order in which they were played.
        changed: cases that ask or expect something else on the other side, and so are not compared, as
            `suite/case`.
    """

    before: str
    after: str
    pairings: tuple[Pairing, ...]
    changed: tuple[str, ...] = ()

    @property
    def worse(self) -> bool:
        """Whether any pairing is worse."""
        return any(one.finding is Finding.WORSE for one in self.pairings)


def compare(old: Side, new: Side) -> Comparison:
    """Two sides, condition by condition; where each has but one, these two.

    Raises:
        NoCasesError: they have no condition, or no judged case, in common.
    """
    before, after = cells(old.played), cells(new.played)
    changed = {one.key for one in before} & {one.key for one in after} & _changed(before, after)
    before = tuple(one for one in before if one.key not in changed)
    after = tuple(one for one in after if one.key not in changed)
    was, now = conditions(before), conditions(after)
    both = [(one, one) for one in now if one in was]
    if not both and len(was) == len(now) == 1:
        both = [(was[0], now[0])]
    if not both:
        raise NoCasesError(
            f"{old.name} and {new.name} have no condition in common",
            mend="compare runs of the same model and layout",
        )
    found = [(a, b, contrast(under(before, a), under(after, b))) for a, b in both]
    return Comparison(old.name, new.name, _tested(found), tuple(sorted("/".join(key) for key in changed)))


def contrasts(played: Sequence[Played]) -> tuple[Comparison, ...]:
    """The conditions of one run that differ in one thing, a comparison for each such thing.

    Layouts, models and mutations are questions of their own, and each is corrected for by itself. The lexical
    model is a probe and no contestant. Pairs without a case that both have judged are left out.

    Raises:
        NoCasesError: nothing was played.
    """
    among = cells(played)
    found: dict[str, list[tuple[Condition, Condition, Contrast]]] = {}
    for axis, before, after in _pairs([one for one in conditions(among) if one.model != LEXICAL]):
        a, b = under(among, before), under(among, after)
        if {one.key for one in a if one.judged} & {one.key for one in b if one.judged}:
            found.setdefault(axis, []).append((before, after, contrast(a, b)))
    return tuple(Comparison(axis, axis, _tested(pairs)) for axis, pairs in found.items())


def _pairs(among: Sequence[Condition]) -> Iterator[tuple[str, Condition, Condition]]:
    """Pairs that differ in one thing, and which; mutations only with what breaks nothing."""
    for i, before in enumerate(among):
        for after in among[i + 1 :]:
            was, now = asdict(before), asdict(after)
            differ = [axis for axis in was if was[axis] != now[axis]]
            broken = differ == ["mutation"] and not {before.mutation, after.mutation} & {None, NULL}
            if len(differ) == 1 and not broken:
                yield differ[0], before, after


def _tested(found: Sequence[tuple[Condition, Condition, Contrast]]) -> tuple[Pairing, ...]:
    adjusted = holm([one.p for _, _, one in found])
    return tuple(
        Pairing(before, after, one, p, one.finding(p), _needed(one, ALPHA / len(found)))
        for (before, after, one), p in zip(found, adjusted, strict=True)
    )


def _needed(one: Contrast, alpha: float) -> int | None:
    """The pairs that it takes at the level that Holm's smallest p-value is held to."""
    return pairs_needed(len(one.gained) / one.pairs, len(one.lost) / one.pairs, alpha)


def _changed(before: Sequence[Cell], after: Sequence[Cell]) -> set[tuple[str, str]]:
    was = {one.key: asks(one.report) for one in before}
    return {one.key for one in after if was.get(one.key) != asks(one.report)}
