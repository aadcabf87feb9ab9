"""The report of an import, for people and for programs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from packbelt.cli.output import Column, Span, Table, draw, fits, number, say, several, title
from packbelt.cli.words import short_path
from packbelt.importers import Item, Kind, Outcome, Remark, Report

_STYLE = {
    Outcome.MAPPED: "good",
    Outcome.APPROXIMATED: "odd",
    Outcome.LEFT_OUT: "dim",
    Outcome.REFUSED: "bad",
}
_WORDS = {outcome: outcome.value.replace("_", " ") for outcome in Outcome}
MOST = 12
"""Things of one kind and outcome that get a line each."""
_OUTCOME = max(map(len, _WORDS.values()))
_INDENT = " " * (_OUTCOME + 5)
NAMED = 6
"""Servers and files that are named."""


def show(
    target: Path,
    report: Report,
    files: Sequence[str],
    *,
    dry_run: bool,
    blocked: Sequence[str] = (),
    everything: bool,
) -> None:
    """Every thing with what became of it; then the counts, and what is left to do."""
    shown = _things(report, everything=everything)
    _counts(report, first=not shown)
    verb = "would write" if dry_run else "wrote"
    where = "" if target == Path.cwd() else f" in {short_path(target)}"
    some = ", ".join(files[:NAMED]) + (f" and {len(files) - NAMED} more" if len(files) > NAMED else "")
    say("")
    say((f"{verb} {several(len(files), 'file')}{where}" if files else "nothing to write", "title"))
    if files:
        say(f"  {some}")
    if blocked:
        verb = "is" if len(blocked) == 1 else "are"
        say(("  " + f"{', '.join(blocked[:NAMED])} {verb} there already: it takes --force", "odd"))
    if report.variables:
        title("Variables to set before `packbelt connect`")
        table = Table((Column(), Column(wraps=True)))
        for name, servers in report.variables.items():
            table.add(name, (", ".join(servers), "dim"))
        draw(table)
    if files and not dry_run:
        into = "" if target == Path.cwd() else f" -w {short_path(target)}"
        say("")
        say((f"next: packbelt check{into}, packbelt dump{into}", "dim"))


def _things(report: Report, *, everything: bool) -> bool:
    """A heading and a line for each thing, what differs indented below it."""
    first = True
    for kind in Kind:
        items = [item for item in report.items if item.kind is kind]
        if not items:
            continue
        title(f"{kind.value.capitalize()}s", first=first)
        first = False
        order = sorted(items, key=lambda item: -list(Outcome).index(item.outcome))
        seen: Counter[Outcome] = Counter()
        mends: set[tuple[str, Outcome]] = set()
        for item in order:
            seen[item.outcome] += 1
            if everything or seen[item.outcome] <= MOST:
                _thing(item, mends, everything=everything)
        hidden = {outcome: count - MOST for outcome, count in seen.items() if count > MOST and not everything}
        for outcome, count in hidden.items():
            say("  ", (f"and {number(count)} more {_WORDS[outcome]}; --all shows them", "dim"))
    return not first


def _thing(item: Item, mends: set[tuple[str, Outcome]], *, everything: bool) -> None:
    outcome = (f"{_WORDS[item.outcome]:<{_OUTCOME}}", _STYLE[item.outcome])
    head: tuple[Span, ...] = ("  ", outcome, " ", item.name, (f"  {item.where}", "dim"))
    arrow = f"→ {item.became}"
    if not item.became:
        say(*head)
    elif fits(*head, f"  {arrow}"):
        say(*head, f"  {arrow}")
    else:
        say(*head)
        say(_INDENT, arrow)
    for remark in item.remarks:
        if everything or remark.outcome is not Outcome.LEFT_OUT or not item.became:
            _remark(item, remark, mends)


def _remark(item: Item, remark: Remark, mends: set[tuple[str, Outcome]]) -> None:
    """What differs, without its subject, which stands above; a mend that was given before is not repeated."""
    spot = f"{remark.where}: " if remark.where and remark.where != item.where else ""
    subject = f"{item.kind.value} {item.name!r}"
    message = remark.message.removeprefix(f"{subject} ").removeprefix(f"{subject}: ")
    say(_INDENT, (spot, "dim"), message)
    given = (remark.mend, remark.outcome)
    if remark.mend and given not in mends:
        mends.add(given)
        say(_INDENT, ("mend: ", _STYLE[remark.outcome]), remark.mend)


def _counts(report: Report, *, first: bool) -> None:
    table = Table((Column("kind"), *(Column(_WORDS[outcome], "right") for outcome in Outcome)))
    for kind in Kind:
        counts = Counter(item.outcome for item in report.items if item.kind is kind)
        if counts:
            table.add(kind.value, *_figures(counts[outcome] for outcome in Outcome))
    if table.rows:
        title("Counts", first=first)
        draw(table)
    unsaid = sum(
        remark.outcome is Outcome.LEFT_OUT for item in report.items if item.became for remark in item.remarks
    )
    if unsaid:
        say(("  " + several(unsaid, "setting") + " could not be said; --all shows them", "dim"))


def _figures(counts: Iterable[int]) -> list[str]:
    return [number(count) for count in counts]


def answer_json(
    path: Path,
    target: Path,
    report: Report,
    files: Sequence[str],
    *,
    dry_run: bool,
    blocked: Sequence[str] = (),
) -> dict[str, Any]:
    """The report as `packbelt import --json` shows it."""
    counts = report.counts()
    return {
        "path": str(path),
        "into": str(target),
        "dry_run": dry_run,
        "files": list(files),
        "in_the_way": list(blocked),
        "counts": {outcome.value: counts[outcome] for outcome in Outcome},
        "variables": {name: list(servers) for name, servers in report.variables.items()},
        "items": [_item_json(item) for item in report.items],
    }


def _item_json(item: Item) -> dict[str, Any]:
    return {
        "kind": item.kind.value,
        "name": item.name,
        "outcome": item.outcome.value,
        "where": str(item.where),
        "client": item.client,
        "scope": item.scope.value,
        "became": item.became,
        "remarks": [
            {
                "outcome": one.outcome.value,
                "message": one.message,
                "where": str(one.where) if one.where else None,
                "mend": one.mend,
            }
            for one in item.remarks
        ],
    }
