"""`packbelt serve`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packbelt.cli.failure import FINE
from packbelt.cli.options import Source, complete_agents, with_source

if TYPE_CHECKING:
    from packbelt.catalog.workspace import Workspace
    from packbelt.cli.serve_text import Reporter
    from packbelt.gateway.http import Listening
    from packbelt.gateway.server import Manner
    from packbelt.gateway.stopping import Beside
    from packbelt.gateway.tokens import Tokens
    from packbelt.live.fleet import Fleet

_EPILOG = """\b
Example: packbelt serve --agent orchestrator
         packbelt serve --agent researcher --as research --handoffs brief
         packbelt serve --http 127.0.0.1:8780 --tokens tokens.txt
"""
_PORTS = 65535
_NO_AGENT = "say whose belt, with --agent NAME (or --http HOST:PORT for all of them)"


@click.command("serve", epilog=_EPILOG)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_agents,
    help="Whose belt. With --http, only these agents; may be given several times.",
)
@click.option(
    "--http",
    "address",
    metavar="HOST:PORT",
    help="Serve all agents over HTTP, each at /agents/NAME, instead of one on standard input and output.",
)
@click.option(
    "--tokens",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Bearer tokens, a line NAME=TOKEN each. A file that does not exist is made. Default: "
    "PACKBELT_SERVE_TOKENS, as NAME=TOKEN,NAME=TOKEN.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name that clients reach --http by, such as a balancer's; may be given several times.",
)
@click.option(
    "--as",
    "known_as",
    metavar="NAME",
    help="The client shows tools as mcp__NAME__TOOL (Claude does): name them so in every text.",
)
@click.option(
    "--handoffs",
    type=click.Choice(["brief"]),
    help="Answer hand-offs with a brief for a sub-agent of the client's.",
)
@click.option(
    "--runner",
    metavar="MODULE:FUNCTION",
    help="Run hand-offs by your `async def run(agent, request) -> str`.",
)
@click.option("--trust", is_flag=True, help="Start the servers without asking: this workspace, this once.")
@click.option(
    "--events",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Append each decision, call and outcome as a line of JSON.",
)
@click.option(
    "--watch", is_flag=True, help="Take the workspace's files into force each time that they are saved."
)
@click.option("--runs", metavar="URL", help="Where runs are kept: a file, or a database's URL.")
@with_source
def command(
    *,
    agents: tuple[str, ...],
    address: str | None,
    tokens: Path | None,
    hosts: tuple[str, ...],
    known_as: str | None,
    handoffs: str | None,
    runner: str | None,
    events: Path | None,
    runs: str | None,
    source: Source,
    trust: bool,
    watch: bool,
) -> int:
    """Serve an agent's belt as an MCP server, to any client that speaks MCP.

    Without --http one agent is served on standard input and output, to the client that starts this command;
    it ends when the client leaves. With --http it serves until it is told to stop. SIGINT (Ctrl-C), SIGTERM
    and SIGHUP end it in order, every server that it started with it, and the exit code is 0.

    A server is started only if it is trusted: by --trust, by PACKBELT_TRUST, or because you once answered
    "always" to `packbelt connect`. Nobody is asked here. Others are left out, and a line says so.

    Hand-offs are on the belt only with --handoffs brief or --runner. Calls that a person must approve are
    put to the client's user where the client has elicitation, and are rejected otherwise.

    --http always wants a bearer token, which opens one agent's path: without --tokens and
    PACKBELT_SERVE_TOKENS nothing is served. It speaks plain HTTP: beyond this machine, put a proxy or
    balancer with TLS before it.

    With --watch a saved file is a new belt at the next turn, and clients are told that their list has
    changed. A file that does not load leaves the last good workspace in force, and a line says so. --trust
    then trusts the servers as they are defined now, not what the files are changed to.

    Of a snapshot only what is in force counts (ceiling, denies, approvals, skills, disabled agents), never
    its servers; PACKBELT_SNAPSHOT does not count here. --json makes the lines on standard error JSON.
    """
    from functools import partial

    import anyio

    from packbelt.cli.loaded import load_errors, report
    from packbelt.cli.serve_text import Reporter
    from packbelt.live.following import follow

    if handoffs and runner:
        raise click.UsageError("--handoffs brief answers hand-offs and --runner runs them: choose one")
    if not agents and address is None:
        raise click.UsageError(_NO_AGENT)
    if address is not None:
        _split(address)
    elif len(agents) > 1:
        raise click.UsageError("standard input and output serve one agent; --http serves several")
    workspace = source.own_workspace()
    for name in agents:
        _must_know(workspace, name)
    report(load_errors(workspace))
    manner = _manner(workspace, known_as, handoffs, http=address is not None)
    keys = _tokens(workspace, tokens, agents) if address is not None else None
    fleet = _fleet(
        workspace,
        source,
        trust=trust,
        runner=runner,
        briefs=handoffs is not None,
        events=events,
        runs=runs,
        asks=address is None,
        watch=watch,
    )
    reporter = Reporter(fleet, as_json=source.json)
    beside = partial(follow, fleet, reporter.followed) if watch else None
    if address is None or keys is None:
        anyio.run(partial(_stdio, fleet, agents[0], manner, reporter, beside))
    else:
        serve = partial(_http, fleet, manner, keys, _split(address), hosts, reporter=reporter, beside=beside)
        anyio.run(serve)
    return FINE


def _must_know(workspace: "Workspace", name: str) -> None:
    """Whether the agent can be served is asked before the first server is started.

    Raises:
        UnknownAgentError, AgentBrokenError: it cannot.
    """
    from packbelt.belt.scope import known_agent
    from packbelt.catalog.registry import bind
    from packbelt.turn import NOTHING

    known_agent(bind(workspace, NOTHING), name)


def _manner(workspace: "Workspace", known_as: str | None, handoffs: str | None, *, http: bool) -> "Manner":
    """How belts are served.

    Raises:
        SpellingError: no client can know the gateway by that name.
    """
    from packbelt.gateway.brief import Briefing, by_command, by_path
    from packbelt.gateway.server import Manner
    from packbelt.gateway.spelling import spelling

    spell = spelling(known_as)
    if not handoffs:
        return Manner(known_as)
    reach = by_path if http else by_command(workspace.root, known_as)
    return Manner(known_as, Briefing(reach, spell, known_as))


def _fleet(
    workspace: "Workspace",
    source: Source,
    *,
    trust: bool,
    runner: str | None,
    briefs: bool,
    events: Path | None,
    runs: str | None,
    asks: bool,
    watch: bool,
) -> "Fleet":
    """The fleet, opened and not yet entered.

    Raises:
        RunnerError, SnapshotError: one of them cannot be used.
    """
    from dataclasses import replace

    from packbelt.cli.runner import load_runner
    from packbelt.gateway.brief import no_run
    from packbelt.gateway.client import unanswered
    from packbelt.live.opening import open as open_fleet
    from packbelt.live.trust import Trust

    return open_fleet(
        workspace,
        run=load_runner(runner, workspace.root) if runner else no_run if briefs else None,
        elicit=unanswered if asks else None,
        trust=Trust.of_user().also(workspace) if trust and watch else trust,
        snapshot=None if source.from_variable else replace(source.snapshot(), servers={}),
        runs=runs,
        events=events,
    )


def _split(address: str) -> tuple[str, int]:
    """Host and port.

    Raises:
        click.UsageError: it is not HOST:PORT.
    """
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or int(port) > _PORTS:
        raise click.UsageError(f"--http {address!r} is not HOST:PORT, such as 127.0.0.1:8780")
    return host, int(port)


def _tokens(workspace: "Workspace", file: Path | None, agents: tuple[str, ...]) -> "Tokens":
    """The tokens of the agents that are to be served.

    Raises:
        BearerTokenError: there are none, or they cannot be used.
    """
    import os

    from packbelt.gateway.tokens import VARIABLE, BearerTokenError, Tokens

    wanted = agents or tuple(workspace.agents)
    found = Tokens.of_file(file, wanted) if file is not None else Tokens.of_environment(os.environ)
    if found is None:
        raise BearerTokenError(
            "--http wants a bearer token for each agent, and there is none",
            mend=f"give --tokens FILE (it is made if it does not exist), or set {VARIABLE} to NAME=TOKEN,...",
        )
    if not found.agents:
        raise BearerTokenError(
            f"{found.source} holds no token", mend="write a line NAME=TOKEN for each agent"
        )
    for name in found.agents:
        _must_know(workspace, name)
    missing = [name for name in agents if name not in found.agents]
    if missing:
        raise BearerTokenError(
            f"{found.source} has no token for {', '.join(missing)}", mend="add one", name=missing[0]
        )
    return found.of(wanted)


async def _stdio(
    fleet: "Fleet", name: str, manner: "Manner", reporter: "Reporter", beside: "Beside | None"
) -> None:
    from packbelt.gateway.stdio import serve_stdio

    if sys.stdin.isatty():
        reporter.waits(name)
    await serve_stdio(fleet, name, manner, reporter.stdio, beside)


async def _http(
    fleet: "Fleet",
    manner: "Manner",
    tokens: "Tokens",
    where: tuple[str, int],
    hosts: tuple[str, ...],
    *,
    reporter: "Reporter",
    beside: "Beside | None",
) -> None:
    from packbelt.gateway.http import serve_http

    host, port = where
    reporter.made(tokens)

    def ready(listening: "Listening") -> None:
        reporter.http(listening, tokens, host)

    await serve_http(
        fleet, manner, tokens, host=host, port=port, allow_hosts=hosts, on_ready=ready, beside=beside
    )
