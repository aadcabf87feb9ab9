"""A report as JSON: what `packbelt report --json` prints, and all that its page knows."""

from collections.abc import Iterable
from typing import Any

from packbelt._version import __version__
from packbelt.belt.steps import VERDICTS, Step
from packbelt.checks.reported import AgentReport, Bill, Explanation, Family, Lead, Link, Part, Report, ToolRow
from packbelt.cli.json_forms import diagnostic_json, finding_json, where_json
from packbelt.cli.words import short_path
from packbelt.model import Reason, Rule, State

Json = dict[str, Any]


def report_json(found: Report) -> Json:
    """A report. What many tools share stands once: `explanations` by number, `steps` by number within them.

    An agent's `rows` are pairs of how many tools, in the order of `tools`, have which explanation.
    """
    steps: dict[Step, int] = {}
    for one in found.explanations:
        for step in one.steps:
            steps.setdefault(step, len(steps))
    rules = sorted({reason.rule for step in steps for reason in step.reasons}, key=list(Rule).index)
    return {
        "packbelt": __version__,
        "workspace": None if found.embedded else short_path(found.root),
        "snapshot": found.snapshot or None,
        "orchestrator": found.orchestrator,
        "opener": found.opener,
        "method": found.method,
        "states": [
            {"state": str(state), "callable": state.callable, "says": says}
            for state, says in VERDICTS.items()
        ],
        "rules": {str(rule): rule.meaning for rule in rules},
        "families": [_family_json(one) for one in found.families],
        "tools": [_tool_json(one) for one in found.tools],
        "agents": [_agent_json(found, one) for one in found.agents],
        "steps": [_step_json(one) for one in steps],
        "explanations": [_explanation_json(one, steps) for one in found.explanations],
        "links": [_link_json(one) for one in found.links],
        "findings": [finding_json(one) for one in found.findings],
    }


def _family_json(one: Family) -> Json:
    return _said(
        id=one.id,
        kind=one.kind,
        summary=one.summary,
        first=one.first,
        count=one.count,
        exposure=one.exposure and str(one.exposure),
        access=one.access and str(one.access),
        owners=list(one.owners),
        carriers=list(one.carriers),
        where=where_json(one.where),
        status=one.status and str(one.status),
    )


def _tool_json(one: ToolRow) -> Json:
    tool = one.tool
    return _said(
        wire_name=tool.wire_name,
        name=tool.name if tool.name != tool.wire_name else None,
        source=tool.id.source,
        target=tool.target,
        entry=one.entry if one.entry != tool.wire_name else None,
        imported_entry=one.imported_entry if one.imported_entry != one.entry else None,
        permission=str(one.permission),
        tokens=one.tokens,
        description=tool.description,
        where=where_json(tool.where),
    )


def _agent_json(found: Report, one: AgentReport) -> Json:
    shared = _said(
        name=one.name,
        description=one.description,
        handoff=one.handoff,
        where=where_json(one.where),
        imported=one.imported,
    )
    shared["depth"] = one.depth
    if one.refused:
        return {**shared, "refused": [diagnostic_json(reason) for reason in one.refused]}
    return {
        **shared,
        "states": {str(state): count for state in State if (count := found.states(one)[state])},
        "rows": [[stretch.count, stretch.explanation] for stretch in one.stretches],
        "ways_in": list(one.ways_in),
        "tokens": one.bill and _bill_json(one.bill),
        "prompt": [_said(section=piece.section, text=piece.text) for piece in one.prompt],
        "diagnostics": [diagnostic_json(remark) for remark in one.diagnostics],
    }


def _bill_json(one: Bill) -> Json:
    return {
        **one.cost.to_json(),
        "total_if_unpacked": one.total_unpacked,
        "parts": _parts_json(one.sent),
        "parts_if_unpacked": _parts_json(one.unpacked),
        "section_lines": dict(one.cost.section_lines),
    }


def _parts_json(parts: Iterable[Part]) -> Json:
    return {part.kind: part.tokens for part in parts}


def _step_json(one: Step) -> Json:
    return _said(
        question=one.question,
        answer=one.answer and str(one.answer),
        settles=one.settles,
        reasons=[_reason_json(reason) for reason in one.reasons],
        passed=one.passed,
        because=one.because,
        mend=one.mend.removeprefix("mend: "),
    )


def _explanation_json(one: Explanation, steps: dict[Step, int]) -> Json:
    return _said(
        state=str(one.state),
        approve=one.approve,
        steps=[steps[step] for step in one.steps],
        leads=[_lead_json(lead) for lead in one.leads],
        cuts=[_reason_json(reason) for reason in one.cuts],
    )


def _reason_json(one: Reason) -> Json:
    return _said(rule=str(one.rule), detail=one.detail, where=where_json(one.where))


def _lead_json(one: Lead) -> Json:
    return _said(via=one.via, call=one.call, tool=one.tool, agents=list(one.agents))


def _link_json(one: Link) -> Json:
    return {"source": one.source, "target": one.target, "tool": one.tool, "state": str(one.state)}


def _said(**keys: Any) -> Json:
    """The keys that say something: without None, False, and empty texts and lists."""
    return {key: value for key, value in keys.items() if value or (value == 0 and value is not False)}
