"""Snapshot files: what is true now, as YAML or JSON, with tools in MCP's own wire form."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packbelt.catalog.forms import server_tools
from packbelt.catalog.problems import read_model
from packbelt.catalog.schema import SnapshotFile, SnapshotServerFile
from packbelt.catalog.snapshot import Admitted, ServerState, Snapshot
from packbelt.catalog.text import MAX_FILE, MAX_SNAPSHOT, read_text
from packbelt.catalog.workspace import Skill
from packbelt.catalog.yaml import Document, encodable, parse_json, parse_yaml
from packbelt.model import Permission, Selector, ServerStatus, SnapshotError, Tool, Where

_FLOW_YAML = re.compile(r"\{\s*[^\s\"}]")
"""A brace and then no quote: YAML's flow form rather than JSON."""
_ADMITTED = re.compile(r"native:.|handoff:.|server:.+/.", re.DOTALL)


def read_snapshot(path: Path) -> dict[str, Any]:
    """The fields of a `Snapshot` from a file of at most 64 MiB.

    Raises:
        SnapshotError: the file is missing, too large, empty, half written or not a snapshot.
    """
    file = str(path)
    text = read_text(path, file, limit=MAX_SNAPSHOT, error=SnapshotError)
    if text.startswith("{") and not _FLOW_YAML.match(text):
        # Lines of keys cost more than all the rest; large snapshots are written by programs anyway.
        small = len(text) <= MAX_FILE // 16
        document = parse_json(text, file, error=SnapshotError, lines=small)
    else:
        # Every beginning of a YAML file is a YAML file; one that breaks off inside a line shows it.
        if text.strip() and not text.startswith("{") and not text.endswith("\n"):
            raise SnapshotError(
                "does not end with a line feed, as if half written",
                where=Where(file, text.count("\n") + 1),
                mend="write it again, or end its last line",
            )
        document = parse_yaml(text, file, error=SnapshotError)
    if document.data is None:
        raise SnapshotError(
            "is empty", where=document.where(), mend="write a snapshot, at least `servers: {}`"
        )
    return _fields(document)


def parse_snapshot(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Snapshot` from the data of a snapshot file.

    Raises:
        SnapshotError: the data are not a snapshot.
    """
    return _fields(Document(data, ""))


def snapshot_data(snapshot: Snapshot) -> dict[str, Any]:
    """The data of a snapshot file that reads back as this snapshot; what is left to its default is absent."""
    data: dict[str, Any] = {
        "servers": {name: _server_data(state) for name, state in snapshot.servers.items()}
    }
    if snapshot.skills is not None:
        data["skills"] = [
            {"name": skill.name, "description": skill.description, "path": skill.path}
            for skill in snapshot.skills
        ]
    if snapshot.disabled_agents:
        data["disabled_agents"] = list(snapshot.disabled_agents)
    if snapshot.ceiling is not None:
        data["ceiling"] = str(snapshot.ceiling)
    for key, selectors in (("deny", snapshot.deny), ("approve", snapshot.approve)):
        if selectors:
            data[key] = [selector.text for selector in selectors]
    if snapshot.admitted:
        data["admitted"] = [
            {"id": entry.id, "placed": entry.placed} if entry.placed else {"id": entry.id}
            for entry in snapshot.admitted
        ]
    return data


def _fields(document: Document) -> dict[str, Any]:
    model = read_model(SnapshotFile, document, error=SnapshotError)
    given = model.model_fields_set
    fields: dict[str, Any] = {
        "servers": {name: _server(name, server, document) for name, server in model.servers.items()},
        "disabled_agents": tuple(model.disabled_agents),
        "deny": _selectors(model.deny, "deny", document),
        "approve": _selectors(model.approve, "approve", document),
        "admitted": _admitted(model, document),
        "file": document.file,
    }
    if "skills" in given:
        fields["skills"] = tuple(
            Skill(
                skill.name,
                skill.description,
                skill.path,
                document.where("skills", i) if document.file else None,
            )
            for i, skill in enumerate(model.skills)
        )
    if "ceiling" in given:
        fields["ceiling"] = Permission.parse(model.ceiling)
    return fields


def _server(name: str, server: SnapshotServerFile, document: Document) -> ServerState:
    where = document.where("servers", name) if document.file else None
    if not encodable([name, server.instructions, server.error]):
        raise SnapshotError(
            "a server's text holds half of a surrogate pair", where=where, mend="write whole characters"
        )
    tools, diagnostics = server_tools(name, server.tools)
    return ServerState(
        name,
        ServerStatus(server.status),
        tools,
        server.instructions,
        server.error or "",
        diagnostics,
        where,
    )


def _server_data(state: ServerState) -> dict[str, Any]:
    data: dict[str, Any] = {"status": str(state.status)}
    if state.instructions is not None:
        data["instructions"] = state.instructions
    if state.error:
        data["error"] = state.error
    data["tools"] = [_tool_data(tool) for tool in state.tools]
    return data


def _tool_data(tool: Tool) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": dict(tool.input_schema),
    }
    if tool.annotations:
        data["annotations"] = dict(tool.annotations)
    return data


def _selectors(entries: list[str], key: str, document: Document) -> tuple[Selector, ...]:
    found = []
    for i, text in enumerate(entries):
        where = document.where(key, i) if document.file else None
        if text != text.strip() or "," in text:
            raise SnapshotError(
                f"{text!r} in `{key}` is not one selector",
                where=where,
                mend="write one selector an entry",
                name=text,
            )
        found.append(Selector(text, where))
    return tuple(found)


def _admitted(model: SnapshotFile, document: Document) -> tuple[Admitted, ...]:
    for i, entry in enumerate(model.admitted):
        if not _ADMITTED.match(entry.id):
            raise SnapshotError(
                f"{entry.id!r} in `admitted` is no tool's identity",
                where=document.where("admitted", i) if document.file else None,
                mend="write native:name, handoff:name or server:name/tool",
                name=entry.id,
            )
    return tuple(Admitted(entry.id, entry.placed) for entry in model.admitted)
