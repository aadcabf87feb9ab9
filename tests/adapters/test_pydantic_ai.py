"""pydantic-ai beyond the common scenario: the host's own options and tools, approvals, a whole fleet."""

import asyncio
import base64
import json
import subprocess
import sys

import anyio
import pytest
from proofs import proves
from pydantic import BaseModel

pytest.importorskip("pydantic_ai", exc_type=ImportError)

from fleet_world import opened
from pydantic_ai import (
    Agent,
    BinaryContent,
    DeferredToolRequests,
    DeferredToolResults,
    FunctionToolset,
    ModelRetry,
    RunContext,
    Tool,
    ToolDenied,
    ToolFailed,
    ToolReturn,
    UnexpectedModelBehavior,
    WebSearchTool,
)
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.toolsets import ExternalToolset
from small_fleet import PICTURE, Small, Waiting, deny, kept, load_with

from packbelt.adapters.pydantic_ai import AdapterError, Belt, BeltToolset, runner, wrap
from packbelt.model import ToolCall
from packbelt.providers import ResidueError

TARGET = "pydantic-ai"


def call(name, arguments=None, number=1):
    return ToolCallPart(name, arguments or {}, tool_call_id=f"c{number}")


class Scripted:
    """A model that makes these calls, one list (or function that gives it) a request, then says the last word."""

    def __init__(self, *steps, last="done"):
        self.steps = list(steps)
        self.last = last
        self.requests = []
        self.model = FunctionModel(self.answer, stream_function=self.stream)

    def next(self, messages, info):
        self.requests.append((list(messages), info))
        step = self.steps.pop(0) if self.steps else ()
        return step() if callable(step) else step

    async def answer(self, messages, info):
        return ModelResponse(list(self.next(messages, info)) or [TextPart(self.last)])

    async def stream(self, messages, info):
        made = self.next(messages, info)
        for place, one in enumerate(made):
            yield {place: DeltaToolCall(one.tool_name, json.dumps(one.args), tool_call_id=one.tool_call_id)}
        if not made:
            yield self.last

    @property
    def sent(self):
        return [[tool.name for tool in info.function_tools] for _, info in self.requests]

    @property
    def returns(self):
        """The tool results of the last request, by call."""
        parts = [part for one in self.requests[-1][0] if isinstance(one, ModelRequest) for part in one.parts]
        return {part.tool_call_id: part for part in parts if isinstance(part, ToolReturnPart)}

    @property
    def read(self):
        return {id_: part.content for id_, part in self.returns.items()}


async def play(agent, script, **options):
    return await Agent(script.model, capabilities=[Belt(agent)], **options).run("go")


# what is sent ---------------------------------------------------------------------------------------------


@proves(TARGET, "visible")
def test_the_first_request_is_the_plan(tmp_path):
    async def main():
        script = Scripted()
        async with Small(tmp_path).boss() as agent:
            await play(agent, script, instructions="Be brief.")
            form = (await agent.turn()).compile(TARGET)
        ((_, info),) = script.requests
        form.enforcement.verify(tool.name for tool in info.function_tools)
        assert [tool.name for tool in info.function_tools] == list(form.enforcement.plan)
        assert [(tool.description, tool.parameters_json_schema) for tool in info.function_tools] == [
            (data["description"], data["parameters_json_schema"]) for data in form.kwargs["tools"]
        ]
        assert form.system in info.instructions
        assert "Be brief." in info.instructions
        assert form.system.startswith("You are boss.")

    anyio.run(main)


@proves(TARGET, "visible")
def test_ad01_an_empty_belt_sends_no_tool(tmp_path):
    async def main():
        script = Scripted([call("note", {"text": "a"})])
        small = Small(tmp_path, boss={"tools": []})
        async with small.boss() as agent:
            await play(agent, script)
        assert script.sent == [[], []]
        assert script.returns["c1"].outcome == "failed"
        assert small.ran == []

    anyio.run(main)


@proves(TARGET, "late")
def test_what_is_revoked_under_way_is_refused_and_sent_no_more(tmp_path):
    async def main():
        small = Small(tmp_path)
        async with small.boss() as agent:

            def revoke():
                deny(agent, "note")
                return [call("note", {"text": "a"})]

            script = Scripted(revoke)
            await play(agent, script)
        first, second = script.sent
        assert "note" in first
        assert second == [name for name in first if name != "note"]
        assert "denied" in script.read["c1"]
        assert small.ran == []

    anyio.run(main)


