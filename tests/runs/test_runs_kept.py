import math
import uuid
from dataclasses import replace

import anyio
import pytest
from pydantic import BaseModel, Field
from runs_worker import WORKSPACE

from packbelt.live.runs import (
    Run,
    RunBusyError,
    RunNotResumableError,
    RunStatus,
    RunStoreError,
    UnknownRunError,
    new_run_id,
)

SEARCH = "calling server:github/search"


def run_of(**fields):
    return Run(**{"id": new_run_id(), "workspace": WORKSPACE, "agent": "explorer", **fields})


def test_a_run_comes_back_as_it_was(opened):
    run = run_of(
        parent=new_run_id(),
        scope={"deny": ["github/*"], "path": ["a", "b"], "ceiling": None},
        request="zoë \0 \ud83d \N{GRINNING FACE}",
        output="half \udcff",
        messages=[{"role": "user", "content": [{"text": "\0\udcff", "n": 1.5, "ok": True, "none": None}]}],
        created=1_700_000_000.25,
    )

    async def main():
        async with opened() as store:
            await store.create(run)
            return await store.get(run.id)

    kept = anyio.run(main)
    assert kept == replace(run, changed=kept.changed)
    assert kept.changed > run.created


def test_a_run_is_not_resumable_while_it_calls(opened):
    run = run_of()

    async def main():
        async with opened() as store, opened() as other:
            await store.create(run)
            before = await other.get(run.id)
            await store.begin(run.id, SEARCH)
            during = await other.get(run.id)
            await store.settle(run.id)
            return before, during, await other.get(run.id)

    before, during, after = anyio.run(main)
    assert (before.resumable, before.reason) == (True, "")
    assert (during.resumable, during.reason, during.status) == (False, SEARCH, RunStatus.RUNNING)
    assert (after.resumable, after.reason, after.status) == (True, "", RunStatus.RUNNING)


def test_a_spoiled_run_stays_spoiled_and_says_by_what(opened):
    run, parent = run_of(), run_of()
    why = "server:github/search timed out: it may have happened"

    async def main():
        async with opened() as store:
            await store.create(parent)
            await store.create(run)
            await store.begin(run.id, SEARCH)
            await store.spoil([run.id, parent.id], why)
            await store.settle(run.id)
            await store.spoil([run.id], "later")
            await store.begin(run.id, "calling native:add")
            await store.settle(run.id)
            await store.finish(run.id, RunStatus.FAILED, output="", messages=[], why="the host gave up")
            with pytest.raises(RunNotResumableError) as refused:
                await store.claim(run.id, "go on")
            return await store.get(run.id), await store.get(parent.id), str(refused.value)

    run, parent, said = anyio.run(main)
    assert (run.status, run.spoiled, run.resumable, run.reason) == (RunStatus.FAILED, True, False, why)
    assert (parent.status, parent.spoiled, parent.resumable, parent.reason) == (
        RunStatus.RUNNING,
        True,
        False,
        why,
    )
    assert why in said
    assert "start a new run" in said


def test_a_finished_run_is_continued_with_its_conversation(opened):
    run = run_of(request="first", messages=[1])

    async def main():
        async with opened() as store, opened() as other:
            await store.create(run)
            await store.keep(run.id, [1, 2])
            kept = await other.get(run.id)
            await store.finish(run.id, RunStatus.COMPLETED, output="an answer", messages=[1, 2, 3])
            claimed = await other.claim(run.id, "second")
            with pytest.raises(RunBusyError, match="another process"):
                await store.claim(run.id, "third")
            with pytest.raises(RunBusyError, match="at work here"):
                await other.claim(run.id, "third")
            await other.finish(run.id, RunStatus.COMPLETED, output="another", messages=[1, 2, 3, 4])
            return kept, claimed, await store.get(run.id)

    kept, claimed, last = anyio.run(main)
    assert kept.messages == [1, 2]
    assert (claimed.status, claimed.request, claimed.output, claimed.messages) == (
        RunStatus.RUNNING,
        "second",
        "an answer",
        [1, 2, 3],
    )
    assert (last.status, last.request, last.output, last.messages) == (
        RunStatus.COMPLETED,
        "second",
        "another",
        [1, 2, 3, 4],
    )


