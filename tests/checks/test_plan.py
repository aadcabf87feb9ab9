"""Plans: the cheapest placement, proved against every other one, and nothing but places."""

from functools import cache
from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packbelt.belt.opener import listing_of, opener_tool
from packbelt.catalog.tokens import count
from packbelt.checks.plan import plan
from packbelt.checks.plan_answer import Limits, Plan, PlanError
from packbelt.checks.plan_closure import closure
from packbelt.checks.plan_model import AgentUse, Prices, bound
from packbelt.checks.plan_proof import planned, prove
from packbelt.checks.workbench import Workbench
from packbelt.cost import line_tokens
from packbelt.model import State
from packbelt.testing import agent, make_workspace, native, pack


def sized(name, tokens):
    """A tool whose schema has so many tokens in a request, or a few more."""
    words = 0
    while line_tokens(found := native(name, "word " * words)) < tokens:
        words += 1
    return found


def subsets(things):
    things = list(things)
    return chain.from_iterable(combinations(things, n) for n in range(len(things) + 1))


# the cut --------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw):
    things = list(range(draw(st.integers(1, 8))))
    costs = {thing: draw(st.integers(-9, 9)) for thing in things}
    needs = {thing: draw(st.lists(st.sampled_from(things), max_size=3)) for thing in things}
    return costs, needs


@given(graphs())
def test_a_closure_is_as_cheap_as_the_cheapest_of_all(graph):
    costs, needs = graph
    closed = [set(some) for some in subsets(costs) if all(set(needs[one]) <= set(some) for one in some)]
    cheapest = min(sum(costs[one] for one in some) for some in closed)
    found = closure(costs, needs)
    assert set(found) in closed
    assert sum(costs[one] for one in found) == cheapest
    assert len(found) == min(len(some) for some in closed if sum(costs[one] for one in some) == cheapest)


# the plan against brute force -----------------------------------------------------------------------------

TOOLS = {"a": ["a1", "a2"], "b": ["b1", "b2"]}
SIZES = {name: sized(name, tokens) for name, tokens in (("a1", 40), ("a2", 400), ("b1", 90), ("b2", 1500))}


def small(direct=(), exposures=("packed", "packed"), more=()):
    packs = [
        pack(name, tools, summary=f"Pack {name}, with a line of its own.", exposure=exposure,
             direct=[tool for tool in tools if tool in direct] if exposure == "packed" else [])
        for (name, tools), exposure in zip(TOOLS.items(), exposures, strict=True)
    ]  # fmt: skip
    agents = [
        agent("orchestrator", delegates="*"),
        agent("worker", tools=["pack:a", "pack:b", *more]),
    ]
    return make_workspace(tools=list(SIZES.values()), packs=packs, agents=agents)


def layout(workspace):
    """Of each agent: the direct tools' tokens, what is packed with its pack's listing, index lines, opener."""
    found = {}
    for name, belt in Workbench(workspace).belts.items():
        sent, away = 0, {}
        index = {}
        for i, tool in enumerate(belt.registry.tools):
            if tool.name not in SIZES:
                continue
            if belt.state(i) is State.DIRECT:
                sent += line_tokens(tool)
                continue
            home = belt.registry.pack_of(i)
            away[tool.name] = count(listing_of(belt, home, belt.registry.index.packs[home] & belt.callable))
            index[home] = count(f"- {home}: {workspace.packs[home].summary}\n")
        opener = count(opener_tool(belt.searched()).line) if index else 0
        found[name] = sent + sum(index.values()) + opener, away
    return found


@cache
def every():
    """The layout of every placement that there is."""
    return [
        layout(small(sent, more=named))
        for sent in subsets(SIZES)
        for named in subsets(set(SIZES) - set(sent))
    ]


def expense(found, observed, doubt):
    """What a layout costs over what was observed, by the formula of docs/plan.md.

    `doubt` gives the runs in which a tool is used, by agent and tool.
    """
    whole = 0.0
    for name, (sent, away) in found.items():
        use = observed[name]
        n = use.turns / use.runs
        whole += use.turns * (1.25 + (n - 1) * 0.1) / n * sent
        for tool, listed in away.items():
            first = 8000 * 0.1 + 30 * 5 + listed * (1.25 + (n - 1) / 2 * 0.1)
            calls = use.calls[tool] / use.used[tool] if use.used[tool] else 1
            whole += doubt(name, tool) * (first + calls * 20 * 5)
    return whole


