"""Law 2, reachability: every enabled capability has a route from the orchestrator, of stated length, or the
cut is named.

Law 3, no silent dead end: a reserved tool has a route through a hand-off that its reader is granted, or what
cuts it is named, in the decision and in the hint.
"""

from hypothesis import given
from probes import admits, of_state

from packbelt.belt import hint_for
from packbelt.model import State
from packbelt.testing import make_belt
from packbelt.testing.strategies import worlds


@given(worlds())
def test_every_route_can_be_walked(world):
    """Its first call is admitted here, and the agent at the end of its chain can call the tool."""
    belt = world.belt()
    for i, tool in enumerate(belt.registry.tools):
        for route in belt.decision(i).routes:
            if "v" in tool.input_schema["properties"] and route.via != "handoff":
                continue  # a pattern that no sample is made for
            assert admits(belt, route.call, dict(route.arguments)), route
            if route.via != "handoff":
                assert belt.state(i).callable
                continue
            here = belt
            for agent in route.agents:
                link = here.registry.index.to_agent[agent]
                assert here.state(link).callable, (route, agent)
                here = make_belt(world.workspace, world.snapshot, here.subject.scope.spawn(agent))
            assert here.state(i).callable, route


@given(worlds())
def test_a_reserved_tool_has_a_way_through_an_owner_or_the_cut_is_named(world):
    belt = world.belt()
    for i in of_state(belt, State.RESERVED):
        decision = belt.decision(i)
        owners = belt.registry.pack(belt.registry.pack_of(i)).owners
        assert decision.routes or decision.cuts
        assert not (decision.routes and decision.cuts)
        assert all(route.via == "handoff" and route.agents[-1] in owners for route in decision.routes)
        ends = [owners.index(route.agents[-1]) for route in decision.routes]
        assert ends == sorted(ends)
        if not decision.routes:
            text = hint_for(belt, belt.registry.tools[i].wire_name).text
            assert len(decision.cuts) == max(len(owners), 1)
            assert all(cut.detail in text for cut in decision.cuts), text


@given(worlds())
def test_whoever_can_be_handed_to_is_found(world):
    """A tool that a hand-off's target can call has a route here, where it is withheld here."""
    belt = world.belt()
    owners_only = {State.RESERVED, State.UNAVAILABLE}
    for i in of_state(belt, *State):
        if belt.state(i).callable or belt.state(i) in owners_only:
            continue
        for link in of_state(belt, State.DIRECT, State.PACKED, State.DEFERRED):
            target = belt.registry.tools[link].target
            if target is None:
                continue
            child = belt.child(target)
            if not child.problems and child.state(i).callable:
                assert belt.decision(i).routes, (str(belt.registry.tools[i].id), target)
