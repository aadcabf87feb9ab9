"""pydantic-ai: a toolset for each server, filtered, prefixed, all combined."""

from pydantic_ai import FunctionToolset, RunContext, Tool
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, CombinedToolset, ExternalToolset
from pydantic_ai.usage import RunUsage

from bench.catalogue import Catalogue, denied
from bench.peers import Handed, Peer


async def _call(**arguments: object) -> str:
    return str(arguments)


def _functions(entries: list) -> AbstractToolset:
    tools = [Tool.from_schema(_call, e["name"], e["description"], e["inputSchema"]) for e in entries]
    return FunctionToolset(tools)


def _external(entries: list) -> AbstractToolset:
    tools = [
        ToolDefinition(name=e["name"], description=e["description"], parameters_json_schema=e["inputSchema"])
        for e in entries
    ]
    return ExternalToolset(tools)


def build(catalogue: Catalogue) -> list[Peer]:
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())

    def peer(kind: str, make: object) -> Peer:
        chains = [
            make(entries).filtered(lambda _, tool: not denied(tool.name)).prefixed(server)
            for server, entries in catalogue.listed.items()
        ]
        combined = CombinedToolset(chains)

        async def visible() -> Handed:
            found = await combined.get_tools(context)
            definitions = (tool.tool_def for tool in found.values())
            return [(d.name, d.description, d.parameters_json_schema) for d in definitions]

        return Peer(f"pydantic-ai, {kind}, filtered, prefixed, combined", visible, "{}_{}".format)

    return [peer("FunctionToolset", _functions), peer("ExternalToolset", _external)]
