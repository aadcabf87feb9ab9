"""The gate: is this call admitted? Every call passes it, whatever opener, name, hint or relay it came by.

Existence is asked before permission, so that an invented name is never answered with a refusal, and
arguments last, so that nobody is told how to fill in a form that he may not hand in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packbelt.belt.arguments import parse
from packbelt.belt.opener import index_text, listing, pack_named
from packbelt.belt.schemas import problem
from packbelt.belt.search import find_tools, found_text
from packbelt.belt.spell import Spell, unspelled
from packbelt.catalog.names import FIND_TOOLS
from packbelt.catalog.registry import bits
from packbelt.model import Call, HandOff, HintClass, PackbeltError, State, Tool

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt


NOT_AN_OBJECT = "they are not a JSON object, or are nested too deeply"


@dataclass(frozen=True, slots=True)
class Denial:
    """A call that is not admitted, with what is needed to say why.

    Attributes:
        kind: why.
        name: what was called, as the caller said it.
        arguments: what it was called with, where that is an object.
        i: the bit of the tool that was meant, where one was.
        pack: the pack it was looked for in, where the opener was called.
        detail: what is wrong with the arguments.
    """

    kind: HintClass
    name: str
    arguments: Mapping[str, Any]
    i: int | None = None
    pack: str | None = None
    detail: str = ""


Admission = Call | HandOff | Denial


def admit(belt: "Belt", name: str, arguments: object = None, spell: Spell = str) -> Admission:
    """The call as it may be made, or why it may not.

    Args:
        belt: whose call it is.
        name: the wire name that was called.
        arguments: an object, or the JSON of one.
        spell: how the target spells wire names: in the answers that packbelt gives itself, and understood
            where a name stands inside the arguments of the opener or of `find_tools`.
    """
    if not isinstance(name, str):  # a model's words, by way of somebody's loop
        return Denial(HintClass.UNKNOWN, str(name), {})
    given = parse(arguments)
    opener = belt.opener
    if opener and name == opener.wire_name:
        return _open(belt, opener, given, spell)
    if belt.finder and name == FIND_TOOLS:
        return _find(belt, belt.finder, given, spell)
    i = belt.registry.wire.get(name)
    if i is None:
        return Denial(HintClass.UNKNOWN, name, given or {})
    return _call(belt, i, name, given, None)


def _call(belt: "Belt", i: int, name: str, given: Mapping[str, Any] | None, pack: str | None) -> Admission:
    state = belt.state(i)
    if not state.callable:
        return Denial(HintClass(state.value), name, given or {}, i, pack)
    tool = belt.registry.tools[i]
    if given is None:
        return Denial(HintClass.INVALID_ARGUMENTS, name, {}, i, pack, NOT_AN_OBJECT)
    wrong = problem(tool.input_schema, given)
    if wrong:
        return Denial(HintClass.INVALID_ARGUMENTS, name, given, i, pack, wrong)
    approve = bool(belt.approve >> i & 1)
    if tool.target is None:
        return Call(tool, given, approve)
    return _hand_off(belt, i, tool, given, pack, approve=approve)


def _hand_off(
    belt: "Belt", i: int, tool: Tool, given: Mapping[str, Any], pack: str | None, *, approve: bool
) -> Admission:
    servers = given.get("mcp_servers")
    if servers is not None:
        try:
            belt.subject_below(tool.target or "", tuple(servers))
        except PackbeltError as error:
            wrong = f"mcp_servers: {error.problem}; {error.mend}"
            return Denial(HintClass.INVALID_ARGUMENTS, tool.wire_name, given, i, pack, wrong)
    return HandOff(
        tool,
        tool.target or "",
        given["request"],
        given.get("context"),
        None if servers is None else tuple(servers),
        approve,
    )


def _find(belt: "Belt", finder: Tool, given: Mapping[str, Any] | None, spell: Spell) -> Admission:
    wrong = NOT_AN_OBJECT if given is None else problem(finder.input_schema, given)
    if given is None or wrong:
        return Denial(HintClass.INVALID_ARGUMENTS, finder.wire_name, given or {}, detail=wrong)
    found = find_tools(belt, unspelled(belt, given["query"], spell), int(given.get("limit", 5)))
    return Call(finder, given, answer=found_text(found, spell))


def _open(belt: "Belt", opener: Tool, given: Mapping[str, Any] | None, spell: Spell) -> Admission:
    if given is None:
        wrong = NOT_AN_OBJECT
        return Denial(HintClass.INVALID_ARGUMENTS, opener.wire_name, {}, detail=wrong)
    pack, name = given.get("pack"), given.get("tool")
    inner = parse(given.get("arguments"))
    if not isinstance(pack, str) or not isinstance(name, str | None):
        wrong = "`pack` and `tool` are strings" if pack is not None or name else "`pack` is missing"
        return Denial(HintClass.INVALID_ARGUMENTS, opener.wire_name, given, detail=wrong)
    pack = pack_named(belt, pack) or pack
    mask = belt.registry.pack_mask(pack)
    if name == pack and _member(belt, mask or 0, name) is None:
        name = None  # the pack's own id in the place of a tool asks for the pack
    if not name:
        if mask is not None and mask & belt.packed:
            query = (inner or {}).get("query")
            query = query if isinstance(query, str) else ""
            return Call(opener, given, answer=listing(belt, pack, query, spell))
        if not pack:
            return Call(opener, given, answer=index_text(belt, spell))
        if mask is None:
            return Denial(HintClass.UNKNOWN, pack, inner or {}, pack=pack)
        return Denial(_closed(belt, mask), pack, inner or {}, pack=pack)
    return _inside(belt, pack, name, inner, spell)


def _inside(belt: "Belt", pack: str, said: str, inner: Mapping[str, Any] | None, spell: Spell) -> Admission:
    """The call of a tool that was named inside a pack, by its plain wire name before any other spelling."""
    mask = belt.registry.pack_mask(pack) or 0
    name, i = said, _member(belt, mask, said)
    if i is None and (meant := unspelled(belt, said, spell)) != said:
        i = _member(belt, mask, meant)
        if i is not None or said not in belt.registry.wire:
            name = meant
    if i is not None:
        return _call(belt, i, name, inner, pack)
    elsewhere = belt.registry.wire.get(name)
    if elsewhere is None:
        return Denial(HintClass.UNKNOWN, name, inner or {}, pack=pack)
    state = belt.state(elsewhere)
    kind = HintClass.WRONG_PACK if state.callable else HintClass(state.value)
    return Denial(kind, name, inner or {}, elsewhere, pack)


def _member(belt: "Belt", mask: int, name: str) -> int | None:
    """The tool of a pack with a wire name, or with a plain name that only one of its members has."""
    i = belt.registry.wire.get(name)
    if i is not None and mask >> i & 1:
        return i
    named = [i for i in belt.registry.named(name) if mask >> i & 1]
    return named[0] if len(named) == 1 else None


def _closed(belt: "Belt", mask: int) -> HintClass:
    """The class of the answer to one who opens a pack that holds nothing packed for him."""
    states = {belt.state(i) for i in bits(mask)}
    callable_states = [state for state in states if state.callable]
    if callable_states or not states:
        return HintClass.CALLABLE if callable_states else HintClass.UNAVAILABLE
    order = (State.RESERVED, State.OVER_CEILING, State.UNAVAILABLE, State.OFF_BELT, State.DENIED)
    return HintClass(next(state for state in order if state in states).value)
