"""`$ref`s in a tool's schema: the ones that lead nowhere."""

from collections.abc import Iterator, Mapping
from typing import Any


def endless_reference(schema: Mapping[str, Any]) -> str:
    """A chain of `$ref` that leads back to itself without a schema in between; empty if there is none.

    A recursive schema (a tree whose nodes are trees) is fine: the value gets smaller at each step.
    """
    for start in _references(schema):
        chain: list[str] = []
        reference: object = start
        while isinstance(reference, str) and reference.startswith("#"):
            if reference in chain:
                return f"its `$ref`s lead in a circle: {' -> '.join([*chain, reference])}"
            chain.append(reference)
            node = target(schema, reference)
            reference = node.get("$ref") if isinstance(node, Mapping) else None
    return ""


def target(schema: Mapping[str, Any], pointer: str) -> object:
    """What a JSON pointer such as `#/$defs/Item` points at; None where it points at nothing."""
    node: object = schema
    for part in pointer.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        elif isinstance(node, Mapping):
            node = node.get(key)
        else:
            return None
    return node


def _references(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        reference = node.get("$ref")
        if isinstance(reference, str):
            yield reference
        for child in node.values():
            yield from _references(child)
    elif isinstance(node, list):
        for child in node:
            yield from _references(child)
