"""`packbelt connect`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.options import Source, with_source

if TYPE_CHECKING:
    from packbelt.catalog.snapshot import Snapshot
    from packbelt.catalog.workspace import ServerSpec, Workspace
    from packbelt.live import Answer, Verdict


def _complete_servers(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    from packbelt.cli.options import completion_registry

    registry = completion_registry(ctx)
    workspace = registry.workspace if registry else None
    names = [*workspace.servers, *workspace.inline] if workspace else ()
    return [CompletionItem(name) for name in names if name.startswith(begun)]


@click.command("connect", epilog="Example: packbelt connect --save now.yaml")
@click.argument("server", nargs=-1, shell_complete=_complete_servers)
@click.option("--trust", is_flag=True, help="Start them without asking: this workspace, this once.")
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what they offer to a snapshot.",
)
@click.option("--lock", is_flag=True, help="Accept their tools as they are now: write packbelt.lock.")
@with_source
def command(server: tuple[str, ...], save: Path | None, source: Source, *, trust: bool, lock: bool) -> int:
    """Start the configured servers, or each SERVER named; show what they offer; stop them again.

    Starting a server runs its command, so you are asked first. --trust answers yes; without a terminal and
    without --trust nothing is started, unless PACKBELT_TRUST holds the workspace's directory. Exits 1 if a
    server failed. With --snapshot, what was known of the others stays in what --save writes.
    """
    from packbelt.cli.connect_text import Watch, answer_json, show
    from packbelt.cli.output import note, write_json
    from packbelt.live.connect import connect_now

    workspace = source.own_workspace()
    known = source.snapshot()
    specs = _chosen(workspace, server)
    if not specs:
        note("no server is configured; .mcp.json and the agents' mcp_servers are where they are")
    verdict = _allowed(workspace, specs, granted=trust, may_ask=not source.json)
    with Watch(len(verdict.trusted)) as watch:
        found = connect_now(workspace, verdict.trusted, on_progress=watch)
    snapshot = merged(known, found)
    if save is not None:
        from packbelt.cli.files import write_text

        write_text(save, snapshot_text(snapshot))
    if lock:
        from packbelt.cli.files import write_text

        write_text(workspace.root / "packbelt.lock", lock_of(workspace, found))
    if source.json:
        write_json(answer_json(specs, found, verdict, watch.seconds))
    else:
        show(specs, found, verdict, watch.seconds)
    if verdict.refused:
        note(verdict.line)
    if save is not None:
        note(f"wrote {save}; packbelt dump --snapshot {save} reads it")
    if lock:
        note(f"wrote {workspace.root / 'packbelt.lock'}")
    fine = len(verdict.trusted) == len(specs) and all(s.status == "connected" for s in found.servers.values())
    return FINE if fine else FINDINGS


def _chosen(workspace: "Workspace", names: Sequence[str]) -> "list[ServerSpec]":
    """The servers named, or all: the shared ones, then those that agents declare for themselves.

    Raises:
        WorkspaceError: a name is no server's.
    """
    from packbelt.belt.names import near
    from packbelt.model import WorkspaceError

    specs = {**workspace.servers, **workspace.inline}
    for name in names:
        if name not in specs:
            close = near(name, list(specs))
            mend = f"near it: {', '.join(close)}" if close else f"there are: {', '.join(specs) or 'none'}"
            raise WorkspaceError(f"no server is called {name!r}", mend=mend, name=name)
    return [spec for name, spec in specs.items() if not names or name in names]


def _allowed(
    workspace: "Workspace", specs: "Sequence[ServerSpec]", *, granted: bool, may_ask: bool
) -> "Verdict":
    """Which may be started.

    Raises:
        WorkspaceError: none of them.
    """
    import sys

    from packbelt.live import Trust
    from packbelt.model import WorkspaceError

    ask = _ask if may_ask and sys.stdin.isatty() and sys.stderr.isatty() else None
    verdict = Trust.of_user().resolve(workspace, granted=granted, ask=ask, specs=specs)
    if verdict.refused and not verdict.trusted:
        raise WorkspaceError(verdict.line)
    return verdict


def _ask(root: Path, specs: "Sequence[ServerSpec]") -> "Answer":
    """Ask whoever sits at the terminal, who sees each command and address first."""
    from packbelt.live import Answer, describe

    click.echo(f"{root} wants to start:", err=True)
    for spec in specs:
        click.echo(f"  {describe(spec)}", err=True)
    return Answer(
        click.prompt(
            "Start them?",
            type=click.Choice([str(answer) for answer in Answer]),
            default=str(Answer.NO),
            err=True,
        )
    )


def merged(known: "Snapshot", found: "Snapshot") -> "Snapshot":
    """What was known, with what was found now; a server that failed keeps the tools it had."""
    servers = dict(known.servers)
    for name, state in found.servers.items():
        before = servers.get(name)
        if before and not state.tools and state.status == "failed":
            servers[name] = known.mark(name, state.status, state.error).servers[name]
        else:
            servers[name] = state
    return replace(known, servers=servers)


def snapshot_text(snapshot: "Snapshot") -> str:
    """A snapshot file."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(snapshot.to_data(), Dumper=dumper, sort_keys=False, allow_unicode=True, width=110)
    return text


def lock_of(workspace: "Workspace", found: "Snapshot") -> str:
    """A lock that accepts what the connected servers offer now; for the others the old one stands."""
    import json

    from packbelt.catalog.lock import lock_text

    connected = {name: state for name, state in found.servers.items() if state.status == "connected"}
    data = json.loads(lock_text(replace(found, servers=connected)))
    data["servers"] = {**(workspace.lock or {}), **data["servers"]}
    return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
