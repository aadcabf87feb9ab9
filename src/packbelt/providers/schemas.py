"""Schemas as a target takes them.

One schema that an API refuses fails the whole request, whatever else stands in it. What can be said in
another way is; a tool of which that is not so is left out, or refuses the form.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from packbelt.catalog.references import target as referred
from packbelt.model import Code, Diagnostic, Level, Tool
from packbelt.providers.names import CompileError
from packbelt.providers.target import SchemaRule, Target

BRANCHES = ("oneOf", "anyOf", "allOf")
LEVELS = 8
"""How deep branches within branches, and what they refer to, are followed."""


def fit_all(
    target: Target, tools: Iterable[Tool], *, strict: bool
) -> tuple[tuple[Tool, ...], tuple[Diagnostic, ...]]:
    """The tools whose schemas the target takes, each with its schema as it takes it, and what is to be known.

    Args:
        target: whose rule.
        tools: in order.
        strict: whether a schema that cannot be said there refuses the whole; else its tool is left out.

    Raises:
        CompileError: a schema cannot be said there.
    """
    kept: list[Tool] = []
    found: list[Diagnostic] = []
    for tool in tools:
        foreign = _foreign_keys(target.schemas, tool.input_schema)
        if foreign:
            problem = (
                f"{tool.id} has the parameter {foreign[0]!r}, and {target.title} takes names of the form "
                f"{target.schemas.keys.pattern if target.schemas.keys else ''}"
            )
            mend = "rename the parameter, or deny the tool to this agent"
            if strict:
                raise CompileError(problem, mend=f"{mend}, or compile with strict=False", name=tool.wire_name)
            found.append(_said(tool, f"{problem}; it is left out", mend))
            continue
        schema = fitted(target.schemas, tool.input_schema)
        if refused := [key for key in target.schemas.flat if key in tool.input_schema]:
            problem = (
                f"the schema of {tool.id} has `{refused[0]}` at its top, which {target.title} refuses; it is "
                "sent with the parameters of all its branches, and a call is still validated by the whole"
            )
            found.append(_said(tool, problem, "say in the description which parameters go together"))
        kept.append(tool if schema is tool.input_schema else replace(tool, input_schema=schema))
    return tuple(kept), tuple(found)


def fitted(rule: SchemaRule, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema as a target takes it; the very same where there is nothing to change.

    What combines schemas at the top is replaced by the parameters of all its branches, each as the branches
    that name it say. So it admits more than the schema does: the gate holds calls to the schema itself.
    """
    combined = [key for key in rule.flat if key in schema]
    if not combined and ("properties" in schema or not rule.properties):
        return schema
    made = {key: value for key, value in schema.items() if key not in combined}
    branched: dict[str, list[Any]] = {}
    for key in combined:
        for name, value in _properties({key: schema[key]}, schema, LEVELS):
            if value not in branched.setdefault(name, []):
                branched[name].append(value)
    own = made.get("properties") or {}
    several = {name: found[0] if len(found) == 1 else {"anyOf": found} for name, found in branched.items()}
    properties = {**own, **{name: value for name, value in several.items() if name not in own}}
    if combined:  # what one branch forbids another may ask for
        made.pop("additionalProperties", None)
        made.pop("unevaluatedProperties", None)
    return {**made, "properties": properties}


def _properties(branch: Any, root: Mapping[str, Any], levels: int) -> Iterator[tuple[str, Any]]:
    """The parameters of a branch: its own, those of what it refers to, and those of its own branches."""
    if not isinstance(branch, Mapping) or not levels:
        return
    found = branch.get("properties")
    if isinstance(found, Mapping):
        yield from found.items()
    reference = branch.get("$ref")
    within = [referred(root, reference)] if isinstance(reference, str) else []
    for key in BRANCHES:
        within += branch[key] if isinstance(branch.get(key), list) else []
    for each in within:
        yield from _properties(each, root, levels - 1)


def _foreign_keys(rule: SchemaRule, schema: Mapping[str, Any]) -> list[str]:
    if rule.keys is None:
        return []
    named = fitted(rule, schema).get("properties") or {}
    return [name for name in named if not rule.keys.fullmatch(name)]


def _said(tool: Tool, problem: str, mend: str) -> Diagnostic:
    return Diagnostic(Level.WARNING, Code.TARGET_SCHEMA, problem, tool.where, mend, tool.wire_name)
