"""Another process on the same runs. Told by lines on standard input, answers by lines on standard output.

The place comes by the environment (a URL's password is no argument). Each line is `verb id`; `at:<time>` before
a verb waits, spinning, for that moment of the monotonic clock, which all processes of a machine share.
"""

import os
import sys
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


async def main():
    where = os.environ["PLACE"]
    async with open_runs(where if "://" in where else Path(where), workspace=Path(WORKSPACE)) as store:
        print("open", flush=True)
        for line in sys.stdin:
            *when, verb, run = line.split()
            while when and time.monotonic() < float(when[0].removeprefix("at:")):
                pass
            try:
                await obey(store, verb, run)
            except PackbeltError as error:
                print(type(error).__name__, flush=True)
            else:
                print("ok", flush=True)


if __name__ == "__main__":
    anyio.run(main)