def own() -> str:
    """The host's own."""
    return ""


BESIDE = {
    "tools": {"tools": [own]},
    "toolsets": {"toolsets": [FunctionToolset([own])]},
    "capabilities": {"capabilities": [NativeTool(WebSearchTool())]},
}


@proves(TARGET, "visible")
@pytest.mark.parametrize("option", BESIDE)
def test_what_would_be_sent_beside_the_belt_ends_the_run_before_it_is_sent(tmp_path, option):
    async def main():
        script = Scripted()
        given = BESIDE[option]
        capabilities = given.get("capabilities", [])
        more = {key: value for key, value in given.items() if key != "capabilities"}
        async with Small(tmp_path).boss() as agent:
            made = Agent(script.model, capabilities=[Belt(agent), *capabilities], **more)
            with pytest.raises(
                AdapterError, match=r"the agent's tool '(own|web_search)' .* packbelt's belt"
            ) as refused:
                await made.run("go")
        assert "\n" not in str(refused.value)
        assert script.requests == []
        if more:
            with pytest.raises(AdapterError, match=f"Agent's `{option}`"):
                runner(model=script.model, **more)

    anyio.run(main)


@proves(TARGET, "visible")
def test_a_request_that_lacks_a_tool_of_the_belt_is_not_sent(tmp_path):
    async def main():
        script = Scripted()
        async with Small(tmp_path).boss() as agent:
            belt = Belt(agent)
            whole = belt.toolset
            belt.get_toolset = lambda: whole.filtered(lambda _, tool: tool.name != "note")
            with pytest.raises(ResidueError, match="Pydantic AI lacks note"):
                await Agent(script.model, capabilities=[belt]).run("go")
        assert script.requests == []

    anyio.run(main)


# names that are not sent ----------------------------------------------------------------------------------


@proves(TARGET, "unknown")
def test_an_unknown_name_is_answered_any_number_of_times(tmp_path):
    async def main():
        script = Scripted(*([call("notes", {"text": "a"}, number)] for number in range(5)))
        async with Small(tmp_path).boss() as agent:
            result = await play(agent, script)
        assert result.output == "done"
        assert len(script.returns) == 5
        assert all(part.outcome == "failed" and "note" in part.content for part in script.returns.values())
        assert "notes" not in [name for names in script.sent for name in names]

    anyio.run(main)


@proves(TARGET, "unknown", "denied", "callable")
def test_the_toolset_alone_leaves_names_that_are_not_sent_to_the_sdk(tmp_path):
    async def main():
        small = Small(tmp_path, config="orchestrator: boss\n")
        script = Scripted([call("weigh", {"thing": "gold"})], [call("weigh", {"thing": "gold"}, 2)])
        async with small.boss() as agent:
            with pytest.raises(UnexpectedModelBehavior, match="weigh"):
                await Agent(script.model, toolsets=[BeltToolset(agent)]).run("go")
        assert "Unknown tool name: 'weigh'" in script.read["c1"]
        assert small.ran == []

    anyio.run(main)


@proves(TARGET, "visible")
def test_the_toolset_alone_is_a_belt_beside_others(tmp_path):
    async def main():
        small = Small(tmp_path)
        script = Scripted([call("note", {"text": "a"}), call("fail", {}, 2), call("own", {}, 3)])
        async with small.boss() as agent:
            await Agent(script.model, toolsets=[BeltToolset(agent)], tools=[own]).run("go")
            form = (await agent.turn()).compile(TARGET)
        assert set(script.sent[0]) == {*form.enforcement.plan, "own"}
        assert form.system in script.requests[0][1].instructions
        assert (script.read["c1"], script.read["c2"]) == ("noted a", "ValueError: it broke")
        with pytest.raises(ResidueError, match="has own besides"):
            form.enforcement.verify(script.sent[0])

    anyio.run(main)


def test_a_streamed_run_is_guarded_alike(tmp_path):
    async def main():
        small = Small(tmp_path, config="orchestrator: boss\n")
        script = Scripted(
            [
                call("notes", {"text": "b"}, 1),
                call("weigh", {"thing": "gold"}, 2),
                call("note", {"text": "a"}, 3),
            ],
            [call("notes", {"text": "b"}, 4)],
        )
        async with small.boss() as agent:
            async with Agent(script.model, capabilities=[Belt(agent)]).run_stream("go") as result:
                assert await result.get_output() == "done"
        assert script.returns["c1"].outcome == script.returns["c4"].outcome == "failed"
        assert (script.read["c2"], script.read["c3"]) == ("gold: 3 kg", "noted a")
        assert sorted(small.ran) == [["note", "a"], ["weigh", "gold"]]

    anyio.run(main)


