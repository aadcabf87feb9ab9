"""LangChain: a middleware for `create_agent` that is a belt, decided anew at each model call.

    async with fleet.agent("orchestrator") as agent:
        graph = create_agent(MODEL, middleware=[Belt(agent)])
        state = await graph.ainvoke({"messages": [{"role": "user", "content": request}]})

A whole fleet: `packbelt.open(workspace, run=runner(model=MODEL))`. For a graph of your own: `tools(agent)`.
"""

from packbelt.adapters.needed import need
from packbelt.adapters.steps import AdapterError

try:
    from langchain.agents.middleware import AgentMiddleware as _  # noqa: F401 - an SDK without it is too old
except ImportError as error:
    raise need("langchain", extra="langchain", cause=error) from error

from packbelt.adapters.langchain.belt import Belt, tools
from packbelt.adapters.langchain.runner import runner
from packbelt.adapters.langchain.tools import wrap

__all__ = ["AdapterError", "Belt", "runner", "tools", "wrap"]
