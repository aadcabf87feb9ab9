"""What to write, and where, so that an agent is granted a tool that it was not."""

from collections.abc import Callable, Sequence

from packbelt.belt.belt import Belt
from packbelt.catalog.registry import Registry
from packbelt.model import Reason, Rule, Tool, Where


def selector_of(belt: Belt, tool: Tool) -> str:
    """What grants exactly this tool in the spelling of the agent's file."""
    return entry_for(belt.registry, tool, imported=not belt.subject.agent.is_template)


def entry_for(registry: Registry, tool: Tool, *, imported: bool) -> str:
    """What grants exactly this tool in an agent's file, of packbelt's own format or of Claude Code's."""
    server = tool.id.server
    if server is None:
        return tool.name
    spec = registry.workspace.inline.get(server)
    short = spec.short_name if spec else server
    return f"mcp__{short}__{tool.id.name}" if imported else f"{short}/{tool.id.name}"


Spelling = Callable[[Belt, Tool], str]
"""How an entry is written that grants exactly one tool."""


def mend_of(belt: Belt, i: int, reasons: Sequence[Reason], entry: Spelling = selector_of) -> str:
    """The mend of a tool that is off the belt; empty where no entry of a file would grant it.

    Args:
        belt: the belt it is missing on.
        i: its bit.
        reasons: why it is missing.
        entry: how its entry is written; one text for many tools leaves a mark there.
    """
    tool = belt.registry.tools[i]
    mends = [mend for reason in reasons if (mend := _one(belt, tool, reason, entry))]
    return f"mend: {'; '.join(mends)}" if mends else ""


def _one(belt: Belt, tool: Tool, reason: Reason, entry: Spelling) -> str:
    agent = belt.subject.agent
    match reason.rule:
        case Rule.AGENT_TOOLS:
            return f"add `{entry(belt, tool)}` to `tools`{_at(agent.where('tools'))}"
        case Rule.DEFAULT_TOOLS:
            return f"give it a `tools` list with `{entry(belt, tool)}`{_at(agent.where())}"
        case Rule.AGENT_DELEGATES if tool.target != agent.name and agent.is_template:
            return f"add `{tool.target}` to `delegates`{_at(agent.where('delegates'))}"
        case Rule.SCOPE_SERVERS if (server := tool.id.server) not in belt.registry.private:
            return f"add `{server}` to `{_servers_key(belt)}`{_at(agent.where('mcp_servers'))}"
    return ""


def _servers_key(belt: Belt) -> str:
    return "mcp_servers" if belt.subject.agent.is_template else "mcpServers"


def _at(where: Where | None) -> str:
    return f", {where}" if where else ""


__all__ = ["Spelling", "entry_for", "mend_of", "selector_of"]
