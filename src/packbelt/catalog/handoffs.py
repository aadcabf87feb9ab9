"""Hand-offs: one tool for each agent that others may hand to, each with a name of its own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from packbelt.catalog.drafts import Broken, Draft, break_agent, broken_diagnostic
from packbelt.catalog.fleet import Item
from packbelt.catalog.forms import handoff_tool
from packbelt.catalog.inherited import Files, servers_said
from packbelt.catalog.names import FIND_TOOLS, hashed_handoff
from packbelt.catalog.workspace import Agent, BrokenAgent
from packbelt.model import Diagnostic, Permission, Tool, Where, WorkspaceError


@dataclass(slots=True)
class Names:
    """The one namespace of native tools, hand-offs, opener and `find_tools`: each name with its owner."""

    taken: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, opener: str, natives: Mapping[str, Tool]) -> "Names":
        """The names that no hand-off may have.

        Raises:
            WorkspaceError: a native tool has the opener's name, or that of `find_tools`.
        """
        reserved = {opener: "the opener", FIND_TOOLS: "the tool that searches"}
        for name, tool in natives.items():
            if name in reserved:
                raise WorkspaceError(
                    f"the native tool {name!r} has the name of {reserved[name]}",
                    where=tool.where,
                    mend="rename the tool",
                    name=name,
                )
        places = {
            name: f"the native tool at {tool.where or 'an unknown place'}" for name, tool in natives.items()
        }
        return cls({**reserved, **places})


def settle(
    items: Iterable[Item], names: Names, diagnostics: list[Diagnostic]
) -> tuple[dict[str, Agent], dict[str, BrokenAgent]]:
    """Agents and broken agents, each with a hand-off name that nothing else has.

    packbelt's own files come first and must not clash; a clash costs an imported agent only itself, and a
    broken one only the name.

    Raises:
        WorkspaceError: two of packbelt's own agents have one hand-off name, or one has another tool's.
    """
    everyone = list(items)
    agents: dict[str, Agent] = {}
    broken: dict[str, BrokenAgent] = {}
    for item in sorted(everyone, key=lambda item: (item.imported, isinstance(item, Broken))):
        agent, name = item.agent, item.agent.handoff
        owner = names.taken.get(name)
        if owner is None:
            names.taken[name] = f"the hand-off to {agent.name!r} in {agent.file}"
        elif isinstance(item, Draft):
            error = WorkspaceError(
                f"the hand-off {name!r} to agent {agent.name!r} has the name of {owner}",
                where=item.agent.where("handoff") or Where(agent.file, 1),
                mend="write another `handoff:`" if not item.imported else "rename the agent",
                name=name,
            )
            if not item.imported:
                raise error
            diagnostics.append(broken_diagnostic(agent.name, error))
            agent = replace(break_agent(item.agent, error), handoff=hashed_handoff(agent.name))
        else:
            agent = replace(item.agent, handoff=hashed_handoff(agent.name))
        if isinstance(agent, Agent):
            agents[agent.name] = agent
        else:
            broken[agent.name] = agent
    order = [item.agent.name for item in everyone]
    return (
        {name: agents[name] for name in order if name in agents},
        {name: broken[name] for name in order if name in broken},
    )


def handoff_tools(
    agents: Mapping[str, Agent], broken: Mapping[str, BrokenAgent], root: str, files: Files | None = None
) -> list[Tool]:
    """The hand-offs to all agents; to the root agent only where some agent names it as a delegate.

    Args:
        agents: those that loaded.
        broken: those that did not.
        root: the root agent's name.
        files: what is known of servers, for what the descriptions say of them; None to say nothing.
    """
    named = any(agent.delegates != "*" and root in agent.delegates for agent in agents.values())
    tools = [
        handoff_tool(agent.handoff, name, _described(agent, files), agent.permission, agent.where())
        for name, agent in agents.items()
        if name != root or named
    ]
    tools += [
        handoff_tool(
            agent.handoff,
            name,
            f"Hands the request to {name}.",
            Permission.EXECUTE,
            agent.error.where or Where(agent.file),
        )
        for name, agent in broken.items()
        if name != root or named
    ]
    return tools


def _described(agent: Agent, files: Files | None) -> str:
    """An agent's description, with a sentence on the servers that it has."""
    servers = servers_said(agent, files) if files else ""
    if not servers:
        return agent.description
    said = agent.description.rstrip()
    end = "." if said and said[-1].isalnum() else ""
    return f"{said}{end} {servers}".lstrip()
