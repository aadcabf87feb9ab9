"""copilot: its real client against a runtime that asks the scene."""

from conformance import AGENT
from copilot_runtime import runtime, text

UNSENT = "the runtime alone answers names that its session was not given"


class Session:
    name = target = "copilot"
    module = "copilot"
    omits = dict.fromkeys(
        ("packed", "reserved", "denied", "over_ceiling", "invented", "invented_bare", "late"), UNSENT
    )
    differs: dict = {}  # noqa: RUF012 - read only

    def spell(self, wire_name):
        return wire_name

    async def run(self, scene):
        from packbelt.adapters.copilot import runner

        async def ask(create, prompt, read):
            shown = [tool["name"] for tool in create["tools"]]
            words = {id_: text(result) for id_, result in read.items()}
            calls = await scene.request(shown, words, (), create["systemMessage"]["content"])
            return [(one.id, one.name, dict(one.arguments)) for one in calls] or "done"

        async with runtime(ask) as (_, client), scene.fleet.agent(AGENT) as agent:
            return await runner(client)(agent, "go")


DRIVERS = [Session()]
