"""langchain beyond the common scenario: the host's own middleware and tools, approvals, a whole fleet."""

import json
import socket
import subprocess
import sys
from typing import Annotated

import anyio
import pytest
from proofs import proves
from pydantic import BaseModel

pytest.importorskip("langchain.agents", exc_type=ImportError)

from fleet_world import opened
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    TodoListMiddleware,
    wrap_model_call,
)
from langchain.agents.structured_output import ToolStrategy
from langchain.tools import InjectedState, ToolRuntime, tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from small_fleet import PICTURE, Small, deny, kept, load_with

import packbelt
from packbelt.adapters.langchain import AdapterError, Belt, runner, tools, wrap
from packbelt.model import ToolCall

TARGET = "langchain"
GO = {"messages": [{"role": "user", "content": "go"}]}


def call(name, arguments=None, number=1):
    return {"name": name, "args": arguments or {}, "id": f"c{number}"}


class Scripted(BaseChatModel):
    """A model that makes these calls, one list (or function that gives it, or message) a request, then says done."""

    steps: list = []  # noqa: RUF012 - pydantic copies it
    requests: list = []  # noqa: RUF012 - as above
    last: str = "done"

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **more):
        return self.bind(tools=[convert_to_openai_tool(one) for one in tools], **more)

    def _generate(self, messages, *_, tools=(), **_more):
        self.requests.append((list(messages), tools))
        step = self.steps.pop(0) if self.steps else ()
        step = step() if callable(step) else step
        if not isinstance(step, AIMessage):
            step = AIMessage("" if step else self.last, tool_calls=list(step))
        return ChatResult(generations=[ChatGeneration(message=step)])

    @property
    def sent(self):
        return [[one["function"]["name"] for one in given] for _, given in self.requests]

    @property
    def system(self):
        return [one.content for one in self.requests[0][0] if isinstance(one, SystemMessage)]

    @property
    def answers(self):
        """The tool messages that the model read at its last request, by call."""
        return {one.tool_call_id: one for one in self.requests[-1][0] if isinstance(one, ToolMessage)}

    @property
    def read(self):
        return {id_: one.content for id_, one in self.answers.items()}


def scripted(*steps, last="done"):
    return Scripted(steps=list(steps), requests=[], last=last)


async def play(agent, model, *, approvals="packbelt", middleware=(), **options):
    graph = create_agent(model, middleware=[*middleware, Belt(agent, approvals=approvals)], **options)
    return await graph.ainvoke(GO)


# what is sent ---------------------------------------------------------------------------------------------


@proves(TARGET, "visible")
def test_the_first_request_is_the_plan(tmp_path):
    async def main():
        model = scripted()
        async with Small(tmp_path).boss() as agent:
            await play(agent, model)
            form = (await agent.turn()).compile(TARGET)
        form.enforcement.verify(model.sent[0])
        assert model.sent == [list(form.enforcement.plan)]
        assert model.requests[0][1] == form.kwargs["tools"]
        assert model.system == [form.system]
        assert form.system.startswith("You are boss.")

    anyio.run(main)


@proves(TARGET, "visible")
def test_ad01_an_empty_belt_sends_no_tool(tmp_path):
    async def main():
        model = scripted([call("note", {"text": "a"})])
        small = Small(tmp_path, boss={"tools": []})
        async with small.boss() as agent:
            await play(agent, model)
        assert model.sent == [[], []]
        assert "noted" not in model.read["c1"]
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

            model = scripted(revoke)
            await play(agent, model)
        first, second = model.sent
        assert "note" in first
        assert second == [name for name in first if name != "note"]
        assert model.answers["c1"].status == "error"
        assert "denied" in model.read["c1"]
        assert small.ran == []

    anyio.run(main)


@tool
def secret_door(code: str) -> str:
    """Opens the secret door."""
    return f"open {code}"


