"""A tool and its identity."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from packbelt.model.encode import digest
from packbelt.model.permission import Permission
from packbelt.model.where import Where

NATIVE: Literal["native"] = "native"
HANDOFF: Literal["handoff"] = "handoff"
BUILTIN: Literal["builtin"] = "builtin"
SERVER = "server:"

JsonSchema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class ToolId:
    """What a tool is: its source and its name. Two tools may share a name; they are never one tool.

    Attributes:
        source: `native`, `handoff`, `server:<server>`, or `builtin` for one that the target itself runs.
        name: the name its source gives it, as it is.
    """

    source: str
    name: str

    def __str__(self) -> str:
        return f"{self.source}/{self.name}" if self.server is not None else f"{self.source}:{self.name}"

    @property
    def server(self) -> str | None:
        """The server's name, or None for a tool of any other source."""
        return self.source[len(SERVER) :] if self.source.startswith(SERVER) else None


def server_source(server: str) -> str:
    """The source of a server's tools."""
    return SERVER + server


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a model can call.

    Attributes:
        id: its identity.
        wire_name: the name a model sees and says.
        description: what the model reads, as its source wrote it.
        input_schema: JSON Schema of the arguments, always an object schema with `properties`.
        line: its line of the neutral request form, newline included: what its tokens are counted on.
        permission: what a call needs, where its source says so; the workspace settles the rest.
        approve: whether its source asks that a person approve each call; selectors may add more.
        annotations: what a server says of it (read-only, destructive); shown, never trusted.
        target: for a hand-off, the agent it leads to.
        altered: whether the wire name differs from the plain one.
        where: where it was written.
    """

    id: ToolId
    wire_name: str
    description: str
    input_schema: JsonSchema
    line: str
    permission: Permission | None = None
    approve: bool = False
    annotations: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    altered: bool = False
    where: Where | None = None

    @property
    def name(self) -> str:
        """The plain name."""
        return self.id.name

    @property
    def digest(self) -> str:
        """The SHA-256 of name, description and schema in canonical JSON; worked out when asked for."""
        return digest([self.id.name, self.description, self.input_schema])

    def to_json(self) -> dict[str, Any]:
        """What is sent of it: `name`, `description` and `input_schema`, as Anthropic's API takes them."""
        return {
            "name": self.wire_name,
            "description": self.description,
            "input_schema": dict(self.input_schema),
        }
