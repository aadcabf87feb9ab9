"""The table of mutations: it is closed but for one more of each promotion that a workspace has."""

from packbelt.catalog.near import listed, suggestion
from packbelt.catalog.workspace import Workspace
from packbelt.evals.mutations import answers, packs, texts
from packbelt.evals.mutations.mutation import Mutation
from packbelt.model import PackbeltError

NULL = "null"
"""The mutation that breaks nothing: every case that passes must pass under it."""
REPACK = "repack:"
"""What stands before the name of one promoted hand-off."""

_ALL = (
    Mutation(NULL, "Nothing is broken: what passes must pass."),
    Mutation(
        "repack-handoffs", "Promoted hand-offs stand in their packs again.", workspace=packs.repack_handoffs
    ),
    Mutation("open-raw-tools", "Specialists' tools are open to every agent.", workspace=packs.open_raw_tools),
    Mutation(
        "direct-first",
        "The routing rules say to do it oneself, and name no hand-off.",
        workspace=texts.direct_first,
    ),
    Mutation(
        "static-sections",
        "The sections on servers and skills are written by hand: one hand-off is named whether or not it can "
        "be called, the others are not.",
        workspace=texts.static_sections,
    ),
    Mutation(
        "permission-before-existence",
        "A name invented inside a pack is answered as if it were forbidden.",
        told=answers.permission_before_existence,
    ),
    Mutation("no-routing-rows", "The prompt has no routing rules.", workspace=texts.no_routing_rows),
    Mutation("no-hints", "A refusal names no way out.", told=answers.no_hints),
)

MUTATIONS: dict[str, Mutation] = {one.name: one for one in _ALL}
"""Every mutation by name, besides `repack:NAME`."""


def mutations_of(workspace: Workspace) -> dict[str, Mutation]:
    """Every mutation of a workspace by name: those of the table, then one for each promoted hand-off."""
    each = (
        Mutation(f"{REPACK}{name}", f"{name} stands in its pack again.", workspace=packs.repack(name))
        for name in packs.promotions(workspace)
    )
    return MUTATIONS | {one.name: one for one in each}


def mutation_named(workspace: Workspace, name: str | None) -> Mutation:
    """The mutation of a name; the one that breaks nothing for None.

    Raises:
        PackbeltError: there is none.
    """
    known = mutations_of(workspace)
    found = known.get(NULL if name is None else name)
    if found is None:
        mend = suggestion(name or "", known, otherwise=f"there are: {listed(known, most=len(known))}")
        raise PackbeltError(f"no mutation is called {name!r}", mend=mend, name=name or "")
    return found