@proves(TARGET, "unknown")
def test_without_a_belt_langchain_lists_what_it_never_sent():
    """Why a belt takes every call before the ToolNode does; if this changes, the descriptor is to change."""

    @wrap_model_call
    async def narrowed(request, handler):
        return await handler(request.override(tools=[]))

    async def main():
        model = scripted([call("ekko"), call("secret_door", {"code": "1"}, 2)])
        await create_agent(model, tools=[secret_door], middleware=[narrowed]).ainvoke(GO)
        assert model.sent == [[], []]
        assert "secret_door" in model.read["c1"]
        assert model.read["c2"] == "open 1"  # narrowing what is sent does not narrow what runs

    anyio.run(main)


@tool
def beside() -> str:
    """Stands beside."""
    return ""


class Brings(AgentMiddleware):
    tools = (beside,)


@proves(TARGET, "visible")
@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"tools": [beside]}, "beside"),
        ({"middleware": [Brings()]}, "beside"),
        ({"middleware": [TodoListMiddleware()]}, "write_todos"),
        ({"tools": [{"type": "web_search", "max_uses": 3}]}, "web_search"),
    ],
    ids=["tool", "middleware", "todos", "hosted"],
)
def test_what_would_be_sent_beside_the_belt_ends_the_run_before_it_is_sent(tmp_path, options, name):
    async def main():
        model = scripted()
        async with Small(tmp_path).boss() as agent:
            with pytest.raises(AdapterError, match=f"^the agent's tool '{name}' .* packbelt.*; ") as refused:
                await play(agent, model, **options)
        assert "\n" not in str(refused.value)
        assert model.requests == []

    anyio.run(main)


@proves(TARGET, "callable")
def test_a_tool_that_a_middleware_after_the_belt_adds_runs_nothing(tmp_path):
    class After(AgentMiddleware):
        async def awrap_model_call(self, request, handler):
            return await handler(request.override(tools=[*request.tools, secret_door]))

    async def main():
        model = scripted([call("secret_door", {"code": "1"})])
        async with Small(tmp_path).boss() as agent:
            await create_agent(model, middleware=[Belt(agent), After()]).ainvoke(GO)
        assert "secret_door" in model.sent[0]
        assert model.answers["c1"].status == "error"
        assert "open 1" not in model.read["c1"]

    anyio.run(main)


class note(BaseModel):  # noqa: N801 - it is called like a tool
    kind: str


class Verdict(BaseModel):
    """A verdict."""

    kind: str


@pytest.mark.parametrize("given", [note, ToolStrategy(note)], ids=["schema", "strategy"])
def test_a_response_format_that_is_called_like_a_tool_is_refused(tmp_path, given):
    async def main():
        async with Small(tmp_path).boss() as agent:
            with pytest.raises(AdapterError, match=r"`response_format` is called 'note', .*; rename one"):
                await play(agent, scripted(), response_format=given)

    anyio.run(main)


# names that are not sent ----------------------------------------------------------------------------------


@proves(TARGET, "unknown")
def test_an_unknown_name_is_answered_any_number_of_times_and_never_by_the_sdk(tmp_path):
    async def main():
        model = scripted(*([call("notes", {"text": "a"}, number)] for number in range(5)))
        async with Small(tmp_path).boss() as agent:
            state = await play(agent, model)
        assert state["messages"][-1].text == "done"
        assert len(model.read) == 5
        assert all(text.startswith("Error: ") and "note" in text for text in model.read.values())
        assert not any("is not a valid tool" in text for text in model.read.values())

    anyio.run(main)


def test_a_streamed_run_is_guarded_alike(tmp_path):
    async def main():
        small = Small(tmp_path, config="orchestrator: boss\n")
        model = scripted(
            [call("notes", {}, 1), call("weigh", {"thing": "gold"}, 2), call("note", {"text": "a"}, 3)]
        )
        async with small.boss() as agent:
            graph = create_agent(model, middleware=[Belt(agent)])
            async for _ in graph.astream(GO, stream_mode="updates"):
                pass
        assert model.read["c1"].startswith("Error: ")
        assert (model.read["c2"], model.read["c3"]) == ("gold: 3 kg", "noted a")
        assert sorted(small.ran) == [["note", "a"], ["weigh", "gold"]]

    anyio.run(main)


