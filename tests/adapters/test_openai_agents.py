"""openai-agents beyond the common scenario: the host's own options and tools, approvals, a whole fleet."""

import asyncio
import json
import subprocess
import sys

import anyio
import pytest
from proofs import proves
from pydantic import BaseModel

pytest.importorskip("agents", exc_type=ImportError)

from agents import (
    Agent,
    AgentHooks,
    FunctionTool,
    ModelBehaviorError,
    RunConfig,
    RunContextWrapper,
    Runner,
    ToolGuardrailFunctionOutput,
    ToolOutputImage,
    ToolOutputText,
    WebSearchTool,
    function_tool,
    tool_input_guardrail,
)
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from fleet_world import opened
from small_fleet import PICTURE, Small, Waiting, deny, kept, load_with

from packbelt.adapters.openai_agents import AdapterError, Belt, runner, wrap
from packbelt.model import ToolCall
from packbelt.providers import ResidueError

QUIET = RunConfig(tracing_disabled=True)
TARGET = "openai-agents"


def call(name, arguments=None, number=1):
    return function_call(name, arguments or {}, call_id=f"c{number}")


def scripted(*steps):
    """A model that makes these calls, one list a request, then says done."""
    return ScriptedModel([*steps, [assistant_message("done")]])


def read(model):
    """What the model read back at its last request, by call."""
    items = [one for one in model.last_call.input if one.get("type") == "function_call_output"]
    return {one["call_id"]: one["output"] for one in items}


def sent(model):
    return [[tool.name for tool in request.tools] for request in model.calls]


async def play(agent, model, *, config=QUIET, approvals="packbelt", **options):
    belt = Belt(agent, approvals=approvals)
    return await Runner.run(belt.agent(model=model, **options), "go", run_config=belt.run_config(config))


# what is sent ---------------------------------------------------------------------------------------------


@proves(TARGET, "visible")
def test_the_first_request_is_the_plan(tmp_path):
    async def main():
        model = scripted()
        async with Small(tmp_path).boss() as agent:
            await play(agent, model)
            form = (await agent.turn()).compile(TARGET)
        request = model.first_call
        form.enforcement.verify(tool.name for tool in request.tools)
        assert [tool.name for tool in request.tools] == list(form.enforcement.plan)
        assert [tool.params_json_schema for tool in request.tools] == [
            data["params_json_schema"] for data in form.kwargs["tools"]
        ]
        assert request.system_instructions == form.system
        assert request.system_instructions.startswith("You are boss.")
        assert request.handoffs == []

    anyio.run(main)


@proves(TARGET, "visible")
def test_ad01_an_empty_belt_sends_no_tool(tmp_path):
    async def main():
        model = scripted([call("note", {"text": "a"})])
        small = Small(tmp_path, boss={"tools": []})
        async with small.boss() as agent:
            await play(agent, model)
        assert sent(model) == [[], []]
        assert "noted" not in read(model)["c1"]
        assert small.ran == []

    anyio.run(main)


@proves(TARGET, "late")
def test_what_is_revoked_under_way_is_refused_and_sent_no_more(tmp_path):
    async def main():
        small = Small(tmp_path)
        async with small.boss() as agent:

            def revoke(_):
                deny(agent, "note")
                return [call("note", {"text": "a"})]

            model = ScriptedModel([ModelStep.respond(revoke), [assistant_message("done")]])
            await play(agent, model)
        first, second = sent(model)
        assert "note" in first
        assert second == [name for name in first if name != "note"]
        assert read(model)["c1"].startswith("Error: ")
        assert "denied" in read(model)["c1"]
        assert small.ran == []

    anyio.run(main)


