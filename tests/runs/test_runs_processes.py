"""Real second processes, ended by SIGKILL where it says killed."""

import time
from collections import Counter

import anyio
import pytest
from runs_worker import WORKSPACE

from packbelt.live.runs import Run, RunBusyError, RunNotResumableError, RunStatus, new_run_id

SEARCH = "calling server:github/search"


def killed_after(worker, *verbs):
    """A run of a process that did this and was killed."""
    run = new_run_id()
    process = worker().opened()
    for verb in ("create", *verbs):
        assert process.ask(verb, run) == "ok"
    process.kill()
    return run


def test_a_process_killed_in_a_call_leaves_a_run_that_is_not_resumable(opened, worker):
    run = killed_after(worker, "begin")

    async def main():
        async with opened() as store:
            found = await store.get(run)
            with pytest.raises(RunNotResumableError) as refused:
                await store.claim(run, "go on")
            return found, await store.find(WORKSPACE), str(refused.value)

    found, listed, said = anyio.run(main)
    why = f"its process ended while it was {SEARCH}: the call may have happened"
    assert (found.status, found.resumable, found.reason) == (RunStatus.FAILED, False, why)
    assert (found.request, found.messages) == ("look", [{"n": 1}])
    assert [(each.id, each.status, each.reason) for each in listed] == [(run, RunStatus.FAILED, why)]
    assert why in said


@pytest.mark.parametrize("verbs", [(), ("begin", "settle")])
def test_a_process_killed_between_calls_leaves_a_run_that_is_resumable(opened, worker, verbs):
    run = killed_after(worker, *verbs)

    async def main():
        async with opened() as store:
            found = await store.get(run)
            return found, await store.claim(run, "go on")

    found, claimed = anyio.run(main)
    assert (found.status, found.resumable, found.reason) == (
        RunStatus.FAILED,
        True,
        "its process ended between calls",
    )
    assert (claimed.status, claimed.request, claimed.messages) == (RunStatus.RUNNING, "go on", [{"n": 1}])


def test_a_process_killed_after_an_ambiguous_call_leaves_its_reason(opened, worker):
    run = killed_after(worker, "begin", "spoil")

    async def main():
        async with opened() as store:
            return await store.get(run)

    found = anyio.run(main)
    assert (found.status, found.resumable, found.spoiled) == (RunStatus.FAILED, False, True)
    assert found.reason == "server:github/search timed out: it may have happened"


@pytest.mark.parametrize("way", ["get", "claim", "find"])
def test_a_process_that_is_killed_later_is_found_out_without_opening_anew(opened, worker, way):
    run = new_run_id()

    async def main():
        async with opened() as store:
            process = worker().opened()
            assert process.ask("create", run) == "ok"
            with pytest.raises(RunBusyError, match="another process"):
                await store.claim(run, "go on")
            alive = await store.get(run)
            process.kill()
            if way == "claim":
                found = await store.claim(run, "go on")
            elif way == "get":
                found = await store.get(run)
            else:
                (found,) = await store.find(WORKSPACE)
            return alive, found

    alive, found = anyio.run(main)
    assert alive.status is RunStatus.RUNNING
    assert found.status is (RunStatus.RUNNING if way == "claim" else RunStatus.FAILED)


def test_a_live_process_keeps_its_run_from_others(opened, worker):
    run = new_run_id()
    process = worker().opened()
    assert process.ask("create", run) == "ok"
    assert process.ask("begin", run) == "ok"

    async def refused():
        async with opened() as store:
            with pytest.raises(RunBusyError) as error:
                await store.claim(run, "go on")
            return await store.get(run), str(error.value)

    found, said = anyio.run(refused)
    assert (found.status, found.reason) == (RunStatus.RUNNING, SEARCH)
    assert SEARCH in said
    assert "wait until it has finished" in said
    assert process.ask("settle", run) == "ok"
    assert process.ask("finish", run) == "ok"

    async def claimed():
        async with opened() as store:
            return await store.claim(run, "go on")

    assert anyio.run(claimed).messages == [{"n": 2}]
    assert process.end() == 0


def test_of_two_processes_that_claim_one_run_one_gets_it(worker):
    run = new_run_id()
    pair = worker().opened(), worker().opened()
    assert pair[0].ask("create", run) == "ok"
    assert pair[0].ask("finish", run) == "ok"
    for _ in range(50):
        moment = time.monotonic() + 0.01
        for process in pair:
            process.say(f"at:{moment}", "claim", run)
        said = [process.heard() for process in pair]
        assert sorted(said) == ["RunBusyError", "ok"]
        assert pair[said.index("ok")].ask("finish", run) == "ok"
    assert [process.end() for process in pair] == [0, 0]


def test_of_two_processes_that_claim_a_dead_ones_run_one_gets_it(worker):
    pair = worker().opened(), worker().opened()
    for _ in range(4):
        run = new_run_id()
        dead = worker().opened()
        assert dead.ask("create", run) == "ok"
        dead.kill()
        moment = time.monotonic() + 0.01
        for process in pair:
            process.say(f"at:{moment}", "claim", run)
        said = [process.heard() for process in pair]
        assert sorted(said) == ["RunBusyError", "ok"]
        assert pair[said.index("ok")].ask("finish", run) == "ok"


def test_eight_processes_that_open_and_write_at_once_lose_nothing(opened, worker):
    """They make the tables at once, too."""
    crowd = [worker() for _ in range(8)]
    for process in crowd:
        process.say("write", "25")
    for process in crowd:
        assert process.opened().heard() == "ok"
        assert process.end() == 0

    async def main():
        async with opened() as store:
            found = await store.find(WORKSPACE, limit=1000)
            return found, [await store.get(run.id) for run in found]

    found, whole = anyio.run(main)
    assert len(found) == 200
    assert {run.status for run in found} == {RunStatus.COMPLETED}
    assert all(run.resumable for run in found)
    assert Counter(run.output for run in found) == {str(n): 8 for n in range(25)}
    assert all(run.messages == [int(run.output), "end"] for run in whole)


@pytest.mark.parametrize("attempt", range(4))
def test_processes_that_make_the_tables_at_once(worker, attempt):
    crowd = [worker() for _ in range(6)]
    run = new_run_id()
    for process in crowd:
        process.opened()
    assert crowd[attempt].ask("create", run) == "ok"
    assert [process.ask("claim", run) for process in crowd] == ["RunBusyError"] * 6
    assert [process.end() for process in crowd] == [0] * 6


def test_two_stores_of_one_process_are_two_owners(opened):
    run = Run(new_run_id(), WORKSPACE, "explorer")

    async def main():
        async with opened() as store:
            async with opened() as other:
                await other.create(run)
                with pytest.raises(RunBusyError):
                    await store.claim(run.id, "go on")
            return await store.claim(run.id, "go on")

    assert anyio.run(main).request == "go on"
