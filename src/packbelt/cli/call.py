"""`packbelt call`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.options import Source, agent_argument, complete_tools, with_source

if TYPE_CHECKING:
    from packbelt.belt import Scope
    from packbelt.catalog.workspace import ServerSpec, Workspace
    from packbelt.cli.connect_text import Watch
    from packbelt.live.agent import LiveAgent
    from packbelt.live.fleet import Fleet
    from packbelt.model import ToolResult


@click.command(
    "call", epilog="""Example: packbelt call orchestrator time/get_current_time '{"timezone": "UTC"}'"""
)
@agent_argument
@click.argument("tool", shell_complete=complete_tools)
@click.argument("json", required=False, metavar="[JSON]")
@click.option("--trust", is_flag=True, help="Start servers without asking: this workspace, this once.")
@click.option("--approve", is_flag=True, help="Answer yes where a person must approve the call.")
@click.option(
    "--deny", multiple=True, metavar="SELECTOR", help="Deny AGENT and all below it these tools, too."
)
@click.option(
    "--runner", metavar="MODULE:FUNCTION", help="The async function that runs agents, for hand-offs."
)
@click.option(
    "--events",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Append a line of JSON for each thing that happens.",
)
@with_source
def command(
    *,
    agent: str,
    tool: str,
    json: str | None,
    deny: tuple[str, ...],
    runner: str | None,
    events: Path | None,
    source: Source,
    trust: bool,
    approve: bool,
) -> int:
    """Make one call as AGENT would: through its gate, over the relay. The result goes to standard output.

    TOOL is a wire name, SERVER/TOOL, or a plain name that one tool alone has; SERVER/TOOL starts that server
    alone, and is the quickest. JSON is an object, `-` reads it
    from standard input; without it there are no arguments. Only the servers that the call may need are
    started, and stopped again; whether they may be is asked as `packbelt connect` asks.

    Exits 0 if the call ended well; 1 with its outcome on standard error if not: tool_error, rejected (the
    gate or a person said no), not_started (it may be tried again), ambiguous (it may have happened); 2 if
    there is no such agent, or what was given cannot be used.

    A call that a person must approve is asked about at the terminal, and rejected where there is none. Of a
    snapshot only what is in force counts (ceiling, denies, approvals, skills, disabled agents), never its
    servers; PACKBELT_SNAPSHOT does not count here.
    """
    from dataclasses import replace

    from packbelt.belt import Scope
    from packbelt.cli.call_text import Telling, approver, arguments_of, show
    from packbelt.cli.connect import allowed
    from packbelt.cli.connect_text import Watch
    from packbelt.cli.loaded import is_of, load_errors, report
    from packbelt.cli.output import note
    from packbelt.cli.runner import load_runner
    from packbelt.live.foreground import foreground
    from packbelt.live.observe.events import EventLog
    from packbelt.live.opening import open as open_fleet
    from packbelt.model import Outcome

    arguments = arguments_of(json)
    workspace = source.own_workspace()
    told = is_of(workspace, [agent])
    report([one for one in load_errors(workspace) if not told(one)])
    run = load_runner(runner, workspace.root) if runner else None
    verdict = allowed(workspace, needed(workspace, agent, tool), granted=trust, may_ask=not source.json)
    if verdict.refused:
        note(verdict.line)
    asked = approver(granted=approve, may_ask=not source.json)
    watch = Watch(len(verdict.trusted))
    with EventLog(events) as log:
        fleet = open_fleet(
            workspace,
            run=run,
            approve=asked,
            trust=True,  # of these, whose verdict is in
            only={spec.name for spec in verdict.trusted},
            snapshot=None if source.from_variable else replace(source.snapshot(), servers={}),
            runs=":memory:",
            events=Telling(log, watch, verdict.trusted),
        )
        callers: list[LiveAgent] = []
        scope = Scope(agent, deny=deny)
        try:
            result = foreground(lambda: _call(fleet, watch, scope, callers, tool, arguments))
        except (KeyboardInterrupt, SystemExit):
            if any(caller.spoiled for caller in callers):
                note(f"{Outcome.AMBIGUOUS}: {tool} was called, and nobody knows whether it ran")
            raise
    show(result, as_json=source.json, could_ask=asked is not None)
    return FINDINGS if result.is_error else FINE


async def _call(  # noqa: PLR0917 - what one call is made of
    fleet: "Fleet",
    watch: "Watch",
    scope: "Scope",
    callers: "list[LiveAgent]",
    tool: str,
    arguments: dict[str, Any],
) -> "ToolResult":
    """The call; whoever makes it is noted in `callers`, for those who cut it short."""
    from contextlib import AsyncExitStack

    from packbelt.cli.loaded import report
    from packbelt.cli.output import note
    from packbelt.live.agent import LiveAgent
    from packbelt.model import Code, ToolCall

    async with AsyncExitStack() as stack:
        with watch:  # it has the terminal to itself, and gives it back before anybody is asked
            await stack.enter_async_context(fleet)
        live = await stack.enter_async_context(LiveAgent(fleet, scope, request=f"call {tool}"))
        callers.append(live)
        turn = await live.turn()
        report([one for one in turn.diagnostics if one.code is Code.DENY_UNMATCHED])
        found = turn.belt.find(tool)
        name = found.tool.wire_name if found else tool
        if found and found.tool.target and fleet.run is None:
            note(f"{name} is a hand-off, and needs --runner MODULE:FUNCTION to run {found.tool.target}")
        (result,) = await turn.run([ToolCall("cli", name, arguments)])
        return result


def needed(workspace: "Workspace", agent: str, tool: str) -> "list[ServerSpec]":
    """The servers that a call may need: as few as its name alone settles.

    A name of the workspace's own tools needs none, unless it leads to another agent or to whatever a server
    has (a hand-off, the opener); one that holds a server's name needs that server; any other needs all. What
    an agent may not start without comes on top.

    Raises:
        UnknownAgentError, AgentBrokenError: there is no such agent.
    """
    from packbelt.belt.scope import known_agent
    from packbelt.catalog.registry import bind
    from packbelt.turn import NOTHING

    registry = bind(workspace, NOTHING)
    own = known_agent(registry, agent).inline
    at_hand = [
        *workspace.servers.values(),
        *(workspace.inline[name] for name in own if name in workspace.inline),
    ]
    i = registry.wire.get(tool)
    if i is None:
        i = registry.identified(tool)
    if i is not None and registry.tools[i].target is None:
        return [spec for spec in at_hand if spec.required]
    if i is not None:  # a hand-off: those of the agents below it too
        return [*workspace.servers.values(), *workspace.inline.values()]
    named = [spec for spec in at_hand if _may_have(spec.name, tool)]
    return [spec for spec in at_hand if spec in named or spec.required] if named else at_hand


def _may_have(server: str, tool: str) -> bool:
    """Whether an identity or a wire name may be that of one of this server's tools."""
    import re

    from packbelt.model.wire import LIMIT, PREFIX

    # What the wire names of all its tools begin with, those that end in a hash included.
    begins = re.sub(r"[^A-Za-z0-9_-]", "_", f"{PREFIX}{server}__")[: LIMIT - 9]
    return tool.startswith((f"{server}/", f"server:{server}/", begins))