@pytest.mark.parametrize("option", ["tools", "mcp_servers", "handoffs", "prompt"])
def test_what_would_be_sent_beside_the_belt_is_refused_and_named(tmp_path, option):
    async def main():
        @function_tool
        def own() -> str:
            return ""

        given = {
            "tools": [own],
            "mcp_servers": [object()],
            "handoffs": [Agent("other")],
            "prompt": {"id": "p"},
        }
        async with Small(tmp_path).boss() as agent:
            with pytest.raises(AdapterError, match=f"^Agent's `{option}` .*(belt|packbelt).*; ") as refused:
                Belt(agent).agent(**{option: given[option]})
        assert "\n" not in str(refused.value)
        with pytest.raises(AdapterError, match=f"Agent's `{option}`"):
            runner(model=scripted(), **{option: given[option]})

    anyio.run(main)


def test_what_is_added_to_the_agent_later_is_refused_before_it_is_sent(tmp_path):
    async def main():
        model = scripted()
        async with Small(tmp_path).boss() as agent:
            belt = Belt(agent)
            made = belt.agent(model=model)
            made.handoffs.append(Agent("other"))
            with pytest.raises(AdapterError, match="handoffs"):
                await Runner.run(made, "go", run_config=belt.run_config(QUIET))
            other = belt.agent(model=model).clone(tools=[function_tool(lambda: "", name_override="own")])
            await Runner.run(other, "go", run_config=belt.run_config(QUIET))
        assert [name for names in sent(model) for name in names if name == "own"] == []

    anyio.run(main)


def test_the_plan_differs_from_what_an_agent_with_more_tools_sends(tmp_path):
    async def main():
        async with Small(tmp_path).boss() as agent:
            form = (await agent.turn()).compile(TARGET)
        with pytest.raises(ResidueError, match="has own besides"):
            form.enforcement.verify([*form.enforcement.plan, "own"])

    anyio.run(main)


# names that are not sent ----------------------------------------------------------------------------------


@proves(TARGET, "unknown")
def test_an_unknown_name_is_answered_any_number_of_times(tmp_path):
    async def main():
        steps = [[call("notes", {"text": "a"}, number)] for number in range(5)]
        model = scripted(*steps)
        async with Small(tmp_path).boss() as agent:
            result = await play(agent, model)
        assert result.final_output == "done"
        assert len(read(model)) == 5
        assert all(text.startswith("Error: ") and "note" in text for text in read(model).values())

    anyio.run(main)


@proves(TARGET, "unknown")
def test_without_the_belts_run_config_an_unknown_name_ends_the_run(tmp_path):
    async def main():
        async with Small(tmp_path).boss() as agent:
            made = Belt(agent).agent(model=scripted([call("notes")]))
            with pytest.raises(ModelBehaviorError, match="notes"):
                await Runner.run(made, "go", run_config=QUIET)

    anyio.run(main)


def test_a_streamed_run_is_guarded_alike(tmp_path):
    async def main():
        small = Small(tmp_path, config="orchestrator: boss\n")
        model = scripted(
            [call("notes", {}, 1), call("weigh", {"thing": "gold"}, 2), call("note", {"text": "a"}, 3)]
        )
        async with small.boss() as agent:
            belt = Belt(agent)
            result = Runner.run_streamed(belt.agent(model=model), "go", run_config=belt.run_config(QUIET))
            async for _ in result.stream_events():
                pass
        assert result.final_output == "done"
        assert read(model)["c1"].startswith("Error: ")
        assert (read(model)["c2"], read(model)["c3"]) == ("gold: 3 kg", "noted a")
        assert sorted(small.ran) == [["note", "a"], ["weigh", "gold"]]

    anyio.run(main)


def test_arguments_that_are_no_json_get_a_hint_and_run_nothing(tmp_path):
    async def main():
        small = Small(tmp_path)
        model = scripted([call("note", '{"text": '), call("fail", "[1]", 2)])
        async with small.boss() as agent:
            await play(agent, model)
        assert "JSON object" in read(model)["c1"]
        assert "JSON object" in read(model)["c2"]
        assert small.ran == []

    anyio.run(main)


