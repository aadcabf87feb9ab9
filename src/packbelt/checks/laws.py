"""The laws on this very workspace: readings of one decision that must agree. Findings are bugs."""

import re
from collections.abc import Iterator
from itertools import islice

from packbelt.belt import Belt, Denial, admit, hint_for
from packbelt.belt.opener import packs_of
from packbelt.catalog.registry import bits
from packbelt.checks.promises import untrue
from packbelt.checks.workbench import Workbench
from packbelt.model import Call, Code, Diagnostic, HintClass, Level, Origin, State
from packbelt.turn import Turn

SAMPLED = 40
"""Withheld tools of each agent whose hints are tried."""
_INVENTED = ("install_skill", "mcp__nobody__nothing", "search", "use_tool")
"""Names that models make up, tried besides."""
_MORE = re.compile(r"\d+ more; ")
"""What stands in a long listing before the tools that have a line each, and no schema."""
_NO_OBJECT = 0
"""Arguments that no tool takes: they pass the question of permission and stop at that of form."""


def one_truth(bench: Workbench) -> Iterator[Diagnostic]:
    """Law 1: sent, listed, admitted and named agree with the decision."""
    for one in bench.turns.values():
        belt = one.belt
        yield from _sent(one)
        for i, tool in enumerate(belt.registry.tools):
            if _admitted(belt, tool.wire_name, _NO_OBJECT) != belt.state(i).callable:
                yield _broken(belt, "1", f"the gate and the decision disagree on {tool.wire_name!r}")
        for pack_id, part in packs_of(belt, belt.packed).items():
            yield from _listed(belt, pack_id, part)
        yield from _sections(bench, one)


def _sent(one: Turn) -> Iterator[Diagnostic]:
    belt = one.belt
    own = {tool.wire_name for tool in (belt.opener, belt.finder) if tool}
    sent = [tool.wire_name for tool in one.tools]
    direct = {belt.registry.tools[i].wire_name for i in bits(belt.direct)} | own
    if set(sent) != direct or len(sent) != len(direct):
        yield _broken(belt, "1", f"what is sent is not what is direct: {sorted(set(sent) ^ direct)}")


def _listed(belt: Belt, pack_id: str, part: int) -> Iterator[Diagnostic]:
    opener = belt.registry.workspace.config.opener
    listing = admit(belt, opener, {"pack": pack_id})
    text = listing.answer if isinstance(listing, Call) and listing.answer else ""
    heads = _heads(text)
    for i in bits(belt.registry.pack_mask(pack_id) or 0):
        name = belt.registry.tools[i].wire_name
        is_packed = bool(part >> i & 1)
        if (name in heads) != is_packed and name != pack_id:
            yield _broken(belt, "1", f"the listing of {pack_id!r} and the decision disagree on {name!r}")
        inside = {"pack": pack_id, "tool": name, "arguments": _NO_OBJECT}
        if _admitted(belt, opener, inside) != belt.state(i).callable:
            yield _broken(belt, "1", f"the opener and the decision disagree on {name!r}")


def _heads(listing: str) -> set[str]:
    """What stands at the head of each entry of a listing, be it a tool's name or not."""
    blocks = listing.split("\n\n")
    short = blocks.pop().split("\n") if len(blocks) > 1 and _MORE.match(blocks[-2]) else []
    return {line.split(":", 1)[0] for line in (*(block.split("\n", 1)[0] for block in blocks), *short)}


def _sections(bench: Workbench, one: Turn) -> Iterator[Diagnostic]:
    for section, name, why in untrue(bench, one):
        template = bench.workspace.templates.get(section)
        if template is None or template.origin is Origin.EMBEDDED:  # a workspace's own are its own promises
            yield _broken(one.belt, "1", f"section {section!r} names {name!r}: {why}")


def no_silent_dead_end(bench: Workbench) -> Iterator[Diagnostic]:
    """Law 3: a reserved tool has a route, or the decision names the cut."""
    for belt in bench.belts.values():
        for i in bits(belt.fold.states[State.RESERVED]):
            decision = belt.decision(i)
            if not decision.routes and not decision.cuts:
                name = belt.registry.tools[i].wire_name
                yield _broken(belt, "3", f"{name!r} is reserved, and neither a route nor a cut is named")


def verified_hints(bench: Workbench) -> Iterator[Diagnostic]:
    """Law 5: every call that a hint proposes is admitted, on a sample of withheld and invented names."""
    for belt in bench.belts.values():
        names = [entry.tool.wire_name for entry in islice(belt.withheld, SAMPLED)]
        for name in (*names, *_INVENTED):
            for offer in hint_for(belt, name).suggestions:
                if isinstance(admit(belt, offer.tool, dict(offer.arguments)), Denial):
                    message = f"the hint for {name!r} proposes {offer.tool!r}, which is refused"
                    yield _broken(belt, "5", message)


def _admitted(belt: Belt, name: str, arguments: object) -> bool:
    """Whether the gate would let the call through if only its arguments were right."""
    answer = admit(belt, name, arguments)
    return not isinstance(answer, Denial) or answer.kind is HintClass.INVALID_ARGUMENTS


def _broken(belt: Belt, law: str, message: str) -> Diagnostic:
    return Diagnostic(
        Level.ERROR,
        Code.LAW_BROKEN,
        f"law {law} does not hold for agent {belt.agent!r}: {message}",
        belt.subject.agent.where(),
        "please report it with this workspace",
        belt.agent,
    )


CHECKS = (one_truth, no_silent_dead_end, verified_hints)
"""The checks of this family."""
