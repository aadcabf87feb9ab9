"""What every command takes: a workspace, a snapshot, and the form of the answer."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from packbelt.catalog.registry import Registry
    from packbelt.catalog.snapshot import Snapshot
    from packbelt.catalog.workspace import Workspace
    from packbelt.turn import Turn

VARIABLE = "PACKBELT_SNAPSHOT"
"""The variable that names a snapshot where no option does."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a command reads from, and how it answers.

    Attributes:
        directory: the workspace's directory, or None for the nearest.
        file: the snapshot's file, or None for nothing connected.
        json: whether the answer is JSON.
        from_variable: whether the snapshot's file is the one that the environment names.
    """

    directory: Path | None
    file: Path | None
    json: bool
    from_variable: bool = False

    @property
    def given(self) -> str:
        """The options that name workspace and snapshot, to repeat in the next command; empty without any."""
        words: list[str] = []
        if self.directory is not None:
            words += ["-w", str(self.directory)]
        if self.file is not None and not self.from_variable:
            words += ["--snapshot", str(self.file)]
        return shlex.join(words)

    def workspace(self) -> "Workspace":
        """The workspace; without one, the embedded, and a line on standard error that says so.

        Raises:
            WorkspaceError: it cannot be used.
        """
        from packbelt.catalog.discover import find_workspace
        from packbelt.catalog.load import load

        if self.directory is None and find_workspace() is None:
            click.echo("packbelt: no workspace here; this is packbelt's own (-w DIR names another)", err=True)
        return load(self.directory)

    def own_workspace(self) -> "Workspace":
        """The workspace, which must be the user's: for commands that start things.

        Raises:
            WorkspaceError: there is none, or it cannot be used.
        """
        from packbelt.catalog.discover import find_workspace
        from packbelt.catalog.load import load
        from packbelt.model import WorkspaceError

        if self.directory is None and find_workspace() is None:
            raise WorkspaceError(
                "there is no workspace here",
                mend="go to a directory with an .mcp.json, or name one with -w DIR",
            )
        return load(self.directory)

    def snapshot(self) -> "Snapshot":
        """The snapshot.

        Raises:
            SnapshotError: it cannot be used.
        """
        from packbelt.catalog.snapshot import Snapshot
        from packbelt.model import SnapshotError
        from packbelt.turn import NOTHING

        if self.file is None:
            return NOTHING
        try:
            return Snapshot.from_file(self.file)
        except SnapshotError as error:
            if not self.from_variable:
                raise
            mend = "; ".join(part for part in (error.mend, f"{VARIABLE} names this file") if part)
            raise SnapshotError(error.problem, where=error.where, mend=mend, name=error.name) from None

    def registry(self, agent: str | None = None) -> "Registry":
        """Workspace and snapshot joined, for one agent or all; what else did not load goes to standard error.

        Raises:
            WorkspaceError, SnapshotError: one of them cannot be used.
        """
        from packbelt.catalog.registry import bind

        workspace = self.workspace()
        _report(workspace, list(workspace.broken) if agent is None else [agent])
        return bind(workspace, self.snapshot())

    def turn(self, agent: str | None) -> "Turn":
        """An agent's turn; what else did not load is said on standard error.

        Args:
            agent: its name; None for the workspace's orchestrator.

        Raises:
            WorkspaceError, SnapshotError: one of them cannot be used.
            UnknownAgentError, AgentBrokenError, AgentRefusedError: the agent cannot.
        """
        from packbelt.turn import turn

        workspace = self.workspace()
        name = workspace.orchestrator if agent is None else agent
        _report(workspace, [name])
        return turn(workspace, self.snapshot(), name)


def _report(workspace: "Workspace", agents: Sequence[str]) -> None:
    """Say what did not load, but for the agents that the answer itself speaks of."""
    from packbelt.cli.loaded import is_of, load_errors, report

    told = is_of(workspace, agents)
    report([one for one in load_errors(workspace) if not told(one)])


def with_source(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command `-w/--workspace`, `--snapshot` and `--json`, and pass them on as `source`."""

    @click.option(
        "-w",
        "--workspace",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The workspace. Default: the nearest directory upwards that is one.",
    )
    @click.option(
        "--snapshot",
        type=click.Path(path_type=Path),
        metavar="FILE",
        envvar=VARIABLE,
        show_envvar=True,
        help="What is connected now, as `packbelt connect --save FILE` wrote it.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
    @wraps(command)
    def run(
        *args: Any, workspace: Path | None, snapshot: Path | None, as_json: bool, **kwargs: Any
    ) -> int | None:
        given = click.get_current_context().get_parameter_source("snapshot")
        from_variable = given is ParameterSource.ENVIRONMENT
        return command(*args, source=Source(workspace, snapshot, as_json, from_variable), **kwargs)

    return run


def completion_registry(ctx: click.Context) -> "Registry | None":
    """What a completion is asked about; whatever is wrong with it completes to nothing."""
    from packbelt.catalog.load import load
    from packbelt.catalog.registry import bind

    source = Source(ctx.params.get("workspace"), ctx.params.get("snapshot"), json=False)
    try:
        return bind(load(source.directory), source.snapshot())
    except Exception:  # noqa: BLE001 - a completion has nowhere to report a mistake to
        return None


def complete_agents(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Agents whose names begin so."""
    registry = completion_registry(ctx)
    agents = registry.workspace.agents.values() if registry else ()
    return [CompletionItem(a.name, help=a.description) for a in agents if a.name.startswith(begun)]


def complete_tools(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Tools whose wire names begin so."""
    registry = completion_registry(ctx)
    names = registry.wire if registry else ()
    return [CompletionItem(name) for name in sorted(names) if name.startswith(begun)]


def complete_packs(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Packs whose ids begin so."""
    registry = completion_registry(ctx)
    packs = registry.workspace.packs if registry else ()
    return [CompletionItem(name) for name in packs if name.startswith(begun)]


agent_argument = click.argument("agent", shell_complete=complete_agents)
"""The agent that a command is about."""
