"""Hand-offs, native tools and approvals at run time."""

import json

import anyio
import pytest
from fleet_world import agent_file, call, direct, opened, place, server

import packbelt
from packbelt.model import Outcome, ToolCall

AGENTS = {
    "boss": agent_file("boss", delegates=["mid"]),
    "mid": agent_file("mid", delegates=["leaf"]),
    "leaf": agent_file("leaf"),
}


def script(**agents):
    """A host's model loop: what each agent does, by its name."""

    async def run(agent, request):
        return await agents[agent.name](agent, request)

    return run


async def say_ok(agent, request):
    return f"{agent.name} did: {request}"


def test_a_result_is_marked_as_another_agents_words(tmp_path):
    async def main():
        async with opened(place(tmp_path, agents=AGENTS), run=script(mid=say_ok)) as fleet:
            async with fleet.agent("boss") as boss:
                result = await call(boss, "delegate_to_mid", request="look")
            assert result.outcome is Outcome.OK
            assert result.answer.said_by == "mid"
            assert set(result.answer.structured) == {"run_id", "status", "output"}
            first, rest = result.text.split("\n", 1)
            assert "mid" in first
            assert json.loads(rest) == result.answer.structured
            assert json.loads(rest)["output"] == "mid did: look"
            run = await fleet.runs.get(result.answer.structured["run_id"])
            assert (run.agent, run.parent, run.status, run.output) == (
                "mid",
                boss.run_id,
                "completed",
                "mid did: look",
            )

    anyio.run(main)


def test_a_run_that_fails_is_an_error_result_and_its_caller_goes_on(tmp_path):
    async def fail(_agent, _request):
        raise ValueError("the model is\nunavailable")

    async def main():
        async with (
            opened(place(tmp_path, agents=AGENTS), run=script(mid=fail)) as fleet,
            fleet.agent("boss") as boss,
        ):
            result = await call(boss, "delegate_to_mid", request="look")
            assert result.outcome is Outcome.TOOL_ERROR
            assert result.answer.structured["status"] == "failed"
            assert "ValueError: the model is unavailable" in result.answer.structured["output"]
            assert (await fleet.runs.get(boss.run_id)).resumable

    anyio.run(main)


def test_an_ambiguous_call_marks_every_run_on_its_path_and_no_other(tmp_path, pids):
    config = "orchestrator: boss\ntimes: {call: 0.3}\n"
    workspace = place(tmp_path, agents=AGENTS, servers={"s": server(pids, "echo", "hang")}, config=config)
    ids = {}

    async def mid(agent, request):
        ids["mid"] = agent.run_id
        if request == "harmless":
            ids["harmless"] = agent.run_id
            return "fine"
        return (await call(agent, "delegate_to_leaf", request=request)).text

    async def leaf(agent, _request):
        ids["leaf"] = agent.run_id
        return (await call(agent, "mcp__s__hang")).outcome

    async def main():
        async with opened(workspace, run=script(mid=mid, leaf=leaf)) as fleet, fleet.agent("boss") as boss:
            turn = await boss.turn()
            await turn.run([ToolCall("1", "delegate_to_mid", {"request": "harmless"})])
            result = (await turn.run([ToolCall("2", "delegate_to_mid", {"request": "go"})]))[0]
            assert result.outcome is Outcome.OK
            for run_id in (boss.run_id, ids["mid"], ids["leaf"]):
                run = await fleet.runs.get(run_id)
                assert not run.resumable
                assert "server:s/hang" in run.reason
            assert (await fleet.runs.get(ids["harmless"])).resumable

    anyio.run(main)


def test_without_a_runner_hand_offs_are_unavailable_everywhere(tmp_path):
    async def main():
        async with opened(place(tmp_path, agents=AGENTS)) as fleet, fleet.agent("boss") as boss:
            turn = await boss.turn()
            assert direct(turn) == []
            decision = turn.belt["delegate_to_mid"].decision
            assert (decision.state, decision.reasons[0].rule) == ("unavailable", "no_runner")
            result = await call(boss, "delegate_to_mid", request="look")
            assert (result.outcome, result.hint.kind) == (Outcome.REJECTED, "unavailable")
            assert "delegate_to_mid" not in "".join(turn.sections.values())
            assert result.hint.suggestions == ()

    anyio.run(main)


def test_a_child_that_cannot_start_is_not_started(tmp_path):
    agents = {"boss": agent_file("boss", delegates=["mid"]), "mid": agent_file("mid", tools=["nosuch/tool"])}

    async def main():
        async with (
            opened(place(tmp_path, agents=agents), run=script(mid=say_ok)) as fleet,
            fleet.agent("boss") as boss,
        ):
            result = await call(boss, "delegate_to_mid", request="look")
            assert result.outcome is Outcome.NOT_STARTED
            assert "nosuch" in result.text

    anyio.run(main)


