"""Copilot's runtime as far as its client needs one: JSON-RPC on loopback, a model that asks a script.

What the client sends is recorded; what the runtime would make of it is not imitated.
"""

import asyncio
import json
import uuid
from contextlib import asynccontextmanager
from datetime import UTC, datetime


class Runtime:
    """`requests`: [method, parameters] in order; `read`: what came back of each call, by its id."""

    def __init__(self, ask):
        self.ask = ask
        self.requests = []
        self.read = {}
        self.ended = asyncio.Event()
        self._pending = {}
        self._tasks = set()

    @property
    def sessions(self):
        return [given for method, given in self.requests if method in ("session.create", "session.resume")]

    async def serve(self, reader, writer):
        self._writer = writer
        try:
            while head := await reader.readline():
                await reader.readline()
                message = json.loads(await reader.readexactly(int(head.split(b":")[1])))
                if "method" in message and "id" in message:
                    self.requests.append((message["method"], message.get("params") or {}))
                    await self._answer(message)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self.ended.set()

    async def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await self._writer.drain()

    async def _answer(self, message):
        method, given = message["method"], message.get("params") or {}
        result = {"success": True}
        if method == "connect":
            result = {"ok": True, "protocolVersion": 3, "version": "0"}
        elif method in ("session.create", "session.resume"):
            result = {"sessionId": given["sessionId"]}
        elif method == "session.send":
            result = {"messageId": "m1"}
        elif method == "session.tools.handlePendingToolCall":
            self._pending.pop(given["requestId"]).set_result(given)
        elif method == "session.sendAndWait":
            await self._send({"id": message["id"], "error": {"code": -32601, "message": "Unhandled method"}})
            return
        await self._send({"id": message["id"], "result": result})
        if method == "session.send":
            task = asyncio.create_task(self._work(given["sessionId"], given["prompt"]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _event(self, session, kind, **data):
        event = {
            "id": str(uuid.uuid4()),
            "parentId": None,
            "timestamp": datetime.now(UTC).isoformat(),
            "type": kind,
            "data": data,
        }
        await self._send({"method": "session.event", "params": {"sessionId": session, "event": event}})

    async def _work(self, session, prompt):
        """The model's loop: calls are made side by side until there are none."""
        create = next(given for given in reversed(self.sessions) if given["sessionId"] == session)
        await self._event(session, "user.message", content=prompt, messageId="m1")
        while True:
            calls = await self.ask(create, prompt, dict(self.read))
            if isinstance(calls, str):
                break
            waiting = {}
            for id_, name, arguments in calls:
                waiting[id_] = self._pending[id_] = asyncio.get_running_loop().create_future()
                await self._event(
                    session,
                    "external_tool.requested",
                    requestId=id_,
                    sessionId=session,
                    toolCallId=id_,
                    toolName=name,
                    arguments=arguments,
                )
            for id_, future in waiting.items():
                self.read[id_] = (await future)["result"]
        await self._event(session, "assistant.message", content=calls, messageId="a1")
        await self._event(session, "session.idle")


@asynccontextmanager
async def runtime(ask):
    """A runtime that asks `await ask(create, prompt, read)` for the model's calls or its last word, and a client."""
    from copilot import CopilotClient, RuntimeConnection

    made = Runtime(ask)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    client = CopilotClient(connection=RuntimeConnection.for_uri(f"{host}:{port}"))
    try:
        await client.start()
        yield made, client
    finally:
        await client.stop()
        server.close()
        await made.ended.wait()


def text(result):
    """What the model reads of a result."""
    return result if isinstance(result, str) else result["textResultForLlm"]
