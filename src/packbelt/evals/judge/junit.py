"""JUnit XML: a test case for each case under each condition.

As Jenkins, GitLab and the readers of GitHub take it. A case that the agent failed is a `failure`, its type
the outcome; one that only the eval failed in is an `error`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from packbelt.evals.judge.cells import Cell, cells
from packbelt.evals.judge.gate import named
from packbelt.evals.outcomes import Result
from packbelt.evals.report import CaseReport
from packbelt.evals.trials import Condition, Played
from packbelt.model.encode import compact
from packbelt.model.text import cut

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold in any spelling."""
_ANSWER = 400
"""Bytes of a text that a failure shows."""


def junit(played: Sequence[Played]) -> str:
    """A run as JUnit XML.

    Raises:
        NoCasesError: nothing was played.
    """
    suites: dict[tuple[str, Condition], list[Cell]] = {}
    for cell in cells(played):
        suites.setdefault((cell.suite, cell.condition), []).append(cell)
    root = ET.Element("testsuites", name="packbelt eval")
    for (suite, condition), own in suites.items():
        root.append(_suite(suite, condition, own))
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(one.get(key, "0")) for one in root)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="utf-8"?>\n', "\n")
    )


def _suite(suite: str, condition: Condition, own: Sequence[Cell]) -> ET.Element:
    found = [_case(cell) for cell in own]
    node = ET.Element("testsuite", name=_clean(f"{suite} ({named(condition)})"), tests=str(len(found)))
    for key, tag in (("failures", "failure"), ("errors", "error")):
        node.set(key, str(sum(one.find(tag) is not None for one in found)))
    node.set("skipped", "0")
    node.set("time", f"{sum(play.seconds for cell in own for play in cell.plays):.3f}")
    said = ET.SubElement(node, "properties")
    for name, value in (
        ("model", condition.model),
        ("layout", condition.layout),
        ("mutation", condition.mutation),
    ):
        if value is not None:
            ET.SubElement(said, "property", name=name, value=_clean(value))
    node.extend(found)
    return node


def _case(cell: Cell) -> ET.Element:
    condition = cell.condition
    parts = [
        cell.suite,
        condition.model,
        condition.layout,
        *([condition.mutation] if condition.mutation else []),
    ]
    node = ET.Element(
        "testcase",
        name=_clean(cell.case),
        classname=_clean(".".join(part.replace(".", "_") for part in parts)),
        time=f"{sum(play.seconds for play in cell.plays):.3f}",
    )
    results = Counter(play.report.result for play in cell.plays)
    missed = [one for one in cell.judged if not one.passed]
    if missed:
        worst = Counter(one.result for one in missed).most_common(1)[0][0]
        text = next(one for one in missed if one.result is worst)
        _say(node, "failure", worst, results, text)
    elif len(cell.judged) < len(cell.plays):
        text = next(play.report for play in cell.plays if play.report.result is Result.HARNESS_ERROR)
        _say(node, "error", Result.HARNESS_ERROR, results, text)
    return node


def _say(node: ET.Element, tag: str, result: Result, results: Counter[Result], one: CaseReport) -> None:
    times = ", ".join(f"{count} x {result}" for result, count in results.items())
    message = one.trace.error or result.meaning
    if results.total() > 1:
        message = f"{message} ({times})"
    ET.SubElement(node, tag, type=str(result), message=_clean(message)).text = _clean(_told(one))


def _told(one: CaseReport) -> str:
    """What was asked, expected and done, a line for each."""
    wanted = ", ".join(" or ".join(step) for step in one.expected.steps) or "no call"
    lines = [f"request: {one.request}", f"agent: {one.agent}", f"expected: {wanted}"]
    for number, reply in enumerate(one.trace.replies, 1):
        if reply.text:
            lines.append(f"{number}. says: {cut(reply.text, _ANSWER)}")
        for call in reply.calls:
            given = call.arguments if isinstance(call.arguments, str) else compact(call.arguments)
            lines.append(f"{number}. {call.name}({cut(given, _ANSWER)}): {call.refused or call.outcome}")
    return "\n".join(lines)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
