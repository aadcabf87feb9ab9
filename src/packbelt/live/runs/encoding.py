"""What is kept as JSON, and as plain text."""

import json
import math
from typing import Any

from pydantic import BaseModel

from packbelt.live.runs.record import RunStoreError

_DEEPEST = 200
"""Levels; deeper values exhaust the stack of readers in other languages too."""


def to_json(value: Any, what: str) -> str:
    """A value as JSON in ASCII. An SDK's object (a pydantic model) is kept as what it was read from.

    Raises:
        RunStoreError: a part of it is not JSON; says which. `json` alone would turn keys into text silently.
    """
    value = _plain(value)
    if flaw := _flaw(value, what):
        raise RunStoreError(f"{flaw}, which JSON has no form for", mend="keep messages as plain data")
    return json.dumps(value, separators=(",", ":"))


def _plain(value: Any, depth: int = 0) -> Any:
    """The value with pydantic models as data; what was not in their source (defaults) stays out."""
    if depth == _DEEPEST:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return value


def _flaw(value: Any, path: str, depth: int = 0) -> str:
    if value is None or isinstance(value, (str, bool, int)):
        return ""
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{path} is {value}"
    if depth == _DEEPEST:
        return f"{path[:_DEEPEST]}... is nested more than {_DEEPEST} deep"
    if isinstance(value, (list, tuple)):
        found = (_flaw(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(value))
        return next(filter(None, found), "")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                return f"{path} has a key of type {type(key).__name__}"
            if flaw := _flaw(item, f"{path}.{key[:40]}", depth + 1):
                return flaw
        return ""
    return f"{path} is of type {type(value).__name__}"


def to_text(text: str) -> str:
    """Text that both databases take: half surrogates (a path that is not UTF-8) and NUL are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
