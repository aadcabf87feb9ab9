"""`Target`: what one SDK or API does with tools, as data. One file each in `targets/`."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from packbelt.catalog.near import listed, suggestion
from packbelt.model import PackbeltError, Permission


class TargetError(PackbeltError):
    """There is no such target, or it cannot do what it was asked."""


class Axis(StrEnum):
    """What may differ between a belt and what a target makes of it."""

    VISIBLE = "visible"
    CALLABLE = "callable"
    AUTO_APPROVED = "auto_approved"
    DENIED = "denied"
    UNKNOWN = "unknown"
    LATE = "late"

    @property
    def question(self) -> str:
        """What the axis asks."""
        return _QUESTIONS[self]


_QUESTIONS = {
    Axis.VISIBLE: "Does the model see exactly the tools that are sent?",
    Axis.CALLABLE: "Does only what the belt calls callable run?",
    Axis.AUTO_APPROVED: "Does a call that a person must approve wait for him?",
    Axis.DENIED: "Does the model read why a call was refused?",
    Axis.UNKNOWN: "What does the model read when it names a tool that is none?",
    Axis.LATE: "What becomes of a tool that arrives while the model is at work?",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One axis of one target.

    Attributes:
        target: what the target itself does.
        guard: what packbelt adds.
        open: what stays open with both; empty where nothing does.
    """

    target: str
    guard: str = ""
    open: str = ""


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which names a target takes.

    Attributes:
        pattern: the whole name must match.
        longest: letters at most, prefix included.
        prefix: what the target puts before every name that its model sees.
    """

    pattern: re.Pattern[str]
    longest: int
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class SchemaRule:
    """Which schemas a target takes.

    Attributes:
        flat: keywords that it refuses at a schema's top.
        keys: which parameter names it takes at the top; None for all.
        properties: whether it refuses a schema without `properties`.
    """

    flat: tuple[str, ...] = ()
    keys: re.Pattern[str] | None = None
    properties: bool = False


@dataclass(frozen=True, slots=True)
class Builtin:
    """A tool that the target itself runs."""

    name: str
    description: str
    permission: Permission


@dataclass(frozen=True, slots=True)
class Target:
    """What one SDK or API does with tools.

    Attributes:
        name: how it is called in `compile`.
        title: for people.
        package: its distribution on the package index; empty where none is needed.
        proved_on: the version of it that the claims were proved on.
        names: which names it takes.
        most_tools: tools in one request; 0 where no limit is known.
        longest_description: letters of a description that reach the model; 0 where no limit is known.
        search: the name under which its own deferral is found in prompts; empty where it has none.
        enforcement: by axis, what it does, what packbelt adds, and what stays open.
        builtins: tools that it runs itself.
        schemas: which schemas it takes.
        ways: other ways in which it can be given a belt, each with what is enforced there.
    """

    name: str
    title: str
    package: str
    proved_on: str
    names: NameRule
    most_tools: int = 0
    longest_description: int = 0
    search: str = ""
    enforcement: Mapping[Axis, Cell] = field(default_factory=dict)
    builtins: tuple[Builtin, ...] = ()
    schemas: SchemaRule = field(default_factory=SchemaRule)
    ways: Mapping[str, Mapping[Axis, Cell]] = field(default_factory=dict)


TARGETS = (
    "anthropic",
    "openai",
    "openai-chat",
    "gemini",
    "claude-agent-sdk",
    "openai-agents",
    "pydantic-ai",
    "langchain",
    "copilot",
    "mcp",
)
"""Every target, in the order in which tables show them."""


@cache
def target(name: str) -> Target:
    """The target of a name.

    Raises:
        TargetError: there is none.
    """
    if name not in TARGETS:
        mend = suggestion(name, TARGETS, otherwise=f"there are: {listed(TARGETS)}")
        raise TargetError(f"no target is called {name!r}", mend=mend, name=name)
    data = tomllib.loads(files(__package__).joinpath("targets", f"{name}.toml").read_text("utf-8"))
    return _read(name, data)


def _read(name: str, data: Mapping[str, Any]) -> Target:
    rule, schemas = data["names"], data.get("schemas", {})
    return Target(
        name=name,
        title=data["title"],
        package=data.get("package", ""),
        proved_on=data.get("proved_on", ""),
        names=NameRule(re.compile(rule["pattern"]), rule["longest"], rule.get("prefix", "")),
        most_tools=data.get("most_tools", 0),
        longest_description=data.get("longest_description", 0),
        search=data.get("search", ""),
        enforcement=_cells(data["enforcement"]),
        builtins=tuple(
            Builtin(one["name"], one["description"], Permission.parse(one["permission"]))
            for one in data.get("builtins", ())
        ),
        schemas=SchemaRule(
            tuple(schemas.get("flat", ())),
            re.compile(schemas["keys"]) if "keys" in schemas else None,
            schemas.get("properties", False),
        ),
        ways={way: _cells(cells) for way, cells in data.get("ways", {}).items()},
    )


def _cells(data: Mapping[str, Any]) -> dict[Axis, Cell]:
    return {axis: Cell(**data[axis]) for axis in Axis}


__all__ = [
    "TARGETS",
    "Axis",
    "Builtin",
    "Cell",
    "NameRule",
    "SchemaRule",
    "Target",
    "TargetError",
    "target",
]
