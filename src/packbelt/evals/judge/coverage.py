"""What of a workspace its suites speak of, and what no case ever asks for."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from packbelt.catalog.registry import bind, bits
from packbelt.catalog.workspace import Workspace
from packbelt.evals.bound import bound, meant
from packbelt.evals.cases import Suite
from packbelt.model import AgentBrokenError, AgentRefusedError, Exposure
from packbelt.turn import NOTHING, turn


@dataclass(frozen=True, slots=True)
class Covered:
    """How many cases there are for each thing of one kind.

    Attributes:
        cases: by name, those with cases only.
        missing: the names of those without one.
    """

    cases: dict[str, int]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the cases of some suites speak of.

    Attributes:
        cases: how many there are.
        no_tool: how many of them expect no call.
        hand_offs: by the names of hand-offs, those that cases expect; `missing` are those of the others that
            some agent can call.
        asked: by the names of agents, whom cases ask; `missing` are those that lead to others and are never
            asked themselves.
        packs: by ids of packs, those that cases expect a tool of; what is off for all is left out.
        tags: the tags of cases.
    """

    cases: int
    no_tool: int
    hand_offs: Covered
    asked: Covered
    packs: Covered
    tags: dict[str, int]


def coverage(workspace: Workspace, suites: Sequence[Suite]) -> Coverage:
    """What some suites cover of a workspace.

    Raises:
        WorkspaceError: a case names what the workspace has not.
    """
    handed: Counter[str] = Counter()
    packs: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    no_tool = 0
    for case in (case for suite in suites for case in suite.cases):
        registry = bind(workspace, case.snapshot)
        bound(workspace, case)  # says what is wrong with a case before it is counted
        names = {name for step in case.expect for name in step}
        means = (meant(registry, name, case.where("expect"), "expect") for name in names)
        tools = {tool.id: tool for tool in means}.values()
        handed.update(tool.name for tool in tools if tool.target)
        found = (registry.locate(tool.id) for tool in tools)
        packs.update({pack for i in found if i is not None and (pack := registry.pack_of(i))})
        asked[case.agent] += 1
        tags.update(case.tags)
        no_tool += not case.expect
    leads = _leads(workspace)
    return Coverage(
        cases=asked.total(),
        no_tool=no_tool,
        hand_offs=_covered(handed, sorted({name for names in leads.values() for name in names})),
        asked=_covered(asked, (agent for agent, names in leads.items() if names)),
        packs=_covered(
            packs, (one.id for one in workspace.packs.values() if one.exposure is not Exposure.OFF)
        ),
        tags=dict(sorted(tags.items())),
    )


def _covered(counted: Counter[str], known: Iterable[str]) -> Covered:
    return Covered(
        dict(sorted(counted.items())), tuple(name for name in dict.fromkeys(known) if not counted[name])
    )


def _leads(workspace: Workspace) -> dict[str, list[str]]:
    """The hand-offs that each agent can call when nothing is connected; no agent that cannot start."""
    found = {}
    for agent in workspace.agents:
        with suppress(AgentBrokenError, AgentRefusedError):
            belt = turn(workspace, NOTHING, agent).belt
            tools = (belt.registry.tools[i] for i in bits(belt.callable))
            found[agent] = [tool.name for tool in tools if tool.target]
    return found
