"""Replies as objects of an SDK or as JSON: read alike."""

from collections.abc import Iterable, Mapping
from typing import Any


def get(value: Any, key: str, default: Any = None) -> Any:
    """An attribute of an object, or an entry of a mapping."""
    found = value.get(key, default) if isinstance(value, Mapping) else getattr(value, key, default)
    return default if found is None else found


def items(value: Any, key: str) -> Iterable[Any]:
    """The entries of a list, none where there is none; a text is no list."""
    found = get(value, key, ())
    return () if isinstance(found, str) else found
