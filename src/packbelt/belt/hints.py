"""Hints: what the caller of a name is told when the call was not admitted, or asks how to make it.

Every call that a hint proposes is put through the gate first, and its arguments through the schema; a
hint proposes only what its reader can reach. A name that does not exist is never answered with a word of
permission, and a denied one is never called unknown.
"""

from typing import TYPE_CHECKING

from packbelt.belt.gate import Denial, admit
from packbelt.belt.opener import index_lines
from packbelt.belt.routes import cuts_of, routes_to
from packbelt.belt.spell import Spell
from packbelt.belt.unknown import Unknown
from packbelt.belt.voice import Voice
from packbelt.catalog.registry import bits
from packbelt.model import Call, Hint, HintClass, Rule, State, Suggestion
from packbelt.model.encode import compact
from packbelt.model.text import cut, inert, quoted

if TYPE_CHECKING:
    from packbelt.belt.belt import Belt

SCHEMA_SHOWN = 1500
"""Bytes of a schema that a hint shows at most."""

_PASSING = frozenset(
    {Rule.SERVER_STARTING, Rule.SERVER_DISCONNECTED, Rule.SERVER_FAILED, Rule.AGENT_DISABLED}
)


def hint(belt: "Belt", denial: Denial, spell: Spell = str) -> Hint:
    """What the caller is told, names in the spelling of the target that he speaks through."""
    return Hinter(belt, spell).answer(denial)


def hint_for(belt: "Belt", name: str, pack: str | None = None, spell: Spell = str) -> Hint:
    """What an agent is told when it calls a name, directly or inside a pack; also when the call is fine."""
    hinter = Hinter(belt, spell)
    if pack is not None:
        opener = belt.registry.workspace.config.opener
        admitted = admit(belt, opener, {"pack": pack, "tool": name}, spell)
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


class Hinter(Voice):
    """The answers of one belt in one spelling."""

    def answer(self, denial: Denial) -> Hint:
        """What is said of a call that was not admitted."""
        match denial.kind:
            case HintClass.UNKNOWN:
                return Unknown(self.belt, self.spell).answer(denial)
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
            return Hint(HintClass.CALLABLE, f"{self.spell(name)} is on the belt: call it by its name.")
        tool, state = self.registry.tools[i], self.belt.state(i)
        shown = self.spell(tool.wire_name)
        offers = self.offers.to(i)
        if state is State.PACKED:
            text = f"{shown} is in pack {quoted(self.registry.pack_of(i) or '')}.{self.call(offers)}"
            return Hint(HintClass.PACKED, text, offers)
        way = "found by search and called by its name" if state is State.DEFERRED else "on the belt"
        return Hint(HintClass.CALLABLE, f"{shown} is {way}.{self.call(offers)}", offers)

    def opens(self, pack: str) -> Hint:
        """How a pack that holds something for this agent is opened."""
        offers = self.offers.verified([Suggestion(self.registry.workspace.config.opener, {"pack": pack})])
        return Hint(HintClass.CALLABLE, f"Pack {quoted(pack)} can be opened.{self.call(offers)}", offers)

    def _withheld(self, kind: HintClass, i: int) -> Hint:
        belt, tool = self.belt, self.registry.tools[i]
        shown = self.spell(tool.wire_name)
        reason = belt.reasons(i)[0]
        offers = self.offers.to(i)
        instead = f" Instead: {self.calls(offers)}." if offers else ""
        match kind:
            case HintClass.RESERVED:
                text = f"{shown} is not for this agent to call: {reason.detail}."
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

    def _invalid(self, denial: Denial) -> Hint:
        if denial.i is None:
            opener = self.registry.workspace.config.opener
            text = f"The arguments of {self.spell(denial.name)} do not fit: {inert(denial.detail)}."
            if denial.name == opener:
                lines = index_lines(self.belt, spell=self.spell)
                text += " Packs you can open:\n" + "\n".join(f"- {line}" for line in lines)
            return Hint(HintClass.INVALID_ARGUMENTS, text)
        tool = self.registry.tools[denial.i]
        schema = cut(inert(compact(tool.input_schema)), SCHEMA_SHOWN)
        shown = self.spell(tool.wire_name)
        wrong = inert(denial.detail)
        text = f"The arguments of {shown} do not fit: {wrong}. The name is right. Schema: {schema}"
        return Hint(
            HintClass.INVALID_ARGUMENTS,
            text,
            self.offers.verified(self.offers.of_routes(routes_to(self.belt, denial.i))),
        )

    def _wrong_pack(self, denial: Denial) -> Hint:
        i = denial.i or 0
        offers = self.offers.to(i, denial.arguments)
        pack = self.registry.pack_of(i)
        place = f"in pack {quoted(pack)}" if pack else "in no pack"
        text = f"{self.spell(denial.name)} is not in pack {quoted(denial.pack or '')}; it is {place}."
        return Hint(HintClass.WRONG_PACK, f"{text}{self.call(offers)}", offers)

    def _unpacked(self, denial: Denial) -> Hint:
        """The pack of one who has its tools directly."""
        names = self.callable_of(denial.pack or "")
        text = (
            f"Nothing of pack {quoted(denial.pack or '')} is put away for you; call these by name: {names}."
        )
        return Hint(HintClass.CALLABLE, text)

    def _closed_pack(self, denial: Denial) -> Hint:
        """A pack that holds nothing that this agent can call: the way to its work, or why there is none."""
        mask = self.registry.pack_mask(denial.pack or "") or 0
        states = [i for i in bits(mask) if self.belt.state(i).value == denial.kind.value]
        if not states:
            text = f"Pack {quoted(denial.pack or '')} holds nothing now."
            return Hint(HintClass.UNAVAILABLE, text)
        offers = self.offers.verified(self.offers.of_routes(routes_to(self.belt, states[0], meant=False)))
        reason = self.belt.reasons(states[0])[0]
        instead = f" Instead: {self.calls(offers)}." if offers else ""
        text = f"Pack {quoted(denial.pack or '')} holds nothing for you to call: {reason.detail}.{instead}"
        return Hint(denial.kind, text, offers)
