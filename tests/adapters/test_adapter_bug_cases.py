"""Bug cases that speak of what a target's own dispatch lets through, for every target."""

import anyio
import pytest
from conformance import Said, Step, drivers, play

DRIVERS = {driver.name: driver for driver in drivers() if "opener" not in driver.omits}

SPELLINGS = (
    ("mcp__main__forbidden", {}),
    ("forbidden", {}),
    ("main/forbidden", {}),
    ("mcp__main__Forbidden", {}),
    ("use_pack", {"pack": "mcp:main", "tool": "forbidden"}),
    ("use_pack", {"pack": "mcp:main", "tool": "mcp__main__forbidden"}),
    ("use_pack", {"pack": "mcp:boxed", "tool": "mcp__main__forbidden"}),
)
OTHERS = (
    ("use_pack", {"pack": "mcp:vault", "tool": "unlock", "arguments": {"text": "door"}}),
    ("use_pack", {"pack": "mcp:boxed", "tool": "mcp__vault__unlock", "arguments": {"text": "door"}}),
    ("use_pack", {"pack": "mcp:boxed", "tool": "unlock", "arguments": {"text": "door"}}),
)


def said(calls):
    return Step(tuple(Said(f"c{place}", name, arguments) for place, (name, arguments) in enumerate(calls, 1)))


def playing(driver, tmp_path, calls):
    pytest.importorskip(driver.module, exc_type=ImportError)
    return anyio.run(play, driver, tmp_path, [said(calls)])


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
def test_ad08_a_denied_tool_runs_by_none_of_its_spellings(driver, tmp_path):
    by_name = "denied" not in driver.omits  # else its client answers none but the tools that it was given
    calls = [one for one in SPELLINGS if by_name or one[0] == "use_pack"]
    seen = playing(driver, tmp_path, calls)
    assert seen.ran == []
    assert set(seen.read) == {f"c{place}" for place in range(1, len(calls) + 1)}
    assert not by_name or "denied" in seen.read["c1"]


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
def test_ad21_what_is_called_through_the_opener_passes_the_gate(driver, tmp_path):
    seen = playing(driver, tmp_path, OTHERS)
    assert seen.ran == []
    assert "ask_keeper" in seen.read["c1"]
