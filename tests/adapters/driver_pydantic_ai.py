"""pydantic-ai: its real agent over a FunctionModel that asks the scene."""

from types import MappingProxyType

from conformance import AGENT

TARGET = "pydantic-ai"


def model_of(ask):
    """A model that shows `ask(shown, read)` what it is sent; gives the calls, or nothing at the end."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    async def answer(messages, info):
        read = {
            part.tool_call_id: text(part.content)
            for message in messages
            if isinstance(message, ModelRequest)
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        }
        calls = await ask([tool.name for tool in info.function_tools], read)
        said = [ToolCallPart(call.name, dict(call.arguments), tool_call_id=call.id) for call in calls]
        return ModelResponse(said or [TextPart("done")])

    return FunctionModel(answer)


def text(content):
    return content if isinstance(content, str) else "\n".join(one for one in content if isinstance(one, str))


class Runner:
    name = "pydantic-ai"
    target = TARGET
    module = "pydantic_ai"
    omits = MappingProxyType({})
    differs = MappingProxyType({})

    def spell(self, wire_name):
        return wire_name

    async def run(self, scene):
        from pydantic_ai import Agent

        from packbelt.adapters.pydantic_ai import Belt

        async with scene.fleet.agent(AGENT) as agent:
            result = await Agent(model_of(scene.request), capabilities=[Belt(agent)]).run("go")
            return result.output


DRIVERS = [Runner()]