@proves(TARGET, "denied")
def test_a_failure_is_a_message_of_status_error_and_an_image_is_an_image(tmp_path):
    async def main():
        model = scripted([call("fail"), call("draw", {}, 2), call("note", {"txt": "a"}, 3)])
        async with Small(tmp_path).boss() as agent:
            await play(agent, model)
        assert model.answers["c1"].status == "error"
        assert model.read["c1"] == "Error: ValueError: it broke"
        assert model.answers["c2"].status == "success"
        assert model.read["c2"] == [
            {"type": "text", "text": "here"},
            {"type": "image", "base64": PICTURE, "mime_type": "image/png"},
        ]
        assert model.answers["c2"].content_blocks[1]["type"] == "image"
        assert model.answers["c3"].status == "error"
        assert "do not fit" in model.read["c3"]

    anyio.run(main)


@proves(TARGET, "denied")
def test_arguments_that_are_no_json_are_answered_by_langchain_and_run_nothing(tmp_path):
    async def main():
        broken = {"name": "note", "args": '{"text": ', "id": "c1", "error": None, "type": "invalid_tool_call"}
        model = scripted(AIMessage("", tool_calls=[call("fail", {}, 2)], invalid_tool_calls=[broken]))
        small = Small(tmp_path)
        async with small.boss() as agent:
            await play(agent, model)
            form = (await agent.turn()).compile(TARGET)
            (bare,) = await agent.run(form.calls(AIMessage("", invalid_tool_calls=[broken])))
        assert "malformed" in model.read["c1"]
        assert "it broke" in model.read["c2"]
        assert "JSON object" in bare.text  # a loop of the host's own asks the gate
        assert small.ran == []

    anyio.run(main)


def test_invoke_says_in_one_line_what_to_use(tmp_path):
    async def main():
        async with Small(tmp_path).boss() as agent:
            graph = create_agent(scripted(), middleware=[Belt(agent)])
            with pytest.raises(AdapterError, match=r"`invoke` or `stream`.*; use `ainvoke` or `astream`"):
                graph.invoke(GO)

    anyio.run(main)


# approvals ------------------------------------------------------------------------------------------------


@proves(TARGET, "auto_approved")
def test_by_default_the_fleet_asks_once_and_the_graph_is_not_interrupted(tmp_path):
    async def main():
        small = Small(tmp_path)
        model = scripted([call("pay", {"amount": 3}), call("weigh", {"thing": "gold"}, 2)])
        async with small.boss(approve=small.approve) as agent:
            state = await play(agent, model)
        assert "__interrupt__" not in state
        assert sorted(small.asked) == ["pay", "weigh"]
        assert sorted(small.ran) == [["pay", 3], ["weigh", "gold"]]

    anyio.run(main)


OPENED = {"pack": "box", "tool": "weigh", "arguments": {"thing": "gold"}}
APPROVE = {"decisions": [{"type": "approve"}]}
REJECT = {"decisions": [{"type": "reject", "message": "too dear"}]}


