"""Arguments against schemas: validation, and the smallest arguments that a schema admits."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from packbelt.catalog.references import target
from packbelt.model import JsonSchema
from packbelt.model.encode import compact
from packbelt.model.text import cut, one_line

DEPTH = 6
"""How deep a sample follows required properties."""


def parse(arguments: object) -> Mapping[str, Any] | None:
    """Arguments as an object: an object, the JSON of one, or nothing at all; None for anything else."""
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    return arguments if isinstance(arguments, Mapping) else None


def problem(schema: JsonSchema, arguments: Mapping[str, Any]) -> str:
    """What is wrong with arguments, in one line; empty if nothing is.

    A schema that is itself invalid, or refers to another document, admits anything: the tool's source is
    then the one to say.
    """
    text = compact(schema)
    try:
        return _first_error(text, arguments)
    except Exception as error:  # whatever a third party's schema makes the validator raise
        if type(error).__module__.partition(".")[0] in {"jsonschema", "referencing", "re", "builtins"}:
            return ""
        raise


def _first_error(text: str, arguments: Mapping[str, Any]) -> str:
    validator = _validator(text)
    if validator.is_valid(dict(arguments)):
        return ""
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - not on the path of deciding

    error = best_match(validator.iter_errors(dict(arguments)))
    if error is None:
        return ""
    place = ".".join(str(part) for part in error.absolute_path)
    return cut(one_line(f"{place}: {error.message}" if place else error.message), 300)


@lru_cache(maxsize=512)
def _validator(text: str) -> Any:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - not on the path of deciding
    from referencing import Registry  # noqa: PLC0415 - as above

    # An empty registry: a `$ref` to another document must never be fetched.
    return Draft202012Validator(json.loads(text), registry=Registry())


def sample(schema: JsonSchema) -> dict[str, Any] | None:
    """The smallest arguments that the schema admits, strings as `...`; None where none were found."""
    found = _sampled(compact(schema))
    return None if found is None else json.loads(found)


@lru_cache(maxsize=4096)
def _sampled(text: str) -> str | None:
    schema = json.loads(text)
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
            return [_value(schema.get("items", {}), root, depth - 1)] * min(schema.get("minItems", 0), 10)
        case "integer" | "number":
            low = max(schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1), 0)
            return min(low, schema.get("maximum", low))
        case "boolean":
            return False
        case "null":
            return None
    return "..." + "." * max(0, schema.get("minLength", 0) - 3)
