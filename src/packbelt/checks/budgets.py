"""Budgets: tools that cost too much, and text that a belt carries more than once."""

from collections.abc import Iterator

from packbelt.catalog.registry import bits
from packbelt.catalog.tokens import count
from packbelt.checks.workbench import Workbench, listed
from packbelt.cost import SharedText, shared_text
from packbelt.model import Code, Diagnostic, Level

WORTH = 200
"""Tokens of repeated text from which a note is worth reading."""


def dear(bench: Workbench) -> Iterator[Diagnostic]:
    """Tools whose definition costs more than `budget.tool_tokens`; a server's in one finding."""
    budget = bench.workspace.config.budget.tool_tokens
    for i in bits(bench.registry.index.all):
        tool = bench.registry.tools[i]
        tokens = count(tool.line)
        if tokens > budget:
            description = count(tool.description)
            yield Diagnostic(
                Level.WARNING,
                Code.OVER_BUDGET,
                f"{tool.wire_name!r} costs {tokens} tokens, over the budget of {budget} a tool "
                f"(its description {description}, name and schema {tokens - description})",
                tool.where,
                "shorten its description or schema, or raise `budget.tool_tokens`",
                tool.wire_name,
            )
    for server, mask in bench.registry.masks.items():
        costs = [(count(bench.registry.tools[i].line), bench.registry.tools[i].name) for i in bits(mask)]
        over = sorted((-tokens, name) for tokens, name in costs if tokens > budget)
        if over:
            named = listed((f"{name} {-tokens}" for tokens, name in over), 4)
            yield Diagnostic(
                Level.WARNING,
                Code.OVER_BUDGET,
                f"{len(over)} of {len(costs)} tools of server {server!r} cost more tokens than the budget of "
                f"{budget} a tool: {named}",
                bench.place(server),
                f"{_away(bench, mask)}deny what nobody needs, or raise `budget.tool_tokens`",
                server,
            )


def _away(bench: Workbench, mask: int) -> str:
    sent = any(belt.direct & mask for belt in bench.belts.values())
    return "pack the server (`exposure: packed`), " if sent else ""


def at_a_loss(bench: Workbench) -> Iterator[Diagnostic]:
    """Packs that cost more than they save: the opener and its index are sent at every turn."""
    for name, one in bench.turns.items():
        if not one.belt.opener:
            continue
        cost = one.cost
        if cost.tools > cost.if_unpacked:
            yield Diagnostic(
                Level.NOTE,
                Code.PACKED_AT_A_LOSS,
                f"agent {name!r} pays {cost.tools} tokens for its tools with the opener, and would pay "
                f"{cost.if_unpacked} with nothing put away",
                None,
                "set `exposure: direct` on small packs, unless the tools should stay out of sight",
                name,
            )


def repeated(bench: Workbench) -> Iterator[Diagnostic]:
    """Text that several tools of one belt repeat, said once, of the belt that repeats it most."""
    found: dict[str, tuple[SharedText, str]] = {}
    for name, one in bench.turns.items():
        for shared in shared_text(one.tools, least=WORTH):
            known = found.get(shared.sample)
            if known is None or shared.saved > known[0].saved:
                found[shared.sample] = (shared, name)
    for shared, name in found.values():
        yield Diagnostic(
            Level.NOTE,
            Code.TEXT_SHARED,
            f"{shared.count} places on the belt of {name!r} repeat one text of {shared.tokens} tokens "
            f"({shared.saved} beyond the first), in {listed(shared.tools, 4)}: {shared.sample}",
            None,
            "say it once in the agent's prompt, or pack some of the tools",
            name,
        )


CHECKS = (dear, at_a_loss, repeated)
"""The checks of this family."""
