"""Observed calls from files: packbelt's event log, spans of OpenTelemetry as JSON, or a table."""

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packbelt.catalog.near import suggestion
from packbelt.catalog.text import read_text
from packbelt.checks.plan_model import AgentUse, Observed
from packbelt.model import PackbeltError, Where

LIMIT = 1 << 28
"""Bytes of a file."""
_COLUMNS = ("agent", "tool", "calls", "turns", "runs")
_DIGITS = 15
"""Of a number that is taken for a count."""
_NEEDED = ("agent", "tool", "calls")
_MODEL = ("chat", "generate_content", "text_completion")
"""Operations of the GenAI conventions that are one request to a model."""
_NOT_MADE = ("rejected", "not_started")
"""Outcomes of calls that did not happen."""


class ObservedError(PackbeltError):
    """A file of observed calls cannot be used."""


@dataclass(slots=True)
class _Agent:
    turns: int = 0
    runs: set[str] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    used: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class _Tally:
    """Events as they are read, by agent."""

    def __init__(self) -> None:
        self.agents: dict[str, _Agent] = defaultdict(_Agent)

    def event(self, one: Mapping[str, Any]) -> None:
        """A line of the event log."""
        agent, run = self.agents[_last(one.get("agent"))], str(one.get("run", ""))
        if one.get("kind") == "turn":
            agent.turns += 1
            agent.runs.add(run)
        elif one.get("tool") and one.get("outcome") is not None and one["outcome"] not in _NOT_MADE:
            self._call(agent, str(one["tool"]), run)

    def span(self, attributes: Mapping[str, Any], trace: str) -> None:
        """A span."""
        operation = attributes.get("gen_ai.operation.name")
        name = attributes.get("gen_ai.agent.name") or attributes.get("packbelt.agent.path")
        if not name:
            return
        run = str(attributes.get("gen_ai.conversation.id") or trace)
        agent = self.agents[_last(name)]
        if operation in _MODEL:
            agent.turns += 1
        elif operation == "execute_tool":
            tool = attributes.get("packbelt.tool.id") or attributes.get("gen_ai.tool.name")
            if tool and attributes.get("packbelt.outcome") not in _NOT_MADE:
                self._call(agent, str(tool), run)
        elif operation != "invoke_agent":
            return
        agent.runs.add(run)

    @staticmethod
    def _call(agent: _Agent, tool: str, run: str) -> None:
        agent.calls[tool] += 1
        agent.used[tool].add(run)

    def observed(self) -> Observed:
        """What was observed, by agent."""
        found = {}
        for name, one in self.agents.items():
            if one.turns or one.runs:
                used = {tool: len(runs) for tool, runs in one.used.items()}
                found[name] = AgentUse(one.turns, len(one.runs), dict(one.calls), used)
        return found


def read_observed(path: Path) -> Observed:
    """What a file says of each agent; which form it has is seen from it.

    Raises:
        ObservedError: it cannot be read, has none of the forms, or has no turn and no call of any agent.
    """
    text = read_text(path, str(path), limit=LIMIT, error=ObservedError)
    start = text.lstrip()[:1]
    read = _of_json if start in ("{", "[") else _of_table
    found = read(text, str(path)) if start else {}
    if not found:
        raise ObservedError(
            "has no turn and no call of any agent",
            where=Where(str(path)),
            mend="give an event log (serve --events FILE) that has some, spans as JSON, or a table "
            "agent,tool,calls",
        )
    return found


def _of_json(text: str, file: str) -> Observed:
    tally = _Tally()
    for line, one in _values(text, file):
        if not isinstance(one, dict):
            raise ObservedError(
                "holds JSON that is no object",
                where=Where(file, line),
                mend="give the event log, or spans as JSON",
            )
        if one.get("kind") in ("turn", "call"):
            tally.event(one)
        for attributes, trace in _spans(one):
            tally.span(attributes, trace)
    return tally.observed()


