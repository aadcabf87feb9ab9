"""JSON Schema validation that a third party's schema can neither hang nor make fetch anything.

The validator is jsonschema's; three things are ours. Every keyword it asks costs a step, and after a number
of steps it stops (a schema of thirty lines can ask for a billion). Patterns run under a time limit. And a
`$ref` to another document is never followed. What is not settled so is left to the tool's own source.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import Any

from packbelt.model import JsonSchema
from packbelt.model.encode import compact
from packbelt.model.text import cut, one_line

STEPS = 20_000
"""Keywords that one validation may ask."""
PATTERN_TIME = 0.05
"""Seconds that one pattern may run."""

_left: ContextVar[int] = ContextVar("steps left", default=STEPS)


class _UnsettledError(Exception):
    """The schema asks for too much."""


def usable(schema: JsonSchema) -> bool:
    """Whether a schema is one, and refers to nothing outside itself that would be needed."""
    return _validator(compact(schema)) is not None


def problem(schema: JsonSchema, arguments: Mapping[str, Any]) -> str:
    """What is wrong with arguments, in one line; empty if nothing is, or if the schema does not settle it."""
    validator = _validator(compact(schema))
    if validator is None:
        return ""
    token = _left.set(STEPS)
    try:
        return _first_error(validator, dict(arguments))
    except RecursionError:
        return "they are nested too deeply"
    except _UnsettledError:
        return ""
    except _third_party_errors():  # keywords of types that the validator did not expect, dangling references
        return ""
    finally:
        _left.reset(token)


@cache
def _third_party_errors() -> tuple[type[Exception], ...]:
    from jsonschema.exceptions import SchemaError, UnknownType  # noqa: PLC0415 - not on the path of deciding
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - as above
    from regex import error  # noqa: PLC0415 - as above

    keywords = (TypeError, ValueError, KeyError, AttributeError, OverflowError)
    return (SchemaError, UnknownType, Unresolvable, error, *keywords)


def _first_error(validator: Any, arguments: dict[str, Any]) -> str:
    if validator.is_valid(arguments):
        return ""
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - not on the path of deciding

    error = best_match(validator.iter_errors(arguments))
    place = ".".join(str(part) for part in error.absolute_path)
    return cut(one_line(f"{place}: {error.message}" if place else error.message), 300)


@lru_cache(maxsize=256)
def _validator(text: str) -> Any:
    """The validator of a schema; None if the schema cannot be used."""
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - not on the path of deciding
    from referencing import Registry  # noqa: PLC0415 - as above

    schema = json.loads(text)
    token = _left.set(STEPS)
    try:
        _Bounded().check_schema(schema)
    except (SchemaError, RecursionError, _UnsettledError):
        return None
    finally:
        _left.reset(token)
    return _Bounded()(schema, registry=Registry())


@cache
def _Bounded() -> Any:  # noqa: N802 - a class, made when it is first needed
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415 - not on the path of deciding

    keywords = {name: _counted(keyword) for name, keyword in Draft202012Validator.VALIDATORS.items()}
    keywords |= {"pattern": _counted(_pattern), "patternProperties": _counted(_pattern_properties)}
    return validators.extend(Draft202012Validator, keywords)  # type: ignore[no-untyped-call]  # no stubs for it


_Keyword = Callable[[Any, Any, Any, Any], Iterator[Any]]


def _counted(keyword: _Keyword) -> _Keyword:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        left = _left.get() - 1
        _left.set(left)
        if left < 0:
            raise _UnsettledError
        yield from keyword(validator, value, instance, schema) or ()

    return counted


def _pattern(validator: Any, pattern: Any, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415 - not on the path of deciding

    if validator.is_type(instance, "string") and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in patterns.items():
        for name, value in instance.items():
            if _matches(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _matches(pattern: str, text: str) -> bool:
    import regex  # noqa: PLC0415 - not on the path of deciding

    try:
        return regex.search(pattern, text, timeout=PATTERN_TIME) is not None
    except TimeoutError:
        raise _UnsettledError from None