@st.composite
def observations(draw):
    found = {}
    for name in ("orchestrator", "worker"):
        runs = draw(st.integers(30, 400))
        used = {tool: draw(st.integers(0, runs // draw(st.sampled_from([1, 3, 20])))) for tool in SIZES}
        calls = {tool: number * draw(st.integers(1, 3)) for tool, number in used.items()}
        found[name] = AgentUse(runs * draw(st.integers(1, 12)), runs, calls, used)
    return found


@settings(max_examples=40)
@given(observations(), st.sets(st.sampled_from(sorted(SIZES))), st.sampled_from(["packed", "direct"]))
def test_a_plan_is_as_cheap_as_the_cheapest_of_all(observed, direct, exposure):
    workspace = small(direct, ("packed", exposure))
    belts = Workbench(workspace).belts

    def doubt(name, tool):
        use = observed[name]
        was = belts[name][tool].state is State.DIRECT
        return use.runs * bound(use.used[tool], use.runs, 0.9, upper=was)

    found = plan(workspace, observed)
    mine = expense(layout(planned(workspace, found)), observed, doubt)
    others = [expense(one, observed, doubt) for one in every()]
    # Between equals nothing moves, for which a hundredth of a token a tool is given.
    assert mine <= min(others) + 0.01 * 2 * len(SIZES) * 2
    assert mine >= min(others) - 1e-6


@settings(max_examples=25)
@given(observations(), st.sets(st.sampled_from(sorted(SIZES))), st.sampled_from(["packed", "direct"]))
def test_a_plan_moves_places_only_and_once(observed, direct, exposure):
    workspace = small(direct, ("packed", exposure))
    found = plan(workspace, observed)
    after = planned(workspace, found)
    changed = prove(workspace, after, None)
    assert {move.item.wire_name for one in found.agents for move in one.moves} == {
        change.tool for one in changed.agents for change in one.changes if change.tool in SIZES
    }
    assert plan(after, observed).empty


# the figures of a fleet in the wild -----------------------------------------------------------------------

FLEET = (
    "steer_subagent", "wait_subagent", "close_subagent", "list_subagents", "continue_subagent", "wait",
    "wait_loop", "spawn_parallel_agents",
)  # fmt: skip
SKILLS = (
    "skill_registry_browse", "skill_registry_search", "skill_registry_install", "skill_registry_sources",
    "skill_registry_uninstall", "skill_runtime_resolve_runtimes", "install_workflow_from_url",
    "uninstall_workflow", "read_workflow_resource",
)  # fmt: skip


def fleet(*, reserved):
    """Eight fleet tools of 1,600 tokens together; a hand-off of some 270 among the tools of a skills pack."""
    skills = {"access": "owners", "owners": ["skill_setup"]} if reserved else {}
    return make_workspace(
        tools=[*(sized(name, 200) for name in FLEET), *(sized(name, 120) for name in SKILLS)],
        packs=[
            pack("fleet", FLEET, summary="Agents that are already running.", exposure="direct"),
            pack("skills", ["setup_skills", *SKILLS], summary="Find and install skills.",
                 direct=["setup_skills"], **skills),
        ],
        agents=[
            agent("orchestrator", tools=["*"], delegates=["skill_setup"]),
            agent("skill_setup", handoff="setup_skills", tools=["pack:skills"], description="word " * 190),
        ],
    )  # fmt: skip


def week(setups, reactive, runs=700):
    """What an orchestrator did: requests, in how many skills were set up, in how many each fleet tool was used."""
    used = {**dict.fromkeys(FLEET, reactive), "setup_skills": setups}
    return {"orchestrator": AgentUse(runs * 6, runs, dict(used), dict(used))}


def moved(found):
    return {
        (move.item.tool, move.to) for one in found.agents if one.agent == "orchestrator" for move in one.moves
    }


def test_the_fleets_figures_are_those_that_were_reported():
    belt = Workbench(fleet(reserved=False)).belts["orchestrator"]
    assert 1550 <= sum(line_tokens(belt[name].tool) for name in FLEET) <= 1700
    assert 250 <= line_tokens(belt["setup_skills"].tool) <= 290


def test_tools_used_reactively_stay_and_what_is_used_a_few_times_a_week_is_put_away():
    found = plan(fleet(reserved=False), week(setups=3, reactive=210))
    assert moved(found) == {("setup_skills", "packed")}


def test_while_it_is_used_often_it_stays():
    assert plan(fleet(reserved=False), week(setups=300, reactive=210)).empty


def test_it_comes_back_when_it_is_used_often_again():
    put_away = planned(fleet(reserved=False), plan(fleet(reserved=False), week(setups=3, reactive=210)))
    assert plan(put_away, week(setups=3, reactive=210)).empty
    assert moved(plan(put_away, week(setups=400, reactive=210))) == {("setup_skills", "direct")}


def test_the_only_way_to_reserved_work_stays_in_sight():
    assert plan(fleet(reserved=True), week(setups=3, reactive=210)).empty
    workspace = fleet(reserved=True)
    found = plan(workspace, week(setups=3, reactive=210), limits=Limits(always_pack=("setup_skills",)))
    with pytest.raises(PlanError, match="error of check"):
        prove(workspace, planned(workspace, found), None)


# limits ---------------------------------------------------------------------------------------------------


def names(found, to):
    return {name for name, where in moved(found) if where == to}


def test_names_that_are_never_or_always_packed():
    seen = week(setups=3, reactive=0)
    assert names(plan(fleet(reserved=False), seen), "packed") == {*FLEET, "setup_skills"}
    limits = Limits(never_pack=("fleet",))
    assert names(plan(fleet(reserved=False), seen, limits=limits), "packed") == {"setup_skills"}
    limits = Limits(always_pack=("wait",))
    assert names(plan(fleet(reserved=False), week(3, 600), limits=limits), "packed") == {
        "wait",
        "setup_skills",
    }
    limits = Limits(keep_handoffs=True, never_pack=("fleet",))
    assert plan(fleet(reserved=False), seen, limits=limits).empty


@pytest.mark.parametrize("most", [2, 5, 8])
def test_at_most_so_many_direct_tools_and_those_that_are_worth_most(most):
    used = {name: 690 - 60 * place for place, name in enumerate(FLEET)}
    seen = {"orchestrator": AgentUse(4200, 700, used, used)}
    workspace = fleet(reserved=False)
    limits = Limits(max_direct=most)
    found = plan(workspace, seen, limits=limits)
    belt = Workbench(planned(workspace, found)).belts["orchestrator"]
    assert len(belt.tools) <= most
    kept = [name for name in FLEET if belt[name].state is State.DIRECT]
    assert kept == list(FLEET[: most - 1])  # the opener takes a place


def test_limits_that_cannot_be_kept_or_mean_nothing():
    workspace, seen = fleet(reserved=False), week(3, 210)
    with pytest.raises(PlanError, match=r"'flet'.*fleet"):
        plan(workspace, seen, limits=Limits(never_pack=("flet",)))
    with pytest.raises(PlanError, match="never and always"):
        plan(workspace, seen, limits=Limits(never_pack=("wait",), always_pack=("wait",)))
    with pytest.raises(PlanError, match="8 tools whatever is planned"):
        plan(workspace, seen, limits=Limits(never_pack=("fleet",), max_direct=4))


# little data ----------------------------------------------------------------------------------------------


def test_a_few_runs_move_nothing():
    seen = {"orchestrator": AgentUse(60, 10, {}, {})}
    found = plan(fleet(reserved=False), seen)
    assert found.empty
    assert [one.enough for one in found.agents if one.agent == "orchestrator"] == [False]
    assert plan(fleet(reserved=False), {}).empty
    # Nor may the opener go, which would be worth it, for what a handful of runs did not use.
    few = {name: AgentUse(40, 10, {}, {}) for name in ("orchestrator", "worker")}
    assert plan(small({"a1", "a2", "b2"}), few).empty


def test_what_may_be_chance_moves_nothing():
    """A tool that was used a little more rarely than pays is moved only once that was seen often enough."""
    seen = [
        plan(fleet(reserved=False), week(setups=round(0.125 * runs), reactive=runs // 2, runs=runs))
        for runs in (40, 40_000)
    ]
    assert [one.empty for one in seen] == [True, False]


def test_an_interval_is_wilsons():
    # Wilson's 95 % interval of 1 in 10, as in Brown, Cai and DasGupta (2001): 0.018 to 0.404.
    assert round(bound(1, 10, 0.975, upper=False), 3) == 0.018
    assert round(bound(1, 10, 0.975, upper=True), 3) == 0.404
    assert bound(0, 0, 0.9, upper=True) == 1.0
    assert bound(0, 50, 0.9, upper=False) == 0.0


def test_prices_are_what_the_formula_says():
    assert Prices().prefix(1) == 1.25
    assert Prices().prefix(10) == pytest.approx((1.25 + 9 * 0.1) / 10)
    assert Prices(cached_read=1, cached_write=1).prefix(10) == 1
    assert Prices(context=1000, opening=10).first_use(100, 11) == pytest.approx(100 + 50 + 100 * (1.25 + 0.5))


def test_an_empty_plan_changes_nothing():
    workspace = small()
    assert planned(workspace, Plan(())).packs == workspace.packs
