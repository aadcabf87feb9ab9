"""openai-agents: its real runner over a model that asks the scene."""

from types import MappingProxyType

from conformance import AGENT

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


DRIVERS = [Runner()]
