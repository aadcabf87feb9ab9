"""`packs/<id>.yaml`: named families of tools."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from packbelt.catalog.forms import native_tool, schema_problem
from packbelt.catalog.near import suggestion
from packbelt.catalog.problems import kind_of, read_model
from packbelt.catalog.schema import PackFile, ToolFile
from packbelt.catalog.text import Tree
from packbelt.catalog.workspace import MCP, Lines, Pack
from packbelt.catalog.yaml import Document, parse_yaml
from packbelt.model import NATIVE, Access, Exposure, Permission, Tool, Where, WorkspaceError
from packbelt.model.wire import plain_name_problem

FOLDER = "packs"
MAX_GUIDE = 2400
"""Bytes of a pack's guide."""

_ID = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")


@dataclass(frozen=True, slots=True)
class PackFileRead:
    """A pack, and the tools that its file defines in full."""

    pack: Pack
    tools: tuple[Tool, ...]


def read_packs(tree: Tree) -> list[PackFileRead]:
    """All packs, in the order of their file names.

    One in a folder below is an error: left out in silence, what it reserves would lie open.

    Raises:
        WorkspaceError: a file is not as the format says, or two packs claim one id or one tool.
    """
    folder = tree.root / FOLDER
    listing = tree.find(folder, ".yaml", ".yml", deep=True)
    for path in listing.files:
        if path.parent != folder and path.parent.suffix not in (".yaml", ".yml"):
            raise WorkspaceError(
                f"packs are read from {FOLDER}/*.yaml only",
                where=Where(tree.name(path)),
                mend=f"move it up into {FOLDER}/, or out of it",
            )
    packs = [parse_pack(tree.read(path), tree.name(path), path.stem) for path in listing.files]
    _refuse_twins([read.pack for read in packs])
    return packs


def parse_pack(text: str, file: str, stem: str) -> PackFileRead:
    """One pack's file.

    Args:
        text: the file.
        file: its name in messages.
        stem: the id where the file gives none.

    Raises:
        WorkspaceError: it is not as the format says.
    """
    document = parse_yaml(text, file)
    model = read_model(PackFile, document)
    identity = model.id if "id" in model.model_fields_set else stem
    if not _ID.match(identity):
        mend = "mcp: belongs to servers" if identity.startswith(MCP) else "write a-z, 0-9, _ and -"
        raise WorkspaceError(
            f"{identity!r} is no id for a pack", where=document.where("id"), mend=mend, name=identity
        )
    size = len(model.guide.encode())
    if size > MAX_GUIDE:
        problem = f"the guide has {size:,} bytes, over the limit of {MAX_GUIDE:,}"
        raise WorkspaceError(problem, where=document.where("guide"), mend="shorten it", name=identity)
    members, tools, member_lines = _members(model, document)
    for i, name in enumerate(model.direct):
        if name not in members:
            raise WorkspaceError(
                f"{name!r} in `direct` is no member of the pack",
                where=document.where("direct", i),
                mend=suggestion(name, members, otherwise="add it to `tools`"),
                name=name,
            )
    pack = Pack(
        id=identity,
        summary=" ".join(model.summary.split()),
        exposure=Exposure(model.exposure),
        access=Access(model.access),
        owners=tuple(model.owners),
        carriers=tuple(model.carriers),
        direct=tuple(model.direct),
        guide=model.guide,
        members=members,
        file=file,
        lines={**_lines(model, document), **member_lines},
    )
    return PackFileRead(pack, tools)


def _members(model: PackFile, document: Document) -> tuple[tuple[str, ...], tuple[Tool, ...], Lines]:
    lines: dict[str, int] = {}
    tools: list[Tool] = []
    for i, raw in enumerate(model.tools):
        where = document.where("tools", i)
        if isinstance(raw, str):
            name = raw
        elif isinstance(raw, dict):
            tool = _tool(document, i, raw)
            tools.append(tool)
            name = tool.name
        else:
            problem = f"`tools[{i + 1}]` is {kind_of(raw)}, not a tool"
            raise WorkspaceError(problem, where=where, mend="write a name, or a mapping with `name`")
        if problem := plain_name_problem(name):
            raise WorkspaceError(f"{name!r} is no tool's name", where=where, mend=problem, name=name)
        key = f"tools.{name}"
        if key in lines:
            problem = f"tool {name!r} stands twice, first on line {lines[key]}"
            raise WorkspaceError(problem, where=where, mend="keep one of them", name=name)
        lines[key] = where.line
    return tuple(key.removeprefix("tools.") for key in lines), tuple(tools), lines


def _tool(document: Document, i: int, raw: dict[str, object]) -> Tool:
    where = document.where("tools", i)
    model = read_model(ToolFile, document, at=("tools", i), data=raw)
    if problem := schema_problem(model.input_schema):
        place = document.where("tools", i, "input_schema")
        raise WorkspaceError(
            f"tool {model.name!r} cannot be used: {problem}",
            where=place,
            mend="mend its input_schema",
            name=model.name,
        )
    permission = Permission.parse(model.permission)
    return native_tool(
        NATIVE,
        model.name,
        model.description,
        model.input_schema,
        permission=permission,
        approve=model.approve,
        where=where,
    )


def _lines(model: PackFile, document: Document) -> Lines:
    lines = {"": document.where().line}
    for path, line in document.lines.items():
        if len(path) == 1:
            lines[str(path[0])] = line
    for key, names in (("owners", model.owners), ("carriers", model.carriers), ("direct", model.direct)):
        lines.update({f"{key}.{name}": document.where(key, i).line for i, name in enumerate(names)})
    return lines


def _refuse_twins(packs: Sequence[Pack]) -> None:
    ids: dict[str, Pack] = {}
    members: dict[str, Pack] = {}
    for pack in packs:
        if other := ids.get(pack.id):
            raise WorkspaceError(
                f"two packs have the id {pack.id!r}: here and in {other.where('id')}",
                where=pack.where("id"),
                mend="rename one of them",
                name=pack.id,
            )
        ids[pack.id] = pack
        for name in pack.members:
            if other := members.get(name):
                there = other.where(f"tools.{name}")
                raise WorkspaceError(
                    f"tool {name!r} is in two packs: {pack.id!r} here and {other.id!r} in {there}",
                    where=pack.where(f"tools.{name}"),
                    mend="remove it from one of them",
                    name=name,
                )
            members[name] = pack
