"""What an idle agent of an open fleet occupies; a process of its own. Prints one JSON object."""

import gc
import json
import sys
import tracemalloc
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[0] = str(Path(__file__).parents[1])

AGENTS, SERVERS = 1000, 10


async def main() -> None:
    import packbelt
    from bench.fleet import place
    from bench.memory import resident

    with TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            workspace = place(Path(folder), SERVERS)
            fleet = await stack.enter_async_context(packbelt.open(workspace, trust=True, runs=":memory:"))
            warm = await stack.enter_async_context(fleet.agent("boss"))
            tools = len((await warm.turn()).tools)
            gc.collect()
            whole = resident()
            tracemalloc.start()
            for _ in range(AGENTS):
                agent = await stack.enter_async_context(fleet.agent("boss"))
                await agent.turn()
            gc.collect()
            each = tracemalloc.get_traced_memory()[0] / AGENTS / 1e3
    print(json.dumps({"agents": AGENTS, "tools": tools, "fleet": whole, "each": each}))


if __name__ == "__main__":
    import anyio

    anyio.run(main)
