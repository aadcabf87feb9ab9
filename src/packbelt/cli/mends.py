"""What to write, and where, so that an agent is granted a tool that it was not."""

from collections.abc import Sequence

from packbelt.belt import Belt
from packbelt.model import Reason, Rule, Tool, Where


def mend_of(belt: Belt, i: int, reasons: Sequence[Reason]) -> str:
    """The mend of a tool that is off the belt; empty where no entry of a file would grant it."""
    tool = belt.registry.tools[i]
    mends = [mend for reason in reasons if (mend := _one(belt, tool, reason))]
    return f"mend: {'; '.join(mends)}" if mends else ""


def _one(belt: Belt, tool: Tool, reason: Reason) -> str:
    agent = belt.subject.agent
    match reason.rule:
        case Rule.AGENT_TOOLS:
            return f"add `{selector_of(belt, tool)}` to `tools`{_at(agent.where('tools'))}"
        case Rule.DEFAULT_TOOLS:
            return f"give it a `tools` list with `{selector_of(belt, tool)}`{_at(agent.where())}"
        case Rule.AGENT_DELEGATES if tool.target != agent.name and agent.is_template:
            return f"add `{tool.target}` to `delegates`{_at(agent.where('delegates'))}"
        case Rule.SCOPE_SERVERS if (server := tool.id.server) not in belt.registry.private:
            return f"add `{server}` to `{_servers_key(belt)}`{_at(agent.where('mcp_servers'))}"
    return ""


def selector_of(belt: Belt, tool: Tool) -> str:
    """What grants exactly this tool in the spelling of the agent's file."""
    server = tool.id.server
    if server is None:
        return tool.name
    spec = belt.registry.workspace.inline.get(server)
    short = spec.short_name if spec else server
    return f"{short}/{tool.id.name}" if belt.subject.agent.is_template else f"mcp__{short}__{tool.id.name}"


def _servers_key(belt: Belt) -> str:
    return "mcp_servers" if belt.subject.agent.is_template else "mcpServers"


def _at(where: Where | None) -> str:
    return f", {where}" if where else ""


__all__ = ["mend_of", "selector_of"]