@proves(TARGET, "auto_approved")
@pytest.mark.parametrize("answer", [APPROVE, REJECT], ids=["approve", "reject"])
def test_with_the_sdk_asking_the_graph_waits_for_just_the_calls_that_need_it(tmp_path, answer):
    async def main():
        small = Small(tmp_path)
        steps = [call("pay", {"amount": 3}), call("note", {"text": "a"}, 2), call("use_pack", OPENED, 3),
                 call("use_pack", {"pack": "box"}, 4), call("pay", {"amount": "x"}, 5),
                 call("weigh", {"thing": "lead"}, 6)]  # fmt: skip
        model = scripted(steps)
        thread = {"configurable": {"thread_id": "1"}}
        async with small.boss(approve=small.approve) as agent:
            graph = create_agent(
                model, middleware=[Belt(agent, approvals="sdk")], checkpointer=InMemorySaver()
            )
            state = await graph.ainvoke(GO, thread)
            waiting = state["__interrupt__"]
            asked = [one.value["action_requests"][0] for one in waiting]
            assert sorted(one["name"] for one in asked) == ["pay", "use_pack", "weigh"]
            assert {"name": "pay", "args": {"amount": 3}} in asked
            assert small.ran == [["note", "a"]]
            await graph.ainvoke(Command(resume={one.id: answer for one in waiting}), thread)
        approved = answer is APPROVE
        assert small.asked == []
        paid = [["pay", 3], ["weigh", "gold"], ["weigh", "lead"]] if approved else []
        assert sorted(small.ran) == sorted([["note", "a"], *paid])
        assert model.read["c1"] == (
            "paid 3" if approved else "Error: pay was not called: a person declined it: too dear"
        )
        assert ("gold: 3 kg" in model.read["c3"]) is approved
        assert ("lead: 3 kg" in model.read["c6"]) is approved
        assert model.read["c5"].startswith("Error: ")

    anyio.run(main)


@pytest.mark.parametrize("answer", [APPROVE, REJECT], ids=["approve", "reject"])
def test_who_was_asked_is_heard_also_where_he_need_not_be_asked_any_more(tmp_path, answer):
    async def main():
        small = Small(tmp_path)
        model = scripted([call("note", {"text": "a"})])
        thread = {"configurable": {"thread_id": "1"}}
        async with small.boss() as agent:
            agent.fleet.revise(packbelt.Snapshot.from_data({"approve": ["note"]}))
            belt = Belt(agent, approvals="sdk")
            graph = create_agent(model, middleware=[belt], checkpointer=InMemorySaver())
            assert (await graph.ainvoke(GO, thread))["__interrupt__"]
            agent.fleet.revise(packbelt.Snapshot.from_data({}))
            await graph.ainvoke(Command(resume=answer), thread)
        assert small.ran == ([["note", "a"]] if answer is APPROVE else [])
        assert ("a person declined it: too dear" in model.read["c1"]) is (answer is REJECT)

    anyio.run(main)


@pytest.mark.parametrize("answer", ["yes", {"decisions": []}, {"decisions": [{"type": "edit"}]}], ids=str)
def test_an_answer_that_was_not_offered_approves_nothing(tmp_path, answer):
    async def main():
        small = Small(tmp_path)
        thread = {"configurable": {"thread_id": "1"}}
        async with small.boss() as agent:
            graph = create_agent(
                scripted([call("pay", {"amount": 3})]),
                middleware=[Belt(agent, approvals="sdk")],
                checkpointer=InMemorySaver(),
            )
            await graph.ainvoke(GO, thread)
            with pytest.raises(AdapterError, match=r"the call of 'pay' was resumed with .*; resume with"):
                await graph.ainvoke(Command(resume=answer), thread)
        assert small.ran == []

    anyio.run(main)


# the host's own middleware --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given", ["Be brief.", SystemMessage([{"type": "text", "text": "Be brief."}])], ids=["text", "blocks"]
)
def test_the_hosts_options_stay_beside_the_belts(tmp_path, given):
    class Watch(AgentMiddleware):
        def __init__(self):
            self.seen = []

        async def awrap_tool_call(self, request, handler):
            self.seen.append(request.tool_call["name"])
            return await handler(request)

    async def main():
        model, watch = scripted([call("note", {"text": "a"}), call("notes", {}, 2)]), Watch()
        async with Small(tmp_path).boss() as agent:
            await play(agent, model, middleware=[watch, ModelCallLimitMiddleware(run_limit=9)], system_prompt=given)  # fmt: skip
        (system,) = model.system
        text = system if isinstance(system, str) else "\n\n".join(one["text"] for one in system)
        assert text.startswith("You are boss.")
        assert text.endswith("\n\nBe brief.")
        assert sorted(watch.seen) == ["note", "notes"]
        assert model.read["c1"] == "noted a"

    anyio.run(main)