@proves(TARGET, "denied")
def test_a_failure_is_an_output_that_says_so_and_an_image_is_an_image(tmp_path):
    async def main():
        model = scripted([call("fail"), call("draw", {}, 2)])
        async with Small(tmp_path).boss() as agent:
            await play(agent, model)
        assert read(model)["c1"] == "Error: ValueError: it broke"
        text, image = read(model)["c2"]
        assert (text["type"], text["text"]) == ("input_text", "here")
        assert (image["type"], image["image_url"]) == ("input_image", f"data:image/png;base64,{PICTURE}")

    anyio.run(main)


# approvals ------------------------------------------------------------------------------------------------


@proves(TARGET, "auto_approved")
def test_by_default_the_fleet_asks_once_and_the_run_is_not_interrupted(tmp_path):
    async def main():
        small = Small(tmp_path)
        model = scripted([call("pay", {"amount": 3}), call("weigh", {"thing": "gold"}, 2)])
        async with small.boss(approve=small.approve) as agent:
            result = await play(agent, model)
        assert result.interruptions == []
        assert sorted(small.asked) == ["pay", "weigh"]
        assert sorted(small.ran) == [["pay", 3], ["weigh", "gold"]]

    anyio.run(main)


OPENED = {"pack": "box", "tool": "weigh", "arguments": {"thing": "gold"}}


@proves(TARGET, "auto_approved")
@pytest.mark.parametrize("approved", [True, False])
def test_with_the_sdk_asking_the_run_waits_for_just_the_calls_that_need_it(tmp_path, approved):
    async def main():
        small = Small(tmp_path)
        model = scripted([call("pay", {"amount": 3}), call("note", {"text": "a"}, 2), call("use_pack", OPENED, 3),
                          call("use_pack", {"pack": "box"}, 4), call("pay", {"amount": "x"}, 5)])  # fmt: skip
        async with small.boss(approve=small.approve) as agent:
            belt = Belt(agent, approvals="sdk")
            made, config = belt.agent(model=model), belt.run_config(QUIET)
            result = await Runner.run(made, "go", run_config=config)
            assert sorted(item.call_id for item in result.interruptions) == ["c1", "c3"]
            assert small.ran == [["note", "a"]]
            state = result.to_state()
            for item in result.interruptions:
                state.approve(item) if approved else state.reject(item)
            result = await Runner.run(made, state, run_config=config)
        assert result.final_output == "done"
        assert small.asked == []
        assert sorted(small.ran) == sorted(
            [["note", "a"], *([["pay", 3], ["weigh", "gold"]] if approved else [])]
        )
        assert ("paid 3" in read(model)["c1"]) is approved
        assert ("3 kg" in read(model)["c3"]) is approved
        assert read(model)["c5"].startswith("Error: ")

    anyio.run(main)


@proves(TARGET, "auto_approved")
def test_with_the_sdk_asking_a_packed_tool_by_its_own_name_is_rejected_where_nobody_else_can_be_asked(
    tmp_path,
):
    async def main():
        small = Small(tmp_path)
        model = scripted([call("weigh", {"thing": "gold"})])
        async with small.boss() as agent:
            result = await play(agent, model, approvals="sdk")
        assert result.final_output == "done"
        assert "approval" in read(model)["c1"]
        assert small.ran == []

    anyio.run(main)


@proves(TARGET, "auto_approved")
@pytest.mark.parametrize("approved", [True, False])
def test_with_the_sdk_asking_a_tool_of_a_namespace_is_asked_about_once(tmp_path, approved):
    async def main():
        small = Small(tmp_path)
        model = scripted([function_call("weigh", {"thing": "gold"}, call_id="c1", namespace="box")])
        async with small.boss(approve=small.approve) as agent:
            belt = Belt(agent, approvals="sdk", search=True)
            made, config = belt.agent(model=model), belt.run_config(QUIET)
            result = await Runner.run(made, "go", run_config=config)
            (item,) = result.interruptions
            state = result.to_state()
            state.approve(item) if approved else state.reject(item)
            await Runner.run(made, state, run_config=config)
        assert small.asked == []
        assert small.ran == ([["weigh", "gold"]] if approved else [])
        assert ("gold: 3 kg" in read(model)["c1"]) is approved

    anyio.run(main)


