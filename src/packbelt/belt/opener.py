"""The opener and `find_tools`: the two tools through which tools that are not sent are reached.

Index, listing and gate read one mask, the belt's packed tools, so that nothing is listed that would be
refused and nothing callable is left out.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from packbelt.belt.search import search_in
from packbelt.belt.spell import Spell, respelled, unspelled
from packbelt.catalog.forms import native_tool
from packbelt.catalog.names import FIND_TOOLS
from packbelt.catalog.registry import bits
from packbelt.catalog.workspace import MCP
from packbelt.model import NATIVE, Permission, Tool
from packbelt.model.encode import compact
from packbelt.model.text import LIMIT, harmless, one_line, quoted

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt

LISTING_FULL = 16_000
"""Letters of the tools that stand with description and schema in one listing."""
LISTING_SHORT = 6_000
"""Letters of those that follow with the first words of their description; the rest stands by name alone."""
WORDS = 120
"""Bytes of a description's first words."""

_FINDER_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What the tool should do, or its name."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "Most results; default 5."},
    },
    "required": ["query"],
}


def packs_of(belt: "Belt", mask: int) -> dict[str, int]:
    """The packs that hold tools of a mask, workspace's packs first, each with its part of the mask."""
    parts = {pack: part for pack, whole in belt.registry.index.packs.items() if (part := whole & mask)}
    if mask & belt.registry.server_tools:
        parts |= {MCP + s: part for s, whole in belt.registry.masks.items() if (part := whole & mask)}
    return parts


def opener_tool(belt: "Belt", spell: Spell = str) -> Tool:
    """The opener as its reader sees it: the description holds the index of the workspace's packs.

    Live servers' packs are left to the sections and listings, so that the schema's bytes stay when a server
    comes or goes; for the same reason there is no enum.
    """
    name = belt.registry.workspace.config.opener
    lines = index_lines(belt, servers=False, spell=spell)
    listed = "\n".join(f"- {line}" for line in lines)
    text = (
        "Tools that are put away in packs. Call it with a pack alone to read what the pack holds and how "
        "each tool is called; call it with a pack, a tool and its arguments to run that tool."
    )
    description = f"{text}\nPacks:\n{listed}" if lines else f'{text} Call it with pack "" to see the packs.'
    schema = {
        "type": "object",
        "properties": {
            "pack": {"type": "string", "description": "The pack's id."},
            "tool": {"type": "string", "description": "A tool of the pack; leave it out to list the pack."},
            "arguments": {
                "type": "object",
                "description": 'The tool\'s arguments; without a tool, {"query": ...} narrows the list.',
            },
        },
        "required": ["pack"],
    }
    return native_tool(NATIVE, name, description, schema, permission=Permission.NONE)


def finder_tool() -> Tool:
    """The search over the tools that are not sent."""
    text = (
        "Finds tools that are not listed here by what they do. Returns names, descriptions and schemas; "
        "a tool found so is called by its name."
    )
    return native_tool(NATIVE, FIND_TOOLS, text, _FINDER_SCHEMA, permission=Permission.NONE)


def index_lines(belt: "Belt", *, servers: bool = True, spell: Spell = str) -> list[str]:
    """A line for each pack of which the reader can call a packed tool.

    It is the pack's summary or, where only hand-offs of it are packed for him, those hand-offs by name.
    """
    parts = packs_of(belt, belt.packed).items()
    return [_line(belt, pack, part, spell) for pack, part in parts if servers or not pack.startswith(MCP)]


def _line(belt: "Belt", pack_id: str, part: int, spell: Spell, *, named: bool = True) -> str:
    registry = belt.registry
    if pack_id.startswith(MCP):
        return f"{shown_id(pack_id)}: {server_summary(belt, pack_id.removeprefix(MCP), part, named=named)}"
    if part & ~registry.handoffs:
        return f"{pack_id}: {respelled(belt, one_line(registry.workspace.packs[pack_id].summary), spell)}"
    names = ", ".join(registry.tools[i].name for i in _in_pack_order(belt, pack_id, part))
    return f"{pack_id}: hands off by {names}"


