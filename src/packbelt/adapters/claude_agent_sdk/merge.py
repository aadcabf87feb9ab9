"""The host's own options of Claude Code, with the belt's: what goes together, and what cannot."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, PermissionResultAllow

from packbelt.adapters.claude_agent_sdk.decisions import Decisions
from packbelt.adapters.claude_agent_sdk.hooks import hooks_of
from packbelt.adapters.steps import AdapterError, refuse_given
from packbelt.providers import Form
from packbelt.providers.claude_agent_sdk import SERVER, server_rule

REFUSED = {
    "allowed_tools": "approve calls that the belt decides on; mark with `approve` what a person must approve",
    "setting_sources": "would load allow rules, hooks and servers beside the belt; leave it out",
    "settings": "may hold allow rules and hooks beside the belt; leave it out",
    "plugins": "would bring tools, agents and hooks beside the belt; leave it out",
    "skills": "would approve the tool `Skill` beside the belt; name `Skill` in the agent's `tools`",
}
"""Options that cannot go with a belt."""
FLAGS = frozenset(
    {
        "agent",
        "agents",
        "allow-dangerously-skip-permissions",
        "allowed-tools",
        "allowedTools",
        "bare",
        "dangerously-skip-permissions",
        "disallowed-tools",
        "disallowedTools",
        "mcp-config",
        "permission-mode",
        "permission-prompt-tool",
        "permission-prompts",
        "plugin-dir",
        "plugin-url",
        "setting-sources",
        "settings",
        "strict-mcp-config",
        "system-prompt",
        "system-prompt-file",
        "system-prompt-snapshot",
        "tools",
    }
)
"""Flags of the command line that would say otherwise what the belt says, or, as `bare`, run no hook."""
SEARCH, BARE = "ENABLE_TOOL_SEARCH", "CLAUDE_CODE_SIMPLE"


def merged(
    form: Form, given: ClaudeAgentOptions | None, decisions: Decisions, server: Any
) -> ClaudeAgentOptions:
    """Options of a session: the host's own, and the belt's.

    Args:
        form: the belt.
        given: the host's.
        decisions: what the hooks ask.
        server: the MCP server that lists the belt; None where the servers are Claude's.

    Raises:
        AdapterError: an option of the host's cannot go with the belt; names both sides.
    """
    host = given or ClaudeAgentOptions()
    _refuse(host, form, decisions)
    fields = dict(form.kwargs)
    servers = {SERVER: {"type": "sdk", "name": SERVER, "instance": server}} if server is not None else {}
    return replace(
        host,
        **{
            **fields,
            # Where the SDK asks, the hook says of what; an entry here would keep it from asking.
            "allowed_tools": [] if decisions.asks_sdk else fields["allowed_tools"],
            "disallowed_tools": [*fields["disallowed_tools"], *host.disallowed_tools],
            "system_prompt": _prompt(form.system, host.system_prompt),
            "mcp_servers": {**_servers(host), **servers},
            "env": {**host.env, **fields["env"]},
            "hooks": _hooks(decisions, host),
            "can_use_tool": _asking(decisions, host.can_use_tool),
        },
    )


def _refuse(host: ClaudeAgentOptions, form: Form, decisions: Decisions) -> None:
    skills = () if "Skill" in form.kwargs["tools"] else ("skills",)
    reasons = {name: why for name, why in REFUSED.items() if name != "skills" or skills}
    refuse_given({name: getattr(host, name) for name in reasons}, reasons, where="ClaudeAgentOptions")
    if host.tools is not None:  # [] too would say otherwise
        raise _conflict(
            "tools", "selects Claude's own tools beside the belt", "name them in the agent's `tools`"
        )
    if isinstance(host.system_prompt, Mapping) and host.system_prompt.get("type") == "file":
        raise _conflict(
            "system_prompt", "is a file, and the belt's sections stand in the prompt", "give its text"
        )
    if isinstance(host.system_prompt, Mapping) and host.system_prompt.get("snapshot"):
        raise _conflict("system_prompt", "would be kept when the belt has changed", "leave `snapshot` out")
    whole = [rule for rule in host.disallowed_tools if "(" not in rule]
    if whole:
        problem = f"takes {whole[0]!r} from the belt, whose prompt would go on to name it"
        raise _conflict("disallowed_tools", problem, "write it into `disallowed_tools` of the agent's file")
    flag = next((name for name in host.extra_args if name.partition("=")[0] in FLAGS), None)
    if flag:
        raise _conflict("extra_args", f"has --{flag}, which the belt says", "leave it out")
    if host.env.get(SEARCH, "false") != "false":
        problem = f"turns {SEARCH} on, and what it puts off is not shown though the belt says so"
        raise _conflict("env", problem, "leave it out; packs put tools away")
    if host.env.get(BARE, "0") not in ("", "0"):
        raise _conflict("env", f"turns {BARE} on, under which no hook is run", "leave it out")
    for name, agent in (host.agents or {}).items():
        if agent.mcpServers or agent.permissionMode:
            problem = f"gives {name!r} servers or a permission mode of its own, beside the belt"
            raise _conflict("agents", problem, "leave them out, or make it an agent of the workspace")
    _refuse_servers(host, decisions, form)
    _refuse_asking(host, decisions)


def _refuse_servers(host: ClaudeAgentOptions, decisions: Decisions, form: Form) -> None:
    given = _servers(host)
    if decisions.way == "gateway":
        if SERVER in given:
            raise _conflict(
                "mcp_servers", f"has {SERVER!r}, as the server of the belt is called", "rename it"
            )
        if given:
            problem = f"has {min(given)!r}, whose tools would be shown beside the belt"
            raise _conflict("mcp_servers", problem, "configure it in the workspace")
        return
    known = decisions.steps.agent.fleet.workspace
    names = {server_rule(known, name) for name in (*known.servers, *known.inline)}
    for name in given:
        if server_rule(known, name) not in names:
            problem = f"has {name!r}, which the workspace does not know, so that no belt decides on its tools"
            raise _conflict("mcp_servers", problem, "configure it in the workspace too")
    del form


def _refuse_asking(host: ClaudeAgentOptions, decisions: Decisions) -> None:
    if decisions.asks_sdk and host.can_use_tool is None:
        raise _conflict("can_use_tool", "is not given, and approvals='sdk' asks it", "give one")
    if not decisions.asks_sdk and host.can_use_tool is not None:
        problem = "would never be asked, since the fleet's `approve` is"
        raise _conflict("can_use_tool", problem, "leave it out, or make the belt with approvals='sdk'")


def _conflict(option: str, problem: str, mend: str) -> AdapterError:
    return AdapterError(f"ClaudeAgentOptions' `{option}` {problem}", mend=mend, name=option)


def _servers(host: ClaudeAgentOptions) -> dict[str, Any]:
    if not isinstance(host.mcp_servers, Mapping):
        problem = "is a file or a text, whose servers cannot be told from the belt's"
        raise _conflict("mcp_servers", problem, "give the servers by name")
    return dict(host.mcp_servers)


def _prompt(system: str, host: Any) -> Any:
    """The agent's prompt, then the host's own; Claude's own preset stays and is followed by both.

    Never a snapshot: a session that is resumed gets the prompt of the belt as it is then.
    """
    given = {"type": "custom", "prompt": host or ""} if host is None or isinstance(host, str) else dict(host)
    key = "append" if given["type"] == "preset" else "prompt"
    return {**given, key: "\n\n".join(text for text in (system, given.get(key)) if text), "snapshot": False}


def _hooks(decisions: Decisions, host: ClaudeAgentOptions) -> dict[Any, Any]:
    """The belt's hooks, and the host's own beside them: of several decisions Claude takes the strictest."""
    found: dict[Any, Any] = {event: list(matchers) for event, matchers in (host.hooks or {}).items()}
    for event, matchers in hooks_of(decisions).items():
        found[event] = [*matchers, *found.get(event, ())]
    return found


def _asking(decisions: Decisions, host: Callable[..., Any] | None) -> Any:
    """The host's `can_use_tool`; what it allows, packbelt does not ask about again."""
    if host is None:
        return None

    async def can_use_tool(name: str, arguments: dict[str, Any], context: Any) -> Any:
        said = await host(name, arguments, context)
        if isinstance(said, PermissionResultAllow):
            decisions.approve(context.tool_use_id)
        return said

    return can_use_tool
