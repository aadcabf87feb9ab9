"""What the real clients make of a form on the wire: streams, images, thought signatures, deferral, empty belts."""

import anyio
import pytest
import wires
from conformance import Said, Step, play
from driver_apis import DRIVERS, KEY
from loopback import Loopback, events
from proofs import proves

from packbelt.model import Answer, Outcome, ToolResult
from packbelt.providers import compile_belt
from packbelt.testing import agent, make_belt, make_workspace, pack

CALL = Said("t1", "find", {"q": "x"})
BY_NAME = {driver.name: driver for driver in DRIVERS}


def belt_of(*tools, packs=(), **keys):
    workspace = make_workspace(tools=tools, agents=[agent("orchestrator", **keys)], packs=packs)
    return make_belt(workspace, None, "orchestrator")


def asked(driver, belt, **options):
    """The body of the one request that a driver's client makes with a belt's form."""

    async def main():
        with Loopback(lambda *_: driver.wire.reply(())) as server:
            async with driver.client(server.url) as ask:
                await ask(compile_belt(belt, driver.target, **options), [])
            return server.requests[0].body

    pytest.importorskip(driver.module, exc_type=ImportError)
    return anyio.run(main)


def anthropic_stream(reply):
    yield "message_start", {"type": "message_start", "message": {**reply, "content": [], "stop_reason": None}}
    (block,) = reply["content"]
    start = {**block, "input": {}}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": start}
    for part in ('{"q": ', '"x"}'):
        delta = {"type": "input_json_delta", "partial_json": part}
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}
    yield "message_stop", {"type": "message_stop"}


def openai_stream(reply):
    started = {**reply, "status": "in_progress", "output": []}
    yield "response.created", {"type": "response.created", "sequence_number": 0, "response": started}
    (item,) = reply["output"]
    yield (
        "response.output_item.added",
        {
            "type": "response.output_item.added",
            "sequence_number": 1,
            "output_index": 0,
            "item": {**item, "arguments": ""},
        },
    )
    yield "response.completed", {"type": "response.completed", "sequence_number": 2, "response": reply}


