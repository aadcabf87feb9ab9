"""OpenAI's function tools as the text that its models read: a TypeScript namespace.

OpenAI does not publish the rendering; it was inferred from what its API billed. What is covered by those
measurements (github.com/hmarr/openai-chat-tokens, MIT, gpt-3.5-turbo): descriptions, plain types, enums,
`anyOf`, arrays, nested objects, `required`. What is not, and is rendered by analogy: `oneOf`, `allOf`,
`$ref`, lists of types, objects without properties.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from packbelt.catalog.references import target
from packbelt.model.encode import compact

HEADER = "namespace functions {\n\n"
FOOTER = "} // namespace functions"

_DEEPEST = 64
"""Levels of a schema that are written out; below, the type is `any`."""
_DESCRIBED = 2
"""Indentation from which on the descriptions of properties are not rendered."""


def block(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """One function of the namespace, with the blank line behind it.

    The description of the parameters as a whole is not rendered.
    """
    comment = f"// {description}\n" if description else ""
    writer = _Writer(parameters)
    body = "\n".join(writer.members(parameters, 0))
    arguments = f"_: {{\n{body}\n}}" if body else ""
    return f"{comment}type {name} = ({arguments}) => any;\n\n"


class _Writer:
    """Writes the types of one function.

    Each definition that is referred to is written out where it is first named; from then on its
    reference stands for it, so that the text stays in proportion to the schema.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._written: set[str] = set()
        self._depth = 0

    def members(self, schema: Mapping[str, Any], indent: int) -> Iterator[str]:
        """The lines of an object's properties."""
        properties = schema.get("properties")
        required = schema.get("required")
        for name, part in properties.items() if isinstance(properties, Mapping) else ():
            described = part.get("description") if isinstance(part, Mapping) else None
            if described and indent < _DESCRIBED:
                yield f"{' ' * indent}// {described}"
            mark = "" if isinstance(required, list) and name in required else "?"
            yield f"{' ' * indent}{name}{mark}: {self.type(part, indent)},"

    def type(self, schema: object, indent: int) -> str:
        """A schema as a type."""
        if not isinstance(schema, Mapping) or self._depth >= _DEEPEST:
            return "any"
        self._depth += 1
        text = self._type(schema, indent)
        self._depth -= 1
        return text

    def _type(self, schema: Mapping[str, Any], indent: int) -> str:
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._referred(reference, indent)
        for key, joint in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
            choices = schema.get(key)
            # Beside properties, such a list only says which of them must go together.
            if isinstance(choices, list) and choices and "properties" not in schema:
                return joint.join(self.type(choice, indent) for choice in choices)
        values = schema.get("enum")
        if isinstance(values, list) and values:
            return " | ".join(map(compact, values))
        kind = schema.get("type", "object" if "properties" in schema else "any")
        kinds = kind if isinstance(kind, list) else [kind]
        return " | ".join(self._plain(str(one), schema, indent) for one in kinds) or "any"

    def _plain(self, kind: str, schema: Mapping[str, Any], indent: int) -> str:
        if kind == "array":
            return f"{self.type(schema.get('items'), indent)}[]"
        if kind == "object" and (body := "\n".join(self.members(schema, indent + 2))):
            return f"{{\n{body}\n}}"
        return kind

    def _referred(self, reference: str, indent: int) -> str:
        name = reference.rpartition("/")[2]
        if reference in self._written:
            return name
        self._written.add(reference)
        found = target(self._root, reference)
        return self.type(found, indent) if found is not None else name
