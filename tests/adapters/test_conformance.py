"""One scenario, every target: what ran, and what the model read back."""

from itertools import pairwise

import anyio
import pytest
from conformance import BY_NAME, DIRECT, LATE, PACKED, ROWS, drivers, play
from proofs import proves

from packbelt.providers import Axis

DRIVERS = {driver.name: driver for driver in drivers()}
TARGETS = {driver.target for driver in DRIVERS.values()}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Each target's transcript, played once for all its rows."""
    made = {}

    def get(driver):
        pytest.importorskip(driver.module, exc_type=ImportError)
        if driver.name not in made:
            root = tmp_path_factory.mktemp(driver.name)
            made[driver.name] = anyio.run(play, driver, root)
        return made[driver.name]

    return get


def cases(*axes):
    """Every driver with each row of some axes that means something there."""
    return [
        pytest.param(driver, row, id=f"{driver.name}-{row.name}")
        for driver in DRIVERS.values()
        for row in ROWS
        if row.axis in axes and row.name not in driver.omits
    ]


each = pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)


def check(seen, driver, row):
    ran = [entry for entry in seen.ran if entry == list(row.ran)]
    assert len(ran) == (1 if row.ran else 0), seen.ran
    read = seen.read[row.said.id]
    for words in driver.differs.get(row.name, row.reads):
        assert words in read
    for words in row.not_reads:
        assert words not in read.lower()


@proves(TARGETS, Axis.CALLABLE)
@pytest.mark.parametrize(("driver", "row"), cases("callable"))
def test_what_is_callable_runs_once_and_is_read_back(played, driver, row):
    check(played(driver), driver, row)


@proves(TARGETS, Axis.CALLABLE)
@each
def test_nothing_else_ran(played, driver):
    expected = [list(row.ran) for row in ROWS if row.ran and row.name not in driver.omits]
    assert sorted(map(str, played(driver).ran)) == sorted(map(str, expected))


@proves(TARGETS, Axis.DENIED)
@pytest.mark.parametrize(("driver", "row"), cases("denied"))
def test_what_is_not_callable_does_not_run_and_the_model_reads_why(played, driver, row):
    check(played(driver), driver, row)


@proves(TARGETS, Axis.UNKNOWN)
@pytest.mark.parametrize(("driver", "row"), cases("unknown"))
def test_an_invented_name_runs_nothing_and_the_model_reads_what_it_may_have_meant(played, driver, row):
    check(played(driver), driver, row)


@proves(TARGETS, Axis.AUTO_APPROVED)
@pytest.mark.parametrize(("driver", "row"), cases("auto_approved"))
def test_what_a_person_must_approve_waits_for_him(played, driver, row):
    seen = played(driver)
    check(seen, driver, row)
    wanted = [name for name in ("approved", "declined") if name not in driver.omits]
    assert seen.asked == ["server:main/guarded"] * len(wanted)


@proves(TARGETS, Axis.LATE)
@pytest.mark.parametrize(("driver", "row"), cases("late"))
def test_a_tool_that_arrives_late_is_shown_at_the_next_request_and_runs(played, driver, row):
    seen = played(driver)
    check(seen, driver, row)
    late = driver.spell(LATE)
    before = [late in names for names in seen.shown]
    assert before == sorted(before)
    assert (before[0], before[-1]) == (False, True)


@proves(TARGETS, Axis.VISIBLE)
@each
def test_the_model_is_shown_exactly_what_is_direct_at_every_request(played, driver):
    seen = played(driver)
    direct = {driver.spell(name) for name in DIRECT}
    if "opener" in driver.omits:
        direct -= {driver.spell("use_pack")}
        assert all(set(names) == {driver.spell(name) for name in PACKED} for names in seen.away)
    for names in seen.shown:
        assert len(names) == len(set(names))
        assert set(names) - {driver.spell(LATE)} == direct


@each
def test_nothing_that_was_shown_moves(played, driver):
    shown = played(driver).shown
    for earlier, later in pairwise(shown):
        assert later[: len(earlier)] == earlier


@each
def test_no_text_that_the_model_reads_names_a_tool_that_it_does_not_have(played, driver):
    """Where a target's own search takes the opener's place, hints and sections know no opener."""
    seen = played(driver)
    opener = driver.spell("use_pack")
    texts = [*seen.read.values(), *seen.system]
    assert any(opener in text for text in texts) == (opener in seen.shown[0])


@each
def test_the_last_word_is_the_models(played, driver):
    assert played(driver).answer == "done"


def test_every_row_is_in_the_script():
    from conformance import STEPS

    assert sorted(name for names in STEPS for name in names) == sorted(BY_NAME)
