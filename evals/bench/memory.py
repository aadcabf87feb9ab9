"""What 2,000 tools and 50 agents occupy; a process of its own. Prints one JSON object."""

import json
import os
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])


def resident() -> float:
    """MB in memory now (on Linux), else the most that there were."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    bare = resident()
    from bench import engine
    from bench.catalogue import Catalogue

    catalogue = Catalogue(100)
    space, now = engine.workspace(catalogue), engine.snapshot(catalogue)
    turns = [engine.turn(space, now, agent) for agent in engine.WORKERS]
    handed = [engine.handed(turn) for turn in turns]
    explained = turns[0].belt["vault_open"].decision
    decided = resident()
    counted = sum(state.tokens for state in now.servers.values())
    full = resident()
    loaded = sorted({"mcp", "pydantic", "jinja2", "yaml", "jsonschema"} & sys.modules.keys())
    print(
        json.dumps(
            {
                "bare": bare,
                "decided": decided,
                "counted": full,
                "tools": len(turns[0].belt),
                "schemas": sum(map(len, handed)),
                "tokens": counted,
                "state": explained.state,
                "loaded": loaded,
            }
        )
    )


if __name__ == "__main__":
    main()
