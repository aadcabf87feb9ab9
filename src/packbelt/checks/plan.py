"""`plan`: which tools of the packs to send to whom, from how often they are called.

The model and its formula stand in docs/plan.md. What is decided is one minimum cut over all agents at once,
so it is exact: tools share index lines and the opener, and a pack's `direct` list is the same for all agents.
"""

from packbelt.catalog.near import suggestion
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.checks.plan_answer import Limits, Plan, PlanError
from packbelt.checks.plan_decide import Decision
from packbelt.checks.plan_items import ground
from packbelt.checks.plan_model import AgentUse, Observed, Prices, Rates
from packbelt.checks.workbench import Workbench


def plan(
    workspace: Workspace,
    observed: Observed,
    snapshot: Snapshot | None = None,
    prices: Prices | None = None,
    limits: Limits | None = None,
) -> Plan:
    """The cheapest placement of the packs' tools, from what was observed.

    Nothing is granted or taken away: tools move between `direct` and `packed`, for agents that can call them.

    Args:
        workspace: whose packs.
        observed: what was observed of each agent.
        snapshot: what is connected; None for nothing.
        prices: as ratios; the defaults are those of `Prices`.
        limits: what it must keep to.

    Raises:
        PlanError: a limit names nothing, names one thing twice, or cannot be kept.
        VocabularyError: the vocabulary that tokens are counted with is missing or is not the published one.
    """
    prices, limits = prices or Prices(), limits or Limits()
    bench = Workbench(workspace, snapshot)
    found = ground(bench)
    _check_names(workspace, limits)
    rates = {agent: Rates.of(observed.get(agent, AgentUse()), prices) for agent in bench.belts}
    model = Decision(found, rates, prices, limits)
    packed, gap = model.solve()
    return model.told(packed, gap, observed)


def _check_names(workspace: Workspace, limits: Limits) -> None:
    known = {*workspace.packs, *(name for pack in workspace.packs.values() for name in pack.members)}
    for name in (*limits.never_pack, *limits.always_pack):
        if name not in known:
            mend = suggestion(name, known, otherwise="name a pack, or a tool of one")
            raise PlanError(f"no pack and no tool of a pack is called {name!r}", mend=mend, name=name)
    if both := set(limits.never_pack) & set(limits.always_pack):
        name = min(both)
        raise PlanError(f"{name!r} is never and always to be packed", mend="keep one of the two", name=name)


__all__ = ["plan"]
