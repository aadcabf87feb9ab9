"""Write README.md's tables of routing requests on real models: `uv run python docs/generate_routing.py`."""  # noqa: INP001 - a script

import lzma
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from packbelt.evals.judge.assessment import assess
from packbelt.evals.judge.cells import Cell, cells, mean, under
from packbelt.evals.judge.intervals import Estimate
from packbelt.evals.judge.paired import contrast
from packbelt.evals.outcomes import Result
from packbelt.evals.results import read_results
from packbelt.evals.trials import Condition, Played

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "evals" / "results"
README = ROOT / "README.md"
BEGIN, END = "<!-- routing -->\n", "<!-- /routing -->\n"
JOBS = frozenset({"setup_skills", "run_skill", "use_mcp_server", "setup_mcp_server"})
FLEETS = {"Eight specialists": ("small", "small-unseen"), "26 specialists": ("routing", "unseen")}
"""Fleets with their suites, that of unseen requests last: evals/small, and the embedded workspace."""
LAYOUTS = ("promoted", "packed", "flat")


def plays(paths: Iterable[Path]) -> tuple[Played, ...]:
    """What results files hold, compressed or not, in the order of models and layouts."""
    found: list[Played] = []
    for path in sorted(paths):
        with tempfile.TemporaryDirectory() as folder:
            plain = path
            if path.suffix == ".xz":
                plain = Path(folder, path.stem)
                plain.write_bytes(lzma.decompress(path.read_bytes()))
            found += read_results(plain)[1]
    return tuple(sorted(found, key=lambda one: _order(one.trial.condition)))


def table(played: Sequence[Played]) -> str:
    """The tables of each fleet, in Markdown."""
    lines: list[str] = []
    for fleet, suites in FLEETS.items():
        mine = [one for one in played if one.trial.suite in suites]
        if mine:
            parts = (_rates(mine, suites[-1]), [""], _outcomes(mine), [""], _pairs(mine))
            lines += [f"**{fleet}**", "", *chain.from_iterable(parts), ""]
    return "\n".join(lines)


def _rates(played: Sequence[Played], last: str) -> Iterable[str]:
    all_cells = cells(played)
    yield (
        "| model, layout | plays | hand-offs | at the first step | unseen | all | no tool "
        "| tokens a request | a case | a case, cached |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for one in assess(played):
        mine, costs = under(all_cells, one.condition), one.costs
        handed = _handed(mine)
        unseen = [cell for cell in handed if cell.suite == last]
        quiet = [cell for cell in mine if "no_tool" in cell.report.tags]
        rates = [mean(handed), mean(handed, lambda play: play.verdict.first)]
        rates += [mean(part) for part in (unseen, mine, quiet)]
        shares = " | ".join(map(_share, rates))
        tokens = f"{costs.belt:,.0f} | {costs.case:,.0f} | {costs.cached:,.0f}" if costs else "- | - | -"
        yield f"| {_named(one.condition)} | {one.plays} | {shares} | {tokens} |"


def _outcomes(played: Sequence[Played]) -> Iterable[str]:
    found = assess(played)
    seen = [result for result in Result if any(result in one.outcomes for one in found)]
    yield "| outcome of plays | " + " | ".join(_named(one.condition) for one in found) + " |"
    yield "|---|" + "---|" * len(found)
    for result in seen:
        yield f"| `{result}` | " + " | ".join(str(one.outcomes.get(result, 0)) for one in found) + " |"


def _pairs(played: Sequence[Played]) -> Iterable[str]:
    """Promoted beside each other layout of the same model, and hints beside none, on what both have."""
    all_cells = cells(played)
    known = list(dict.fromkeys(cell.condition for cell in all_cells))
    for condition in known:
        changed = {"mutation": None} if condition.mutation else {"layout": "promoted"}
        other = replace(condition, **changed)
        if other == condition or other not in known:
            continue
        sides = [_handed(under(all_cells, one)) for one in (condition, other)]
        found = contrast(*sides)
        low, high = found.interval.low, found.interval.high
        yield (
            f"- {_named(condition)} → {_named(other)}, the {found.pairs} hand-off requests that both have: "
            f"{len(found.gained)} gained, {len(found.lost)} lost, "
            f"{100 * found.difference:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f}), "
            f"p = {found.p:.2g}: {found.finding()}."
        )


def _handed(among: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in among if JOBS & set(cell.report.tags)]


def _share(found: Estimate) -> str:
    if found.rate is None or found.interval is None:
        return "-"
    low, high = found.interval.low, found.interval.high
    return f"{100 * found.rate:.0f} % of {found.whole} ({100 * low:.0f} to {100 * high:.0f})"


def _named(condition: Condition) -> str:
    model = condition.model.partition(":")[2] or condition.model
    return ", ".join(part for part in (model, condition.layout, condition.mutation) if part)


def _order(condition: Condition) -> tuple[str, int, str]:
    return condition.model, LAYOUTS.index(condition.layout), condition.mutation or ""


def main() -> None:
    """Write the tables into the README, or print them for the files that are named."""
    if len(sys.argv) > 1:
        sys.stdout.write(table(plays(map(Path, sys.argv[1:]))))
        return
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(before + BEGIN + table(plays(FOLDER.glob("*.jsonl*"))) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
