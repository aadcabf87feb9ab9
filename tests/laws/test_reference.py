"""The masks against a slow reading of the design, one tool at a time."""

from hypothesis import given
from reference import Reference

from packbelt.testing.strategies import worlds


@given(worlds())
def test_every_state_is_the_one_that_the_design_says(world):
    """The table of masks and a naive reading of section 2 give each tool the same state."""
    belt = world.belt()
    if belt.problems:
        return  # an agent that cannot start has no states
    slow = Reference(world.workspace, world.snapshot)
    for i, tool in enumerate(belt.registry.tools):
        assert belt.state(i) is slow.state(world.scope, tool), (str(tool.id), belt.reasons(i))


@given(worlds())
def test_approval_and_permission_are_those_that_the_design_says(world):
    belt = world.belt()
    slow = Reference(world.workspace, world.snapshot)
    for i, tool in enumerate(belt.registry.tools):
        assert belt.at(i).approve == slow.is_approved_first(world.scope, tool), str(tool.id)
        assert belt.at(i).permission == slow.permission(tool), str(tool.id)
