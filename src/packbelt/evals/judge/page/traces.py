"""The traces of a run as data for the page's script."""

import json
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from packbelt.evals.judge.cells import Cell, cells
from packbelt.evals.judge.gate import named
from packbelt.evals.trace import Made, Reply
from packbelt.evals.trials import Played
from packbelt.model.encode import compact

_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
"""What could end a script's element, begin a comment in it, or end a line of a script."""


def traces(played: Sequence[Played]) -> dict[str, Any]:
    """Every cell with all of its plays, in the order of `cells`; lists of tools stand once each."""
    belts: dict[tuple[str, ...], int] = {}
    found = [_cell(cell, belts) for cell in cells(played)]
    return {"cells": found, "belts": [list(belt) for belt in belts]}


def embedded_json(data: object) -> Markup:
    """JSON that can stand in a `script` element."""
    return Markup(json.dumps(data, separators=(",", ":")).translate(_ESCAPES))  # noqa: S704 - escaped above


def _cell(cell: Cell, belts: dict[tuple[str, ...], int]) -> dict[str, Any]:
    one = cell.report
    return {
        "case": f"{cell.suite}/{cell.case}",
        "condition": named(cell.condition),
        "agent": one.agent,
        "request": one.request,
        "expected": [" or ".join(step) for step in one.expected.steps],
        "forbidden": len(one.expected.forbidden),
        "plays": [
            {
                "result": play.report.result,
                "meaning": play.report.result.meaning,
                "passed": play.report.passed,
                "seconds": round(play.seconds, 2),
                "error": play.report.trace.error,
                "replies": [_reply(reply, belts) for reply in play.report.trace.replies],
            }
            for play in cell.plays
        ],
    }


def _reply(reply: Reply, belts: dict[tuple[str, ...], int]) -> dict[str, Any]:
    usage = reply.usage
    return {
        "belt": belts.setdefault(reply.advertised, len(belts)),
        "text": reply.text,
        "calls": [_call(call) for call in reply.calls],
        "tokens": None if usage is None else [usage.prompt, usage.completion, usage.cached],
    }


def _call(call: Made) -> dict[str, Any]:
    return {
        "name": call.name,
        "arguments": call.arguments if isinstance(call.arguments, str) else compact(call.arguments),
        "tool": call.tool,
        "ended": str(call.refused or call.outcome),
        "refused": call.refused is not None,
        "answer": call.answer,
    }