def chat_stream(reply):
    (choice,) = reply["choices"]
    (call,) = choice["message"]["tool_calls"]
    head = {key: reply[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(delta, finish=None):
        return None, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk(
        {
            "role": "assistant",
            "tool_calls": [{"index": 0, **call, "function": {"name": "find", "arguments": ""}}],
        }
    )
    for part in ('{"q": ', '"x"}'):
        yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
    yield chunk({}, "tool_calls")
    yield None, "[DONE]"


async def stream_anthropic(url, form):
    from anthropic import AsyncAnthropic

    async with AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        start = [{"role": "user", "content": "go"}]
        async with client.messages.stream(
            model="fake", max_tokens=9, messages=start, **form.kwargs
        ) as stream:
            return await stream.get_final_message()


async def stream_openai(url, form):
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client:
        async with client.responses.stream(model="fake", input="go", **form.kwargs) as stream:
            return await stream.get_final_response()


async def stream_chat(url, form):
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client:
        start = [{"role": "user", "content": "go"}]
        async with client.chat.completions.stream(model="fake", messages=start, **form.kwargs) as stream:
            return await stream.get_final_completion()


STREAMS = {
    "anthropic": (wires.Anthropic(), anthropic_stream, stream_anthropic),
    "openai": (wires.OpenAI(), openai_stream, stream_openai),
    "openai-chat": (wires.OpenAIChat(), chat_stream, stream_chat),
}


@pytest.mark.parametrize("name", STREAMS)
def test_the_final_message_of_a_stream_is_read_like_any_reply(name):
    pytest.importorskip(BY_NAME[name].module, exc_type=ImportError)
    wire, streamed, ask = STREAMS[name]
    form = compile_belt(belt_of("find"), name)

    async def main():
        with Loopback(lambda *_: events(*streamed(wire.reply([CALL])))) as server:
            return await ask(server.url, form)

    reply = anyio.run(main)
    (call,) = form.calls(reply)
    assert (call.id, call.name) == ("t1", "find")
    assert call.arguments in ({"q": "x"}, '{"q": "x"}')
    assert form.text(reply) == ""


PICTURE = (Step((Said("c1", "mcp__main__picture"),)),)
SEEN = {
    "anthropic": "main/picture ran with {}\n<image>",
    "openai": "main/picture ran with {}\n<input_image>",
    "openai-chat": "main/picture ran with {}\n[image image/png]",
    "gemini": "main/picture ran with {}\n<image/png>",
}


@pytest.mark.parametrize("name", SEEN)
def test_a_servers_picture_reaches_the_model_where_the_api_takes_one(name, tmp_path):
    pytest.importorskip(BY_NAME[name].module, exc_type=ImportError)
    seen = anyio.run(play, BY_NAME[name], tmp_path, PICTURE)
    assert seen.read == {"c1": SEEN[name]}


def test_a_thought_signature_goes_back_with_its_call():
    pytest.importorskip("google.genai", exc_type=ImportError)
    driver = BY_NAME["gemini"]
    form = compile_belt(belt_of("find"), "gemini")

    async def main():
        def answer(path, body):
            return driver.wire.reply([] if driver.wire.read(body) else [CALL])

        with Loopback(answer) as server:
            async with driver.client(server.url) as ask:
                reply, said = await ask(form, [])
                results = [ToolResult(call, Answer.of_text("ok")) for call in form.calls(reply)]
                await ask(form, [*said, form.results(results)])
            return server.requests[1].body

    parts = [part for content in anyio.run(main)["contents"] for part in content["parts"]]
    assert [part["thoughtSignature"] for part in parts if "functionCall" in part] == ["c2lnbmVk"]


def test_a_call_of_a_namespace_goes_back_as_it_came_and_is_answered():
    pytest.importorskip("openai", exc_type=ImportError)
    driver = BY_NAME["openai"]
    form = compile_belt(
        belt_of("find", packs=[pack("web", ["find"], summary="The web.")]), "openai", search=True
    )

    async def main():
        def answer(path, body):
            return driver.wire.reply([] if driver.wire.read(body) else [CALL], namespaces={"find": "web"})

        with Loopback(answer) as server:
            async with driver.client(server.url) as ask:
                reply, said = await ask(form, [])
                (call,) = form.calls(reply)
                assert call.name == "find"
                await ask(form, [*said, *form.results([ToolResult(call, Answer.of_text("ok"))])])
            return [request.body for request in server.requests]

    first, second = anyio.run(main)
    (space,) = [tool for tool in first["tools"] if tool["type"] == "namespace"]
    assert (space["name"], space["description"]) == ("web", "The web.")
    back = [item for item in second["input"] if item.get("type") == "function_call"]
    assert [(item["name"], item["namespace"]) for item in back] == [("find", "web")]


@proves([driver.target for driver in DRIVERS], "visible")
@pytest.mark.parametrize("name", [driver.name for driver in DRIVERS if not driver.options])
def test_an_empty_belt_shows_the_model_no_tool(name):
    driver = BY_NAME[name]
    body = asked(driver, belt_of("a", tools=[]))
    assert driver.wire.shown({"tools": [], **body}) == []
    assert "toolConfig" not in body


def test_gemini_is_told_the_allowed_names_and_an_empty_list_is_none_of_them():
    driver = BY_NAME["gemini"]
    some = asked(driver, belt_of("a", "b"), allowed=["b"])
    assert some["toolConfig"] == {
        "functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["b"]}
    }
    assert driver.wire.shown(some) == ["a", "b"]
    none = asked(driver, belt_of("a", "b"), allowed=[])
    assert none["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}


@proves("gemini", "callable")
def test_geminis_client_calls_nothing_by_itself():
    """Without the switch the SDK calls what it was given; with the form it hands the call to the host."""
    pytest.importorskip("google.genai", exc_type=ImportError)
    from google import genai

    ran = []

    def find(q: str) -> str:
        """Finds."""
        ran.append(q)
        return "found"

    def answer(path, body):
        return driver.wire.reply([] if "functionResponse" in str(body) else [CALL])

    driver = BY_NAME["gemini-without-ids"]
    form = compile_belt(belt_of("find"), "gemini")

    async def main(config):
        with Loopback(answer) as server:
            client = genai.Client(api_key=KEY, http_options={"base_url": server.url})
            try:
                reply = await client.aio.models.generate_content(model="fake", contents="go", config=config)
            finally:
                await client.aio.aclose()
                client.close()
            return reply, len(server.requests)

    config = form.kwargs["config"]
    reply, requests = anyio.run(main, config)
    assert (requests, ran) == (1, [])
    assert [call.name for call in form.calls(reply)] == ["find"]
    anyio.run(main, {"tools": [find]})
    assert ran == ["x"]
    ran.clear()
    anyio.run(main, {**config, "tools": [find]})
    assert ran == []


@proves("gemini", "unknown")
def test_geminis_own_calling_breaks_off_at_an_unknown_name_and_ours_hands_it_to_the_host():
    pytest.importorskip("google.genai", exc_type=ImportError)
    from google import genai

    def known(q: str) -> str:
        """Knows."""
        return q

    form = compile_belt(belt_of("known"), "gemini")

    async def main(config):
        with Loopback(lambda *_: BY_NAME["gemini"].wire.reply([CALL])) as server:
            client = genai.Client(api_key=KEY, http_options={"base_url": server.url})
            try:
                return await client.aio.models.generate_content(model="fake", contents="go", config=config)
            finally:
                await client.aio.aclose()
                client.close()

    with pytest.raises(KeyError, match="find"):
        anyio.run(main, {"tools": [known]})
    assert [call.name for call in form.calls(anyio.run(main, form.kwargs["config"]))] == ["find"]


def test_an_error_is_marked_as_one_on_the_wire():
    driver = BY_NAME["anthropic"]
    pytest.importorskip("anthropic", exc_type=ImportError)
    form = compile_belt(belt_of("find"), "anthropic")

    async def main():
        with Loopback(lambda *_: driver.wire.reply([CALL])) as server:
            async with driver.client(server.url) as ask:
                reply, said = await ask(form, [])
                failed = Answer.of_text("no", Outcome.TOOL_ERROR)
                await ask(
                    form, [*said, form.results([ToolResult(call, failed) for call in form.calls(reply)])]
                )
            return server.requests[1].body

    (block,) = anyio.run(main)["messages"][-1]["content"]
    assert block == {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