def test_a_cancelled_parent_takes_its_children_and_their_servers_with_it(tmp_path, pids):
    agents = {**AGENTS, "mid": agent_file("mid", mcp_servers=[{"db": server(pids, "echo")}])}
    at_work = anyio.Event()

    async def mid(agent, _request):
        at_work.set()
        await anyio.sleep_forever()

    async def main():
        async with opened(place(tmp_path, agents=agents), run=script(mid=mid)) as fleet:
            async with anyio.create_task_group() as tasks:

                async def work():
                    async with fleet.agent("boss") as boss:
                        await call(boss, "delegate_to_mid", request="look")

                tasks.start_soon(work)
                with anyio.fail_after(20):
                    await at_work.wait()
                tasks.cancel_scope.cancel()
            pids.assert_gone(1)
            runs = await fleet.runs.find(str(tmp_path))
            assert [(run.agent, run.status, run.resumable) for run in runs] == [
                ("mid", "failed", True),
                ("boss", "failed", True),
            ]

    anyio.run(main)


def test_a_chain_of_calls_that_re_enters_itself_is_refused(tmp_path):
    async def mid(agent, request):
        return (await call(agent, "delegate_to_boss", request="round and round")).text

    async def boss(agent, request):
        return (await call(agent, "delegate_to_mid", request=request)).text

    agents = {"boss": agent_file("boss", delegates=["mid"]), "mid": agent_file("mid", delegates=["boss"])}

    async def main():
        workspace = place(tmp_path, agents=agents)
        async with opened(workspace, run=script(mid=mid, boss=boss)) as fleet, fleet.agent("boss") as root:
            result = await call(root, "delegate_to_mid", request="round and round")
            assert "would never end" in result.text
            assert len(await fleet.runs.find(str(tmp_path))) == 3

    anyio.run(main)


# native tools -------------------------------------------------------------------------------------------


def test_native_tools_run_with_what_their_hints_say(tmp_path):
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    async def greet(name: str) -> dict:
        """Greets."""
        return {"hello": name}

    def fails() -> str:
        """Fails."""
        raise OSError("no disk")

    async def main():
        workspace = place(tmp_path, agents={"boss": agent_file("boss")}, tools=[add, greet, fails])
        async with opened(workspace) as fleet, fleet.agent("boss") as boss:
            assert (await call(boss, "add", a=2, b=3)).text == "5"
            assert json.loads((await call(boss, "greet", name="you")).text) == {"hello": "you"}
            failed = await call(boss, "fails")
            assert (failed.outcome, failed.text) == (Outcome.TOOL_ERROR, "OSError: no disk")
            wrong = await call(boss, "add", a="x", b=3)
            assert wrong.outcome is Outcome.REJECTED

    anyio.run(main)


# approvals ----------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(tmp_path, pids):
    config = "orchestrator: boss\napprove: [s/echo, delegate_to_mid]\n"
    return place(tmp_path, agents=AGENTS, servers={"s": server(pids, "echo", "env")}, config=config)


@pytest.mark.parametrize("answer", [True, False, "yes", None, ZeroDivisionError])
def test_sa13_only_a_plain_yes_approves_in_parent_and_child_alike(guarded, answer):
    asked = []

    async def approve(approval):
        asked.append((approval.path, str(approval.tool.id), dict(approval.arguments)))
        if isinstance(answer, type):
            raise answer
        return answer

    async def main():
        async with (
            opened(guarded, approve=approve, run=script(mid=say_ok)) as fleet,
            fleet.agent("boss") as boss,
            boss.spawn("mid") as child,
        ):
            for agent in (boss, child):
                result = await call(agent, "mcp__s__echo", n=1)
                assert result.outcome is (Outcome.OK if answer is True else Outcome.REJECTED)
                assert (await call(agent, "mcp__s__env")).outcome is Outcome.OK

    anyio.run(main)
    assert asked == [
        (("boss",), "server:s/echo", {"n": 1}),
        (("boss", "mid"), "server:s/echo", {"n": 1}),
    ]


def test_without_an_approver_such_a_call_is_rejected_and_not_sent(guarded):
    async def main():
        async with opened(guarded, run=script(mid=say_ok)) as fleet, fleet.agent("boss") as boss:
            result = await call(boss, "mcp__s__echo")
            assert (result.outcome, "nobody to ask" in result.text) == (Outcome.REJECTED, True)
            assert (await call(boss, "delegate_to_mid", request="x")).outcome is Outcome.REJECTED

    anyio.run(main)


def test_what_is_denied_while_a_person_thinks_is_not_called(guarded):
    async def main():
        async def approve(_):
            fleet.revise(packbelt.Snapshot.from_data({"deny": ["s/*"]}))
            return True

        async with opened(guarded, approve=approve) as fleet, fleet.agent("boss") as boss:
            result = await call(boss, "mcp__s__echo")
            assert (result.outcome, result.hint.kind) == (Outcome.REJECTED, "denied")

    anyio.run(main)


def test_the_gate_is_asked_before_a_person_is(guarded):
    def approve(_):
        raise AssertionError("asked about a call that is not admitted")

    async def main():
        async with opened(guarded, approve=approve) as fleet, fleet.agent("boss") as boss:
            async with boss.spawn("mid", deny=["s/*"]) as child:
                assert (await call(child, "mcp__s__echo")).hint.kind == "denied"

    anyio.run(main)
