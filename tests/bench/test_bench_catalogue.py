"""The bench measures equal work: packbelt and every installed peer hand out the same tools."""

import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "evals"))

from bench import engine, names, peers, rows_belt, rows_find, rows_server
from bench.catalogue import Catalogue, denied
from bench.clock import Case, measure
from bench.table import Row, markdown

TINY = Catalogue(3)


def wire(server, tool):
    return f"mcp__{server}__{tool}"


def schemas(catalogue, spell):
    return {
        spell(server, entry["name"]): (entry["description"], entry["inputSchema"])
        for server, entries in catalogue.listed.items()
        for entry in entries
        if (server, entry["name"]) in catalogue.visible
    }


def test_a_third_of_the_catalogue_is_visible():
    assert TINY.size == 60
    assert len(TINY.visible) == 21
    assert all(tool.startswith("get_") for _, tool in TINY.visible)
    assert len({e["name"] for e in TINY.listed["accounting"]}) == 20
    assert denied("delete_account")
    assert not denied("get_account")
    assert 650 <= TINY.bytes_each <= 750


@pytest.mark.parametrize("leave", [engine.unread, engine.next_revision])
def test_packbelt_hands_out_the_visible_third(leave):
    space, now = engine.workspace(TINY), engine.snapshot(TINY)
    handed = engine.visible(space, leave(now))
    assert {name: (text, schema) for name, text, schema in handed} == schemas(TINY, wire)


def test_a_cold_snapshot_is_another_with_equal_tools():
    now = engine.snapshot(TINY)
    fresh = engine.unread(now)
    assert fresh is not now
    assert all(fresh.servers[name] is not now.servers[name] for name in now.servers)
    assert {n: s.tools for n, s in fresh.servers.items()} == {n: s.tools for n, s in now.servers.items()}
    changed = engine.next_revision(now)
    assert changed is not now
    assert changed.servers is now.servers


@pytest.mark.parametrize("package", peers.PACKAGES)
@pytest.mark.filterwarnings("ignore")  # other people's packages warn as they please
def test_a_peer_hands_out_the_visible_third(package):
    pytest.importorskip(peers.PACKAGES[package])

    async def look():
        for peer in peers.build(package, TINY):
            handed = await peer.visible()
            assert {name: (text, schema) for name, text, schema in handed} == schemas(TINY, peer.spell)
            if peer.one:
                assert await peer.one(peer.spell("accounting", "get_account"))
                assert not await peer.one(peer.spell("accounting", "delete_account"))

    asyncio.run(look())


def test_every_worker_is_denied_more_than_the_reader():
    space, now = engine.workspace(TINY), engine.snapshot(TINY)
    everything = {name for name, _, _ in engine.visible(space, now)}
    for agent in engine.WORKERS:
        assert {name for name, _, _ in engine.visible(space, now, agent)} <= everything


def test_a_hint_is_right_only_if_it_proposes_the_tool_that_was_meant():
    space, now = rows_find._hint_world(Catalogue(9))  # `billing` is the ninth
    belt = engine.turn(space, now, engine.ROOT).belt
    thing = now.servers["billing"].tools[0].name.partition("_")[2]
    right, wrong = f"mcp__billing__get_{thing}", "mcp__accounting__get_account"
    asked = ((f"mcp__billing__gte_{thing}", right), (f"mcp__billing__gte_{thing}", wrong))
    assert rows_find.quality(belt, asked[:1]) == []
    assert rows_find.quality(belt, asked[1:]) == [f"mcp__billing__gte_{thing}"]
    known = set(belt)
    assert {meant for _, meant in names.cases(thing)} <= known
    assert not {called for called, _ in names.cases(thing)} & known


def test_the_clock_times_coroutines_and_functions_on_what_was_prepared():
    seen = []

    async def later(given):
        seen.append(given)

    cases = [Case("now", seen.append, lambda: 1, calls=2), Case("later", later, lambda: 2, samples=2)]
    figures = asyncio.run(measure(cases, 0, at_least=3))
    assert figures["now"].samples == 3
    assert figures["later"].samples == 6
    assert seen.count(1) == 2 * (3 + 1)
    assert seen.count(2) == 6 + 1
    assert 0 < figures["now"].best <= figures["now"].median


def test_rows_say_on_which_side_of_the_bar_they_are():
    assert Row("x", 1.0, "ms", 1.0).verdict == "ok"
    assert Row("x", 1.01, "ms", 1.0).verdict == "over"
    assert Row("x", 9.0, "x", 10.0, least=True).verdict == "under"
    assert Row("x", None, "ms", 1.0).verdict == "not measured"
    assert Row("x", 1.0, "ms").verdict == ""
    assert markdown(("a", "b"), [("1", "22")]) == "| a | b  |\n|---|----|\n| 1 | 22 |"


@pytest.mark.parametrize(
    "rows",
    [
        lambda: rows_belt.rows(0.1, (TINY,)),
        lambda: rows_find.rows(0.1, Catalogue(10)),
        lambda: rows_server.rows(0.1, TINY),
    ],
)
def test_every_row_runs_on_a_small_catalogue(rows):
    found = asyncio.run(rows())
    assert found
    assert all(isinstance(row, Row) for row in found)
