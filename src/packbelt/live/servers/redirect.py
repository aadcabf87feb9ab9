"""The one request that a browser makes to this machine once a person has authorized (or declined)."""

import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.to_thread
from anyio.abc import Listener, SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.shared.auth import AuthorizationCodeResult

from packbelt.live.servers.authority import NotAuthorizedError
from packbelt.live.servers.failure import clean

Interact = Callable[[str, str], None]
"""Shows a person a server's name and its authorization address, or opens it; called in a worker thread."""

HOST = "127.0.0.1"
PATH = "/callback"
_MAX_HEAD = 16 << 10
_ERROR_CODE = 60
_PATIENCE = 10
"""Seconds for one browser connection: some are opened ahead and never used."""
_HEADERS = (
    "Content-Type: text/plain; charset=utf-8",
    "Cache-Control: no-store",
    "Referrer-Policy: no-referrer",
    "X-Content-Type-Options: nosniff",
    "Connection: close",
)


@dataclass(slots=True)
class Redirect:
    """Waits for the redirect, on an ephemeral port of 127.0.0.1.

    A request with another path, another method, or another state than the one that was sent out is refused
    and changes nothing: any local process, and any page in the browser, can make one.

    Attributes:
        uri: where a browser is sent back to.
    """

    _listener: Listener[SocketStream] = field(repr=False)
    uri: str
    _declined: str = field(default="", repr=False)
    _state: str = field(default="", repr=False)
    _result: AuthorizationCodeResult | None = field(default=None, repr=False)
    _answered: anyio.Event = field(default_factory=anyio.Event, repr=False)

    async def ask(
        self, server: str, address: str, interact: Interact, patience: float
    ) -> AuthorizationCodeResult:
        """Show a person the address, and wait for the redirect.

        Args:
            server: the server's name.
            address: the authorization address; its `state` is the only one that is accepted.
            interact: shows it.
            patience: seconds.

        Raises:
            NotAuthorizedError: the person declined, or took too long, or cannot be shown anything.
        """
        unshown = ""

        async def show() -> None:
            nonlocal unshown
            try:
                await anyio.to_thread.run_sync(interact, server, address, abandon_on_cancel=True)
            except Exception as error:  # noqa: BLE001 - the host's own callback
                unshown = type(error).__name__
                tasks.cancel_scope.cancel()

        self._state = parse_qs(urlsplit(address).query).get("state", [""])[0]
        with anyio.move_on_after(patience):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._listener.serve, self._serve)
                tasks.start_soon(show)
                await self._answered.wait()
                tasks.cancel_scope.cancel()
        if self._result is not None:
            return self._result
        if unshown:
            raise NotAuthorizedError(f"needs authorization, and its address cannot be shown ({unshown})")
        if self._declined:
            raise NotAuthorizedError(f"was not authorized: {clean(self._declined, _ERROR_CODE)}")
        raise NotAuthorizedError(f"was not authorized within {patience:g} s")

    async def _serve(self, stream: SocketStream) -> None:
        try:
            async with stream:
                with anyio.move_on_after(_PATIENCE):
                    head = await BufferedByteReceiveStream(stream).receive_until(b"\r\n\r\n", _MAX_HEAD)
                    status, words, taken = self._take(head)
                    length = f"Content-Length: {len(words)}"
                    text = "\r\n".join((f"HTTP/1.1 {status}", *_HEADERS, length, "", words))
                    try:
                        await stream.send(text.encode())
                    finally:
                        if taken:
                            self._answered.set()
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
            pass  # the browser went away
        except (anyio.IncompleteRead, anyio.DelimiterNotFound):
            pass  # not a request

    def _take(self, head: bytes) -> tuple[str, str, bool]:
        """Status and words of the response, and whether this was the redirect."""
        try:
            method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
            parts = urlsplit(target)
            query = {name: values[0] for name, values in parse_qs(parts.query).items() if len(values) == 1}
        except ValueError:
            return "400 Bad Request", "This is no request.", False
        if parts.path != PATH:
            return "404 Not Found", "There is nothing here.", False
        if method != "GET":
            return "405 Method Not Allowed", "Only GET is answered.", False
        state = query.get("state", "")
        if not self._state or not hmac.compare_digest(state.encode(), self._state.encode()):
            return "400 Bad Request", "This belongs to no authorization that was asked for here.", False
        if self._result or self._declined:
            return "400 Bad Request", "This was answered before.", False
        if error := query.get("error"):
            self._declined = error
            return "200 OK", "Not authorized. You may close this window.", True
        if not (code := query.get("code")):
            return "400 Bad Request", "There is no code in it.", False
        self._result = AuthorizationCodeResult(code=code, state=state, iss=query.get("iss"))
        return "200 OK", "Authorized. You may close this window.", True


@asynccontextmanager
async def listening() -> AsyncIterator[Redirect]:
    """A `Redirect` whose port is taken, and closed again on every path out.

    Raises:
        OSError: no port could be taken.
    """
    listener = await anyio.create_tcp_listener(local_host=HOST, local_port=0)
    try:
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - anyio's, no database's
        yield Redirect(listener, f"http://{HOST}:{port}{PATH}")
    finally:
        with anyio.CancelScope(shield=True):
            await listener.aclose()