def _values(text: str, file: str) -> Iterator[tuple[int, Any]]:
    """JSON values, one behind another or in a list. A last line that was cut off is left out."""
    decoder, place, line = json.JSONDecoder(), 0, 1
    while True:
        while place < len(text) and text[place].isspace():
            line += text[place] == "\n"
            place += 1
        if place == len(text):
            return
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:  # a ValueError alone is a number that is too long
            if "\n" not in text[place:] and line > 1:
                return
            raise ObservedError(
                f"is not valid JSON: {getattr(error, 'msg', '') or _why(error)}",
                where=Where(file, line),
                mend="remove the line",
            ) from None
        yield from ((line, one) for one in value) if isinstance(value, list) else ((line, value),)
        line += text.count("\n", place, end)
        place = end


def _spans(one: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Attributes and trace of each span: of OTLP's JSON, or of one span as the Python SDK writes it."""
    for resource in _each(one, "resourceSpans"):
        for scope in _each(resource, "scopeSpans"):
            for span in _each(scope, "spans"):
                entries = _each(span, "attributes")
                given = {str(entry.get("key")): _value(entry.get("value")) for entry in entries}
                yield given, str(span.get("traceId", ""))
    attributes = one.get("attributes")
    if isinstance(attributes, dict) and "name" in one:
        context = one.get("context")
        yield attributes, str(context.get("trace_id", "")) if isinstance(context, dict) else ""


def _each(holder: Mapping[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """The objects in a list under a key; what is none is no part of OTLP."""
    found = holder.get(key)
    return (one for one in found if isinstance(one, dict)) if isinstance(found, list) else iter(())


def _why(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"


def _value(value: Any) -> Any:
    return next(iter(value.values()), None) if isinstance(value, dict) else value


def _of_table(text: str, file: str) -> Observed:
    try:
        return _of_rows(text, file)
    except csv.Error as error:  # a field without end, in the main
        raise ObservedError(
            f"is no table: {error}", where=Where(file), mend="check its quotes, or write it as CSV"
        ) from None


def _of_rows(text: str, file: str) -> Observed:
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    columns = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = columns
    for name in columns:
        if name not in _COLUMNS:
            mend = suggestion(name, _COLUMNS, otherwise=f"the columns are {', '.join(_COLUMNS)}")
            raise ObservedError(f"column {name!r} is unknown", where=Where(file, 1), mend=mend)
    if missing := [name for name in _NEEDED if name not in columns]:
        raise ObservedError(
            f"has no column {missing[0]!r}", where=Where(file, 1), mend="begin with agent,tool,calls[,turns]"
        )
    calls: dict[str, Counter[str]] = defaultdict(Counter)
    whole: dict[str, dict[str, int]] = defaultdict(lambda: {"turns": 0, "runs": 0})
    for row in reader:
        agent, tool = (row["agent"] or "").strip(), (row["tool"] or "").strip()
        where = Where(file, reader.line_num)
        calls[agent][tool] += _count(row, "calls", where)
        for name in ("turns", "runs"):
            whole[agent][name] = max(whole[agent][name], _count(row, name, where) if row.get(name) else 0)
    return {
        agent: AgentUse(whole[agent]["turns"], whole[agent]["runs"] or None, dict(counts))
        for agent, counts in calls.items()
        if agent
    }


def _count(row: Mapping[str, str | None], column: str, where: Where) -> int:
    said = (row.get(column) or "").strip()
    if not (said.isascii() and said.isdecimal()):
        raise ObservedError(
            f"{column} is {said!r}, which is no number", where=where, mend="write 0, 1, 2, ..."
        )
    if len(said) > _DIGITS:
        raise ObservedError(
            f"{column} has more than {_DIGITS} digits", where=where, mend="write a real count"
        )
    return int(said)


def _last(path: object) -> str:
    """The agent at the end of a path of agents."""
    return str(path or "").rpartition("/")[2]


__all__ = ["LIMIT", "ObservedError", "read_observed"]