# the host's own tools -------------------------------------------------------------------------------------


class Own(AgentState):
    greeted: str


@tool
def greet(who: str, state: Annotated[dict, InjectedState], runtime: ToolRuntime, times: int = 1) -> Command:
    """Greets somebody."""
    text = " ".join([f"hello {who}"] * times) + f" after {len(state['messages'])}"
    return Command(
        update={"greeted": who, "messages": [ToolMessage(text, tool_call_id=runtime.tool_call_id)]}
    )


@tool(response_format="content_and_artifact")
def fetch() -> tuple[list, dict]:
    """Fetches a picture."""
    image = {"type": "image", "base64": PICTURE, "mime_type": "image/png"}
    return [{"type": "text", "text": "look"}, image], {"size": 70}


@tool
def breaks() -> str:
    """Breaks."""
    raise ValueError("broken")


@tool
def complains() -> str:
    """Complains."""
    raise ToolException("not today")


complains.handle_tool_error = True


def plain(word: str) -> str:
    """Says a word.

    Longer words follow.
    """
    return word.upper()


@proves(TARGET, "callable")
def test_the_hosts_tools_keep_their_own_form_and_are_executed_as_they_are(tmp_path):
    async def main():
        given = [greet, fetch, breaks, complains, plain]
        workspace = load_with(tmp_path, wrap(given, permission="write"))
        model = scripted(
            [
                call("greet", {"who": "Ada", "times": 2}),
                call("greet", {"who": 1}, 2),
                call("fetch", {}, 4),
                call("breaks", {}, 5),
                call("complains", {}, 6),
                call("plain", {"word": "hi"}, 7),
            ],
            [call("greet", {"who": "Bob", "state": {"messages": []}}, 3)],
        )
        async with opened(workspace) as fleet, fleet.agent("boss") as agent:
            state = await play(agent, model, state_schema=Own)
            permission = str((await agent.turn()).belt["greet"].tool.permission)
        shown = {one["function"]["name"]: one for one in model.requests[0][1]}
        for one in given:
            theirs = convert_to_openai_tool(tool(one) if callable(one) else one)  # as `create_agent` does it
            assert shown[theirs["function"]["name"]] == theirs
        assert permission == "write"
        assert state["greeted"] == "Bob"  # the command was followed
        assert model.read["c1"] == "hello Ada hello Ada after 2"
        assert "do not fit" in model.read["c2"]
        assert model.read["c3"] == "hello Bob after 9"  # what a model says of injected arguments is not taken
        assert [one["type"] for one in model.read["c4"]] == ["text", "image"]
        assert model.answers["c4"].artifact == {"size": 70}
        assert model.read["c5"] == "Error: ValueError: broken"
        assert (model.read["c6"], model.answers["c6"].status) == ("Error: not today", "error")
        assert model.read["c7"] == "HI"

    anyio.run(main)


def test_the_hosts_tool_behind_the_opener_is_executed_as_it_is(tmp_path):
    async def main():
        box = {"packs/own.yaml": "id: own\nsummary: Own things.\ntools: [greet]\n"}
        small = Small(tmp_path, tools=wrap([greet]), files=box)
        model = scripted([call("use_pack", {"pack": "own", "tool": "greet", "arguments": {"who": "Ada"}})])
        async with small.boss() as agent:
            state = await play(agent, model, state_schema=Own)
        assert "greet" not in model.sent[0]
        assert state["greeted"] == "Ada"
        assert model.read["c1"] == "hello Ada after 2"

    anyio.run(main)


