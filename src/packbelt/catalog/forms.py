"""Raw definitions into `Tool`s: one place that normalises schemas and writes the neutral request line."""

from collections.abc import Iterable, Mapping
from typing import Any

from packbelt.catalog.references import endless_reference
from packbelt.model import (
    HANDOFF,
    Code,
    Diagnostic,
    Level,
    Permission,
    Tool,
    ToolId,
    Where,
    server_source,
)
from packbelt.model.encode import compact
from packbelt.model.wire import server_wire_name

MAX_SCHEMA = 1 << 20
"""Bytes of one tool's definition; a larger one removes itself."""
MAX_TOOLS = 1024
"""Tools of one server; the rest is left out with a diagnostic."""

HANDOFF_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "request": {
            "type": "string",
            "description": "What is wanted, in full: the other agent sees only this.",
        },
        "context": {"type": "string", "description": "Facts it needs besides."},
        "mcp_servers": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Leave it only these of its MCP servers; [] leaves none.",
        },
    },
    "required": ["request"],
    "additionalProperties": False,
}


def tool_line(wire_name: str, description: str, input_schema: Mapping[str, Any]) -> str:
    """One tool in the neutral request form: a JSON object and a newline.

    Ends in a newline so that, under o200k_base and cl100k_base, the tokens of the lines add up to the
    tokens of the whole: no token of either crosses from a line's end into a line that starts with a brace.
    """
    form = {"name": wire_name, "description": description, "input_schema": input_schema}
    return compact(form) + "\n"


def schema_problem(schema: object) -> str:
    """What makes a schema unusable for every provider; empty if nothing does."""
    found = _form_problem(schema)
    if found or not isinstance(schema, Mapping):
        return found
    return endless_reference(schema) if "$ref" in repr(schema) else ""


def _form_problem(schema: object) -> str:
    if not isinstance(schema, Mapping):
        return "its input schema is not an object"
    if schema.get("type", "object") != "object":
        return f"its input schema has the type {schema['type']!r}, and arguments are an object"
    if not isinstance(schema.get("properties", {}), Mapping):
        return "the `properties` of its input schema are not an object"
    return ""


def normal_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with `type: object` and `properties`, which every provider wants to see."""
    whole = dict(schema)
    whole.setdefault("type", "object")
    whole.setdefault("properties", {})
    return whole


def native_tool(
    source: str,
    name: str,
    description: str,
    input_schema: Mapping[str, Any],
    *,
    permission: Permission | None = None,
    approve: bool = False,
    where: Where | None = None,
) -> Tool:
    """A tool whose wire name is its name. The caller has checked name and schema."""
    schema = normal_schema(input_schema)
    return Tool(
        id=ToolId(source, name),
        wire_name=name,
        description=description,
        input_schema=schema,
        line=tool_line(name, description, schema),
        permission=permission,
        approve=approve,
        where=where,
    )


def handoff_tool(
    name: str, agent: str, description: str, permission: Permission, where: Where | None
) -> Tool:
    """The hand-off that leads to an agent."""
    return Tool(
        id=ToolId(HANDOFF, name),
        wire_name=name,
        description=description,
        input_schema=HANDOFF_SCHEMA,
        line=tool_line(name, description, HANDOFF_SCHEMA),
        permission=permission,
        target=agent,
        where=where,
    )


def server_tools(server: str, listed: Iterable[object]) -> tuple[tuple[Tool, ...], tuple[Diagnostic, ...]]:
    """A server's tools from its `tools/list` entries, sorted by name, and what was wrong with the rest.

    Sorted, because servers list their tools in another order at every start, and a belt's bytes must not
    change with it. One bad tool removes itself and no other.
    """
    tools: dict[str, Tool] = {}
    diagnostics: list[Diagnostic] = []

    def report(level: Level, code: Code, message: str, mend: str, name: str) -> None:
        diagnostics.append(Diagnostic(level, code, message, mend=mend, name=name))

    for position, raw in enumerate(listed):
        if len(tools) >= MAX_TOOLS:
            report(
                Level.WARNING,
                Code.TOOL_BROKEN,
                f"server {server!r} lists more than {MAX_TOOLS} tools; the rest is left out",
                "split the server, or select what it should offer",
                server,
            )
            break
        tool = _server_tool(server, raw)
        if isinstance(tool, str):
            name = raw.get("name") if isinstance(raw, Mapping) else None
            called = f"tool {name!r}" if isinstance(name, str) and name else f"tool {position + 1}"
            report(
                Level.WARNING,
                Code.TOOL_BROKEN,
                f"{called} of server {server!r} is left out: {tool}",
                "mend the server's tools/list",
                str(name or ""),
            )
        elif tool.name in tools:
            report(
                Level.WARNING,
                Code.TOOL_DUPLICATE,
                f"server {server!r} lists {tool.name!r} twice; the first counts",
                "mend the server's tools/list",
                tool.name,
            )
        else:
            tools[tool.name] = tool
    return tuple(tools[name] for name in sorted(tools)), tuple(diagnostics)


def _server_tool(server: str, raw: object) -> Tool | str:
    """A tool, or what is wrong with it."""
    if not isinstance(raw, Mapping):
        return "it is not an object"
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        return "it has no name"
    description = raw.get("description")
    if description is None:
        description = ""
    if not isinstance(description, str):
        return "its description is not a string"
    schema = raw.get("inputSchema", raw.get("input_schema", {}))
    problem = _form_problem({} if schema is None else schema)
    if problem:
        return problem
    annotations = raw.get("annotations")
    schema = normal_schema(schema or {})
    try:
        name.encode()
        wire_name, altered = server_wire_name(server, name)
        line = tool_line(wire_name, description, schema)
        size = len(line) if line.isascii() else len(line.encode())
        problem = endless_reference(schema) if '"$ref"' in line else ""
    except RecursionError:
        return "its input schema is nested too deeply"
    except (UnicodeEncodeError, ValueError, TypeError):
        return "it holds what JSON or UTF-8 cannot carry"
    if problem:
        return problem
    if size > MAX_SCHEMA:
        return f"its definition has {size:,} bytes, over the limit of {MAX_SCHEMA:,}"
    return Tool(
        id=ToolId(server_source(server), name),
        wire_name=wire_name,
        description=description,
        input_schema=schema,
        line=line,
        annotations=annotations if isinstance(annotations, Mapping) else {},
        altered=altered,
    )