@proves(TARGET, "auto_approved")
def test_with_the_sdk_asking_the_opener_approved_for_good_is_approved_for_all_that_is_packed(tmp_path):
    """What the descriptor says stays open."""

    async def main():
        small = Small(tmp_path)
        again = {**OPENED, "arguments": {"thing": "lead"}}
        model = scripted([call("use_pack", OPENED)], [call("use_pack", again, 2)])
        async with small.boss() as agent:
            belt = Belt(agent, approvals="sdk")
            made, config = belt.agent(model=model), belt.run_config(QUIET)
            result = await Runner.run(made, "go", run_config=config)
            state = result.to_state()
            state.approve(result.interruptions[0], always_approve=True)
            result = await Runner.run(made, state, run_config=config)
        assert result.interruptions == []
        assert small.ran == [["weigh", "gold"], ["weigh", "lead"]]

    anyio.run(main)


def test_there_are_two_ways_to_ask(tmp_path):
    async def main():
        async with Small(tmp_path).boss() as agent:
            with pytest.raises(
                AdapterError, match="'nobody' cannot ask for approvals; write 'packbelt' or 'sdk'"
            ):
                Belt(agent, approvals="nobody")

    anyio.run(main)


# the host's own options -----------------------------------------------------------------------------------


def test_the_hosts_options_stay_beside_the_belts(tmp_path):
    class Hooks(AgentHooks):
        def __init__(self):
            self.seen = []

        async def on_start(self, *_):
            self.seen.append("start")

        async def on_llm_end(self, *_):
            self.seen.append("llm")

        async def on_tool_start(self, _, __, tool):
            self.seen.append(tool.name)

        async def on_end(self, _, __, output):
            self.seen.append(output)

    def formatted(args):
        kinds.append(args.kind)
        return "your call was turned down"

    async def main():
        hooks, model = Hooks(), scripted([call("pay", {"amount": 3})])
        async with Small(tmp_path).boss() as agent:
            belt = Belt(agent, approvals="sdk")
            made = belt.agent(
                model=model, hooks=hooks, name="Chief", instructions=lambda _, own: f"Be brief, {own.name}."
            )
            config = belt.run_config(
                {"tracing_disabled": True, "workflow_name": "mine", "tool_error_formatter": formatted}
            )
            assert (config.workflow_name, config.tool_not_found_behavior) == ("mine", "return_error_to_model")
            result = await Runner.run(made, "go", run_config=config)
            state = result.to_state()
            state.reject(result.interruptions[0])
            await Runner.run(made, state, run_config=config)
        assert model.first_call.system_instructions.startswith("You are boss.")
        assert model.first_call.system_instructions.endswith("\n\nBe brief, Chief.")
        assert kinds == ["approval_rejected"]
        assert read(model)["c1"] == "your call was turned down"
        assert [one for one in hooks.seen if one != "start"] == ["llm", "llm", "done"]

    kinds = []
    anyio.run(main)


def test_a_run_config_that_ends_at_unknown_names_is_refused(tmp_path):
    async def main():
        async with Small(tmp_path).boss() as agent:
            with pytest.raises(
                AdapterError, match=r"RunConfig's `tool_not_found_behavior` .*packbelt.*; leave it out"
            ):
                Belt(agent).run_config({"tool_not_found_behavior": "raise_error"})

    anyio.run(main)


def test_an_agent_that_the_host_has_is_taken_over(tmp_path):
    class Verdict(BaseModel):
        kind: str

    async def main():
        model = ScriptedModel([[call("note", {"text": "a"})], [assistant_message('{"kind": "fine"}')]])
        have = Agent("Chief", instructions="Be brief.", model=model, output_type=Verdict)
        small = Small(tmp_path)
        async with small.boss() as agent:
            belt = Belt(agent)
            result = await Runner.run(belt.agent(have), "go", run_config=belt.run_config(QUIET))
            assert result.final_output == Verdict(kind="fine")
            assert result.last_agent.name == "Chief"
            with pytest.raises(AdapterError, match="Agent's `handoffs`"):
                belt.agent(have.clone(handoffs=[Agent("other")]))
        assert model.first_call.system_instructions.endswith("\n\nBe brief.")
        assert small.ran == [["note", "a"]]

    anyio.run(main)


