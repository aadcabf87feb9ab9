"""Parameters as BFCL writes them, as JSON Schema."""

from collections.abc import Mapping
from typing import Any

TYPES = {
    "dict": "object",
    "float": "number",
    "double": "number",
    "long": "integer",
    "byte": "integer",
    "short": "integer",
    "tuple": "array",
    "list": "array",
    "String": "string",
    "Boolean": "boolean",
    "Bigint": "integer",
    "char": "string",
}
"""Types in the words of Python, Java and JavaScript."""
KNOWN = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_NESTED = ("items", "additionalProperties")


def mended(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose types JSON Schema knows; `any`, and what else it does not know, becomes no type."""
    found = {key: value for key, value in schema.items() if key != "type"}
    kind = schema.get("type")
    kind = TYPES.get(kind, kind) if isinstance(kind, str) else kind
    if kind in KNOWN:
        found = {"type": kind, **found}
    if isinstance(properties := found.get("properties"), Mapping):  # its keys are names, `type` among them
        found["properties"] = {name: mended(one) for name, one in properties.items()}
    for key in _NESTED:
        if isinstance(inner := found.get(key), Mapping):
            found[key] = mended(inner)
    if not isinstance(found.get("required", []), list):
        del found["required"]
    return found
