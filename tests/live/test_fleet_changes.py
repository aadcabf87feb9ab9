"""What changes under an agent at work: servers of single runs, what an approval was for, the trust file."""

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import anyio
import pytest
from fleet_world import agent_file, call, opened, place, server
from pydantic import BeforeValidator

import packbelt
from packbelt import Answer, RunNotResumableError
from packbelt.live.runs import open_runs
from packbelt.live.trust import TrustError
from packbelt.model import Outcome, ToolCall


def descriptors():
    return sorted(one.name for one in Path("/proc/self/fd").iterdir())


def explode(value):
    raise TypeError("no such city")


def forecast(city: Annotated[str, BeforeValidator(explode)]) -> str:
    """A forecast."""
    return city


def clock() -> str:
    """The time."""
    return "noon"


def test_a_validator_of_the_hosts_own_that_raises_costs_one_error_result(tmp_path):
    async def main():
        workspace = place(tmp_path, agents={"boss": agent_file("boss")}, tools=[forecast, clock])
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            turn = await boss.turn()
            calls = [ToolCall("1", "forecast", {"city": "Oslo"}), ToolCall("2", "clock", {})]
            failed, fine = await turn.run(calls)
            assert (failed.outcome, failed.text) == (Outcome.TOOL_ERROR, "TypeError: no such city")
            assert fine.text == "noon"

    anyio.run(main)


def test_servers_of_one_run_change_nothing_for_the_others(tmp_path, pids):
    own = {"own": server(pids, "echo")}
    agents = {
        "boss": agent_file("boss", delegates=["helper"]),
        "helper": agent_file("helper", mcp_servers=[own]),
    }

    async def main():
        async with opened(place(tmp_path, agents=agents)) as fleet, fleet.agent("boss") as boss:
            told = []
            fleet.subscribe(lambda: told.append(fleet.snapshot))
            before, turn = fleet.snapshot, await boss.turn()
            async with boss.spawn("helper") as helper:
                assert "helper.own" in {tool.id.server for tool in (await helper.turn()).belt.tools}
            assert told
            assert fleet.snapshot is before
            assert await boss.turn() is turn

    anyio.run(main)


def test_an_approval_is_for_the_call_that_was_shown_and_for_no_other(tmp_path):
    asked = []

    async def approve(approval):
        asked.append(dict(approval.arguments))
        boss.handle().resolve = other
        return True

    def other(name, arguments=None, *more, **options):
        del boss.handle().resolve
        return replace(boss.handle().resolve(name, arguments), arguments={"city": "Bergen"})

    def weather(city: str) -> str:
        """The weather."""
        raise AssertionError(city)

    async def main():
        nonlocal boss
        workspace = place(
            tmp_path,
            agents={"boss": agent_file("boss")},
            tools=[weather],
            config="orchestrator: boss\napprove: [weather]\n",
        )
        async with opened(workspace, approve=approve) as fleet, fleet.agent("boss") as boss:
            result = await call(boss, "weather", city="Oslo")
            assert asked == [{"city": "Oslo"}]
            assert result.outcome is Outcome.NOT_STARTED
            assert "not the one that was approved" in result.text

    boss = None
    anyio.run(main)


def test_the_log_that_a_fleet_opened_is_closed_with_it(tmp_path):
    async def main():
        workspace = place(tmp_path / "home", agents={"boss": agent_file("boss")})
        before = descriptors()
        async with opened(workspace, events=tmp_path / "events.jsonl"):
            pass
        assert descriptors() == before

    anyio.run(main)


class Reloading:
    """A host's own store, during whose first entry the workspace is loaded anew."""

    def __init__(self, store, reload):
        self._store, self._reload = store, reload

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def create(self, run):
        await self._reload()
        await self._store.create(run)


def test_a_workspace_that_is_loaded_anew_while_an_agent_starts_is_the_one_it_works_by(tmp_path):
    async def main():
        fleet = None

        async def changed():
            place(tmp_path, agents=agents, tools=[clock], config="orchestrator: boss\ndeny: [clock]\n")
            await fleet.reload()

        agents = {"boss": agent_file("boss")}
        workspace = place(tmp_path, agents=agents, tools=[clock])
        async with open_runs(":memory:", workspace=tmp_path) as store:
            async with opened(workspace, runs=Reloading(store, changed)) as fleet:
                made_before = fleet.agent("boss")
                async with fleet.agent("boss") as boss:
                    assert fleet.workspace is not workspace
                    assert (await call(boss, "clock")).outcome is Outcome.REJECTED
                async with made_before as boss:
                    assert (await call(boss, "clock")).outcome is Outcome.REJECTED

    anyio.run(main)


@pytest.mark.skipif(os.name == "nt", reason="permissions are a matter of the directory there")
def test_a_trust_file_that_goes_bad_keeps_the_workspace_that_is_in_force(tmp_path, pids):
    home = tmp_path / "home"

    async def main():
        workspace = place(home, servers={"s": server(pids, "echo")}, agents={"boss": agent_file("boss")})
        environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "PATH": os.environ["PATH"]}
        file = tmp_path / "config" / "packbelt" / "trust.json"
        packbelt.Trust(file).remember(workspace, list(workspace.servers.values()))
        async with opened(workspace, trust=False, environ=environ) as fleet, fleet.agent("boss") as boss:
            place(home, servers={"s": server(pids, "fail")}, agents={"boss": agent_file("boss")})
            file.chmod(0o666)
            with pytest.raises(TrustError, match="others can write it"):
                await fleet.reload()
            assert fleet.workspace is workspace
            assert (await call(boss, "mcp__s__echo")).outcome is Outcome.OK
            file.chmod(stat.S_IRUSR | stat.S_IWUSR)
            await fleet.reload()
            assert (await call(boss, "mcp__s__echo")).outcome is not Outcome.OK

    anyio.run(main)


async def run(agent, request):
    return "done"


def test_a_run_whose_record_nobody_can_read_is_not_taken_up(tmp_path):
    async def main():
        workspace = place(tmp_path, agents={"boss": agent_file("boss")})
        async with opened(workspace, run=run) as fleet:
            async with fleet.agent("boss") as boss:
                run_id = boss.run_id
            kept = await fleet.runs.get(run_id)
            odd = replace(kept, id=kept.id[:-1] + ("0" if kept.id[-1] != "0" else "1"), scope={"who": "?"})
            await fleet.runs.create(odd)
            await fleet.runs.finish(odd.id, packbelt.live.runs.RunStatus.COMPLETED, output="", messages=())
            with pytest.raises(RunNotResumableError, match="cannot read"):
                await fleet.send_input(odd.id, "go on")
            assert (await fleet.runs.get(odd.id)).status == "completed"
            assert isinstance(await fleet.send_input(run_id, "go on"), Answer)

    anyio.run(main)
