"""Another process on the same runs. Told by lines through a pipe, answers by words.

Each line is `verb id`; `at:<time>` before a verb waits, spinning, for that moment of the monotonic clock, which
all processes of a machine share.
"""

import time
from pathlib import Path

import anyio

from packbelt.live.runs import Run, RunStatus, new_run_id, open_runs
from packbelt.model import PackbeltError

WORKSPACE = "/a/workspace"


async def obey(store, verb, run):
    if verb == "create":
        await store.create(Run(run, WORKSPACE, "explorer", request="look", messages=[{"n": 1}]))
    elif verb == "begin":
        await store.begin(run, "calling server:github/search")
    elif verb == "settle":
        await store.settle(run)
    elif verb == "spoil":
        await store.spoil([run], "server:github/search timed out: it may have happened")
    elif verb == "claim":
        await store.claim(run, "go on")
    elif verb == "finish":
        await store.finish(run, RunStatus.COMPLETED, output="done", messages=[{"n": 2}])
    elif verb == "write":
        for n in range(int(run)):
            made = new_run_id()
            await store.create(Run(made, WORKSPACE, "writer"))
            await store.begin(made, "calling native:add")
            await store.settle(made)
            await store.keep(made, [n])
            await store.finish(made, RunStatus.COMPLETED, output=str(n), messages=[n, "end"])
    else:
        raise ValueError(verb)


async def listen(place, pipe):
    async with open_runs(place, workspace=Path(WORKSPACE)) as store:
        pipe.send("open")
        while line := pipe.recv():
            *when, verb, run = line.split()
            while when and time.monotonic() < float(when[0].removeprefix("at:")):
                pass
            try:
                await obey(store, verb, run)
            except PackbeltError as error:
                pipe.send(type(error).__name__)
            else:
                pipe.send("ok")


def work(place, pipe):
    anyio.run(listen, place, pipe)
