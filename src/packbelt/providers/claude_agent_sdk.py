"""Claude Agent SDK: the fields of `ClaudeAgentOptions` as plain data; its adapter adds the server and hooks.

Two ways. `gateway`: one MCP server that lists the belt and nothing else, so that what Claude shows is what it
lists. `servers`: the servers stay configured in Claude Code, which shows all their tools under names of its
own; what is not on the belt is denied one by one.

No field of Claude's is an allow list over all tools: `tools` selects its own tools only, `allowed_tools`
hides nothing, and `disallowed_tools` matches its own spelling only. So the four go together.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, get_args

from packbelt.belt import Belt
from packbelt.catalog.registry import Registry, bits
from packbelt.catalog.workspace import Workspace
from packbelt.model import BUILTIN, State, Tool
from packbelt.providers.form import Enforcement, Form
from packbelt.providers.names import CompileError
from packbelt.providers.plan import Plan, plan
from packbelt.providers.target import Target, TargetError

Way = Literal["gateway", "servers"]
HandOffs = Literal["run", "agents"]

SERVER = "packbelt"
"""The name by which Claude knows the server that lists the belt."""
AGENT = "Agent"
"""Claude's tool that starts a sub-agent."""
BYPASS = "bypassPermissions"
_SERVER_NAME = re.compile(r"[A-Za-z0-9_-]{1,48}")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def build(
    target: Target,
    belt: Belt,
    *,
    strict: bool,
    way: Way = "gateway",
    server: str = SERVER,
    permission_mode: str | None = None,
    handoffs: HandOffs = "run",
) -> Form:
    """The fields of `ClaudeAgentOptions` that say which tools there are.

    Args:
        target: the descriptor.
        belt: the decision, with Claude's own tools known to it.
        strict: see `compile_belt`.
        way: `gateway`: one MCP server lists the belt; `servers`: the servers stay configured in Claude Code.
        server: the name by which Claude knows that one server.
        permission_mode: Claude's; `default` unless it is given. What it would run without asking the person
            that the belt has to ask is refused.

        handoffs: `run`: they are tools like any other; `agents`: they are Claude's own sub-agents, started
            by its tool `Agent`, under the hand-off's name.

    Raises:
        TargetError: there is no such way, or the server's name is one that Claude would change.
        CompileError: a tool has no name there, or two have one; the permission mode would run what a person
            must approve; or sub-agents are wanted, and `Agent` is not on the belt.
    """
    if way not in get_args(Way):
        raise TargetError(
            f"{way!r} is no way to give {target.title} a belt", mend="write 'gateway' or 'servers'", name=way
        )
    if not _SERVER_NAME.fullmatch(server):
        raise TargetError(
            f"{server!r} is no name of a server that Claude shows as it is",
            mend="use letters, digits, `_` and `-`",
            name=server,
        )
    _handoffs_agree(belt, way, handoffs)
    gateway = gateway_name(server, handoffs=handoffs)
    mapped = gateway if way == "gateway" else _alone(belt, target, strict=strict)
    made = plan(belt, target, strict=strict, mapped=mapped)
    shown = [tool for tool in made.tools if handoffs == "run" or tool.target is None]
    own = [tool for tool in made.tools if tool.id.source == BUILTIN]
    asked = [tool for tool in made.tools if belt[tool.wire_name].approve]
    _modes_agree(belt, way, permission_mode, [tool for tool in asked if way == "servers" or tool in own])
    prompt = _prompt(made, handoffs)
    kwargs: dict[str, Any] = {
        "tools": [tool.name for tool in own],
        "disallowed_tools": _denied(belt, target, made, way),
        "allowed_tools": [made.names.spell(tool.wire_name) for tool in shown if tool not in asked],
        "permission_mode": permission_mode or "default",
        "strict_mcp_config": True,
        "setting_sources": [],
        # What is set here wins over the process's own environment. Under `CLAUDE_CODE_SIMPLE` no hook is run.
        "env": {"CLAUDE_CODE_SIMPLE": "0", "ENABLE_TOOL_SEARCH": "false"},
        # Else a session that is resumed would keep the prompt of its first request, whatever the belt is now.
        "system_prompt": {"type": "custom", "prompt": prompt, "snapshot": False},
    }
    cells = target.enforcement if way == "gateway" else target.ways[way]
    return Form(
        target.name,
        kwargs,
        made.names,
        Enforcement(target, cells, tuple(made.names.spell(tool.wire_name) for tool in shown)),
        prompt,
        made.diagnostics,
        tools=tuple(tool for tool in shown if tool.id.source != BUILTIN),
    )


def gateway_name(server: str = SERVER, *, handoffs: HandOffs = "run") -> Callable[[Tool], str]:
    """How Claude shows a tool of the one server; its own tools and its sub-agents keep their names."""
    prefix = f"mcp__{server}__"

    def named(tool: Tool) -> str:
        plain = tool.id.source == BUILTIN or (handoffs == "agents" and tool.target is not None)
        return tool.wire_name if plain else prefix + tool.wire_name

    return named