def test_arguments_that_are_no_json_get_a_hint_and_run_nothing(tmp_path):
    async def main():
        small = Small(tmp_path)
        calls = [ToolCallPart(name, said, tool_call_id=f"c{place}") for place, (name, said) in enumerate(
            [("note", '{"text": '), ("fail", "[1]"), ("notes", "{"), ("weigh", '"gold"')])]  # fmt: skip
        script = Scripted(calls, [call("fail", {}, 9)])
        async with small.boss() as agent:
            await play(agent, script)
        assert all("JSON object" in script.read[id_] for id_ in ("c0", "c1", "c3"))
        assert "note" in script.read["c2"]
        assert script.read["c9"] == "ValueError: it broke"
        assert small.ran == []

    anyio.run(main)


def test_numbers_that_json_does_not_have_get_a_hint_and_run_nothing(tmp_path):
    def scale(by: float) -> str:
        """Scales."""
        small.ran.append(by)
        return "scaled"

    small = Small(tmp_path, tools=[scale])

    async def main():
        script = Scripted(
            [
                call("scale", '{"by": NaN}'),
                call("scale", '{"by": Infinity}', 2),
                call("scale", '{"by": 2.5}', 3),
            ]
        )
        async with small.boss() as agent:
            await play(agent, script)
        return script

    script = anyio.run(main)
    assert small.ran == [2.5]
    assert [part.outcome for part in script.requests[-1][0][-1].parts] == ["failed", "failed", "success"]


@proves(TARGET, "denied")
def test_a_failure_is_a_failed_result_that_costs_no_retry_and_an_image_is_an_image(tmp_path):
    async def main():
        script = Scripted(*([call("fail", {}, number)] for number in range(4)), [call("draw", {}, 9)])
        async with Small(tmp_path).boss() as agent:
            await play(agent, script)
        assert [script.returns[f"c{number}"].outcome for number in range(4)] == ["failed"] * 4
        text, image = script.read["c9"]
        assert text == "here"
        assert isinstance(image, BinaryContent)
        assert (image.media_type, image.base64) == ("image/png", PICTURE)

    anyio.run(main)


# approvals ------------------------------------------------------------------------------------------------


@proves(TARGET, "auto_approved")
def test_by_default_the_fleet_asks_once_and_the_run_goes_on(tmp_path):
    async def main():
        small = Small(tmp_path)
        script = Scripted([call("pay", {"amount": 3}), call("weigh", {"thing": "gold"}, 2)])
        async with small.boss(approve=small.approve) as agent:
            result = await play(agent, script)
        assert result.output == "done"
        assert sorted(small.asked) == ["pay", "weigh"]
        assert sorted(small.ran) == [["pay", 3], ["weigh", "gold"]]

    anyio.run(main)


OPENED = {"pack": "box", "tool": "weigh", "arguments": {"thing": "gold"}}


@proves(TARGET, "auto_approved")
@pytest.mark.parametrize("approved", [True, False])
def test_with_the_sdk_asking_the_run_ends_with_just_the_calls_that_need_it(tmp_path, approved):
    async def main():
        small = Small(tmp_path)
        script = Scripted([call("pay", {"amount": 3}), call("note", {"text": "a"}, 2), call("use_pack", OPENED, 3),
                           call("use_pack", {"pack": "box"}, 4), call("pay", {"amount": "x"}, 5)])  # fmt: skip
        async with small.boss(approve=small.approve) as agent:
            belt = Belt(agent, approvals="sdk")
            made = Agent(script.model, capabilities=[belt], output_type=[str, DeferredToolRequests])
            result = await made.run("go")
            asked = [one.tool_call_id for one in result.output.approvals]
            assert sorted(asked) == ["c1", "c3"]
            assert small.ran == [["note", "a"]]
            verdict = True if approved else ToolDenied("not today")
            results = DeferredToolResults(approvals=dict.fromkeys(asked, verdict))
            result = await made.run(message_history=result.all_messages(), deferred_tool_results=results)
        assert result.output == "done"
        assert small.asked == []
        assert sorted(small.ran) == sorted(
            [["note", "a"], *([["pay", 3], ["weigh", "gold"]] if approved else [])]
        )
        assert script.read["c1"] == ("paid 3" if approved else "not today")
        assert script.read["c3"] == ("gold: 3 kg" if approved else "not today")
        assert script.returns["c5"].outcome == "failed"

    anyio.run(main)


