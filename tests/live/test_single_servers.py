"""One server started or ended by name while the fleet works, and who may have it started."""

import json

import anyio
import pytest
from fleet_world import agent_file, call, opened, place, server
from live_helpers import gone

import packbelt
from packbelt.catalog.servers import FILE
from packbelt.live.calling import NoCallerError
from packbelt.live.following import follow
from packbelt.live.servers.known import UnknownServerError
from packbelt.live.vouching import NotTrustedError
from packbelt.model import Outcome, Selector

BOSS = {"boss": agent_file("boss", tools=["*", "*/*"])}


def write_servers(root, **servers):
    (root / FILE).write_text(json.dumps({"mcpServers": servers}, indent=2))


def test_a_server_is_ended_and_started_by_name(tmp_path, pids):
    workspace = place(tmp_path, servers={"one": server(pids), "two": server(pids)}, agents=BOSS)

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            before = json.loads((await call(boss, "mcp__one__echo")).text)["pid"]
            assert (await fleet.connect("one")).status == "connected"  # it is, and is left alone
            assert json.loads((await call(boss, "mcp__one__echo")).text)["pid"] == before
            state = await fleet.disconnect("one")
            assert (state.status, len(state.tools)) == ("disconnected", 4)
            assert gone(before)
            assert (await call(boss, "mcp__one__echo")).outcome is Outcome.REJECTED
            assert (await call(boss, "mcp__two__echo")).outcome is Outcome.OK
            assert await fleet.disconnect("one") == state
            await fleet.reload()  # ended by name is not ended by its file: nothing changed there
            assert fleet.snapshot.servers["one"].status == "disconnected"
            assert (await fleet.connect("one")).status == "connected"
            after = json.loads((await call(boss, "mcp__one__echo")).text)["pid"]
            assert after != before
            for method in (fleet.connect, fleet.disconnect):
                with pytest.raises(UnknownServerError, match="no server 'oen' is configured"):
                    await method("oen")

    anyio.run(main)
    assert all(gone(pid) for pid in pids())


def test_one_that_failed_is_started_anew(tmp_path, pids):
    (tmp_path / "here").mkdir()
    workspace = place(tmp_path, servers={"one": server(pids, cwd="here/there")}, agents=BOSS)

    async def main():
        async with opened(workspace) as fleet:
            assert fleet.snapshot.servers["one"].status == "failed"
            (tmp_path / "here" / "there").mkdir()
            assert (await fleet.connect("one", seconds=30)).status == "connected"

    anyio.run(main)


def test_two_who_connect_one_server_start_one_process(tmp_path, pids):
    workspace = place(tmp_path, servers={"one": server(pids)}, agents=BOSS)

    async def main():
        async with opened(workspace, only=()) as fleet:
            assert pids() == []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fleet.connect, "one")
                tasks.start_soon(fleet.connect, "one")
            assert fleet.snapshot.servers["one"].status == "connected"
            assert len(pids()) == 1

    anyio.run(main)


def test_what_is_not_trusted_starts_by_the_definition_that_was_agreed_to_alone(tmp_path, pids):
    workspace = place(tmp_path, servers={"one": server(pids), "two": server(pids)}, agents=BOSS)

    async def main():
        environ = {"XDG_CONFIG_HOME": str(tmp_path / "none")}
        async with opened(workspace, trust=False, environ=environ) as fleet:
            assert set(fleet.doubtful) == {"one", "two"}
            with pytest.raises(NotTrustedError, match="'one' may not be started: not trusted"):
                await fleet.connect("one")
            seen = workspace.servers["one"]
            write_servers(tmp_path, one=server(pids, env={"X": "1"}), two=server(pids))
            await fleet.reload()
            with pytest.raises(NotTrustedError, match="'one' has changed since it was agreed to"):
                await fleet.connect("one", agreed=seen)
            assert pids() == []
            state = await fleet.connect("one", agreed=fleet.workspace.servers["one"])
            assert state.status == "connected"
            assert set(fleet.refused) == {"two"}
            await fleet.disconnect("one")
            await fleet.reload()
            assert (await fleet.connect("one")).status == "connected"  # agreed to is agreed to

    anyio.run(main)


def test_an_entry_that_moves_down_its_file_is_the_same_server(tmp_path, pids):
    one, two = server(pids), server(pids)
    workspace = place(tmp_path, servers={}, agents=BOSS)

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            write_servers(tmp_path, one=one, two=two)
            await fleet.reload()
            before = json.loads((await call(boss, "mcp__two__echo")).text)["pid"]
            write_servers(tmp_path, two=two)
            await fleet.reload()
            assert fleet.snapshot.servers["one"].status == "disconnected"
            assert json.loads((await call(boss, "mcp__two__echo")).text)["pid"] == before

    anyio.run(main)


class Installer:
    """Tools with which an agent writes servers and has the fleet take them over."""

    def __init__(self, root):
        self.root = root

    def tools(self):
        return [self.install, self.start]

    async def install(self, entries: dict[str, dict]) -> str:
        """Writes servers."""
        write_servers(self.root, **entries)
        await packbelt.caller().agent.fleet.reload()
        return "installed"

    @packbelt.tool(permission="execute")
    async def start(self, name: str) -> str:
        """Starts one."""
        return str((await packbelt.caller().connect(name)).status)


