"""What a run's record says while calls come and go, in a store that takes its time."""

import anyio

from packbelt.live.runs import Run, open_runs
from packbelt.live.runs.marks import Marks


class Slow:
    """A host's own store, in which each settling takes until something else was asked of it."""

    def __init__(self, store):
        self._store = store
        self.settling = anyio.Event()

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def settle(self, run):
        self.settling.set()
        await anyio.wait_all_tasks_blocked()
        await self._store.settle(run)


def test_a_call_that_begins_while_the_one_before_is_settled_is_seen_as_under_way(tmp_path):
    async def main():
        async with open_runs(":memory:", workspace=tmp_path) as real:
            store, run = Slow(real), Run("r1", str(tmp_path), "boss")
            marks = Marks(store, run)
            await marks.create(run)
            await marks.dispatch("server:a/one")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(marks.known, "server:a/one")
                await store.settling.wait()
                await marks.dispatch("server:a/two")
            kept = await real.get("r1")
            assert (kept.resumable, kept.reason) == (False, "calling server:a/two")
            await marks.known("server:a/two")
            assert (await real.get("r1")).resumable

    anyio.run(main)