def test_a_failed_run_keeps_why_and_is_resumable(opened):
    run = run_of()

    async def main():
        async with opened() as store:
            await store.create(run)
            await store.finish(run.id, RunStatus.FAILED, output="", messages=[], why="HTTP 529")
            failed = await store.get(run.id)
            return failed, await store.claim(run.id, "again")

    failed, claimed = anyio.run(main)
    assert (failed.status, failed.resumable, failed.reason) == (RunStatus.FAILED, True, "HTTP 529")
    assert (claimed.status, claimed.reason) == (RunStatus.RUNNING, "")


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.COMPLETED])
def test_a_run_that_ends_in_a_call_is_not_resumable(opened, status):
    run = run_of()

    async def main():
        async with opened() as store:
            await store.create(run)
            await store.begin(run.id, SEARCH)
            await store.finish(run.id, status, output="", messages=[], why="cancelled")
            with pytest.raises(RunNotResumableError, match="the call may have happened"):
                await store.claim(run.id, "again")
            return await store.get(run.id)

    ended = anyio.run(main)
    assert ended.status is status
    assert ended.reason == f"it ended while it was {SEARCH}: the call may have happened"


def test_what_is_not_there_or_not_at_work_is_said(opened):
    run = run_of()

    async def main():
        async with opened() as store, opened() as other:
            for doing in (
                store.get("nobody"),
                store.claim("nobody", "x"),
                store.begin("nobody", SEARCH),
                store.settle("nob\ud800dy"),
                store.keep("nobody", []),
                store.finish("nobody", RunStatus.COMPLETED, output="", messages=[]),
            ):
                with pytest.raises(UnknownRunError) as unknown:
                    await doing
                assert "take its id from" in str(unknown.value)
            await store.create(run)
            with pytest.raises(RunStoreError, match="already"):
                await other.create(run)
            for doing in (
                other.begin(run.id, SEARCH),
                other.settle(run.id),
                other.keep(run.id, []),
                other.finish(run.id, RunStatus.COMPLETED, output="", messages=[]),
            ):
                with pytest.raises(RunBusyError, match="another process"):
                    await doing
            with pytest.raises(RunStoreError, match="does not finish as running"):
                await store.finish(run.id, RunStatus.RUNNING, output="", messages=[])
            await store.finish(run.id, RunStatus.COMPLETED, output="", messages=[])
            with pytest.raises(RunStoreError, match="no longer at work, it is completed"):
                await store.begin(run.id, SEARCH)
            return await store.get(run.id)

    assert anyio.run(main).resumable


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([object()], r"messages\[0\] is of type object"),
        ([{"a": [1, {2}]}], r"messages\[0\].a\[1\] is of type set"),
        ([{1: "a"}], r"messages\[0\] has a key of type int"),
        ([math.nan], r"messages\[0\] is nan"),
        ([b"raw"], "of type bytes"),
    ],
)
def test_what_is_not_json_is_refused_before_anything_is_written(opened, bad, said):
    run, never = run_of(messages=["first"]), run_of(messages=bad)

    async def main():
        async with opened() as store:
            await store.create(run)
            before = await store.get(run.id)
            for doing in (
                store.create(never),
                store.keep(run.id, bad),
                store.finish(run.id, RunStatus.COMPLETED, output="x", messages=bad),
            ):
                with pytest.raises(RunStoreError, match=said):
                    await doing
            with pytest.raises(UnknownRunError):
                await store.get(never.id)
            return before, await store.get(run.id)

    before, after = anyio.run(main)
    assert before == after


def test_an_sdks_objects_are_kept_as_what_they_were_read_from(opened):
    class Block(BaseModel):
        type: str
        text: str
        citations: list | None = None
        media: str = Field("", alias="mediaType")

    blocks = [
        Block(type="text", text="hi"),
        Block.model_validate({"type": "x", "text": "", "mediaType": "y"}),
    ]

    async def main():
        async with opened() as store:
            await store.create(run_of(id="1"))
            await store.keep("1", [{"role": "assistant", "content": blocks}])
            kept = (await store.get("1")).messages
            texts = [{"type": "text", "text": "hi"}, {"type": "x", "text": "", "mediaType": "y"}]
            assert list(kept) == [{"role": "assistant", "content": texts}]

    anyio.run(main)


