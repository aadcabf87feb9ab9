"""The pytest plugin: the belts of a workspace in fixtures, asserted and kept.

pytest finds it by itself (entry point `pytest11`). Loading it imports nothing but pytest: who uses none of
its fixtures pays for none of them. docs/testing.md shows them.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from packbelt.belt import Belt
    from packbelt.catalog.snapshot import Snapshot
    from packbelt.catalog.workspace import Workspace

_WORKSPACE = "packbelt_workspace"
_SNAPSHOT = "packbelt_snapshot_file"
FOLDER = "belts"
"""The folder of kept belts, beside the test that keeps them."""

Connected: TypeAlias = "Snapshot | str | Path | None"
"""What is connected: a snapshot, a file of one, or None for what `packbelt_snapshot_file` says."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and settings."""
    group = parser.getgroup("packbelt", "belts of agents")
    group.addoption(
        "--packbelt-update", action="store_true", help="write the belts that `packbelt_snapshot` keeps anew"
    )
    parser.addini(_WORKSPACE, "the workspace's directory, relative to rootdir; default: rootdir", default="")
    parser.addini(_SNAPSHOT, "a snapshot of what is connected; default: nothing is", default="")


class BeltOf:
    """The belts of one workspace by agent: `belt("orchestrator")`.

    Args:
        workspace: whose.
        root: where the files of snapshots are looked for.
        snapshot: the file that counts where none is given; empty for nothing connected.
    """

    def __init__(self, workspace: "Workspace", root: Path, snapshot: str = "") -> None:
        self.workspace = workspace
        self._root = root
        self._default = snapshot

    def __call__(self, agent: str | None = None, snapshot: Connected = None) -> "Belt":
        """The belt of an agent.

        Args:
            agent: its name; None for the workspace's root agent.
            snapshot: what is connected.

        Raises:
            UnknownAgentError, AgentBrokenError, AgentRefusedError: the agent cannot start.
            SnapshotError: the snapshot cannot be used.
        """
        from packbelt.turn import turn  # noqa: PLC0415 - see the module

        return turn(self.workspace, self.connected(snapshot), agent or self.workspace.orchestrator).belt

    def connected(self, snapshot: Connected = None) -> "Snapshot | None":
        """The snapshot that counts.

        Raises:
            SnapshotError: it cannot be used.
        """
        from packbelt.catalog.snapshot import Snapshot  # noqa: PLC0415 - see the module

        given: Any = self._default or None if snapshot is None else snapshot
        return Snapshot.from_file(self._root / given) if isinstance(given, str | Path) else given


@pytest.fixture(scope="session")
def workspace(pytestconfig: pytest.Config) -> "Workspace":
    """The workspace of `packbelt_workspace`, by default that of rootdir; read once."""
    from packbelt.catalog.load import load  # noqa: PLC0415 - see the module
    from packbelt.model import PackbeltError  # noqa: PLC0415 - see the module

    try:
        return load(pytestconfig.rootpath / str(pytestconfig.getini(_WORKSPACE)))
    except PackbeltError as error:
        said = str(error)
    # Outside: pytest would show the error above its own line.
    pytest.fail(f"{said} (the setting {_WORKSPACE} names the directory)", pytrace=False)


@pytest.fixture
def belt(workspace: "Workspace", pytestconfig: pytest.Config) -> BeltOf:
    """`belt(agent, snapshot=None)`: the belt of an agent."""
    from packbelt.catalog.workspace import Workspace  # noqa: PLC0415 - see the module

    if not isinstance(workspace, Workspace):
        what = type(workspace).__name__
        mend = "rename that fixture, or have it return packbelt.load(...)"
        said = f"a fixture `workspace` of this project's own gives {what}, not packbelt's Workspace; {mend}"
        pytest.fail(said, pytrace=False)
    return BeltOf(workspace, pytestconfig.rootpath, str(pytestconfig.getini(_SNAPSHOT)))


@pytest.fixture
def assert_belt(belt: BeltOf) -> Callable[..., None]:
    """`assert_belt(agent, direct=..., packed=..., deferred=..., not_callable=..., snapshot=None)`."""

    def check(agent: str | None = None, *, snapshot: Connected = None, **wanted: Iterable[str]) -> None:
        __tracebackhide__ = True
        from packbelt.testing.assertions import assert_belt as check_belt  # noqa: PLC0415 - see the module

        _failing(lambda: check_belt(belt(agent, snapshot), **wanted))

    return check


@pytest.fixture
def assert_reachable(belt: BeltOf) -> Callable[..., None]:
    """`assert_reachable(capability, ..., agent=None, via=None, through=None, snapshot=None)`.

    A capability is a tool, or all tools of a pack: `pack:files`.
    """

    def check(
        *capabilities: str,
        agent: str | None = None,
        via: str | None = None,
        through: str | None = None,
        snapshot: Connected = None,
    ) -> None:
        __tracebackhide__ = True
        from packbelt.testing.assertions import assert_reachable as check_ways  # noqa: PLC0415 - see the module

        asked = belt(agent, snapshot)
        names = [name for one in capabilities for name in _tools_of(asked, one)]
        _failing(lambda: check_ways(asked, *names, via=via, through=through))

    return check


def _tools_of(belt: "Belt", capability: str) -> tuple[str, ...]:
    pack = capability.removeprefix("pack:")
    if pack == capability:
        return (capability,)
    packs = belt.registry.workspace.packs
    if pack not in packs:
        pytest.fail(f"there is no pack {pack!r}; there are: {', '.join(packs)}", pytrace=False)
    return packs[pack].members


def _failing(check: Callable[[], None]) -> None:
    """Run a check; its failure is its text alone."""
    __tracebackhide__ = True
    try:
        check()
    except AssertionError as error:
        said = str(error)
    else:
        return
    pytest.fail(said, pytrace=False)


@pytest.fixture
def packbelt_snapshot(belt: BeltOf, request: pytest.FixtureRequest) -> Callable[..., None]:
    """`packbelt_snapshot(*agents, snapshot=None, name="")`: the belts are as they were kept.

    They are kept in `belts/` beside the test, a file for each agent; a name gives a folder below it, for a
    second snapshot. Without agents, all of the workspace. `pytest --packbelt-update` writes them anew.
    """
    from packbelt.testing import keeping  # noqa: PLC0415 - see the module

    update = bool(request.config.getoption("--packbelt-update"))

    def check(*agents: str, snapshot: Connected = None, name: str = "") -> None:
        __tracebackhide__ = True
        base = request.path.parent / FOLDER
        folder = base / name
        if not folder.resolve().is_relative_to(base.resolve()):
            pytest.fail(f"{name!r} leads out of {FOLDER}/; name a folder in it", pytrace=False)
        connected = belt.connected(snapshot)
        said = keeping.held(belt.workspace, connected, folder, agents, update=update)
        if said:
            root = request.config.rootpath
            shown = folder.relative_to(root) if folder.is_relative_to(root) else folder
            told = f"the belts are kept in {shown}; pytest --packbelt-update keeps them as they are now"
            told = f"{said}\n{told}"
            pytest.fail(told, pytrace=False)

    return check
