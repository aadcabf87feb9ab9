"""Belts kept in files, to be read in a review and held against the belts as they are now.

A file holds one agent: every tool that the workspace knows, by state, with the rule that puts it there.
States and approvals are compared. The rules tell, where something is another, which of them has ended.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from packbelt.belt import Belt
from packbelt.catalog.registry import bits
from packbelt.catalog.yaml import parse_yaml
from packbelt.checks.diff import cause_of
from packbelt.checks.difference import Change, Kind
from packbelt.model import NATIVE, PackbeltError, Reason, Rule, State, ToolId

_HEAD = """\
# What {agent} may call, and how. Written by `pytest --packbelt-update`; review it as you review code.
"""
_APPROVED = ", approved by a person"
_REFUSED = "refused"
_GONE = Reason(Rule.NO_SUCH_TOOL, "the tool is gone")


class KeptError(PackbeltError):
    """A file of a kept belt is not what it should be."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool: its state, the rule that put it there, and whether a person approves each call."""

    state: State
    rule: str
    approve: bool


Kept = Mapping[str, Entry] | str
"""The tools of one agent by wire name; text where it cannot start: why."""


def kept(belt: Belt) -> Kept:
    """What a file would hold of a belt."""
    if belt.problems:
        return belt.problems[0].message
    tools = belt.registry.tools
    return {
        tools[i].wire_name: Entry(belt.state(i), str(belt.reasons(i)[0].rule), bool(belt.approve >> i & 1))
        for i in bits(belt.registry.all)
    }


def write(path: Path, agent: str, now: Kept) -> None:
    """Write a file, whole or not at all: several processes may keep the same belt at once."""
    text = _HEAD.format(agent=agent) + "".join(_lines(now))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    Path(name).chmod(0o644)
    Path(name).replace(path)


def _lines(now: Kept) -> Iterator[str]:
    if isinstance(now, str):
        yield f"{_REFUSED}: {_scalar(now)}\n"
        return
    for state in State:
        here = {name: entry for name, entry in now.items() if entry.state is state}
        if here:
            yield f"{state}:\n"
        for name, entry in sorted(here.items()):
            yield f"  {name}: {entry.rule}{_APPROVED if entry.approve and state.callable else ''}\n"


def _scalar(text: str) -> str:
    return "'" + " ".join(text.split()).replace("'", "''") + "'"


def read(path: Path) -> Kept:
    """What a file holds.

    Raises:
        KeptError: it cannot be read, or is not of this form.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KeptError(
            f"{path} cannot be read: {error}", mend="pytest --packbelt-update writes it"
        ) from None
    data = parse_yaml(text, str(path), error=KeptError).data
    if isinstance(data, dict) and isinstance(data.get(_REFUSED), str):
        return str(data[_REFUSED])
    try:
        return {
            name: Entry(State(state), said.removesuffix(_APPROVED), said.endswith(_APPROVED))
            for state, names in (data or {}).items()
            for name, said in names.items()
        }
    except (AttributeError, ValueError):
        raise KeptError(f"{path} is no kept belt", mend="pytest --packbelt-update writes it") from None


def difference(before: Kept, belt: Belt) -> str:
    """What became another since a belt was kept, a line for each tool; empty if nothing did."""
    now = kept(belt)
    if isinstance(now, str):
        return "" if isinstance(before, str) else f"  cannot start any more: {now}"
    if isinstance(before, str):
        return f"  can start now; it could not: {before}"
    changes = sorted(_changes(before, belt), key=lambda one: (_KINDS.index(one.kind), one.tool))
    lines = []
    width = max((len(one.tool) for one in changes), default=0)
    for kind in _KINDS:
        some = [_line(one, width) for one in changes if one.kind == kind]
        lines += [f"  {kind}", *some] if some else []
    for mark, title in ((False, "without a person's yes now"), (True, "only with a person's yes now")):
        names = [name for name, entry in now.items() if _approval(before.get(name), entry) is mark]
        lines += [f"  {title}", *(f"    {name}" for name in sorted(names))] if names else []
    return "\n".join(lines)


_KINDS: tuple[Kind, ...] = ("lost", "gained", "moved")


def _approval(before: Entry | None, now: Entry) -> bool | None:
    """Whether calls are approved now, where that changed for a tool that could and can be called."""
    if before is None or not (before.state.callable and now.state.callable):
        return None
    return None if before.approve == now.approve else now.approve


def _changes(before: Mapping[str, Entry], belt: Belt) -> Iterator[Change]:
    tools = belt.registry.tools
    for i in bits(belt.registry.all):
        tool, state = tools[i], belt.state(i)
        entry = before.get(tool.wire_name)
        former = entry.state if entry else State.UNKNOWN
        if former is state or (former is State.UNKNOWN and not state.callable):
            continue
        cause, ended = cause_of(former, partial(_ended, entry), belt, i)
        kind: Kind = "moved" if state.callable == former.callable else "gained" if state.callable else "lost"
        yield Change(tool.wire_name, tool.id, kind, former, state, cause, ended)
    gone = {name: e for name, e in before.items() if name not in belt.registry.wire and e.state.callable}
    for name, entry in gone.items():  # what it was is not kept; nobody reads this identity
        yield Change(name, ToolId(NATIVE, name), "lost", entry.state, State.UNKNOWN, _GONE)


def _ended(entry: Entry | None) -> Reason:
    rule = entry.rule if entry else ""
    return Reason(Rule(rule) if rule in set(Rule) else Rule.NO_SUCH_TOOL, "")


def _line(one: Change, width: int) -> str:
    why = (
        f"rule {one.cause.rule} applies no more"
        if one.ended
        else f"{one.cause.detail} [{one.cause.rule}]" + (f" ({one.cause.where})" if one.cause.where else "")
    )
    return f"    {one.tool:<{width}}  {one.before} → {one.after}: {why}"


__all__ = ["Entry", "Kept", "KeptError", "difference", "kept", "read", "write"]
