"""Arguments: read as they arrive, and made up where a call is to be shown."""

import json
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

from packbelt.belt.schemas import problem, usable
from packbelt.catalog.references import target
from packbelt.model import JsonSchema
from packbelt.model.encode import compact

DEPTH = 6
"""How deep a sample follows required properties."""
LEVELS = 64
"""Levels of nesting that arguments may have."""
LONGEST = 200
"""Letters of the longest string, and items of the longest list, that a sample is made with."""


def parse(arguments: object) -> Mapping[str, Any] | None:
    """Arguments as an object: an object, the JSON of one, or nothing at all.

    None for anything else: other JSON, NaN and the infinities (which JSON does not have), and what is nested
    so deeply that whoever handles it next might fall over it.
    """
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, Mapping) and _plain(arguments) else None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _plain(value: object) -> bool:
    """Whether its nesting is bounded, and its numbers are those of JSON."""
    level = [value]
    for _ in range(LEVELS):
        children: list[object] = []
        for one in level:
            if isinstance(one, Mapping):
                children += one.values()
            elif isinstance(one, list | tuple):
                children += one
            elif isinstance(one, float) and not isfinite(one):
                return False
        if not children:
            return True
        level = children
    return False


def sample(schema: JsonSchema) -> dict[str, Any] | None:
    """The smallest arguments that the schema admits, strings as `...`; None where none were found."""
    found = _sampled(compact(schema))
    return None if found is None else json.loads(found)


@lru_cache(maxsize=1024)
def _sampled(text: str) -> str | None:
    schema = json.loads(text)
    if not usable(schema):
        return None
    try:
        made = _object(schema, schema, DEPTH)
    except (TypeError, AttributeError, ValueError):  # a third party's keywords need not be of their types
        return None
    return None if problem(schema, made) else compact(made)


def _object(schema: Mapping[str, Any], root: JsonSchema, depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if isinstance(name, str)]
    return {name: _value(properties.get(name, {}), root, depth - 1) for name in required}


def _value(schema: object, root: JsonSchema, depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth < 0:
        return "..."
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _value(target(root, reference), root, depth - 1)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return _value(schema[key][0], root, depth - 1)
    kind = schema.get("type")
    return _of_type(kind[0] if isinstance(kind, list) and kind else kind, schema, root, depth)


def _of_type(kind: object, schema: Mapping[str, Any], root: JsonSchema, depth: int) -> Any:
    match kind:
        case "object":
            return _object(schema, root, depth)
        case "array":
            return [_value(schema.get("items", {}), root, depth - 1)] * min(
                schema.get("minItems", 0), LONGEST
            )
        case "integer" | "number":
            low = max(schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1), 0)
            return min(low, schema.get("maximum", low))
        case "boolean":
            return False
        case "null":
            return None
    return "..." + "." * min(max(0, schema.get("minLength", 0) - 3), LONGEST)
