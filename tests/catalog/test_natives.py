from typing import Annotated

import pytest
from pydantic import Field

from packbelt.catalog import load, tool
from packbelt.catalog.forms import native_tool
from packbelt.catalog.natives import tool_from_callable
from packbelt.model import HANDOFF, NATIVE, Permission, WorkspaceError


def search(
    query: str, limit: Annotated[int, Field(description="At most.")] = 10, *, schema: list[str] | None = None
) -> str:
    """Search the
    archive.

    Not part of it.
    """
    return f"{query}{limit}{schema}"


def test_a_function_is_a_tool():
    made = tool_from_callable(search)
    assert (made.id.source, made.name, made.description) == (NATIVE, "search", "Search the archive.")
    assert made.permission is Permission.READ
    properties = made.input_schema["properties"]
    assert properties["query"] == {"type": "string"}
    assert properties["limit"] == {"type": "integer", "default": 10, "description": "At most."}
    assert set(properties) == {"query", "limit", "schema"}
    assert made.input_schema["required"] == ["query"]
    assert made.where is not None
    assert made.where.file == "test_natives.py", "no directory of the machine"


def test_a_coroutine_and_a_decorated_function_are_tools():
    @tool(name="write_note", description="Notes.", permission="write", approve=True)
    async def note(text: str) -> None:
        del text

    made = tool_from_callable(note)
    assert (made.name, made.description, made.permission, made.approve) == (
        "write_note",
        "Notes.",
        Permission.WRITE,
        True,
    )


def test_a_function_without_parameters():
    def now() -> str:
        return ""

    assert tool_from_callable(now).input_schema["properties"] == {}
    assert tool_from_callable(now).description == ""


def star(*args: int) -> None:
    del args


def unhinted(x) -> None:  # the missing hint is the point
    del x


def positional(x: int, /) -> None:
    del x


def odd(x: "NoSuchType") -> None:  # noqa: F821 - the unknown name is the point
    del x


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (star, "by name"),
        (unhinted, "no type hint"),
        (positional, "by name"),
        (odd, "no JSON Schema"),
        (lambda: None, "no tool's name"),
    ],
)
def test_what_cannot_be_a_tool(function, words):
    with pytest.raises(WorkspaceError, match=words):
        tool_from_callable(function)


def test_an_unknown_permission():
    with pytest.raises(WorkspaceError, match="write one of none, read"):
        tool(permission="all")


def test_a_callable_joins_the_pack_that_names_it(write):
    workspace = load(write({"packs/p.yaml": "tools: [search]\n"}), tools=[search])
    assert workspace.handlers == {"search": search}
    assert [t.name for t in workspace.tools] == ["search"]
    assert workspace.packs["p"].members == ("search",)


def test_a_callable_is_the_handler_of_what_a_pack_defines_in_full(write):
    pack = "tools:\n  - name: search\n    description: The pack's words.\n    permission: write\n"
    workspace = load(write({"packs/p.yaml": pack}), tools=[search])
    (made,) = workspace.tools
    assert (made.description, made.permission) == ("The pack's words.", Permission.WRITE)
    assert workspace.handlers["search"] is search


def test_a_tool_that_is_already_built(write):
    made = native_tool(NATIVE, "x", "X.", {})
    workspace = load(write({}), tools=[made])
    assert workspace.tools == (made,)
    assert not workspace.handlers
    with pytest.raises(WorkspaceError, match="no native tool"):
        load(write({}), tools=[native_tool(HANDOFF, "x", "X.", {})])


def test_two_tools_of_one_name(write):
    with pytest.raises(WorkspaceError, match="two tools are called 'search'"):
        load(write({}), tools=[search, native_tool(NATIVE, "search", "", {})])


@pytest.mark.parametrize("name", ["use_pack", "find_tools"])
def test_names_that_are_taken(write, name):
    with pytest.raises(WorkspaceError, match="has the name of the"):
        load(write({}), tools=[native_tool(NATIVE, name, "", {})])
    with pytest.raises(WorkspaceError, match=r"packs/p\.yaml:2: .*has the name of the"):
        load(write({"packs/p.yaml": f"tools:\n  - name: {name}\n"}))
