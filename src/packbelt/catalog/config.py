"""`packbelt.yaml`."""

import os
from collections.abc import Mapping
from pathlib import PurePosixPath

from packbelt.catalog.drafts import name_problem
from packbelt.catalog.names import FIND_TOOLS
from packbelt.catalog.problems import read_model
from packbelt.catalog.schema import ConfigFile, ServerPolicyFile, ToolPolicyFile
from packbelt.catalog.text import Tree
from packbelt.catalog.workspace import Budget, Config, ServerPolicy, Times, ToolPolicy
from packbelt.catalog.yaml import Document, parse_yaml
from packbelt.model import Access, Exposure, Permission, Selector, Where, WorkspaceError
from packbelt.model.wire import plain_name_problem

FILE = "packbelt.yaml"


def read_config(tree: Tree) -> Config:
    """A workspace's configuration; without a file, or with an empty one, the defaults.

    Raises:
        WorkspaceError: it is not as the format says.
    """
    path = tree.root / FILE
    other = path.with_suffix(".yml")
    if other.exists():
        raise WorkspaceError("this name is not read", where=Where(other.name), mend=f"rename it to {FILE}")
    if not os.path.lexists(path):
        return Config()
    return parse_config(tree.read(path), FILE)


def parse_config(text: str, file: str) -> Config:
    """The text of a `packbelt.yaml`.

    Raises:
        WorkspaceError: it is not as the format says.
    """
    document = parse_yaml(text, file)
    if document.data is None:
        return Config(file=file, lines={"": 1})
    model = read_model(ConfigFile, document)
    _check_opener(model.opener, document)
    if problem := name_problem(model.orchestrator):
        where = document.where("orchestrator")
        raise WorkspaceError(f"the name {model.orchestrator!r} {problem}", where=where, mend="name an agent")
    for i, folder in enumerate(model.skills):
        path = PurePosixPath(folder.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            problem = f"the skills folder {folder!r} is outside the workspace"
            raise WorkspaceError(problem, where=document.where("skills", i), mend="write a folder in it")
    return Config(
        orchestrator=model.orchestrator,
        default_tools=model.default_tools,
        ceiling=Permission.parse(model.ceiling),
        deny=_selectors(model.deny, "deny", document),
        approve=_selectors(model.approve, "approve", document),
        opener=model.opener,
        servers=_policies(model.servers, document),
        budget=Budget(**model.budget.model_dump()),
        times=Times(**model.times.model_dump()),
        skills=tuple(model.skills),
        plugins_only=model.plugins_only,
        file=file,
        lines={".".join(map(str, path)): line for path, line in document.lines.items()},
    )


def _selectors(entries: list[str], key: str, document: Document) -> tuple[Selector, ...]:
    return tuple(Selector(text, document.where(key, i)) for i, text in enumerate(entries))


def _check_opener(name: str, document: Document) -> None:
    problem = plain_name_problem(name)
    if name == FIND_TOOLS:
        problem = f"{FIND_TOOLS} is the name of another tool"
    if problem:
        where = document.where("opener")
        raise WorkspaceError(f"the opener cannot be called {name!r}", where=where, mend=problem, name=name)


def _policies(files: Mapping[str, ServerPolicyFile], document: Document) -> dict[str, ServerPolicy]:
    """Each server's policy, merged over that of `"*"` key by key and tool by tool."""
    every = files.get("*")
    policies = {}
    for name, file in files.items():
        given = {key: getattr(file, key) for key in file.model_fields_set}
        base = {key: getattr(every, key) for key in every.model_fields_set} if every else {}
        tools = [*base.pop("tools", {}).items(), *(given.pop("tools", {}).items() if name != "*" else ())]
        given.pop("tools", None)
        merged = ServerPolicyFile(**{**base, **given})
        policies[name] = ServerPolicy(
            exposure=Exposure(merged.exposure),
            access=Access(merged.access),
            owners=tuple(merged.owners),
            carriers=tuple(merged.carriers),
            permission=Permission.parse(merged.permission),
            approve=merged.approve,
            concurrency=merged.concurrency,
            tools=_tools(tools),
            where=document.where("servers", name),
        )
    return policies


def _tools(entries: "list[tuple[str, ToolPolicyFile]]") -> dict[str, ToolPolicy]:
    policies: dict[str, ToolPolicy] = {}
    for name, file in entries:
        given = file.model_fields_set
        before = policies.get(name, ToolPolicy())
        policies[name] = ToolPolicy(
            permission=Permission.parse(file.permission) if "permission" in given else before.permission,
            approve=file.approve if "approve" in given else before.approve,
        )
    return policies