def _handoffs_agree(belt: Belt, way: Way, handoffs: HandOffs) -> None:
    """Refuse sub-agents where they cannot be started, or would not be held to a belt.

    Raises:
        TargetError: there is no such way to hand off.
        CompileError: it is so.
    """
    if handoffs not in get_args(HandOffs):
        raise TargetError(
            f"{handoffs!r} is no way to hand off", mend="write 'run' or 'agents'", name=handoffs
        )
    if handoffs == "run":
        return
    if way == "servers":
        raise CompileError(
            "hand-offs are sub-agents (handoffs='agents') only of the belt's own server (way='gateway')",
            mend="leave one of them out",
            name=belt.agent,
        )
    starter = belt.get(AGENT)
    if starter is None or starter.state is not State.DIRECT:
        raise CompileError(
            f"handoffs='agents' starts them by Claude's tool {AGENT!r}, which is not on the belt of "
            f"{belt.agent!r}",
            mend=f"name {AGENT} in its `tools`, or leave handoffs out",
            name=AGENT,
        )


def _prompt(made: Plan, handoffs: HandOffs) -> str:
    """The agent's prompt, and with sub-agents how they are started."""
    names = [tool.wire_name for tool in made.tools if tool.target is not None]
    if handoffs == "run" or not names:
        return made.system
    said = f"Hand over by `{AGENT}`, with one of these as its `subagent_type`: {', '.join(names)}."
    return f"{made.system}\n\n{said}".strip()


def claude_name(registry: Registry, tool: Tool) -> str | None:
    """How Claude shows a tool of a server that is configured in it; None for what is no server's.

    Every character that it does not take becomes `_`, and the whole is joined, so that two may get one name.
    """
    if tool.id.source == BUILTIN:
        return tool.name
    if tool.id.server is None:
        return None
    return f"{server_rule(registry.workspace, tool.id.server)}__{_FOREIGN.sub('_', tool.name)}"


def server_rule(workspace: Workspace, server: str) -> str:
    """The rule that means all tools of a server; an inline server has the name that its own file gives it."""
    spec = workspace.inline.get(server)
    return f"mcp__{_FOREIGN.sub('_', spec.short_name if spec else server)}"


def _alone(belt: Belt, target: Target, *, strict: bool) -> Callable[[Tool], str | None]:
    """Claude's names for the tools of a belt that no other known tool shares there.

    Raises:
        CompileError: a name of the belt means another known tool too.
    """
    registry = belt.registry
    owners: dict[str, list[Tool]] = {}
    for tool in registry.tools:
        if (name := claude_name(registry, tool)) is not None:
            owners.setdefault(name, []).append(tool)
    shared = {name: tools for name, tools in owners.items() if len(tools) > 1}
    if strict:
        for i in bits(belt.direct):
            tool = registry.tools[i]
            both = shared.get(claude_name(registry, tool) or "")
            if both:
                other = next(one for one in both if one is not tool)
                raise CompileError(
                    f"{tool.id} and {other.id} would both be {claude_name(registry, tool)!r} in "
                    f"{target.title}",
                    mend="rename one of them, or its server, use way='gateway', or compile with strict=False",
                    name=tool.wire_name,
                )
    return lambda tool: None if claude_name(registry, tool) in shared else claude_name(registry, tool)


def _denied(belt: Belt, target: Target, made: Plan, way: Way) -> list[str]:
    """What Claude must not show or run: all that is known to it and not on the belt, in its own spelling."""
    registry = belt.registry
    shown = {tool.wire_name for tool in made.tools}
    away = [tool for tool in registry.tools if tool.wire_name not in shown]
    kept_own = {tool.name for tool in made.tools if tool.id.source == BUILTIN}
    own = [one.name for one in target.builtins if one.name not in kept_own]  # a namesake's is not known
    if way == "gateway":
        return own
    kept = {server_rule(registry.workspace, tool.id.server) for tool in made.tools if tool.id.server}
    rules = {name: server_rule(registry.workspace, name) for name in registry.servers}
    # A rule for a whole server also binds what it adds later; it must not bind a server of a longer name.
    whole = {rule for rule in rules.values() if not _binds(rule, kept)}
    single = (
        name
        for tool in away
        if tool.id.server
        and rules[tool.id.server] not in whole
        and (name := claude_name(registry, tool)) is not None
        and name not in made.shown
    )
    return [*own, *sorted(whole), *dict.fromkeys(single)]


def _binds(rule: str, kept: Iterable[str]) -> bool:
    return any(other == rule or other.startswith(f"{rule}__") for other in kept)


def _modes_agree(belt: Belt, way: Way, mode: str | None, asked: list[Tool]) -> None:
    """Refuse a permission mode under which Claude would run what the belt does not let it.

    Raises:
        CompileError: it is so; names both sides.
    """
    if mode != BYPASS:
        return
    if asked:
        raise CompileError(
            f"permission_mode {BYPASS!r} runs every call that is not denied, and a person must approve "
            f"{asked[0].id} for agent {belt.agent!r}",
            mend="leave the mode out, or take the approval away",
            name=asked[0].wire_name,
        )
    if way == "servers":
        raise CompileError(
            f"permission_mode {BYPASS!r} runs every call that is not denied, and a tool that a server of "
            f"agent {belt.agent!r} adds later is not denied yet",
            mend="leave the mode out, or use way='gateway'",
            name=belt.agent,
        )


def init_names(data: Mapping[str, Any]) -> list[str]:
    """The tools of an `init` message by the names that the model sees: it lists `Agent` as `Task`."""
    return [AGENT if name == "Task" else name for name in data["tools"]]


__all__ = [
    "AGENT",
    "BYPASS",
    "SERVER",
    "HandOffs",
    "Way",
    "build",
    "claude_name",
    "gateway_name",
    "init_names",
    "server_rule",
]
