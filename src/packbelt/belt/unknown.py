"""What is said to one who named a tool or a pack that does not exist.

The name is never answered with a word of permission: whoever reads that stops looking for the way there is.
"""

from collections.abc import Iterable

from packbelt.belt.gate import Denial
from packbelt.belt.names import Names, bare, words
from packbelt.belt.offers import MOST, NEAR
from packbelt.belt.opener import index_lines, packs_of
from packbelt.belt.routes import routes_to
from packbelt.belt.spell import unspelled
from packbelt.belt.voice import Voice
from packbelt.catalog.names import claude_readings
from packbelt.catalog.registry import bits
from packbelt.catalog.workspace import MCP
from packbelt.model import Hint, HintClass, ServerStatus, State, Suggestion
from packbelt.model.text import quoted
from packbelt.model.wire import PREFIX, server_wire_name


class Unknown(Voice):
    """The answers to unknown names."""

    def answer(self, denial: Denial) -> Hint:
        """What is said to one who called what does not exist."""
        shown = quoted(denial.name)
        skill = self._skill(denial)
        if skill:
            return skill
        if denial.pack is not None and self.registry.pack_mask(denial.pack) is None:
            named = self._skill_for_pack(denial.pack) or self._server_for_pack(denial.pack)
            return named or self._unknown_pack(denial)
        if denial.name == self.registry.workspace.config.opener and denial.pack is None:
            return self._no_opener(denial)
        if denial.pack is None:
            known = self._otherwise_spelled(denial) or self._bare_server_name(denial)
            known = known or self._silent_server(denial)
            if known:
                return known
        offers = self.offers.verified(self.offers.near(denial))
        where = f" in pack {quoted(denial.pack)}" if denial.pack is not None else ""
        text = f"No tool is called {shown}{where}."
        if offers:
            text += f" Nearest: {self.calls(offers)}."
        inside = self.callable_of(denial.pack) if denial.pack is not None else ""
        if not offers and denial.pack is not None:
            offers = self._handed_over(denial.pack)
            text += f" That pack's work is handed over.{self.call(offers)}" if offers else ""
        if inside:
            text += f" Callable in that pack: {inside}."
        elif not offers:
            text += f" {self.what_there_is()}"
        return Hint(HintClass.UNKNOWN, text, offers)

    def _no_opener(self, denial: Denial) -> Hint:
        """The opener of one for whom nothing is put away: how to call what he wanted opened."""
        wanted = denial.arguments.get("tool")
        offers: tuple[Suggestion, ...] = ()
        if isinstance(wanted, str) and wanted:
            wanted = unspelled(self.belt, wanted, self.spell)
            i = self.registry.wire.get(wanted)
            routes = () if i is None else routes_to(self.belt, i)
            near = self.offers.near(Denial(HintClass.UNKNOWN, wanted, {}))
            offers = self.offers.verified(self.offers.of_routes(routes) if routes else near)
        text = f"No tool is called {quoted(denial.name)}, since nothing is put away for this agent."
        told = self.call(offers) or f" {self.what_there_is()}"
        return Hint(HintClass.UNKNOWN, text + told, offers)

    def _handed_over(self, pack: str) -> tuple[Suggestion, ...]:
        """The hand-offs to those for whom a pack's tools are kept."""
        kept = (self.registry.pack_mask(pack) or 0) & self.belt.fold.states[State.RESERVED]
        first = next(bits(kept), None)
        return (
            () if first is None else self.offers.verified(self.offers.of_routes(routes_to(self.belt, first)))
        )

    def _unknown_pack(self, denial: Denial) -> Hint:
        pack = denial.pack or ""
        offers = list(self.offers.near(denial)) if denial.name != pack else []
        near_packs = [
            name
            for name, score in Names(packs_of(self.belt, self.belt.packed)).rank(pack, MOST)
            if score >= NEAR
        ]
        offers += [Suggestion(self.registry.workspace.config.opener, {"pack": name}) for name in near_packs]
        offers += self.offers.near(Denial(HintClass.UNKNOWN, pack, {}))
        verified = self.offers.verified(offers)
        text = f"No pack is called {quoted(pack)}."
        if verified:
            text += f" Nearest: {self.calls(verified)}."
        lines = index_lines(self.belt, spell=self.spell)
        listed = "\n".join(f"- {line}" for line in lines)
        return Hint(HintClass.UNKNOWN, f"{text} Packs you can open:\n{listed}" if lines else text, verified)

    def _otherwise_spelled(self, denial: Denial) -> Hint | None:
        """A server's tool not by its wire name: `server/tool`, or as Claude Code would call it."""
        for server, part in self._readings(denial.name):
            i = self.registry.find(server, part)
            if i is None:
                silent = self._silent(server)
                if silent:
                    return silent
            elif self.belt.callable >> i & 1:
                wire_name = self.registry.tools[i].wire_name
                arguments = self.offers.arguments(i, denial.arguments)
                offers = self.offers.verified([Suggestion(wire_name, arguments)])
                text = f"No tool is called {quoted(denial.name)}; it is called {self.spell(wire_name)}."
                return Hint(HintClass.UNKNOWN, text + self.call(offers), offers)
        return None

    def _readings(self, name: str) -> list[tuple[str, str]]:
        """Server and tool that a name may mean to this agent; an own server counts by its short name, too."""
        inline, servers = self.registry.workspace.inline, self.belt.subject.servers
        short = {server: inline[server].short_name if server in inline else server for server in servers}
        if name.startswith(PREFIX):
            return claude_readings(name, short)
        cuts = [k for k, letter in enumerate(name) if letter == "/"]
        return [
            (server, name[k + 1 :]) for k in cuts for server in servers if name[:k] in (server, short[server])
        ]

    def _bare_server_name(self, denial: Denial) -> Hint | None:
        """A server tool's plain name is no name; its wire name is, if this agent can call it."""
        named = [i for i in self.registry.named(bare(denial.name)) if i >= self.registry.index.size]
        if not named:
            return None
        reachable = [i for i in named if self.belt.callable >> i & 1]
        offers = self.offers.verified(
            Suggestion(self.registry.tools[i].wire_name, self.offers.arguments(i, denial.arguments))
            for i in reachable
        )
        shown = quoted(denial.name)
        if len(reachable) > 1:
            names = self.listed(self.registry.tools[i].wire_name for i in reachable)
            text = f"{shown} is offered by several servers; say which: {names}."
            return Hint(HintClass.AMBIGUOUS, text, offers)
        text = f"No tool is called {shown}."
        if not reachable:  # the name is no name, so why its namesakes are withheld is not the answer
            routes = (route for i in named for route in routes_to(self.belt, i))
            offers = self.offers.verified(self.offers.of_routes(routes))
            gone = [i for i in named if self.belt.state(i) is State.UNAVAILABLE]
            if gone and not offers:
                wire_name = self.spell(self.registry.tools[gone[0]].wire_name)
                reason = self.belt.reasons(gone[0])[0].detail
                return Hint(HintClass.UNKNOWN, f"{text} {wire_name} is not available now: {reason}.")
        return Hint(HintClass.UNKNOWN, text + self.call(offers), offers) if offers else None

    def _silent_server(self, denial: Denial) -> Hint | None:
        """A name in the manner of a server that never said what it has: its tools are not known."""
        for server in self.belt.subject.servers:
            if denial.name.startswith(server_wire_name(server, "x")[0].removesuffix("x")):
                silent = self._silent(server)
                if silent:
                    return silent
        return None

    def _silent(self, server: str) -> Hint | None:
        """That a server is not there and never said what it has; None for one that did."""
        state = self.registry.state(server)
        if state.tools or state.status is ServerStatus.CONNECTED:
            return None
        why = f" ({state.error})" if state.error else ""
        text = (
            f"Server {quoted(server)} is {state.status}{why}, so what it has is not known and cannot be "
            f"called now. Go on without it."
        )
        return Hint(HintClass.UNAVAILABLE, text)

    def _skill(self, denial: Denial) -> Hint | None:
        """An installed skill's name is not a tool's; the hand-off that runs skills is."""
        if bare(denial.name) not in {skill.name for skill in self.belt.subject.skills}:
            return None
        runs = {"run", "skill"}
        request = {"request": f"Run the skill {bare(denial.name)}: ..."}
        mine = self.belt.callable & self.registry.handoffs
        offers = self.offers.verified(
            self.offers.by_handoff(i, request)
            for i in bits(mine)
            if runs <= words(self.registry.tools[i].name)
        )
        if not offers:
            return None
        text = f"{quoted(denial.name)} is an installed skill, not a tool.{self.call(offers)}"
        return Hint(HintClass.UNKNOWN, text, offers)

    def _skill_for_pack(self, name: str) -> Hint | None:
        """An installed skill's name is no pack's; the hand-offs for skills may run it, or look after it."""
        skill = _same(name, (skill.name for skill in self.belt.subject.skills))
        if skill is None:
            return None
        request = {"request": f"With the skill {skill}: ..."}
        mine = self.belt.callable & self.registry.handoffs
        offers = self.offers.verified(
            self.offers.by_handoff(i, request)
            for i in bits(mine)
            if words(self.registry.tools[i].name) & {"skill", "skills"}
        )
        if not offers:
            return None
        text = f"{quoted(name)} is an installed skill, not a pack.{self.call(offers)}"
        return Hint(HintClass.UNKNOWN, text, offers)

    def _server_for_pack(self, name: str) -> Hint | None:
        """A server's bare name is no pack's: its pack, if that can be opened, or whoever has its tools."""
        server = _same(name, self.belt.subject.servers)
        pack = f"{MCP}{server}"
        first = None if server is None else next(bits(self.registry.pack_mask(pack) or 0), None)
        if first is None:
            return None
        routes = routes_to(self.belt, first)
        listing = [Suggestion(self.registry.workspace.config.opener, {"pack": pack})]
        offers = self.offers.verified([*listing, *self.offers.of_routes(routes)])
        if not offers:
            return None
        text = f"No pack is called {quoted(name)}; it is an MCP server.{self.call(offers)}"
        return Hint(HintClass.UNKNOWN, text, offers)


def _same(said: str, names: Iterable[str]) -> str | None:
    """The name that is meant, in whatever case it was written."""
    return next((name for name in names if name.casefold() == said.casefold()), None)