def test_an_output_of_the_hosts_own_type_goes_back_as_json(tmp_path):
    class Verdict(BaseModel):
        kind: str

    async def main():
        model = ScriptedModel([[assistant_message('{"kind": "fine"}')]])
        run = runner(model=model, run_config=QUIET, output_type=Verdict)
        async with opened(Small(tmp_path).workspace, run=run) as fleet, fleet.agent("boss") as agent:
            assert await run(agent, "go") == '{"kind": "fine"}'

    anyio.run(main)


# the host's own tools -------------------------------------------------------------------------------------


@function_tool
def greet(context: RunContextWrapper[dict], who: str, times: int = 1) -> str:
    """Greets somebody.

    Args:
        who: whom.
        times: how often.
    """
    context.context["greeted"] = who
    return " ".join([f"hello {who}"] * times)


@function_tool(needs_approval=True)
def launch() -> str:
    """Launches."""
    return "gone"


def test_the_hosts_tools_keep_their_own_form_and_pass_the_gate(tmp_path):
    async def main():
        workspace = load_with(tmp_path, wrap([greet, launch], permission="write"))
        model = scripted(
            [
                call("greet", {"who": "Ada", "times": 2}),
                call("greet", {"who": 1, "times": 1}, 2),
                call("launch", {}, 3),
            ]
        )
        context = {}
        async with opened(workspace) as fleet, fleet.agent("boss") as agent:
            belt = Belt(agent)
            await Runner.run(
                belt.agent(model=model), "go", context=context, run_config=belt.run_config(QUIET)
            )
            permission = str((await agent.turn()).belt["greet"].tool.permission)
        shown = {tool.name: tool for tool in model.first_call.tools}
        assert shown["greet"].params_json_schema == greet.params_json_schema
        assert shown["greet"].description == greet.description
        assert permission == "write"
        assert read(model)["c1"] == "hello Ada hello Ada"
        assert "do not fit" in read(model)["c2"]
        assert "nobody to ask" in read(model)["c3"]
        assert context == {"greeted": "Ada"}

    anyio.run(main)


def test_the_hosts_tools_work_outside_of_a_run_and_their_failure_is_what_they_make_of_it(tmp_path):
    async def main():
        @function_tool(failure_error_function=None)
        def strict() -> str:
            """Breaks."""
            raise ValueError("broken")

        async with opened(load_with(tmp_path, wrap([launch, strict])), approve=lambda _: True) as fleet:
            async with fleet.agent("boss") as agent:
                gone, broken = await agent.run([ToolCall("1", "launch", {}), ToolCall("2", "strict", {})])
        assert (gone.text, str(gone.outcome)) == ("gone", "ok")
        assert (broken.text, str(broken.outcome)) == ("ValueError: broken", "tool_error")

    anyio.run(main)


def test_what_a_host_s_tool_gives_is_read_as_the_sdk_would_write_it(tmp_path):
    url = f"data:image/png;base64,{PICTURE}"

    @function_tool
    def show() -> list[ToolOutputText | ToolOutputImage]:
        """Shows."""
        return [ToolOutputText(text="here"), ToolOutputImage(image_url=url)]

    @function_tool
    def count() -> dict[str, int]:
        """Counts."""
        return {"a": 1}

    async def main():
        model = scripted([call("show"), call("count", {}, 2)])
        async with opened(load_with(tmp_path, wrap([show, count]))) as fleet, fleet.agent("boss") as agent:
            await play(agent, model)
        assert [one.get("text") or one["image_url"] for one in read(model)["c1"]] == ["here", url]
        alone = scripted([call("count", {}, 2)])
        await Runner.run(Agent("alone", model=alone, tools=[count]), "go", run_config=QUIET)
        assert read(model)["c2"] == read(alone)["c2"]

    anyio.run(main)