def server_summary(belt: "Belt", server: str, mask: int, *, named: bool = True) -> str:
    """One line on a connected server: its own words or, where it has none, the names of what it offers."""
    count = mask.bit_count()
    tools = f"{count} tool{'' if count == 1 else 's'} of MCP server {harmless(server, 80)}"
    words = belt.registry.state(server).instructions
    if words and harmless(words):
        return f"{tools}, which says of itself: {quoted(words, LIMIT)}"
    if not named:
        return tools
    names = _within(LIMIT, (harmless(belt.registry.tools[i].name, WORDS) for i in bits(mask)))
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return f"{tools}: {', '.join(names)}{more}"


def shown_id(pack_id: str) -> str:
    """A pack's id as texts show it: a server's name is its own words, and made harmless like all of them."""
    return harmless(pack_id) if pack_id.startswith(MCP) else pack_id


def pack_named(belt: "Belt", said: str) -> str | None:
    """The id of the pack that is meant by an id as it was shown; None if there is none, or several."""
    if belt.registry.pack_mask(said) is not None:
        return said
    if not said.startswith(MCP):
        return None
    meant = [MCP + name for name in belt.registry.servers if shown_id(MCP + name) == said]
    return meant[0] if len(meant) == 1 else None


def index_text(belt: "Belt", spell: Spell = str) -> str:
    """The index as the answer to a call that names no pack, or one that does not exist."""
    lines = index_lines(belt, spell=spell)
    return "Packs you can open:\n" + "\n".join(f"- {line}" for line in lines)


def _in_pack_order(belt: "Belt", pack_id: str, mask: int) -> list[int]:
    """The bits of a mask in the order of the pack's file; a server's by name."""
    if pack_id.startswith(MCP):
        return list(bits(mask))
    index = belt.registry.index
    order = (index.find(name) for name in belt.registry.workspace.packs[pack_id].members)
    return [i for i in order if i is not None and mask >> i & 1]


def listing(belt: "Belt", pack_id: str, query: str = "", spell: Spell = str) -> str:
    """What a pack holds for this agent: summary, guide, then each packed tool that it may call.

    A large pack would fill its reader's context, and cost what packing saved. So only the first tools stand
    with their schemas, more with their first words, and the rest by name; none is left out. A query lists
    those that fit it best, with their schemas.
    """
    part = (belt.registry.pack_mask(pack_id) or 0) & belt.packed
    return listing_of(belt, pack_id, part, query, spell)


def listing_of(belt: "Belt", pack_id: str, part: int, query: str = "", spell: Spell = str) -> str:
    """The listing of a pack as it is where these tools of it are packed."""
    registry = belt.registry
    shown = shown_id(pack_id)
    opener = spell(registry.workspace.config.opener)
    form = f'{opener}(pack="{shown}", tool="<name>", arguments={{...}})'
    by_name = ", or the tool by its name" if spell is str else ""  # a client calls what was sent to it
    blocks = [_line(belt, pack_id, part, spell, named=False), f"Call: {form}{by_name}."]
    if query:
        found = search_in(belt, part, unspelled(belt, query, spell))
        return "\n\n".join([*blocks, *(map(_block, found) if found else ["No tool of it fits."])])
    if not pack_id.startswith(MCP) and (guide := registry.workspace.packs[pack_id].guide.strip()):
        blocks.insert(1, respelled(belt, guide, spell))
    tools = [registry.tools[i] for i in _in_pack_order(belt, pack_id, part)]
    full = _within(LISTING_FULL, map(_block, tools))
    rest = tools[len(full) :]
    short = _within(LISTING_SHORT, (f"{t.wire_name}: {harmless(t.description, WORDS)}" for t in rest))
    blocks += full
    if rest:
        ask = f'{opener}(pack="{shown}", arguments={{"query": "<name or words>"}})'
        blocks.append(f"{len(rest)} more; {ask} shows the schemas of those that fit:")
        blocks.append("\n".join([*short, *(tool.wire_name for tool in rest[len(short) :])]))
    return "\n\n".join(blocks)


def _within(letters: int, texts: Iterable[str]) -> list[str]:
    """The texts from the first on, as long as all of them together stay within a length."""
    kept = []
    for text in texts:
        letters -= len(text)
        if letters < 0:
            break
        kept.append(text)
    return kept


def _block(tool: Tool) -> str:
    said = one_line(tool.description)
    return f"{tool.wire_name}{': ' + said if said else ''}\n{compact(tool.input_schema)}"