def test_endless_messages_are_refused(opened):
    endless = []
    endless.append(endless)

    async def main():
        async with opened() as store:
            with pytest.raises(RunStoreError, match="deep"):
                await store.create(run_of(messages=endless))

    anyio.run(main)


def test_the_latest_runs_of_a_workspace(opened):
    ids = [new_run_id(1_700_000_000 + n / 10_000) for n in range(5)]

    async def main():
        async with opened() as store:
            for run in (ids[3], ids[0], ids[4], ids[1]):
                await store.create(run_of(id=run, request=f"ask {run}", messages=[1, 2]))
            await store.create(run_of(id=ids[2], workspace="/elsewhere"))
            return (
                await store.find(WORKSPACE),
                await store.find(WORKSPACE, limit=2),
                await store.find("/elsewhere"),
                await store.find("/nowhere"),
            )

    found, two, elsewhere, nowhere = anyio.run(main)
    assert [run.id for run in found] == [ids[4], ids[3], ids[1], ids[0]]
    assert [run.id for run in two] == [ids[4], ids[3]]
    assert [run.id for run in elsewhere] == [ids[2]]
    assert nowhere == []
    assert {tuple(run.messages) for run in found} == {()}
    assert found[0].request == f"ask {ids[4]}"


def test_a_workspace_whose_path_is_not_utf8_is_found(opened):
    async def main():
        async with opened("/a/\udcff") as store:
            await store.create(run_of(workspace="/a/\udcff"))
            return await store.find("/a/\udcff")

    assert len(anyio.run(main)) == 1


def test_closing_settles_what_is_still_at_work(opened):
    idle, calling = run_of(), run_of()

    async def main():
        async with opened() as store, opened() as other:
            await store.create(idle)
            await store.create(calling)
            await store.begin(calling.id, SEARCH)
            await store.close()
            await store.close()
            for doing in (store.get(idle.id), store.begin(idle.id, SEARCH), store.find(WORKSPACE)):
                with pytest.raises(RunStoreError, match="the store is closed"):
                    await doing
            first, second = await other.get(idle.id), await other.get(calling.id)
            await other.claim(idle.id, "go on")
            with pytest.raises(RunNotResumableError):
                await other.claim(calling.id, "go on")
            return first, second

    idle, calling = anyio.run(main)
    assert (idle.status, idle.resumable, idle.reason) == (
        RunStatus.FAILED,
        True,
        "its store was closed between calls",
    )
    assert (calling.status, calling.resumable) == (RunStatus.FAILED, False)
    assert calling.reason == f"its store was closed while it was {SEARCH}: the call may have happened"


def test_old_finished_runs_are_forgotten_on_opening(place, opened):
    """Of 1,003 the three that changed longest ago; neither one at work nor another workspace's."""
    count = 1003
    at_work, elsewhere = run_of(created=1.0), run_of(workspace="/elsewhere", created=1.0)

    async def fill():
        async with opened("/other") as store:
            await store.create(elsewhere)

    async def main():
        async with opened("/other") as store:
            await store.create(at_work)
            async with opened():
                pass
            return await store.find(WORKSPACE, limit=5000), await store.get(elsewhere.id)

    anyio.run(fill)
    many = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    # The lower the number, the later it changed: what counts is the last change, not the age.
    place.sql(f"""{many} INSERT INTO packbelt_runs SELECT 'run-' || i, '{WORKSPACE}', 'a', NULL, NULL,
        'completed', 1, 0, '', i, 5000 - i FROM n""")
    place.sql(f"""{many} INSERT INTO packbelt_conversations SELECT 'run-' || i, '{{}}', '""', '""', '[]'
        FROM n""")
    found, other = anyio.run(main)
    assert {run.id for run in found} == {at_work.id, *(f"run-{n}" for n in range(1, 1001))}
    assert other.id == elsewhere.id
    assert place.sql("SELECT count(*) FROM packbelt_conversations WHERE run LIKE 'run-%'") == [(1000,)]


def test_ids_of_runs_sort_by_age():
    moments = [1_700_000_000 + n / 4000 for n in range(300)]
    ids = [new_run_id(moment) for moment in moments]
    assert ids == sorted(ids)
    assert len({new_run_id(1.0) for _ in range(100)}) == 100
    made = uuid.UUID(ids[0])
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == 1_700_000_000_000
