import pytest

from packbelt.catalog import load
from packbelt.catalog.packs import parse_pack
from packbelt.model import NATIVE, Access, Exposure, Permission, WorkspaceError

FULL = """\
id: integrations
summary: Find servers.
exposure: packed
access: owners
owners: [mcp_agent, mcp_setup]
carriers: [planner]
direct: [use_mcp_server]
guide: Ask first.
tools:
  - use_mcp_server
  - name: search
    description: Search.
    permission: write
    input_schema: {type: object, properties: {query: {type: string}}, required: [query]}
  - name: plain
"""


def test_a_pack_and_its_tools():
    read = parse_pack(FULL, "packs/integrations.yaml", "integrations")
    pack = read.pack
    assert (pack.id, pack.exposure, pack.access) == ("integrations", Exposure.PACKED, Access.OWNERS)
    assert (pack.owners, pack.carriers, pack.direct) == (
        ("mcp_agent", "mcp_setup"),
        ("planner",),
        ("use_mcp_server",),
    )
    assert pack.members == ("use_mcp_server", "search", "plain")
    assert str(pack.where("access")) == "packs/integrations.yaml:4"
    assert str(pack.where("tools.search")) == "packs/integrations.yaml:11"
    search, plain = read.tools
    assert (search.id.source, search.name, search.permission) == (NATIVE, "search", Permission.WRITE)
    assert search.input_schema["required"] == ["query"]
    assert plain.permission is Permission.READ
    assert plain.input_schema == {"type": "object", "properties": {}}


def test_an_id_left_out_is_the_files_name():
    assert parse_pack("tools: []\n", "packs/files.yaml", "files").pack.id == "files"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("id: p\nsumary: x\n", 2, "did you mean 'summary'?"),
        ("id: p\ntools:\n  - name: x\n    input_shema: {}\n", 4, "did you mean 'input_schema'?"),
        ("id: p\ntools:\n  - description: no name\n", 3, "the key `tools[1].name` is missing"),
        ("id: p\ntools:\n  - name:\n", 3, "has no value"),
        ("id: p\ntools:\n", 2, "write [] or remove the key"),
        ("id: p\ntools: [a, a]\n", 2, "'a' stands twice"),
        ("id: p\ntools: [3]\n", 2, "not a tool"),
        ("id: p\ntools: ['a b']\n", 2, "1 to 64"),
        (f"id: p\ntools: [{'n' * 200}]\n", 2, "1 to 64"),
        ("id: p\ntools: [mcp__x__y]\n", 2, "belong to servers"),
        ("id: Files\n", 1, "no id for a pack"),
        ("id: mcp:github\n", 1, "belongs to servers"),
        ("id: p\nexposure: auto\n", 2, "`exposure` is 'auto'"),
        ("id: p\naccess: owner\n", 2, "did you mean 'owners'?"),
        ("id: p\ndirect: [seach]\ntools: [search]\n", 2, "did you mean 'search'?"),
        ("id: p\nguide: " + "x" * 2401 + "\n", 2, "over the limit of 2,400"),
        ("id: p\ntools:\n  - name: x\n    input_schema: {type: array}\n", 4, "'array'"),
        (
            "id: p\ntools:\n  - name: x\n    input_schema:\n      properties: {a: {$ref: '#/$defs/a'}}\n      $defs: {a: {$ref: '#/$defs/b'}, b: {$ref: '#/$defs/a'}}\n",
            4,
            "circle",
        ),
        ("", 1, "empty, not a mapping"),
    ],
)
def test_what_a_pack_refuses(text, line, words):
    with pytest.raises(WorkspaceError) as caught:
        parse_pack(text, "packs/p.yaml", "p")
    error = caught.value
    assert error.where is not None
    assert (error.where.line, bool(error.mend)) == (line, True)
    assert words in str(error)


def test_two_packs_with_one_id_name_both_places(write):
    root = write({"packs/a.yaml": "id: same\n", "packs/b.yaml": "summary: x\nid: same\n"})
    with pytest.raises(WorkspaceError, match=r"packs/b\.yaml:2: .*packs/a\.yaml:1"):
        load(root)


def test_one_tool_in_two_packs_names_both_places(write):
    root = write({"packs/a.yaml": "tools: [x]\n", "packs/b.yaml": "tools:\n  - name: x\n"})
    with pytest.raises(WorkspaceError, match=r"packs/b\.yaml:2: .*'b' here and 'a' in packs/a\.yaml:1"):
        load(root)


def test_packs_come_in_the_order_of_their_files(write):
    root = write({"packs/b.yaml": "id: first\n", "packs/a.yml": "id: second\n", "packs/notes.txt": "no pack"})
    assert list(load(root).packs) == ["second", "first"]
