"""`packbelt connect`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.options import Source, with_source
from packbelt.model.text import few

if TYPE_CHECKING:
    from packbelt.catalog.snapshot import Snapshot
    from packbelt.catalog.workspace import ServerSpec, Workspace
    from packbelt.live import Verdict
    from packbelt.model import Diagnostic

KEPT = 6
"""Servers that are named as kept; of more only the number is."""


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

    Exits 1 if a server failed, or if its entry cannot be used.

    Starting a server runs its command, so you are asked first. --trust answers yes; without a terminal and
    without --trust nothing is started, unless PACKBELT_TRUST holds the workspace's directory. The answer
    "always" is remembered for these very definitions in this directory, in trust.json: on Linux in
    ~/.config/packbelt, on macOS in ~/Library/Application Support/packbelt, on Windows in %APPDATA%/packbelt,
    and anywhere in $XDG_CONFIG_HOME/packbelt where that is set. To revoke it, delete the entry or the file.

    Of your variables a server gets PATH, HOME, USER, LOGNAME, SHELL, TERM, TMPDIR, TEMP, TMP, LANG, LC_ALL,
    LC_CTYPE, SYSTEMROOT, PATHEXT and USERPROFILE, and no other. What else it needs stands in `env` of its
    entry: "env": {"HTTPS_PROXY": "${HTTPS_PROXY}"}.

    What --save writes holds the servers that were started. What is known of others stays where they are in
    the file of --snapshot, or, with SERVER and without --snapshot, in FILE itself. PACKBELT_SNAPSHOT does
    not count here.
    """
    from packbelt.cli.ask import somebody_there
    from packbelt.cli.authorize import from_terminal
    from packbelt.cli.connect_text import Watch, answer_json, show
    from packbelt.cli.loaded import report
    from packbelt.cli.output import note, write_json
    from packbelt.live.servers.connect import connect_now
    from packbelt.live.servers.keep import lock_of, merged
    from packbelt.model import PackbeltError

    workspace = source.own_workspace()
    broken, others = _errors(workspace, server)
    report(others)
    specs = _chosen(workspace, server, broken)
    known = base_of(source, save, named=bool(server))
    if not specs and not broken:
        note("no server is configured; .mcp.json and the agents' mcp_servers are where they are")
    try:
        verdict = allowed(workspace, specs, granted=trust, may_ask=not source.json)
    except PackbeltError:
        report(broken)
        raise
    with Watch(len(verdict.trusted)) as watch:
        oauth = from_terminal(workspace, watch.say if somebody_there(json=source.json) else None)
        found = connect_now(workspace, verdict.trusted, on_progress=watch, oauth=oauth)
    snapshot = merged(known, found)
    if save is not None:
        from packbelt.cli.files import write_text

        write_text(save, snapshot_text(snapshot))
    if lock:
        from packbelt.cli.files import write_text

        write_text(workspace.root / "packbelt.lock", lock_of(workspace, found))
    if source.json:
        write_json(answer_json(specs, found, verdict, watch.seconds, broken))
    else:
        show(specs, found, verdict, watch.seconds, broken)
    if verdict.refused:
        note(verdict.line)
    if save is not None:
        kept = kept_words(known, found)
        note(f"wrote {save}{kept}; packbelt dump --snapshot {save} reads it")
    if lock:
        note(f"wrote {workspace.root / 'packbelt.lock'}")
    fine = all(state.status == "connected" for state in found.servers.values())
    return FINE if fine and not verdict.refused and not broken else FINDINGS


def _errors(workspace: "Workspace", names: Sequence[str]) -> "tuple[list[Diagnostic], list[Diagnostic]]":
    """Entries in question that cannot be used, the whole file among them; and what else did not load."""
    from packbelt.cli.loaded import load_errors
    from packbelt.model import Code

    broken: list[Diagnostic] = []
    others: list[Diagnostic] = []
    for one in load_errors(workspace):
        asked = not names or one.name in names
        (broken if one.code is Code.SERVER_BROKEN and asked else others).append(one)
    return broken, others


def _chosen(
    workspace: "Workspace", names: Sequence[str], broken: "Sequence[Diagnostic]"
) -> "list[ServerSpec]":
    """The servers named, or all: the shared ones, then those that agents declare for themselves.

    Raises:
        WorkspaceError: a name is no server's.
    """
    from packbelt.catalog.near import listed, suggestion
    from packbelt.model import WorkspaceError

    specs = {**workspace.servers, **workspace.inline}
    for name in names:
        if name not in specs and name not in {one.name for one in broken}:
            mend = suggestion(name, specs, otherwise=f"there are: {listed(specs)}")
            raise WorkspaceError(f"no server is called {name!r}", mend=mend, name=name)
    return [spec for name, spec in specs.items() if not names or name in names]


def allowed(
    workspace: "Workspace", specs: "Sequence[ServerSpec]", *, granted: bool, may_ask: bool
) -> "Verdict":
    """Which may be started.

    Raises:
        WorkspaceError: none of them.
    """
    from packbelt.cli.ask import may_start, somebody_there
    from packbelt.cli.output import note
    from packbelt.live import Consent, Trust
    from packbelt.model import WorkspaceError

    answers: list[Consent] = []

    def ask(root: Path, doubtful: "Sequence[ServerSpec]") -> Consent:
        answers.append(may_start(root, doubtful))
        return answers[-1]

    trust = Trust.of_user()
    can_ask = somebody_there(json=not may_ask)
    verdict = trust.resolve(workspace, granted=granted, ask=ask if can_ask else None, specs=specs)
    if Consent.ALWAYS in answers:
        note(f"remembered in {trust.file}; to revoke it, delete the entry there, or the file")
    if verdict.refused and not verdict.trusted:
        raise WorkspaceError(verdict.line)
    return verdict


def base_of(source: Source, save: Path | None, *, named: bool) -> "Snapshot":
    """What was known before: the snapshot asked for, else, for some servers only, the file to be written.

    Raises:
        SnapshotError: it cannot be used.
    """
    if source.file is not None and not source.from_variable:
        return source.snapshot()
    base = save if named and save is not None and save.exists() else None
    return Source(source.directory, base, json=source.json).snapshot()


def kept_words(known: "Snapshot", found: "Snapshot") -> str:
    """Which servers a snapshot has from before, as a part of a sentence; empty if none."""
    kept = [name for name in known.servers if name not in found.servers]
    return f" (kept from {known.file}: {few(kept, most=KEPT)})" if kept else ""


def snapshot_text(snapshot: "Snapshot") -> str:
    """A snapshot file, its end marked."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(
        snapshot.to_data(), Dumper=dumper, sort_keys=False, allow_unicode=True, width=110, explicit_end=True
    )
    return text
