"""claude-agent-sdk: its bundled command line against a loopback fake of the Messages API."""

import json
from types import MappingProxyType

import claude_wire as wire
from conformance import AGENT

from packbelt.providers import target

TARGET = "claude-agent-sdk"
OWN = {one.name for one in target(TARGET).builtins}


class Gateway:
    name = TARGET
    target = TARGET
    module = TARGET.replace("-", "_")
    omits = MappingProxyType({"late": "the list of a server in the same process is read once in a session"})
    differs = MappingProxyType({})

    def spell(self, wire_name):
        return f"mcp__packbelt__{wire_name}"

    async def run(self, scene):
        from claude_agent_sdk import ClaudeAgentOptions

        from packbelt.adapters.claude_agent_sdk import runner

        async def ask(body):
            names = wire.shown(body)
            shown = [name for name in names if name not in OWN]
            calls = await scene.request(shown, wire.read(body), (), wire.system(body))
            blocks = [wire.use(one.id, self._said(one.name), json.dumps(one.arguments)) for one in calls]
            return blocks or [wire.say("done")]

        home = scene.home.root
        with wire.Api(ask) as api:
            options = ClaudeAgentOptions(env=wire.environment(api.url, home), cwd=home)
            async with scene.fleet.agent(AGENT) as agent:
                return await runner(options)(agent, "go")

    def _said(self, name):
        return self.spell(name) if "_" in name or name == "note" else name  # a bare name is said as it is


DRIVERS = [Gateway()]
