"""Sessions of the real command line of Claude Code with a scripted model, and what came of them."""

import json
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import claude_wire as wire


@dataclass
class Session:
    """`shown`: names of the tools at each request of the main loop; `read`: by the id of the call; `init`: the
    data of each `init` message; `denials`: the tools of `permission_denials`; `text`: its last word."""

    bodies: list = field(default_factory=list)
    init: list = field(default_factory=list)
    denials: list = field(default_factory=list)
    text: str = ""

    @property
    def shown(self):
        return [wire.shown(body) for body in self.bodies]

    @property
    def read(self):
        return wire.read(self.bodies[-1])


def call(id_, name, /, **arguments):
    return wire.use(id_, name, json.dumps(arguments))


async def session(options, *steps, prompts=("go",), then=None, home=None):
    """One session whose model makes the calls of one step at each request, and says `done` after the last.

    `then(place)` is awaited before a request is answered.
    """
    from claude_agent_sdk import ClaudeSDKClient, ResultMessage, SystemMessage

    seen = Session()
    script = list(steps)

    async def ask(body):
        place = len(seen.bodies)
        seen.bodies.append(body)
        if then:
            await then(place)
        return list(script[place]) if place < len(script) and script[place] else [wire.say("done")]

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made, wire.Api(ask) as api:
        home = home or Path(made)
        env = {**wire.environment(api.url, home), **options.env}
        async with ClaudeSDKClient(replace(options, env=env, cwd=options.cwd or home)) as client:
            for prompt in prompts:
                await client.query(prompt)
                async for message in client.receive_response():
                    if isinstance(message, SystemMessage) and message.subtype == "init":
                        seen.init.append(message.data)
                    elif isinstance(message, ResultMessage):
                        seen.text = message.result
                        with suppress(TypeError):
                            seen.denials += [one["tool_name"] for one in message.permission_denials]
    return seen


class Probe:
    """An MCP server in this process; `names` may change while it is served, `ran` is what was called."""

    def __init__(self, *names, **more):
        self.names = list(names)
        self.ran = []
        self.more = more

    def server(self, name="probe"):
        import mcp_types as t
        from mcp.server.lowlevel import Server

        async def listed(ctx, params):
            schema = {"type": "object", "properties": {}}
            return t.ListToolsResult(
                tools=[
                    t.Tool(name=one, input_schema=schema, **{"description": "Does it.", **self.more})
                    for one in self.names
                ]
            )

        async def called(ctx, params):
            self.ran.append(params.name)
            return t.CallToolResult(content=[t.TextContent(type="text", text=f"{params.name} ran")])

        instance = Server(name, on_list_tools=listed, on_call_tool=called)
        return {name: {"type": "sdk", "name": name, "instance": instance}}


def isolated(**more):
    """Options that load nothing of the user's."""
    from claude_agent_sdk import ClaudeAgentOptions

    fields = {"strict_mcp_config": True, "setting_sources": [], "system_prompt": "You are a test.", **more}
    return ClaudeAgentOptions(**fields)
