"""openai-agents: its real runner over a model that asks the scene."""

import asyncio
from types import MappingProxyType

import wires
from conformance import AGENT
from loopback import Loopback

TARGET = "openai-agents"


def model_of(ask):
    """A model that shows `ask(shown, read)` what it is sent; gives the calls, or nothing at the end."""
    from agents import Model, ModelResponse, Usage
    from agents.testing import assistant_message, function_call

    class Asking(Model):
        async def get_response(self, *_, **given):
            assert not given["handoffs"]
            shown = [tool.name for tool in given["tools"]]
            read = {
                one["call_id"]: text(one["output"])
                for one in given["input"]
                if isinstance(one, dict) and one.get("type") == "function_call_output"
            }
            calls = await ask(shown, read)
            output = [function_call(call.name, call.arguments, call_id=call.id) for call in calls]
            return ModelResponse(output or [assistant_message("done")], Usage(), "r")

        def stream_response(self, *args, **more):
            raise NotImplementedError

    return Asking()


def text(output):
    return output if isinstance(output, str) else "\n".join(one.get("text", "") for one in output)


class Runner:
    name = "openai-agents"
    target = TARGET
    module = "agents"
    omits = MappingProxyType({})
    differs = MappingProxyType({})

    def spell(self, wire_name):
        return wire_name

    async def run(self, scene):
        from agents import RunConfig
        from agents import Runner as Sdk

        from packbelt.adapters.openai_agents import Belt

        async with scene.fleet.agent(AGENT) as agent:
            belt = Belt(agent)
            config = belt.run_config(RunConfig(tracing_disabled=True))
            result = await Sdk.run(belt.agent(model=model_of(scene.request)), "go", run_config=config)
            return result.final_output


class Searching(Runner):
    """The API's own tool search: the SDK's client of the Responses API against a loopback server."""

    name = "openai-agents-search"
    omits = MappingProxyType(
        dict.fromkeys(("listing", "opener"), "the API's own search takes the opener's place")
    )

    async def run(self, scene):
        from agents import OpenAIResponsesModel, RunConfig
        from agents import Runner as Sdk
        from openai import AsyncOpenAI

        from packbelt.adapters.openai_agents import Belt

        loop, wire = asyncio.get_running_loop(), wires.OpenAI()

        def answer(_, body):
            asked = scene.request(wire.shown(body), wire.read(body), wire.away(body))
            said = asyncio.run_coroutine_threadsafe(asked, loop).result(60)
            spaces = [tool for tool in body["tools"] if tool["type"] == "namespace"]
            inside = {one["name"]: space["name"] for space in spaces for one in space["tools"]}
            assert all(one["defer_loading"] for space in spaces for one in space["tools"])
            assert {"type": "tool_search"} in body["tools"]
            return wire.reply(said, namespaces=inside)

        with Loopback(answer) as server:
            async with (
                AsyncOpenAI(base_url=server.url, api_key="no-key", max_retries=0) as client,
                scene.fleet.agent(AGENT) as agent,
            ):
                belt = Belt(agent, search=True)
                config = belt.run_config(RunConfig(tracing_disabled=True))
                made = belt.agent(model=OpenAIResponsesModel("gpt-5.5", client))
                result = await Sdk.run(made, "go", run_config=config)
                return result.final_output


DRIVERS = [Runner(), Searching()]
