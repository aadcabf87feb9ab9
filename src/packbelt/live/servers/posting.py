"""The HTTP client under the SDK's transport: a request that fails costs that request, not the connection."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2

from packbelt.live.servers.exchange import CURRENT, Exchange
from packbelt.live.servers.failure import MAX_MESSAGE, Witness, leaves

_SENDING = "send_request_"
_REFUSED = 400
_ERROR_KEY = b'"error"'
_STREAM = "text/event-stream"


class Posting(httpx2.AsyncClient):
    """An HTTP client that notes in a request's exchange how it fared.

    The SDK's transport lets whatever a POST raises end the connection, with every other call on it. A request
    that has an exchange is answered with a made-up 503 instead, and the exchange holds what was raised.

    Args:
        witness: takes down what is seen of the server.
        options: those of `httpx2.AsyncClient`.
    """

    def __init__(self, witness: Witness, **options: Any) -> None:
        super().__init__(**options)
        self._witness = witness

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; see the class."""
        current = CURRENT.get()
        if request.method != "POST" or current is None:
            if request.method == "GET":  # a stream of events may be silent for as long as it likes
                _patiently(request)
            response = await super().send(request, **options)
            return self._bounded(response, Exchange())
        # How long a call may take is the caller's to say.
        _patiently(request)
        current.session = "mcp-session-id" in request.headers

        async def trace(event: str, _info: object) -> None:
            if _SENDING in event and event.endswith(".started"):
                current.sent = True

        request.extensions = {**request.extensions, "trace": trace}
        try:
            response = await super().send(request, **options)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this request's alone
            current.lost = error
            return httpx2.Response(503, request=request)
        current.status = response.status_code
        if response.status_code >= _REFUSED:
            current.sent = True
        return self._bounded(response, current)

    def _bounded(self, response: httpx2.Response, seen: Exchange) -> httpx2.Response:
        if isinstance(response.stream, httpx2.AsyncByteStream):
            endless = response.headers.get("content-type", "").lower().startswith(_STREAM)
            response.stream = _Body(response.stream, seen, None if endless else self._witness)
        return response


class _Body(httpx2.AsyncByteStream):
    """A response's body, with a limit, whose breaking off is its exchange's alone.

    The SDK bounds the events of a stream, and nothing else; and it expects of a body that breaks off the one
    kind of error that this raises.
    """

    def __init__(self, stream: httpx2.AsyncByteStream, seen: Exchange, limited: Witness | None) -> None:
        self._stream = stream
        self._seen = seen
        self._limited = limited

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, tail = 0, b""
        try:
            async for chunk in self._stream:
                size += len(chunk)
                if self._limited and size > MAX_MESSAGE:
                    self._limited.oversize = True
                    raise httpx2.StreamError(f"over the limit of {MAX_MESSAGE >> 20} MiB")  # noqa: TRY301 - as a body that breaks off
                if not self._seen.spoke:
                    self._seen.spoke = _ERROR_KEY in tail + chunk
                    tail = chunk[-len(_ERROR_KEY) :]
                yield chunk
        except httpx2.StreamError as error:
            self._seen.lost = error
            raise
        except httpx2.TransportError as error:
            self._seen.lost = error
            raise httpx2.StreamError(str(error)) from error

    async def aclose(self) -> None:
        await self._stream.aclose()


def unreachable(error: BaseException) -> bool:
    """Whether a server over HTTP could not even be connected to."""
    return any(isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout) for cause in leaves(error))


def _patiently(request: httpx2.Request) -> None:
    limits = request.extensions.get("timeout")
    if isinstance(limits, dict):
        request.extensions = {**request.extensions, "timeout": {**limits, "read": None}}