@proves(TARGET, "auto_approved")
def test_with_the_sdk_asking_a_packed_tool_by_its_own_name_is_rejected_where_nobody_else_can_be_asked(
    tmp_path,
):
    async def main():
        small = Small(tmp_path)
        script = Scripted([call("weigh", {"thing": "gold"})])
        async with small.boss() as agent:
            made = Agent(
                script.model,
                capabilities=[Belt(agent, approvals="sdk")],
                output_type=[str, DeferredToolRequests],
            )
            result = await made.run("go")
        assert result.output == "done"
        assert "approval" in script.read["c1"]
        assert small.ran == []

    anyio.run(main)


# the host's own options -----------------------------------------------------------------------------------


def test_an_agent_that_the_host_has_takes_a_belt_for_a_run(tmp_path):
    class Verdict(BaseModel):
        kind: str

    async def main():
        small = Small(tmp_path)
        script = Scripted(
            [call("note", {"text": "a"}), call("notes", {}, 2)], [call("final_result", {"kind": "fine"}, 3)]
        )
        have = Agent(script.model, instructions="Be brief.", output_type=Verdict)
        async with small.boss() as agent:
            result = await have.run("go", capabilities=[Belt(agent)])
        assert result.output == Verdict(kind="fine")
        assert "Be brief." in script.requests[0][1].instructions
        assert "You are boss." in script.requests[0][1].instructions
        assert script.returns["c2"].outcome == "failed"
        assert small.ran == [["note", "a"]]

    anyio.run(main)


def test_an_output_of_the_hosts_own_type_goes_back_as_json(tmp_path):
    class Verdict(BaseModel):
        kind: str

    async def main():
        script = Scripted([call("final_result", {"kind": "fine"})])
        run = runner(model=script.model, output_type=Verdict)
        async with opened(Small(tmp_path).workspace, run=run) as fleet, fleet.agent("boss") as agent:
            assert await run(agent, "go") == '{"kind":"fine"}'

    anyio.run(main)


# the host's own tools -------------------------------------------------------------------------------------


def greet(ctx: RunContext[dict], who: str, times: int = 1) -> str:
    """Greets somebody.

    Args:
        ctx: the run's.
        who: whom.
        times: how often.
    """
    ctx.deps["greeted"].append(who)
    if who == "nobody":
        raise ModelRetry("say whom")
    return " ".join([f"hello {who}"] * times)


def launch() -> str:
    """Launches."""
    return "gone"


def test_the_hosts_tools_keep_their_own_form_and_pass_the_gate(tmp_path):
    async def main():
        toolset = FunctionToolset()
        toolset.add_function(launch, requires_approval=True)
        workspace = load_with(tmp_path, wrap([greet, toolset], permission="write"))
        script = Scripted([call("greet", {"who": "Ada", "times": 2}), call("greet", {"who": 1}, 2), call("launch", {}, 3),
                           call("greet", {"who": "nobody"}, 4)])  # fmt: skip
        deps = {"greeted": []}
        async with opened(workspace) as fleet, fleet.agent("boss") as agent:
            await Agent(script.model, deps_type=dict, capabilities=[Belt(agent)]).run("go", deps=deps)
            permission = str((await agent.turn()).belt["greet"].tool.permission)
        shown = {tool.name: tool for tool in script.requests[0][1].function_tools}
        assert shown["greet"].parameters_json_schema == Tool(greet).tool_def.parameters_json_schema
        assert shown["greet"].description == Tool(greet).tool_def.description
        assert permission == "write"
        assert script.read["c1"] == "hello Ada hello Ada"
        assert "do not fit" in script.read["c2"]
        assert "nobody to ask" in script.read["c3"]
        assert (script.read["c4"], script.returns["c4"].outcome) == ("say whom", "failed")
        assert sorted(deps["greeted"]) == ["Ada", "nobody"]  # calls of one reply run at once, in any order

    anyio.run(main)