def test_an_agent_as_a_tool_is_a_tool(tmp_path):
    async def main():
        helper = Agent("Helper", model=ScriptedModel([[assistant_message("forty-two")]]))
        workspace = load_with(tmp_path, wrap([helper.as_tool("ask_helper", "Asks the helper.")]))
        model = scripted([call("ask_helper", {"input": "the answer"})])
        async with opened(workspace) as fleet, fleet.agent("boss") as agent:
            await play(agent, model)
        assert read(model)["c1"] == "forty-two"

    anyio.run(main)


def test_what_packbelt_cannot_call_as_it_was_is_refused_and_named():
    @tool_input_guardrail
    def guard(data):
        return ToolGuardrailFunctionOutput.allow()

    async def nothing(context, arguments):
        return ""

    guarded = FunctionTool(
        "guarded", "", {}, nothing, strict_json_schema=False, tool_input_guardrails=[guard]
    )
    switched = FunctionTool(
        "switched", "", {}, nothing, strict_json_schema=False, is_enabled=lambda _, __: True
    )
    with pytest.raises(AdapterError, match="tool 'guarded''s `tool_input_guardrails` is seen to by the SDK"):
        wrap([guarded])
    with pytest.raises(AdapterError, match="tool 'switched''s `is_enabled` is seen to by the SDK"):
        wrap([switched])
    with pytest.raises(AdapterError, match="'web_search' is a WebSearchTool, which its provider runs"):
        wrap([WebSearchTool()])


# cancelling -----------------------------------------------------------------------------------------------


def test_cancelling_the_run_ends_its_call_and_its_record_says_that_nothing_is_known_of_it(tmp_path):
    async def main():
        waiting = Waiting()
        workspace = load_with(tmp_path, [waiting.wait])
        async with opened(workspace) as fleet:
            agent = fleet.agent("boss")

            async def work():
                async with agent:
                    await play(agent, scripted([call("wait")]))

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
        models = {
            "boss": scripted([call("ask_keeper", {"request": "the safe"})]),
            "keeper": ScriptedModel([[call("note", {"text": "open"})], [assistant_message("it is open")],
                                     [assistant_message("still open")]]),
        }  # fmt: skip
        run = runner(model=lambda agent: models[agent.name], run_config=QUIET)
        async with opened(small.workspace, run=run) as fleet:
            async with fleet.agent("boss") as boss:
                assert await run(boss, "go") == "done"
                assert kept(boss.messages)[0] == {"role": "user", "content": "go"}
            answer = json.loads(read(models["boss"])["c1"].partition("\n")[2])
            assert (answer["status"], answer["output"]) == ("completed", "it is open")
            again = await fleet.send_input(answer["run_id"], "and now?")
            assert again.structured["output"] == "still open"
        said = [
            item.get("content") for item in models["keeper"].last_call.input if item.get("role") == "user"
        ]
        assert said == ["the safe", "and now?"]
        assert small.ran == [["note", "open"]]
        assert models["keeper"].first_call.system_instructions.startswith("You are keeper.")

    anyio.run(main)


@proves(TARGET, "auto_approved")
def test_with_the_sdk_asking_an_agent_that_was_handed_to_cannot_interrupt(tmp_path):
    async def main():
        small = Small(tmp_path)
        boss, keeper = (
            scripted([call("ask_keeper", {"request": "pay"})]),
            scripted([call("pay", {"amount": 3})]),
        )
        run = runner(model=lambda _: keeper, run_config=QUIET)
        async with small.boss(run=run) as agent:
            result = await play(agent, boss, approvals="sdk")
        assert result.final_output == "done"
        assert "nobody to ask" in read(keeper)["c1"]
        assert small.ran == []

    anyio.run(main)


def test_a_missing_sdk_is_one_line_that_says_what_to_install():
    code = "import sys; sys.modules['agents'] = None; import packbelt.adapters.openai_agents"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("packbelt.adapters.needed.MissingSDKError: openai-agents cannot be imported")
    assert last.endswith("pip install 'packbelt[openai-agents]'")
