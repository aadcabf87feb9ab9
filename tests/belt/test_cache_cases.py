"""Bug cases on the bytes that a provider's prompt cache depends on (TK)."""

import os
import random
import subprocess
import sys

from packbelt.model import ServerStatus
from packbelt.testing import make_snapshot, make_workspace, server_tool
from packbelt.turn import AgentHandle, turn

TOOLS = [f"tool_{n}" for n in range(12)]
PRINT_DIGEST = """
from packbelt.testing import make_snapshot, make_workspace
from packbelt.turn import turn
servers = {name: {f"tool_{n}" for n in range(12)} for name in {"b", "a", "c"}}
print(turn(make_workspace(tools={"x", "y", "z"}), make_snapshot(servers), "orchestrator").digest)
"""


def test_tk01_twenty_shuffles_of_what_was_found_give_the_same_bytes():
    digests = set()
    for seed in range(20):
        shuffled = random.Random(seed)
        natives, servers, tools = ["x", "y", "z"], ["a", "b", "c"], list(TOOLS)
        for names in (natives, servers, tools):
            shuffled.shuffle(names)
        workspace, snapshot = make_workspace(tools=natives), make_snapshot(dict.fromkeys(servers, tools))
        digests.add(turn(workspace, snapshot, "orchestrator").digest)
    assert len(digests) == 1


def test_tk01_sets_under_other_hash_seeds_give_the_same_bytes():
    digests = {
        subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1


def test_tk03_a_server_that_reconnects_with_the_same_tools_moves_nothing():
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    turned = {"properties": {"b": {"type": "integer"}, "a": {"type": "string"}}, "type": "object"}
    handle = AgentHandle(make_workspace(), "orchestrator")
    snapshot = make_snapshot(
        {"late": ["z"], "srv": [server_tool("t", "d", schema), server_tool("u", "d", schema)]}
    )
    before = handle.turn(snapshot)
    listed = [{"name": name, "description": "d", "inputSchema": turned} for name in ("u", "t")]
    after = handle.turn(snapshot.mark("srv", ServerStatus.DISCONNECTED).connect("srv", listed))
    assert [tool.line for tool in after.tools] == [tool.line for tool in before.tools]
    assert after.digest == before.digest
