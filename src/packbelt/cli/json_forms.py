"""The JSON that the commands print: one function for each form, and no other place that spells its keys."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from packbelt.belt import Belt, BeltTool
from packbelt.catalog.registry import bits
from packbelt.catalog.workspace import MCP
from packbelt.cli.output import words_of
from packbelt.cost import Cost, Method, line_tokens
from packbelt.model import (
    AgentRefusedError,
    Code,
    Diagnostic,
    Hint,
    Level,
    PackbeltError,
    Reason,
    Route,
    Rule,
    State,
    Tool,
    Where,
)
from packbelt.turn import Turn
from packbelt.turn.matrix import Row

if TYPE_CHECKING:  # a dump needs no checks
    from packbelt.checks.difference import AgentDiff, Change, Diff
    from packbelt.checks.worse import Worse

Json = dict[str, Any]


def dump_json(turn: Turn, method: Method = "json") -> Json:
    """A turn as `packbelt dump AGENT --json` shows it.

    Raises:
        PackbeltError: there is no such method.
        VocabularyError: the vocabulary is missing or is not the published one.
    """
    belt = turn.belt
    cost = turn.cost if method == "json" else turn.measure(method)
    return {
        "agent": turn.agent,
        "digest": turn.digest,
        "tools": [_tool_json(belt[tool.wire_name], tokens) for tool, tokens in _priced(turn, cost)],
        "withheld": [element_json(entry, method) for entry in belt.withheld],
        "packs": packs_json(belt, method),
        "sections": dict(turn.sections),
        "tokens": cost.to_json(),
        "diagnostics": [diagnostic_json(one) for one in turn.diagnostics],
    }


def refused_json(agent: str, error: PackbeltError) -> Json:
    """An agent that cannot start, beside the dumps of those that can."""
    return {"agent": agent, "refused": [diagnostic_json(one) for one in refusal(agent, error)]}


def refusal(agent: str, error: PackbeltError) -> Sequence[Diagnostic]:
    """Why an agent cannot start."""
    if isinstance(error, AgentRefusedError):
        return error.reasons
    return (Diagnostic(Level.ERROR, Code.AGENT_BROKEN, error.problem, error.where, error.mend, agent),)


def element_json(entry: BeltTool, method: Method = "json") -> Json:
    """One tool with reasons and routes: an element of `withheld`, and what `explain --json` prints."""
    decision = entry.decision
    return {
        **_tool_json(entry, line_tokens(entry.tool, method)),
        "reasons": [_reason_json(reason) for reason in decision.reasons],
        "routes": [_route_json(route) for route in decision.routes],
    }


def unknown_json(name: str, why: str = "") -> Json:
    """A name that neither workspace nor snapshot has."""
    reason = Reason(Rule.NO_SUCH_TOOL, why or f"no tool is called {name!r}")
    return {"name": name, "state": str(State.UNKNOWN), "reasons": [_reason_json(reason)], "routes": []}


def packs_json(belt: Belt, method: Method = "json") -> list[Json]:
    """Every pack, whether this agent can open it, how many tools it holds for him, and what that saves."""
    registry = belt.registry
    ids = [*registry.workspace.packs, *(MCP + server for server in registry.servers)]
    packed = {pack: list(bits((registry.pack_mask(pack) or 0) & belt.packed)) for pack in ids}
    return [
        {
            "id": pack,
            "open": bool(inside),
            "tools": len(inside),
            "tokens": sum(line_tokens(registry.tools[i], method) for i in inside),
        }
        for pack, inside in packed.items()
    ]


def diagnostic_json(one: Diagnostic) -> Json:
    """A diagnostic; its message ends in the mend."""
    return {
        "level": str(one.level),
        "code": str(one.code),
        "message": words_of(one),
        "where": where_json(one.where),
    }


def finding_json(one: Diagnostic) -> Json:
    """A finding of `packbelt check`: a diagnostic with the mend apart."""
    return {**diagnostic_json(one), "message": one.message, "mend": one.mend}


def diff_json(old: str, new: str, found: "Diff", failed: Sequence["Worse"]) -> Json:
    """A difference as `packbelt diff --json` shows it; agents that do not differ are left out."""
    return {
        "old": old,
        "new": new,
        "agents": [_agent_diff_json(one) for one in found.differing],
        "alike": len(found.agents) - len(found.differing),
        "tools": {
            "new": list(found.tools_new),
            "gone": list(found.tools_gone),
            "changed": list(found.tools_changed),
        },
        "findings": {
            "new": [finding_json(one) for one in found.found],
            "vanished": [finding_json(one) for one in found.mended],
        },
        "failed": [{"on": one.condition.text, "of": list(one.of)} for one in failed],
    }


def _agent_diff_json(one: "AgentDiff") -> Json:
    prefix = one.prefix
    return {
        "agent": one.agent,
        "before": one.before,
        "after": one.after,
        "refused": [diagnostic_json(reason) for reason in one.refused],
        "lost": [_change_json(change) for change in one.of("lost")],
        "gained": [_change_json(change) for change in one.of("gained")],
        "moved": [_change_json(change) for change in one.of("moved")],
        "widened": list(one.widened),
        "unasked": list(one.unasked),
        "asked": list(one.asked),
        "tokens": {"before": one.tokens, "after": one.tokens_now, "delta": one.delta},
        "cache": prefix
        and {
            "tools": {"kept": prefix.kept, "sent": prefix.sent},
            "tokens": {"kept": prefix.kept_tokens, "sent": prefix.sent_tokens},
            "breaks_at": prefix.breaks_at,
            "prompt_stays": prefix.prompt_stays,
        },
    }


def _change_json(change: "Change") -> Json:
    return {
        "wire_name": change.tool,
        "source": change.id.source,
        "name": change.id.name,
        "before": change.before and str(change.before),
        "after": change.after and str(change.after),
        "cause": {**_reason_json(change.cause), "ended": change.ended},
        "widened": change.widened,
    }


def matrix_json(agent: str, rows: Iterable[Row]) -> Json:
    """Every target as `packbelt compile --matrix --json` shows it."""
    return {"agent": agent, "targets": [_row_json(row) for row in rows]}


def _row_json(row: Row) -> Json:
    known = {"target": row.target.name, "title": row.target.title, "proved_on": row.proved_on}
    if row.form is None:
        return {**known, "refused": row.refused}
    enforcement = row.form.enforcement
    return {
        **known,
        "tools": list(enforcement.plan),
        "enforcement": enforcement.to_json(),
        "residue": list(enforcement.residue),
        "left_out": [{"name": name, "why": why} for name, why in row.left_out],
    }


def hint_json(hint: Hint) -> Json:
    """A hint."""
    suggestions = [{"tool": one.tool, "arguments": _plain(one.arguments)} for one in hint.suggestions]
    return {"class": str(hint.kind), "text": hint.text, "suggestions": suggestions}


def where_json(where: Where | None) -> str | None:
    """A place as `file:line`."""
    return str(where) if where else None


def _priced(turn: Turn, cost: Cost) -> Iterable[tuple[Tool, int]]:
    return zip(turn.tools, (tokens for _, tokens in cost.lines), strict=True)


def _tool_json(entry: BeltTool, tokens: int) -> Json:
    tool = entry.tool
    return {
        "name": tool.name,
        "wire_name": tool.wire_name,
        "source": tool.id.source,
        "state": str(entry.state),
        **({"pack": entry.pack} if entry.pack is not None else {}),
        **({"target": tool.target} if tool.target is not None else {}),
        "permission": str(entry.permission),
        "tokens": tokens,
        "description": tool.description,
        "input_schema": _plain(tool.input_schema),
    }


def _reason_json(reason: Reason) -> Json:
    return {"rule": str(reason.rule), "detail": reason.detail, "where": where_json(reason.where)}


def _route_json(route: Route) -> Json:
    return {"via": route.via, "call": route.call, "arguments": _plain(route.arguments)}


def _plain(value: Mapping[str, Any]) -> Json:
    """A mapping that JSON can write."""
    return dict(value)
