"""Clients of other makers: the TypeScript SDK's, and the command line of the MCP Inspector.

Their packages are those of `node/package.json`; `PACKBELT_TEST_NODE` names the directory that they were installed
into. Without them these tests are skipped, but never in continuous integration.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from gateway_helpers import HERE, TOKENS, http

WHERE = Path(os.environ.get("PACKBELT_TEST_NODE", HERE / "node"))
INSPECTOR = WHERE / "node_modules/@modelcontextprotocol/inspector"
CALLS = [
    ["mcp__main__picture", {}],
    ["mcp__main__ekko", {}],
    ["use_pack", {"pack": "mcp:boxed", "tool": "echo", "arguments": {"text": "opened"}}],
    ["mcp__main__guarded", {"text": "approved"}],
    ["mcp__main__grow", {}],
]


@pytest.fixture(autouse=True)
def packages():
    if not INSPECTOR.is_dir() or shutil.which("node") is None:
        if os.environ.get("CI"):
            pytest.fail(f"no node packages in {WHERE}: .ci/run installs them")
        pytest.skip("node or its packages are not installed")


@pytest.fixture
def typescript(home, tmp_path):
    """The TypeScript client's answers."""
    (tmp_path / "node_modules").symlink_to(WHERE / "node_modules")
    script = shutil.copy(HERE / "node/client.mjs", tmp_path)

    def ask(**reach):
        told = json.dumps({"calls": CALLS, "answer": "accept", "grown": True, **reach})
        done = subprocess.run(
            ["node", script, told], check=False, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def check(found):
    assert "mcp__main__echo" in found["tools"]
    picture, unknown, opened, guarded, _ = found["results"]
    assert picture["structuredContent"] == {"dots": 1}
    assert [block["type"] for block in picture["content"]] == ["text", "image", "resource_link"]
    assert unknown["isError"] is True
    assert "mcp__main__echo" in unknown["content"][0]["text"]
    assert opened["content"][0]["text"] == "opened"
    assert found["prompts"] == ["lead"]
    assert "- boxed: says of itself" in found["instructions"]
    assert "mcp__main__grown" in found["after"]
    return guarded


def test_the_typescript_client_on_stdio(home, typescript):
    command, *args = home.command("--agent", "lead")
    found = typescript(command=command, args=args, env=home.environment())
    assert check(found)["content"][0]["text"] == "approved"
    assert len(found["asked"]) == 1
    assert found["changes"] == 1
    assert found["after"][:-1] == found["tools"]


def test_the_typescript_client_over_http(home, typescript):
    with http(home) as gateway:
        found = typescript(url=gateway.url("lead"), headers={"Authorization": f"Bearer {TOKENS['lead']}"})
    assert "needs a person's approval" in check(found)["content"][0]["text"]


@pytest.fixture
def inspector(home):
    """What the Inspector's command line prints; its own settings are in an empty home."""
    manifest = json.loads((INSPECTOR / "package.json").read_text())
    script = INSPECTOR / manifest["bin"]["mcp-inspector"]

    def ask(*options):
        command = ["node", str(script), "--cli", *options, "--quiet"]
        env = home.environment(HOME=str(home.root))
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=120, env=env, cwd=home.root
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


LIST = ("--method", "tools/list")
CALL = ("--method", "tools/call", "--tool-name", "mcp__main__echo", "--tool-arg", "text=inspected")


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_on_stdio(home, inspector, era):
    # The Inspector takes options that begin with a dash for its own: they come from a configuration instead.
    command, *args = home.command("--agent", "lead")
    file = home.root / "inspector.json"
    entry = {"type": "stdio", "command": command, "args": args, "env": home.environment()}
    file.write_text(json.dumps({"mcpServers": {"belt": entry}}))
    reach = ("--config", str(file), "--server", "belt", "--protocol-era", era)
    assert "mcp__main__echo" in [tool["name"] for tool in inspector(*reach, *LIST)["tools"]]
    assert inspector(*reach, *CALL)["content"][0]["text"] == "inspected"


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_over_http(home, inspector, era):
    with http(home) as gateway:
        header = f"Authorization: Bearer {TOKENS['lead']}"
        reach = (gateway.url("lead"), "--transport", "http", "--header", header, "--protocol-era", era)
        assert "mcp__main__echo" in [tool["name"] for tool in inspector(*reach, *LIST)["tools"]]
        assert inspector(*reach, *CALL)["content"][0]["text"] == "inspected"
