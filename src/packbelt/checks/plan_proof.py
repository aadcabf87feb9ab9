"""That a plan moves tools and does nothing else, held against the engine itself."""

from dataclasses import replace

from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.checks.diff import diff
from packbelt.checks.difference import Diff
from packbelt.checks.plan_answer import Plan, PlanError
from packbelt.model import Exposure, Level, Selector, State

_MOVES = frozenset({State.DIRECT, State.PACKED})


def planned(workspace: Workspace, plan: Plan) -> Workspace:
    """The workspace as its files are once a plan is written into them, lines aside."""
    packs = dict(workspace.packs)
    for name, direct in plan.direct.items():
        pack = packs[name]
        members = tuple(member for member in pack.members if member in direct)
        packs[name] = replace(pack, exposure=Exposure.PACKED, direct=members)
    agents = dict(workspace.agents)
    for name, tools in plan.named.items():
        agent = agents[name]
        further = tuple(Selector(tool, agent.where("tools")) for tool in tools)
        agents[name] = replace(agent, tools=(*(agent.tools or ()), *further))
    return replace(workspace, packs=packs, agents=agents)


def prove(before: Workspace, after: Workspace, snapshot: Snapshot | None) -> Diff:
    """What a plan changes, which is what it may.

    Raises:
        PlanError: a tool became callable or ceased to be, or `check` finds an error that it did not.
    """
    found = diff(before, after, snapshot, snapshot)
    for one in found.agents:
        wrong = [c.tool for c in one.changes if not {c.before, c.after} <= _MOVES]
        wrong += [*one.unasked, *one.asked]
        if wrong or one.before != one.after:
            what = wrong[0] if wrong else "its start"
            raise PlanError(f"the plan would change more than a place, for {one.agent!r}: {what}", name=what)
    errors = [one for one in found.found if one.level is Level.ERROR]
    if errors:
        raise PlanError(
            f"the plan would bring an error of check: {errors[0].message}",
            where=errors[0].where,
            mend="keep the tool where it is, with --never-pack or --always-pack",
        )
    return found


__all__ = ["planned", "prove"]