def test_what_a_host_s_tool_gives_is_read_as_text_json_or_image(tmp_path):
    def show() -> list[str | BinaryContent]:
        """Shows."""
        return ["here", BinaryContent(base64.b64decode(PICTURE), media_type="image/png")]

    def count() -> dict[str, int]:
        """Counts."""
        return {"a": 1}

    async def failing() -> ToolReturn:
        """Fails."""
        raise ToolFailed("no such thing")

    async def main():
        script = Scripted([call("show"), call("count", {}, 2), call("failing", {}, 3)])
        workspace = load_with(tmp_path, wrap([show, count, failing]))
        async with opened(workspace) as fleet, fleet.agent("boss") as agent:
            await play(agent, script)
        text, image = script.read["c1"]
        assert (text, image.base64, image.media_type) == ("here", PICTURE, "image/png")
        assert json.loads(script.read["c2"]) == {"a": 1}
        assert (script.read["c3"], script.returns["c3"].outcome) == ("no such thing", "failed")

    anyio.run(main)


def test_the_hosts_tools_work_outside_of_a_run(tmp_path):
    async def main():
        async with opened(load_with(tmp_path, wrap([launch]))) as fleet, fleet.agent("boss") as agent:
            (gone,) = await agent.run([ToolCall("1", "launch", {})])
        assert (gone.text, str(gone.outcome)) == ("gone", "ok")

    anyio.run(main)


def test_what_packbelt_cannot_call_as_it_was_is_refused_and_named():
    async def perhaps(_, definition):
        return definition

    with pytest.raises(AdapterError, match="tool 'launch' decides by `prepare` whether it is there"):
        wrap([Tool(launch, prepare=perhaps)])
    with pytest.raises(AdapterError, match="ExternalToolset 'elsewhere' lists its tools at each step"):
        wrap([ExternalToolset([], id="elsewhere")])


# cancelling -----------------------------------------------------------------------------------------------


def test_cancelling_the_run_ends_its_call_and_its_record_says_that_nothing_is_known_of_it(tmp_path):
    async def main():
        waiting = Waiting()
        workspace = load_with(tmp_path, [waiting.wait])
        async with opened(workspace) as fleet:
            agent = fleet.agent("boss")

            async def work():
                async with agent:
                    await play(agent, Scripted([call("wait")]))

            task = asyncio.ensure_future(work())
            await waiting.begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            run = await fleet.runs.get(agent.run_id)
        assert waiting.cancelled
        assert (str(run.status), run.resumable) == ("failed", False)

    anyio.run(main)


# a whole fleet --------------------------------------------------------------------------------------------


@proves(TARGET, "callable")
def test_a_whole_fleet_works_by_its_runner(tmp_path):
    async def main():
        small = Small(tmp_path)
        scripts = {
            "boss": Scripted([call("ask_keeper", {"request": "the safe"})]),
            "keeper": Scripted([call("note", {"text": "open"})], last="it is open"),
        }
        run = runner(model=lambda agent: scripts[agent.name].model)
        async with opened(small.workspace, run=run) as fleet:
            async with fleet.agent("boss") as boss:
                assert await run(boss, "go") == "done"
                assert kept(boss.messages) == boss.messages
            answer = json.loads(scripts["boss"].read["c1"].partition("\n")[2])
            assert (answer["status"], answer["output"]) == ("completed", "it is open")
            scripts["keeper"].last = "still open"
            again = await fleet.send_input(answer["run_id"], "and now?")
            assert again.structured["output"] == "still open"
        messages, info = scripts["keeper"].requests[-1]
        parts = [part for one in messages if isinstance(one, ModelRequest) for part in one.parts]
        assert [part.content for part in parts if isinstance(part, UserPromptPart)] == [
            "the safe",
            "and now?",
        ]
        assert info.instructions.startswith("You are keeper.")
        assert small.ran == [["note", "open"]]

    anyio.run(main)


@proves(TARGET, "auto_approved")
def test_with_the_sdk_asking_an_agent_that_was_handed_to_cannot_defer(tmp_path):
    async def main():
        small = Small(tmp_path)
        boss, keeper = (
            Scripted([call("ask_keeper", {"request": "pay"})]),
            Scripted([call("pay", {"amount": 3})]),
        )
        async with small.boss(run=runner(model=keeper.model)) as agent:
            belt = Belt(agent, approvals="sdk")
            made = Agent(boss.model, capabilities=[belt], output_type=[str, DeferredToolRequests])
            assert (await made.run("go")).output == "done"
        assert "nobody to ask" in keeper.read["c1"]
        assert small.ran == []

    anyio.run(main)


def test_a_missing_sdk_is_one_line_that_says_what_to_install():
    code = "import sys; sys.modules['pydantic_ai'] = None; import packbelt.adapters.pydantic_ai"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("packbelt.adapters.needed.MissingSDKError: pydantic-ai-slim cannot be imported")
    assert last.endswith("pip install 'packbelt[pydantic-ai]'")
