"""Configurations broken in any way: imported or refused, and what is written loads; never another error."""

import copy
import json
import tempfile
from pathlib import Path

from home_world import HOME, agent, write_all
from hypothesis import given, settings
from hypothesis import strategies as st

from packbelt.catalog import load
from packbelt.importers import gather, write
from packbelt.model import Level, PackbeltError

JSON_FILES = [name for name, content in HOME.items() if isinstance(content, dict)]
TEXT_FILES = [name for name, content in HOME.items() if isinstance(content, str)]
WORDS = st.sampled_from(
    [
        "",
        " ",
        "*",
        "a,b",
        "a/b",
        "mcp__x__y",
        "${",
        "${A}",
        "${input:}",
        "{env:}",
        "$A",
        "\0",
        "\u2028",
        "é",
        "true",
        "Bash(x",
        "../x",
        "x" * 90,
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(
    [
        *(
            "mcpServers",
            "servers",
            "mcp",
            "type",
            "command",
            "args",
            "env",
            "url",
            "headers",
            "cwd",
            "disabled",
        ),
        *(
            "includeTools",
            "excludeTools",
            "alwaysAllow",
            "trust",
            "tools",
            "permission",
            "permissions",
            "deny",
            "ask",
        ),
        *(
            "agent",
            "description",
            "prompt",
            "name",
            "httpUrl",
            "environment",
            "projects",
            "disabledMcpjsonServers",
        ),
    ]
)


def places(node):
    """Every container of a document."""
    yield node
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            yield from places(child)


@st.composite
def mutated(draw):
    """A home directory in which some values are other ones."""
    files = copy.deepcopy(HOME)
    for name in draw(st.lists(st.sampled_from(JSON_FILES), min_size=1, max_size=3)):
        holder = draw(st.sampled_from(list(places(files[name]))))
        if isinstance(holder, list):
            holder.append(draw(VALUES))
        elif holder and draw(st.booleans()):
            holder[draw(st.sampled_from(sorted(holder)))] = draw(VALUES)
        else:
            holder[draw(KEYS | WORDS)] = draw(VALUES)
    return {name: files[name] for name in files if name in JSON_FILES or draw(st.booleans())}


def proved(files):
    with tempfile.TemporaryDirectory() as folder:
        root, target = Path(folder) / "home", Path(folder) / "ws"
        try:
            found = gather(write_all(root, files), target)
            write(found.files, target)
        except PackbeltError as problem:
            assert not target.exists()
            if "would be written" in problem.problem:  # one bad item costs one item, never all
                raise AssertionError(problem) from problem
            return
        workspace = load(target)
        assert [one.message for one in workspace.diagnostics if one.level is Level.ERROR] == []
        for item in found.report.items:
            assert item.became or item.remarks, item


@settings(max_examples=40)
@given(mutated())
def test_other_values(files):
    proved(files)


@settings(max_examples=25)
@given(st.sampled_from(TEXT_FILES), st.integers(0, 400), st.integers(0, 20), st.text(max_size=4))
def test_other_letters(name, start, length, instead):
    text = HOME[name]
    proved(
        {**HOME, name: (text[:start] + instead + text[start + length :]).encode("utf-8", "ignore").decode()}
    )


@settings(max_examples=25)
@given(st.sampled_from(["tools", "disallowedTools", "mcpServers", "name", "description"]), VALUES)
def test_other_front_matter(key, value):
    proved(
        {
            ".claude/agents/x.md": agent("x").replace("---\n", f"---\n{key}: {json.dumps(value)}\n", 1),
            ".mcp.json": {},
        }
    )


@settings(max_examples=25)
@given(st.dictionaries(WORDS, VALUES, max_size=3), VALUES)
def test_other_opencode(tools, permission):
    agents = {"x": {"description": "D.", "tools": tools, "permission": permission}}
    proved({".config/opencode/opencode.json": {"agent": agents, "tools": tools}, ".claude.json": {}})
