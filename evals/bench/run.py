"""One command, one table: packbelt beside pydantic-ai, openai-agents and FastMCP.

    uv run --group bench python evals/bench/run.py [--json] [--seconds 45]

Never asserts: what is over its bar says so and the exit code is 0.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])  # the package is `bench`; its own folder must not shadow anybody

from bench import rows_belt, rows_find, rows_live, rows_process, rows_server  # noqa: E402 - after the path
from bench.catalogue import Catalogue  # noqa: E402
from bench.peers import installed  # noqa: E402
from bench.side_by_side import COLD, NEXT, WARM, Comparison  # noqa: E402
from bench.table import NS, Row, markdown, number, timed  # noqa: E402
from packbelt import __version__  # noqa: E402

SERVERS = (1, 10, 100)
SHARES = {1: 0.04, 10: 0.10, 100: 0.34, "belt": 0.11, "server": 0.11}
SHARES |= {"find": 0.10, "live": 0.10, "process": 0.10}
"""Of the time that the run may take."""


async def measured(seconds: float) -> tuple[dict[int, Comparison], list[Row]]:
    """All of it."""
    compared = {}
    for count in SERVERS:
        say(f"side by side, {count} server{'s' if count > 1 else ''}")
        compared[count] = Comparison(Catalogue(count))
        await compared[count].run(seconds * SHARES[count])
    found = headline(compared[max(SERVERS)])
    catalogue = compared[max(SERVERS)].catalogue
    say("deciding")
    found += await rows_belt.rows(seconds * SHARES["belt"])
    say("servers and tokens")
    found += await rows_server.rows(seconds * SHARES["server"], catalogue)
    say("hints and search")
    found += await rows_find.rows(seconds * SHARES["find"], catalogue)
    say("a fleet at work")
    found += await rows_live.rows(seconds * SHARES["live"])
    say("processes")
    found += rows_process.rows(seconds * SHARES["process"])
    return compared, found


def say(what: str) -> None:
    """Where it is, for whoever waits."""
    print(f"measuring: {what} ...", file=sys.stderr, flush=True)


def headline(last: Comparison) -> list[Row]:
    """The rows that have a peer."""
    figures, fastest = last.figures, last.fastest()
    size = f"{last.catalogue.size:,} tools, {len(last.catalogue.visible)} visible"
    cold = figures[COLD]
    found = [
        timed(f"cold belt, {size}", figures[COLD], "ms", 1.0, note="of a snapshot as loading leaves it"),
        timed("cold belt, next revision", figures[NEXT], "ms", 1.0, note="of servers that stayed"),
    ]
    if fastest:
        note = f"fastest peer: {fastest}, {number(figures[fastest].median / NS['ms'])} ms"
        found.append(
            Row(
                "cold belt, times faster than the fastest peer",
                figures[fastest].median / cold.median,
                "x",
                10.0,
                least=True,
                note=note,
                best=figures[fastest].best / cold.best,
            )
        )
    found.append(timed("warm belt, same revision", figures[WARM], "µs", 5.0, note="turn() and .tools"))
    return found


def comparison(compared: Mapping[int, Comparison]) -> str:
    """The table of contenders."""
    last = compared[max(compared)]
    lines = []
    for name, figure in sorted(last.figures.items(), key=lambda item: item[1].median):
        cells = [number(one.figures[name].median / NS["ms"]) for one in compared.values()]
        ratio = number(figure.median / last.figures[COLD].median)
        label = name.replace("one: ", "deciding one tool: ")
        lines.append((label, *cells, number(figure.best / NS["ms"]), ratio, str(figure.samples)))
    sizes = (f"{one.catalogue.size:,} tools" for one in compared.values())
    head = ("CPU ms, medians", *sizes, "best", "x packbelt, cold", "samples")
    return markdown(head, lines)


def machine() -> str:
    """Class of the machine: no names."""
    system = f"{platform.system()} {platform.machine()}"
    return f"{os.cpu_count()} cores, {system}, Python {platform.python_version()}"


def main() -> None:
    parser = argparse.ArgumentParser(description="packbelt's speed beside its peers', in one run.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--seconds", type=float, default=45.0, help="about how long to measure (default: 45)")
    options = parser.parse_args()
    compared, found = asyncio.run(measured(options.seconds))
    versions = {"packbelt": __version__, **installed()}
    now = datetime.now(UTC)
    load = os.getloadavg()[0]
    if options.json:
        data = {
            "date": now.isoformat(timespec="seconds"),
            "machine": machine(),
            "load": load,
            "versions": versions,
            "rows": [asdict(row) | {"verdict": row.verdict} for row in found],
            "side_by_side": {
                count: {name: asdict(figure) for name, figure in one.figures.items()}
                for count, one in compared.items()
            },
        }
        print(json.dumps(data, indent=1, ensure_ascii=False))
        return
    catalogue = compared[max(compared)].catalogue
    print(f"{now:%Y-%m-%d %H:%M} UTC · {machine()} · load {load:.1f} at the end")
    print(" · ".join(f"{name} {number_}" for name, number_ in versions.items()))
    size = f"{len(catalogue.listed)} servers x {catalogue.each} tools"
    print(f"{size}, {catalogue.bytes_each:.0f} bytes of JSON each\n")
    print(comparison(compared))
    print()
    print(markdown(("work", "median", "bar", "", "best", "note"), [row.cells() for row in found]))


if __name__ == "__main__":
    main()
