"""Rows about servers that arrive, and about counting."""

from itertools import count
from statistics import median
from typing import Any

from bench import engine
from bench.catalogue import Catalogue
from bench.clock import Case, measure
from bench.table import NS, Row, timed
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.tokens import ENCODING, count_all, encoder

_NUMBER = count()


def _new(size: int) -> list[dict[str, Any]]:
    """A server's list that nobody has seen: each text differs, so that no count is at hand."""
    entries = next(iter(Catalogue(1, size).listed.values()))
    n = next(_NUMBER)
    return [e | {"description": f"{e['description']} Edition {n}-{k}."} for k, e in enumerate(entries)]


def _admit(now: Snapshot, entries: list[dict[str, Any]]) -> int:
    state = now.connect("newcomer", entries).servers["newcomer"]
    return len(state.names) + len(state.altered) + state.tokens


def _changed(now: Snapshot) -> tuple[Snapshot, list[dict[str, Any]]]:
    """A server that is connected and counted, and its list with one tool changed."""
    entries = _new(20)
    before = now.connect("newcomer", entries)
    _ = before.servers["newcomer"].tokens
    return before, [_new(1)[0], *entries[1:]]


async def rows(seconds: float, catalogue: Catalogue) -> list[Row]:
    """The rows."""
    encoder(ENCODING)
    now = engine.snapshot(catalogue)
    figures = await measure(
        [
            Case("20", lambda given: _admit(now, given), lambda: _new(20), samples=4),
            Case("200", lambda given: _admit(now, given), lambda: _new(200)),
            Case("changed", lambda given: _admit(*given), lambda: _changed(now), samples=4),
        ],
        seconds / 2,
    )
    note = "parse, wire names, tokens; a snapshot of 100 servers; vocabulary loaded"
    found = [
        timed("admission of a server of 20, per tool", figures["20"], "µs", 50.0, per=20, note=note),
        timed("admission of a server of 200, per tool", figures["200"], "µs", 50.0, per=200, note="as above"),
        timed(
            "list_changed, one tool of 20 is new, per tool",
            figures["changed"],
            "µs",
            50.0,
            per=20,
            note="the other nineteen are known and counted",
        ),
    ]
    return found + await _counting(seconds / 2, now)


async def _counting(seconds: float, now: Snapshot) -> list[Row]:
    lines = [tool.line for state in now.servers.values() for tool in state.tools]
    encode = encoder(ENCODING).encode_ordinary
    current: list[str] = []

    def fresh() -> list[str]:
        n = next(_NUMBER)
        current[:] = [f"{line[:-2]},{n}{line[-2:]}" for line in lines]
        return current

    raw = Case("raw", lambda texts: [len(encode(text)) for text in texts], fresh)
    first = Case("first", count_all, lambda: current)  # the very texts that tiktoken counted just before
    cached = Case("cached", count_all, lambda: current)
    figures = await measure([raw, first, cached], seconds)
    ratio = median(one / two for one, two in zip(first.times, raw.times, strict=True))
    size = f"{len(lines):,}"
    plain, ours = (figures[name].median / NS["ms"] for name in ("raw", "first"))
    note = f"tiktoken {plain:.1f} ms, packbelt {ours:.1f} ms"
    return [
        Row(f"counting tokens of {size} tools, first, over tiktoken", ratio, "x", 1.1, note=note),
        timed(f"counting tokens of {size} tools, cached", figures["cached"], "ms", 5.0),
    ]
