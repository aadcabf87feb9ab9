"""What is kept as JSON, and as plain text."""

import json
import math
from typing import Any

from packbelt.live.runs.record import RunStoreError

_DEEPEST = 200
"""Levels; deeper values exhaust the stack of readers in other languages too."""


def to_json(value: Any, what: str) -> str:
    """A value as JSON in ASCII.

    Raises:
        RunStoreError: a part of it is not JSON; says which. `json` alone would turn keys into text silently.
    """
    if flaw := _flaw(value, what):
        raise RunStoreError(
            f"{flaw}, which JSON has no form for",
            mend="keep messages as plain data (of an SDK's object, its model_dump(mode='json'))",
        )
    return json.dumps(value, separators=(",", ":"))


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
