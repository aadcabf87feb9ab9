"""What is imported when: the measure of a fast start, in processes of their own."""

import pytest

PRINT = "\nimport sys\nprint(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
COMMAND = "import sys\nfrom packbelt.cli import cli\ncli.main({!r}, standalone_mode=False)\n"
HEAVY = {
    "mcp",
    "pydantic",
    "yaml",
    "jinja2",
    "jsonschema",
    "rich",
    "tiktoken",
    "rapidfuzz",
    "anyio",
    "asyncio",
}
SDKS = {
    "mcp",
    "openai",
    "anthropic",
    "agents",
    "fastmcp",
    "pydantic_ai",
    "langchain",
    "google",
    "claude_agent_sdk",
}


def imported(process, program):
    done = process("-c", program + PRINT)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["dump", "--help"], ["connect", "--help"]])
def test_help_imports_click_alone(process, args):
    found = imported(process, COMMAND.format(args))
    assert "click" in found
    assert not found & (HEAVY | SDKS)


@pytest.mark.parametrize(
    "args",
    [
        ["dump"],
        ["dump", "orchestrator", "--json"],
        ["explain", "orchestrator", "use_mcp_server"],
        ["hint", "orchestrator", "install_skill"],
        ["prompt", "orchestrator"],
    ],
)
def test_reading_commands_import_no_sdk_and_in_a_pipe_no_rich(process, args):
    found = imported(process, COMMAND.format(args))
    assert "packbelt" in found
    assert not found & (SDKS | {"rich", "anyio"})


def test_the_package_itself_imports_next_to_nothing(process):
    assert not imported(process, "import packbelt\n") & (HEAVY | SDKS | {"click"})


def test_explain_counts_no_tokens(process):
    assert "tiktoken" not in imported(process, COMMAND.format(["explain", "orchestrator", "use_mcp_server"]))