def test_a_tool_of_the_host_may_interrupt_its_graph(tmp_path):
    @tool
    def sign() -> str:
        """Asks for a signature."""
        return f"signed {interrupt('who signs?')}"

    async def main():
        model = scripted([call("sign")])
        thread = {"configurable": {"thread_id": "1"}}
        async with opened(load_with(tmp_path, wrap([sign]))) as fleet, fleet.agent("boss") as agent:
            graph = create_agent(model, middleware=[Belt(agent)], checkpointer=InMemorySaver())
            state = await graph.ainvoke(GO, thread)
            assert [one.value for one in state["__interrupt__"]] == ["who signs?"]
            await graph.ainvoke(Command(resume="Ada"), thread)
        assert model.read["c1"] == "signed Ada"

    anyio.run(main)


def test_the_hosts_tools_work_outside_of_a_run(tmp_path):
    async def main():
        async with opened(load_with(tmp_path, wrap([plain, fetch, breaks]))) as fleet:
            async with fleet.agent("boss") as agent:
                calls = [("plain", {"word": "hi"}), ("fetch", {}), ("breaks", {})]
                said, seen, broken = await agent.run(ToolCall(name, name, given) for name, given in calls)
        assert (said.text, str(said.outcome)) == ("HI", "ok")
        assert [one["type"] for one in seen.answer.content] == ["text", "image"]
        assert (broken.text, str(broken.outcome)) == ("ValueError: broken", "tool_error")

    anyio.run(main)


def test_what_packbelt_cannot_call_as_it_was_is_refused_and_named():
    @tool(return_direct=True)
    def last() -> str:
        """Ends."""
        return ""

    with pytest.raises(
        AdapterError, match=r"tool 'last''s `return_direct` ends the run .* packbelt .*; leave"
    ):
        wrap([last])
    with pytest.raises(AdapterError, match="'web_search' is a description of a tool, which its provider"):
        wrap([{"type": "web_search"}])


# a graph of the host's own --------------------------------------------------------------------------------


@proves(TARGET, "callable")
def test_a_graph_of_the_hosts_own_takes_the_tools(tmp_path):
    async def main():
        small = Small(tmp_path)
        model = scripted([call("note", {"text": "a"}), call("fail", {}, 2), call("notes", {}, 3)])
        async with small.boss() as agent:
            given = await tools(agent)

            async def think(state):
                return {"messages": [await model.bind_tools(given).ainvoke(state["messages"])]}

            graph = StateGraph(MessagesState)
            graph.add_node("think", think)
            graph.add_node("act", ToolNode(given, awrap_tool_call=Belt(agent).awrap_tool_call))
            graph.add_edge(START, "think")
            graph.add_conditional_edges(
                "think", lambda state: "act" if state["messages"][-1].tool_calls else END, ["act", END]
            )
            graph.add_edge("act", "think")
            await graph.compile().ainvoke(GO)
            form = (await agent.turn()).compile(TARGET)
            alone = {one.name: one for one in given}
            noted = await alone["note"].ainvoke(call("note", {"text": "b"}) | {"type": "tool_call"})
            failed = await alone["fail"].ainvoke(call("fail") | {"type": "tool_call"})
            deny(agent, "note")
            gone = await alone["note"].ainvoke(call("note", {"text": "c"}) | {"type": "tool_call"})
        assert model.sent[0] == list(form.enforcement.plan)
        assert (model.read["c1"], model.read["c2"]) == ("noted a", "Error: ValueError: it broke")
        assert "`note`" in model.read["c3"] or "note(" in model.read["c3"]
        assert (noted.content, noted.status) == ("noted b", "success")
        assert (failed.content, failed.status) == ("Error: ValueError: it broke", "error")
        assert gone.status == "error"
        assert "denied" in gone.content
        assert small.ran == [["note", "a"], ["note", "b"]]

    anyio.run(main)


# a whole fleet --------------------------------------------------------------------------------------------


