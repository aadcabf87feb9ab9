"""The bare APIs: each one's real client in a raw loop against a loopback server."""

import asyncio
from contextlib import asynccontextmanager

import wires
from conformance import AGENT
from loopback import Loopback

KEY = "no-key"


class Raw:
    """`turn.compile -> client -> form.calls -> turn.run -> form.results`."""

    def __init__(self, name, target, module, wire, client, **options):
        self.name = name
        self.target = target
        self.module = module
        self.wire = wire
        self.client = client
        self.options = options
        self.differs = {}
        searched = "the API's own search takes the opener's place"
        self.omits = dict.fromkeys(("listing", "opener"), searched) if options.get("search") else {}

    def spell(self, wire_name):
        return wire_name

    async def run(self, scene):
        loop = asyncio.get_running_loop()

        def answer(path, body):
            assert path.endswith(self.wire.path), path
            wire = self.wire
            asked = scene.request(wire.shown(body), wire.read(body), wire.away(body), wire.system(body))
            return self.wire.reply(asyncio.run_coroutine_threadsafe(asked, loop).result(60))

        with Loopback(answer) as server:
            async with self.client(server.url) as ask, scene.fleet.agent(AGENT) as agent:
                return await self._loop(agent, ask)

    async def _loop(self, agent, ask):
        messages = []
        while True:
            turn = await agent.turn()
            form = turn.compile(self.target, **self.options)
            reply, said = await ask(form, messages)
            messages += said
            if not (calls := form.calls(reply)):
                return form.text(reply)
            results = form.results(await turn.run(calls))
            messages += results if isinstance(results, list) else [results]


@asynccontextmanager
async def anthropic_client(url):
    from anthropic import AsyncAnthropic

    async with AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as client:

        async def ask(form, messages):
            start = [{"role": "user", "content": "go"}]
            reply = await client.messages.create(
                model="fake", max_tokens=64, messages=start + messages, **form.kwargs
            )
            return reply, [{"role": "assistant", "content": reply.content}]

        yield ask


@asynccontextmanager
async def openai_client(url):
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client:

        async def ask(form, messages):
            start = [{"role": "user", "content": "go"}]
            reply = await client.responses.create(model="fake", input=start + messages, **form.kwargs)
            return reply, reply.output

        yield ask


@asynccontextmanager
async def chat_client(url):
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client:

        async def ask(form, messages):
            start = [{"role": "system", "content": form.system}, {"role": "user", "content": "go"}]
            reply = await client.chat.completions.create(
                model="fake", messages=start + messages, **form.kwargs
            )
            return reply, [reply.choices[0].message]

        yield ask


@asynccontextmanager
async def gemini_client(url):
    from google import genai

    client = genai.Client(api_key=KEY, http_options={"base_url": url})
    try:

        async def ask(form, messages):
            start = [{"role": "user", "parts": [{"text": "go"}]}]
            reply = await client.aio.models.generate_content(
                model="fake", contents=start + messages, **form.kwargs
            )
            return reply, [reply.candidates[0].content]

        yield ask
    finally:
        await client.aio.aclose()
        client.close()


DRIVERS = [
    Raw("anthropic", "anthropic", "anthropic", wires.Anthropic(), anthropic_client),
    Raw("anthropic-search", "anthropic", "anthropic", wires.Anthropic(), anthropic_client, search=True),
    Raw("openai", "openai", "openai", wires.OpenAI(), openai_client),
    Raw("openai-search", "openai", "openai", wires.OpenAI(), openai_client, search=True),
    Raw("openai-chat", "openai-chat", "openai", wires.OpenAIChat(), chat_client),
    Raw("gemini", "gemini", "google.genai", wires.Gemini(), gemini_client),
    Raw("gemini-without-ids", "gemini", "google.genai", wires.Gemini(ids=False), gemini_client),
]
