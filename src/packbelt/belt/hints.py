"""Hints: what the caller of a name is told when the call was not admitted, or asks how to make it.

Every call that a hint proposes is put through the gate first, and its arguments through the schema; a
hint proposes only what its reader can reach. A name that does not exist is never answered with a word of
permission, and a denied one is never called unknown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from packbelt.belt.arguments import problem, sample
from packbelt.belt.gate import Denial, admit
from packbelt.belt.names import SAME, Names, bare, words
from packbelt.belt.opener import index_lines, packs_of
from packbelt.belt.routes import cuts_of, routes_to, ways
from packbelt.catalog.registry import bits
from packbelt.model import Call, Hint, HintClass, Route, Rule, ServerStatus, State, Suggestion
from packbelt.model.encode import compact
from packbelt.model.text import cut, quoted
from packbelt.model.wire import server_wire_name

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt

MOST = 3
"""Suggestions in one hint."""
NEAR = 45.0
"""Score from which a near name is worth proposing."""
BESIDE = 0.75
"""Share of the best score from which another name is proposed beside it."""
LISTED = 12
"""Names that a hint lists at most."""
SCHEMA_SHOWN = 1500
"""Bytes of a schema that a hint shows at most."""

_PASSING = frozenset(
    {Rule.SERVER_STARTING, Rule.SERVER_DISCONNECTED, Rule.SERVER_FAILED, Rule.AGENT_DISABLED}
)

Spell = Callable[[str], str]


def hint(belt: "Belt", denial: Denial, spell: Spell = str) -> Hint:
    """What the caller is told, names in the spelling of the target that he speaks through."""
    return Hinter(belt, spell).answer(denial)


def hint_for(belt: "Belt", name: str, pack: str | None = None, spell: Spell = str) -> Hint:
    """What an agent is told when it calls a name, directly or inside a pack; also when the call is fine."""
    hinter = Hinter(belt, spell)
    if pack is not None:
        opener = belt.registry.workspace.config.opener
        admitted = admit(belt, opener, {"pack": pack, "tool": name})
    else:
        admitted = admit(belt, name)
    if isinstance(admitted, Denial) and admitted.kind is not HintClass.INVALID_ARGUMENTS:
        return hinter.answer(admitted)
    if isinstance(admitted, Denial) and admitted.i is None:
        return hinter.answer(admitted)
    if isinstance(admitted, Call) and admitted.answer is not None and pack is not None:
        return hinter.opens(pack)
    i = admitted.i if isinstance(admitted, Denial) else belt.registry.wire.get(admitted.tool.wire_name)
    return hinter.how(name, i)


class Hinter:
    """The answers of one belt in one spelling."""

    def __init__(self, belt: "Belt", spell: Spell = str) -> None:
        self._belt = belt
        self._registry = belt.registry
        self._spell = spell

    def answer(self, denial: Denial) -> Hint:
        """What is said of a call that was not admitted."""
        match denial.kind:
            case HintClass.UNKNOWN:
                return self._unknown(denial)
            case HintClass.INVALID_ARGUMENTS:
                return self._invalid(denial)
            case HintClass.WRONG_PACK:
                return self._wrong_pack(denial)
            case HintClass.CALLABLE:
                return self._unpacked(denial)
        if denial.i is None:
            return self._closed_pack(denial)
        return self._withheld(denial.kind, denial.i)

    def how(self, name: str, i: int | None) -> Hint:
        """How a callable tool is called."""
        if i is None:
            return Hint(HintClass.CALLABLE, f"{self._spell(name)} is on the belt: call it by its name.")
        tool, state = self._registry.tools[i], self._belt.state(i)
        shown = self._spell(tool.wire_name)
        offers = self._verified(self._offers(routes_to(self._belt, i)))
        if state is State.PACKED:
            text = f"{shown} is in pack {self._pack(i)}.{self._call(offers)}"
            return Hint(HintClass.PACKED, text, offers)
        way = "found by search and called by its name" if state is State.DEFERRED else "on the belt"
        return Hint(HintClass.CALLABLE, f"{shown} is {way}.{self._call(offers)}", offers)

    def opens(self, pack: str) -> Hint:
        """How a pack that holds something for this agent is opened."""
        offers = self._verified([Suggestion(self._registry.workspace.config.opener, {"pack": pack})])
        return Hint(HintClass.CALLABLE, f"Pack {quoted(pack)} can be opened.{self._call(offers)}", offers)

    # the classes ----------------------------------------------------------------------------------------

    def _withheld(self, kind: HintClass, i: int) -> Hint:
        belt, tool = self._belt, self._registry.tools[i]
        shown = self._spell(tool.wire_name)
        reason = belt.reasons(i)[0]
        routes = routes_to(belt, i)
        offers = self._verified(self._offers(routes))
        instead = f" Instead: {self._calls(offers)}." if offers else ""
        match kind:
            case HintClass.RESERVED:
                text = f"{shown} is not yours to call: {reason.detail}."
                if not offers:
                    cuts = cuts_of(belt, i)
                    instead = (
                        f" No way to it is open now: {'; '.join(c.detail for c in cuts)}." if cuts else ""
                    )
            case HintClass.DENIED:
                text = (
                    f"{shown} exists and is denied: {reason.detail}. Only what matches that entry is denied."
                )
            case HintClass.OFF_BELT:
                text = f"{shown} exists, but it is not on this agent's belt: {reason.detail}."
            case HintClass.OVER_CEILING:
                text = f"{shown} is over this agent's ceiling: {reason.detail}."
            case _:
                later = ", or try later" if reason.rule in _PASSING else ""
                text = f"{shown} is not available now: {reason.detail}. Go on without it{later}."
        return Hint(kind, text + instead, offers)

    def _unknown(self, denial: Denial) -> Hint:
        shown = quoted(denial.name)
        skill = self._skill(denial)
        if skill:
            return skill
        if denial.pack is not None and self._registry.pack_mask(denial.pack) is None:
            return self._unknown_pack(denial)
        if denial.name == self._registry.workspace.config.opener and denial.pack is None:
            return self._no_opener(denial)
        if denial.pack is None:
            known = self._bare_server_name(denial) or self._silent_server(denial)
            if known:
                return known
        offers = self._verified(self._near(denial))
        where = f" in pack {quoted(denial.pack)}" if denial.pack is not None else ""
        text = f"No tool is called {shown}{where}."
        if offers:
            text += f" Nearest: {self._calls(offers)}."
        inside = self._pack_names(denial.pack) if denial.pack is not None else ""
        if not offers and denial.pack is not None:
            offers = self._handed_over(denial.pack)
            text += f" That pack's work is handed over.{self._call(offers)}" if offers else ""
        if inside:
            text += f" Callable in that pack: {inside}."
        elif not offers:
            text += f" {self._what_there_is()}"
        return Hint(HintClass.UNKNOWN, text, offers)

    def _no_opener(self, denial: Denial) -> Hint:
        """The opener of one for whom nothing is put away: how to call what he wanted opened."""
        wanted = denial.arguments.get("tool")
        meant = (
            hint_for(self._belt, wanted, None, self._spell) if isinstance(wanted, str) and wanted else None
        )
        offers = meant.suggestions if meant else ()
        text = f"No tool is called {quoted(denial.name)}, since nothing is put away for this agent."
        told = self._call(offers) or f" {self._what_there_is()}"
        return Hint(HintClass.UNKNOWN, text + told, offers)

    def _handed_over(self, pack: str) -> tuple[Suggestion, ...]:
        """The hand-offs to those for whom a pack's tools are kept."""
        kept = (self._registry.pack_mask(pack) or 0) & self._belt.fold.states[State.RESERVED]
        first = next(bits(kept), None)
        return () if first is None else self._verified(self._offers(routes_to(self._belt, first)))

    def _unknown_pack(self, denial: Denial) -> Hint:
        pack = denial.pack or ""
        offers = list(self._near(denial)) if denial.name != pack else []
        near_packs = [name for name, score in Names(self._open_packs()).rank(pack, MOST) if score >= NEAR]
        offers += [Suggestion(self._registry.workspace.config.opener, {"pack": name}) for name in near_packs]
        offers += self._near(Denial(HintClass.UNKNOWN, pack, {}))
        verified = self._verified(offers)
        text = f"No pack is called {quoted(pack)}."
        if verified:
            text += f" Nearest: {self._calls(verified)}."
        lines = index_lines(self._belt)
        listed = "\n".join(f"- {line}" for line in lines)
        return Hint(HintClass.UNKNOWN, f"{text} Packs you can open:\n{listed}" if lines else text, verified)

    def _bare_server_name(self, denial: Denial) -> Hint | None:
        """A server tool's plain name is no name; its wire name is, if this agent can call it."""
        named = [i for i in self._registry.named(bare(denial.name)) if i >= self._registry.index.size]
        if not named:
            return None
        reachable = [i for i in named if self._belt.callable >> i & 1]
        offers = self._verified(
            Suggestion(self._registry.tools[i].wire_name, self._arguments(i, denial.arguments))
            for i in reachable
        )
        shown = quoted(denial.name)
        if len(reachable) > 1:
            names = ", ".join(self._spell(self._registry.tools[i].wire_name) for i in reachable[:LISTED])
            text = f"{shown} is offered by several servers; say which: {names}."
            return Hint(HintClass.AMBIGUOUS, text, offers)
        text = f"No tool is called {shown}."
        if not reachable:  # the name is no name, so why its namesakes are withheld is not the answer
            routes = (route for i in named for route in routes_to(self._belt, i))
            offers = self._verified(self._offers(routes))
            gone = [i for i in named if self._belt.state(i) is State.UNAVAILABLE]
            if gone and not offers:
                wire_name = self._spell(self._registry.tools[gone[0]].wire_name)
                reason = self._belt.reasons(gone[0])[0].detail
                return Hint(HintClass.UNKNOWN, f"{text} {wire_name} is not available now: {reason}.")
        return Hint(HintClass.UNKNOWN, text + self._call(offers), offers) if offers else None

    def _silent_server(self, denial: Denial) -> Hint | None:
        """A name in the manner of a server that never said what it has: its tools are not known."""
        for server in self._belt.subject.servers:
            state = self._registry.state(server)
            prefix = server_wire_name(server, "x")[0].removesuffix("x")
            if state.tools or state.status is ServerStatus.CONNECTED or not denial.name.startswith(prefix):
                continue
            why = f" ({state.error})" if state.error else ""
            text = (
                f"Server {quoted(server)} is {state.status}{why}, so what it has is not known and cannot be "
                f"called now. Go on without it."
            )
            return Hint(HintClass.UNAVAILABLE, text)
        return None

    def _skill(self, denial: Denial) -> Hint | None:
        """An installed skill's name is not a tool's; the hand-off that runs skills is."""
        skills = self._registry.snapshot.skills
        names = [s.name for s in (self._registry.workspace.skills if skills is None else skills)]
        if bare(denial.name) not in names:
            return None
        runs = {"run", "skill"}
        request = {"request": f"Run the skill {bare(denial.name)}: ..."}
        mine = self._belt.callable & self._registry.handoffs
        offers = self._verified(
            self._handoff(i, request) for i in bits(mine) if runs <= words(self._registry.tools[i].name)
        )
        if not offers:
            return None
        text = f"{quoted(denial.name)} is an installed skill, not a tool.{self._call(offers)}"
        return Hint(HintClass.UNKNOWN, text, offers)

    def _invalid(self, denial: Denial) -> Hint:
        if denial.i is None:
            opener = self._registry.workspace.config.opener
            text = f"The arguments of {self._spell(denial.name)} do not fit: {denial.detail}."
            if denial.name == opener:
                lines = index_lines(self._belt)
                text += " Packs you can open:\n" + "\n".join(f"- {line}" for line in lines)
            return Hint(HintClass.INVALID_ARGUMENTS, text)
        tool = self._registry.tools[denial.i]
        schema = cut(compact(tool.input_schema), SCHEMA_SHOWN)
        shown = self._spell(tool.wire_name)
        text = f"The arguments of {shown} do not fit: {denial.detail}. The name is right. Schema: {schema}"
        return Hint(
            HintClass.INVALID_ARGUMENTS, text, self._verified(self._offers(routes_to(self._belt, denial.i)))
        )

    def _wrong_pack(self, denial: Denial) -> Hint:
        i = denial.i or 0
        offers = self._verified(self._offers(routes_to(self._belt, i), denial.arguments))
        pack = self._registry.pack_of(i)
        place = f"in pack {quoted(pack)}" if pack else "in no pack"
        text = f"{self._spell(denial.name)} is not in pack {quoted(denial.pack or '')}; it is {place}."
        return Hint(HintClass.WRONG_PACK, f"{text}{self._call(offers)}", offers)

    def _unpacked(self, denial: Denial) -> Hint:
        """The pack of one who has its tools directly."""
        mask = (self._registry.pack_mask(denial.pack or "") or 0) & self._belt.callable
        names = [self._spell(self._registry.tools[i].wire_name) for i in bits(mask)]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        text = (
            f"Nothing of pack {quoted(denial.pack or '')} is put away for you; call these by name: "
            f"{', '.join(names[:LISTED])}{more}."
        )
        return Hint(HintClass.CALLABLE, text)

    def _closed_pack(self, denial: Denial) -> Hint:
        """A pack that holds nothing that this agent can call: the way to its work, or why there is none."""
        mask = self._registry.pack_mask(denial.pack or "") or 0
        states = [i for i in bits(mask) if self._belt.state(i).value == denial.kind.value]
        if not states:
            text = f"Pack {quoted(denial.pack or '')} holds nothing now."
            return Hint(HintClass.UNAVAILABLE, text)
        inner = self._withheld(denial.kind, states[0])
        reason = self._belt.reasons(states[0])[0]
        instead = f" Instead: {self._calls(inner.suggestions)}." if inner.suggestions else ""
        text = f"Pack {quoted(denial.pack or '')} holds nothing for you to call: {reason.detail}.{instead}"
        return Hint(denial.kind, text, inner.suggestions)

    # suggestions ----------------------------------------------------------------------------------------

    def _near(self, denial: Denial) -> Iterator[Suggestion]:
        """Calls that the name may have meant: inside the pack first, then anywhere, then by hand-off."""
        reach = self._reach()
        pack = self._registry.pack_mask(denial.pack) if denial.pack else None
        if pack:
            inside = [name for name, i in reach.items() if i is not None and pack >> i & 1]
            yield from self._ranked(Names(inside).rank(denial.name), denial)
        yield from self._ranked(self._names().rank(denial.name), denial)

    def _ranked(self, ranked: Iterable[tuple[str, float]], denial: Denial) -> Iterator[Suggestion]:
        reach = self._reach()
        best = 0.0
        for name, score in ranked:
            best = max(best, score)
            if score < max(NEAR, best * BESIDE):
                return
            i = reach[name]
            if i is None:
                yield Suggestion(name, {})
            elif self._belt.callable >> i & 1:
                yield from self._offers(routes_to(self._belt, i)[:1], denial.arguments, i)
            else:
                yield from self._offers(routes_to(self._belt, i))
            if score >= SAME:
                return

    def _reach(self) -> Mapping[str, int | None]:
        """Every name that leads somewhere for this agent: callable tools, and what a hand-off reaches."""
        key = ("reach", self._belt.subject.scope)
        found = self._registry.memo.get(key)
        if found is None:
            mask = self._belt.callable
            for way in ways(self._belt):
                mask |= way.mask & ~self._registry.handoffs
            names: dict[str, int | None] = {self._registry.tools[i].wire_name: i for i in bits(mask)}
            if self._belt.finder:
                names[self._belt.finder.wire_name] = None
            found = self._registry.memo[key] = names
        reach: Mapping[str, int | None] = found
        return reach

    def _names(self) -> Names:
        key = ("names", self._belt.subject.scope)
        found = self._registry.memo.get(key)
        if found is None:
            found = self._registry.memo[key] = Names(self._reach())
        names: Names = found
        return names

    def _offers(
        self, routes: Iterable[Route], arguments: Mapping[str, Any] | None = None, i: int | None = None
    ) -> Iterator[Suggestion]:
        """Routes as calls; the caller's own arguments are kept where they fit."""
        for route in routes:
            given = dict(route.arguments)
            if arguments and i is not None and not problem(self._registry.tools[i].input_schema, arguments):
                if route.via == "direct":
                    given = dict(arguments)
                elif route.via == "opener":
                    given["arguments"] = dict(arguments)
            yield Suggestion(route.call, given)
            if route.via == "opener":  # the listing always fits, should the sample arguments not
                yield Suggestion(route.call, {"pack": given["pack"]})

    def _handoff(self, i: int, arguments: Mapping[str, Any]) -> Suggestion:
        tool = self._registry.tools[i]
        if self._belt.packed >> i & 1:
            inner = {"pack": self._registry.pack_of(i), "tool": tool.wire_name, "arguments": dict(arguments)}
            return Suggestion(self._registry.workspace.config.opener, inner)
        return Suggestion(tool.wire_name, dict(arguments))

    def _arguments(self, i: int, given: Mapping[str, Any]) -> dict[str, Any]:
        schema = self._registry.tools[i].input_schema
        return dict(given) if given and not problem(schema, given) else sample(schema) or {}

    def _verified(self, offers: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
        """Up to three offers that the gate admits, each leading to another tool."""
        kept: list[Suggestion] = []
        reached: set[tuple[str, str | None]] = set()
        for offer in offers:
            where = (offer.tool, offer.arguments.get("tool") or offer.arguments.get("pack"))
            packs = {offer.arguments.get("pack") for offer in kept}
            lists = offer.tool == self._registry.workspace.config.opener and "tool" not in offer.arguments
            if where in reached or (lists and offer.arguments.get("pack") in packs):
                continue
            if not isinstance(admit(self._belt, offer.tool, offer.arguments), Denial):
                reached.add(where)
                kept.append(offer)
            if len(kept) == MOST:
                break
        return tuple(kept)

    # words ----------------------------------------------------------------------------------------------

    def _calls(self, offers: Iterable[Suggestion]) -> str:
        return " or ".join(f"{self._spell(o.tool)}({compact(o.arguments)})" for o in offers)

    def _call(self, offers: Iterable[Suggestion]) -> str:
        calls = self._calls(offers)
        return f" Call {calls}." if calls else ""

    def _pack(self, i: int) -> str:
        return quoted(self._registry.pack_of(i) or "")

    def _open_packs(self) -> list[str]:
        return list(packs_of(self._belt, self._belt.packed))

    def _pack_names(self, pack: str | None) -> str:
        mask = (self._registry.pack_mask(pack or "") or 0) & self._belt.callable
        names = [self._spell(self._registry.tools[i].wire_name) for i in bits(mask)]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        return ", ".join(names[:LISTED]) + more

    def _what_there_is(self) -> str:
        names = [self._spell(tool.wire_name) for tool in self._belt.tools]
        if not names:
            return "This agent has no tools."
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        return f"On the belt: {', '.join(names[:LISTED])}{more}."
