"""langchain: its real `create_agent` over a chat model that asks the scene; and the form in a bare loop."""

from types import MappingProxyType

from conformance import AGENT

TARGET = "langchain"


def model_of(ask):
    """A model that shows `ask(shown, read, system=...)` what it is sent; gives the calls, or nothing at the end."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.utils.function_calling import convert_to_openai_tool

    class Asking(BaseChatModel):
        @property
        def _llm_type(self):
            return "asking"

        def bind_tools(self, tools, **_more):
            return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

        def _generate(self, *_, **_more):
            raise NotImplementedError

        async def _agenerate(self, messages, *_, tools=(), **_more):
            read = {m.tool_call_id: text(m.content) for m in messages if isinstance(m, ToolMessage)}
            system = "\n".join(text(m.content) for m in messages if isinstance(m, SystemMessage))
            calls = await ask([tool["function"]["name"] for tool in tools], read, system=system)
            said = [{"id": call.id, "name": call.name, "args": dict(call.arguments)} for call in calls]
            reply = AIMessage("" if said else "done", tool_calls=said)
            return ChatResult(generations=[ChatGeneration(message=reply)])

    return Asking()


def text(content):
    if isinstance(content, str):
        return content
    return "\n".join(one["text"] for one in content if one["type"] == "text")


class Runner:
    name = "langchain"
    target = TARGET
    module = "langchain.agents"
    omits = MappingProxyType({})
    differs = MappingProxyType({})

    def spell(self, wire_name):
        return wire_name

    async def run(self, scene):
        from langchain.agents import create_agent

        from packbelt.adapters.langchain import Belt

        async with scene.fleet.agent(AGENT) as agent:
            graph = create_agent(model_of(scene.request), middleware=[Belt(agent)])
            state = await graph.ainvoke({"messages": [{"role": "user", "content": "go"}]})
            return state["messages"][-1].text


class Bare(Runner):
    """A loop of the host's own: the form's tools bound, and its calls through `turn.run`."""

    name = "langchain-bare"

    async def run(self, scene):
        model = model_of(scene.request)
        async with scene.fleet.agent(AGENT) as agent:
            messages = [{"role": "user", "content": "go"}]
            while True:
                turn = await agent.turn()
                form = turn.compile(TARGET)
                system = {"role": "system", "content": form.kwargs["system_prompt"]}
                reply = await model.bind_tools(form.kwargs["tools"]).ainvoke([system, *messages])
                messages.append(reply)
                if not (calls := form.calls(reply)):
                    return form.text(reply)
                messages += form.results(await turn.run(calls))


DRIVERS = [Runner(), Bare()]
