"""The workspace's files change while agents work."""

import json

import anyio
import pytest
from fleet_world import agent_file, call, direct, opened, place, server
from live_helpers import gone

from packbelt import WorkspaceError
from packbelt.model import Outcome

AGENTS = {"boss": agent_file("boss", delegates="*"), "old": agent_file("old")}


async def work(_agent, _request):
    return "done"


def test_hr01_new_and_edited_agents_count_from_the_next_turn(tmp_path):
    async def main():
        async with opened(place(tmp_path, agents=AGENTS), run=work) as fleet, fleet.agent("boss") as boss:
            before = await boss.turn()
            edited = {
                **AGENTS,
                "old": agent_file("old", description="Quite another thing."),
                "new": agent_file("new"),
            }
            place(tmp_path, agents=edited)
            await fleet.reload()
            after = await boss.turn()
            assert set(direct(after)) - set(direct(before)) == {"delegate_to_new"}
            assert "Quite another thing." in after.belt["delegate_to_old"].tool.description

    anyio.run(main)


def test_hr03_changed_arguments_end_the_old_process_and_start_one(tmp_path, pids):
    def written(*tools):
        return place(
            tmp_path, agents=AGENTS, servers={"db": server(pids, *tools), "other": server(pids, "echo")}
        )

    async def main():
        async with opened(written("echo")) as fleet, fleet.agent("boss") as boss:
            for round_ in range(3):
                first = json.loads((await call(boss, "mcp__db__echo")).text)["pid"]
                other = json.loads((await call(boss, "mcp__other__echo")).text)["pid"]
                written("echo", f"t{round_}")
                await fleet.reload()
                assert f"mcp__db__t{round_}" in direct(await boss.turn())
                second = json.loads((await call(boss, "mcp__db__echo")).text)["pid"]
                assert gone(first)
                assert second != first
                assert json.loads((await call(boss, "mcp__other__echo")).text)["pid"] == other
                assert [gone(pid) for pid in pids()].count(False) == 2

    anyio.run(main)
    pids.assert_gone(5)


def test_hr03_a_reload_that_changes_no_server_touches_none(tmp_path, pids):
    async def main():
        workspace = place(tmp_path, agents=AGENTS, servers={"db": server(pids, "echo")})
        async with opened(workspace) as fleet:
            connection = fleet._connection("db")
            await fleet.reload()
            assert fleet._connection("db") is connection

    anyio.run(main)
    pids.assert_gone(1)


def test_hr05_a_removed_server_is_ended_and_its_tools_are_unavailable(tmp_path, pids):
    async def main():
        workspace = place(tmp_path, agents=AGENTS, servers={"db": server(pids, "echo")})
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("old", deny=["db/*"]) as child:
                await child.turn()
                place(tmp_path, agents=AGENTS, servers={})
                await fleet.reload()
                assert direct(await boss.turn()) == []
                result = await call(boss, "mcp__db__echo")
                assert (result.outcome, result.hint.kind) == (Outcome.REJECTED, "unavailable")
                await child.turn()  # what its spawn denied is still a name
            pids.assert_gone(1)

    anyio.run(main)


DENYING = "orchestrator: boss\ndeny: [db/env]\n"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("packbelt.yaml", ""),
        ("packbelt.yaml", None),
        ("packbelt.yaml", "deny: [\n"),
        (".mcp.json", ""),
        (".mcp.json", '{"mcpServers": {"db"'),
        ("prompts/agents/old.md", ""),
        ("prompts/agents/old.md", "---\nname: old\n"),
    ],
)
def test_hr14_hr16_a_half_written_file_keeps_the_last_good_workspace(tmp_path, pids, file, text):
    async def main():
        workspace = place(
            tmp_path, agents=AGENTS, servers={"db": server(pids, "echo", "env")}, config=DENYING
        )
        async with opened(workspace, run=work) as fleet, fleet.agent("boss") as boss:
            before = await boss.turn()
            whole = (tmp_path / file).read_text()
            if text is None:
                (tmp_path / file).unlink()
            else:
                (tmp_path / file).write_text(text)
            with pytest.raises(WorkspaceError) as caught:
                await fleet.reload()
            assert file.rpartition("/")[2] in str(caught.value)
            assert fleet.workspace is workspace
            assert (await boss.turn()).belt is before.belt
            assert (await call(boss, "mcp__db__env")).hint.kind == "denied"
            (tmp_path / file).write_text(whole)
            await fleet.reload()
            assert direct(await boss.turn()) == direct(before)

    anyio.run(main)
    pids.assert_gone(1)
