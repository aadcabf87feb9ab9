"""`prompts/agents/<name>.md`: agents in packbelt's own format."""

from typing import Any, Literal

from packbelt.catalog.drafts import (
    Draft,
    agent_servers,
    key_lines,
    name_problem,
    read_front_matter,
    selectors,
)
from packbelt.catalog.names import default_handoff
from packbelt.catalog.problems import kind_of, null_list, read_model
from packbelt.catalog.schema import AgentFile
from packbelt.catalog.workspace import Agent
from packbelt.catalog.yaml import Document
from packbelt.model import Diagnostic, Origin, Permission, WorkspaceError
from packbelt.model.wire import plain_name_problem

FOLDER = "prompts/agents"


def parse_agent(text: str, file: str, stem: str, origin: Origin) -> Draft:
    """One agent's file.

    Args:
        text: the file.
        file: its name in messages.
        stem: the agent's name where the file gives none.
        origin: where the file was found.

    Raises:
        WorkspaceError: it is not as the format says.
    """
    document, parts = read_front_matter(text, file)
    model = read_model(AgentFile, document)
    given = model.model_fields_set
    name = model.name if "name" in given else stem
    if problem := name_problem(name):
        where = document.where("name")
        raise WorkspaceError(f"the name {name!r} {problem}", where=where, mend="rename the agent", name=name)
    handoff = model.handoff if "handoff" in given else default_handoff(name)
    if problem := plain_name_problem(handoff):
        raise WorkspaceError(
            f"the hand-off {handoff!r} has no usable name: {problem}",
            where=document.where("handoff" if "handoff" in given else "name"),
            mend="write another `handoff:`",
            name=handoff,
        )
    diagnostics: list[Diagnostic] = []
    servers, inline, _ = agent_servers(
        model.mcp_servers, "mcp_servers", document, name, diagnostics, strict=True
    )
    agent = Agent(
        name=name,
        description=model.description,
        handoff=handoff,
        tools=selectors(model.tools, document, "tools") if "tools" in given else None,
        disallowed_tools=selectors(model.disallowed_tools, document, "disallowed_tools"),
        delegates=_delegates(model.delegates, document),
        mcp_servers=servers,
        inline=tuple(inline),
        inherit_mcp_servers=_inherit(model.inherit_mcp_servers, document),
        skills=tuple(model.skills) if "skills" in given else None,
        permission=Permission.parse(model.permission),
        ceiling=Permission.parse(model.ceiling) if "ceiling" in given else None,
        body=parts.body,
        origin=origin,
        file=file,
        lines=key_lines(document, parts.body_line),
    )
    return Draft(agent, inline, diagnostics=tuple(diagnostics))


def _names(raw: list[Any], key: str, document: Document) -> tuple[str, ...]:
    for i, entry in enumerate(raw):
        if not isinstance(entry, str) or not entry.strip():
            problem = f"`{key}[{i + 1}]` is {kind_of(entry)}, not a name"
            raise WorkspaceError(problem, where=document.where(key, i), mend="write a name", name=key)
    return tuple(raw)


def _delegates(raw: object, document: Document) -> tuple[str, ...] | Literal["*"]:
    if raw == "*":
        return "*"
    if raw is None:
        raise null_list("delegates", document, "delegates")
    if not isinstance(raw, list):
        mend = f"write [{raw}]" if isinstance(raw, str) else 'write a list of agents, or "*"'
        problem = f"`delegates` is {kind_of(raw)}, not a list"
        raise WorkspaceError(problem, where=document.where("delegates"), mend=mend, name="delegates")
    if "*" in raw:
        where = document.where("delegates", raw.index("*"))
        raise WorkspaceError(
            "`delegates` has * beside or in a list", where=where, mend='write delegates: "*"'
        )
    return _names(raw, "delegates", document)


def _inherit(raw: object, document: Document) -> bool | tuple[str, ...]:
    key = "inherit_mcp_servers"
    if raw is None:
        raise null_list(key, document, key)
    if isinstance(raw, bool):
        return raw
    if not isinstance(raw, list):
        problem = f"`{key}` is {kind_of(raw)}"
        raise WorkspaceError(problem, where=document.where(key), mend="write true, false or a list of names")
    return _names(raw, key, document)