@pytest.mark.parametrize("trust", ["the host's word", "the directory"])
def test_no_word_for_all_covers_what_an_agent_brought(tmp_path, pids, trust):
    """`trust=True` was said of the servers that were there, not of whatever an agent writes beside them."""
    old, new = server(pids), server(pids, env={"NEW": "1"})
    workspace = place(tmp_path, servers={"old": old}, agents=BOSS, tools=Installer(tmp_path).tools())
    asked, answers = [], []

    def approve(approval):
        asked.append(approval)
        return answers.pop(0)

    environ = {"PACKBELT_TRUST": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "none")}
    word = {"trust": True} if trust == "the host's word" else {"trust": False, "environ": environ}

    async def main():
        async with opened(workspace, approve=approve, **word) as fleet, fleet.agent("boss") as boss:
            assert (await call(boss, "install", entries={"old": old, "new": new})).text == "installed"
            state = fleet.snapshot.servers["new"]
            assert (str(state.status), state.error) == (
                "failed",
                "not trusted: an agent brought it, and no person has agreed to it yet",
            )
            await fleet.reload()  # the host reads its files again and sees nothing new
            assert len(pids()) == 1
            assert fleet.snapshot.servers["old"].status == "connected"
            answers[:] = [False, True]
            declined = await call(boss, "start", name="new")
            assert "a person declined it" in declined.text
            assert len(pids()) == 1
            assert (await call(boss, "start", name="new")).text == "connected"
            assert len(pids()) == 2
            shown = asked[0].arguments
            assert (asked[0].tool.name, asked[0].path, shown["name"]) == ("start", ("boss",), "new")
            assert new["args"][1] in shown["starts"]
            assert "NEW" in shown["starts"]
            # The other one was there before: nobody need be asked.
            await fleet.disconnect("old")
            assert (await call(boss, "start", name="old")).text == "connected"
            # Written otherwise it is another one again, and what was there falls under the same rule.
            await call(boss, "install", entries={"old": {**old, "env": {"LD_PRELOAD": "x"}}, "new": new})
            assert fleet.snapshot.servers["old"].status == "failed"
            assert fleet.snapshot.servers["new"].status == "connected"
            assert (len(asked), len(pids())) == (2, 3)

    anyio.run(main)
    assert all(gone(pid) for pid in pids())


def test_a_watcher_that_sees_it_first_vouches_for_nothing(tmp_path, pids):
    """The tool has written a server and not yet said so: the watcher's word is no more than the tool's."""
    new = server(pids)

    async def main():
        seen = anyio.Event()

        async def write(entries: dict[str, dict]) -> str:
            """Writes servers, and has not done yet."""
            write_servers(tmp_path, **entries)
            await seen.wait()
            return "installed"

        workspace = place(tmp_path, servers={}, agents=BOSS, tools=[write])
        async with opened(workspace, trust=True) as fleet, fleet.agent("boss") as boss:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow, fleet, lambda _: seen.set())
                with anyio.fail_after(30):
                    assert (await call(boss, "write", entries={"new": new})).text == "installed"
                tasks.cancel_scope.cancel()
            assert "an agent brought it" in fleet.snapshot.servers["new"].error
            assert pids() == []

    anyio.run(main)


def test_what_changed_while_the_person_thought_is_not_started(tmp_path, pids):
    workspace = place(tmp_path, servers={}, agents=BOSS, tools=Installer(tmp_path).tools())

    async def main():
        async def approve(approval):
            write_servers(tmp_path, new=server(pids, env={"OTHER": "1"}))
            await fleet.reload()
            return True

        async with opened(workspace, approve=approve) as fleet, fleet.agent("boss") as boss:
            await call(boss, "install", entries={"new": server(pids)})
            assert "has changed since it was agreed to" in (await call(boss, "start", name="new")).text
            assert pids() == []

    anyio.run(main)


def test_an_agent_that_lost_the_tool_while_the_person_thought_starts_nothing(tmp_path, pids):
    workspace = place(tmp_path, servers={}, agents=BOSS, tools=Installer(tmp_path).tools())

    async def main():
        def approve(approval):
            fleet.revise(packbelt.Snapshot(deny=(Selector("start"),)))
            return True

        async with opened(workspace, approve=approve) as fleet, fleet.agent("boss") as boss:
            await call(boss, "install", entries={"new": server(pids)})
            assert "not this agent's to call any more" in (await call(boss, "start", name="new")).text
            assert pids() == []

    anyio.run(main)


def test_who_is_called_by_nobody_has_no_caller(tmp_path):
    with pytest.raises(NoCallerError, match="no agent called this"):
        packbelt.caller()

    seen = []

    def look() -> str:
        """Looks."""
        seen.append(packbelt.caller())
        return "looked"

    workspace = place(tmp_path, agents=BOSS, tools=[look])

    async def main():
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            await call(boss, "look")  # in a thread of its own
            assert seen[0].agent is boss
            assert seen[0].admitted.tool.name == "look"
            with pytest.raises(NoCallerError):
                packbelt.caller()

    anyio.run(main)