@proves(TARGET, "callable")
def test_a_whole_fleet_works_by_its_runner(tmp_path):
    async def main():
        small = Small(tmp_path)
        boss = scripted([call("ask_keeper", {"request": "the safe"}), call("fetch_all", {}, 2)])
        keeper = scripted([call("note", {"text": "safe"})], last="it is open")
        run = runner(model=lambda agent: {"boss": boss, "keeper": keeper}[agent.name])
        async with opened(small.workspace, run=run) as fleet:
            async with fleet.agent("boss") as agent:
                assert await run(agent, "open it") == "done"
                assert agent.messages == kept(agent.messages)
                handed = json.loads(boss.read["c1"]) if boss.read["c1"].startswith("{") else boss.read["c1"]
                assert "it is open" in str(handed)
            boss.steps.append([call("note", {"text": "again"})])
            answer = await fleet.send_input(agent.run_id, "and again")
            assert "done" in answer.text
            texts = [one.text for one in boss.requests[-1][0] if isinstance(one, HumanMessage)]
        assert texts == ["open it", "and again"]
        assert [one.text for one in keeper.requests[0][0] if isinstance(one, HumanMessage)] == ["the safe"]
        assert small.ran == [["note", "safe"], ["note", "again"]]

    anyio.run(main)


def test_an_agent_that_is_handed_to_has_no_part_in_the_callers_graph(tmp_path):
    async def keeper(agent, request):
        (result,) = await agent.run([ToolCall("1", "greet", {"who": request})])
        return result.text

    async def main():
        model = scripted([call("ask_keeper", {"request": "Ada"}), call("greet", {"who": "Bob"}, 2)])
        small = Small(tmp_path, tools=wrap([greet]))
        async with opened(small.workspace, run=keeper) as fleet, fleet.agent("boss") as agent:
            state = await play(agent, model, state_schema=Own)
        assert "hello" not in model.read["c1"]  # it has no state there, and does not see the caller's
        assert "state" in model.read["c1"]
        assert (model.read["c2"], state["greeted"]) == ("hello Bob after 2", "Bob")

    anyio.run(main)


def test_an_output_of_the_hosts_own_type_goes_back_as_json(tmp_path):
    async def main():
        model = scripted([call("note", {"text": "a"})], [call("Verdict", {"kind": "fine"}, 2)])
        run = runner(model=model, response_format=ToolStrategy(Verdict))
        small = Small(tmp_path)
        async with opened(small.workspace, run=run) as fleet, fleet.agent("boss") as agent:
            assert await run(agent, "go") == '{"kind":"fine"}'
            plan = (await agent.turn()).compile(TARGET).enforcement.plan
        assert model.sent[0] == [*plan, "Verdict"]
        assert small.ran == [["note", "a"]]

    anyio.run(main)


def test_a_runner_refuses_what_cannot_go_with_a_belt_and_a_run_that_nobody_can_resume(tmp_path):
    @tool
    def sign() -> str:
        """Asks for a signature."""
        return f"signed {interrupt('who signs?')}"

    async def main():
        run = runner(model=scripted([call("sign")]))
        async with opened(load_with(tmp_path, wrap([sign])), run=run) as fleet, fleet.agent("boss") as agent:
            with pytest.raises(AdapterError, match=r"the run of 'boss' was interrupted, .*; use the fleet's"):
                await run(agent, "go")

    for option, value in {"tools": [beside], "checkpointer": InMemorySaver()}.items():
        with pytest.raises(AdapterError, match=f"^create_agent's `{option}` would .*; "):
            runner(model=scripted(), **{option: value})
    anyio.run(main)


# what it needs --------------------------------------------------------------------------------------------


def test_nothing_leaves_this_machine(tmp_path, monkeypatch):
    async def main():
        async with Small(tmp_path).boss() as agent:
            await play(agent, scripted([call("note", {"text": "a"})]))

    def refuse(*where):
        raise AssertionError(where)

    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    anyio.run(main)


def test_a_missing_sdk_is_one_line_that_says_what_to_install():
    script = (
        "import sys; sys.modules['langchain'] = None\n"
        "try:\n    import packbelt.adapters.langchain\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    (line,) = done.stdout.splitlines()
    assert line.startswith("langchain cannot be imported")
    assert line.endswith("pip install 'packbelt[langchain]'")
