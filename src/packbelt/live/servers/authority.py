"""Requests to an authorization server, apart from those to the MCP server it speaks for.

None of the MCP server's headers, a bounded time, a bounded size, no redirect, and https addresses alone: to
this machine only where the MCP server itself is on it, since the address of its authorization server is a
server's word.
"""

import anyio
import httpx2
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError

from packbelt.live.servers.failure import clean
from packbelt.live.servers.remote import on_this_machine

MAX_ANSWER = 1 << 20
"""Bytes of one answer; metadata and tokens are some kilobytes."""


class NotAuthorizedError(Exception):
    """Authorization failed; the message is the line, and holds nothing secret."""


class Authority:
    """The authorization server of one MCP server.

    Args:
        seconds: for each request.
        local: whether the MCP server is on this machine.

    Attributes:
        status: how it answered the last request; 0 before the first.
    """

    def __init__(self, seconds: float, *, local: bool) -> None:
        self.status = 0
        self._seconds = seconds
        self._local = local

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request of the SDK's flow.

        Raises:
            NotAuthorizedError: its address is not acceptable, or there was no answer to it.
        """
        self.check(request.url)
        failure = ""
        try:
            with anyio.fail_after(self._seconds):
                response = await _answer(request)
        except TimeoutError:
            failure = f"did not answer within {self._seconds:g} s"
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            failure = f"cannot be reached: {clean(str(error)) or type(error).__name__}"
        if failure:
            raise NotAuthorizedError(f"its authorization server {failure}")
        self.status = response.status_code
        asks_in_vain = response.is_server_error or self.status == httpx2.codes.TOO_MANY_REQUESTS
        if request.method == "POST" and asks_in_vain:
            # The SDK takes it for a refusal of the token, and a person would be asked for nothing.
            raise NotAuthorizedError(f"its authorization server answered HTTP {self.status}")
        return response

    def check(self, url: httpx2.URL) -> None:
        """Whether an address that a server named may be spoken to, or shown to a person.

        Raises:
            NotAuthorizedError: it may not.
        """
        here = on_this_machine(url.host)
        if here and not self._local:
            raise NotAuthorizedError("its authorization server must not be on this machine: it is not either")
        if not url.host or not (url.scheme == "https" or (url.scheme == "http" and here)):
            raise NotAuthorizedError("its authorization server must be reached by https")

    def line(self, error: Exception) -> str:
        """The line for what ended the SDK's flow. Of what a token endpoint said nothing is repeated."""
        if isinstance(error, NotAuthorizedError):
            return str(error)
        if isinstance(error, OAuthRegistrationError):
            return (
                "needs authorization, and its authorization server registers no client "
                f"(HTTP {self.status}); write a credential into `headers` of its entry"
            )
        if isinstance(error, OAuthTokenError):
            return f"its authorization server gave no token (HTTP {self.status})"
        if isinstance(error, OAuthFlowError):
            return f"cannot be authorized: {clean(str(error))}"
        return f"cannot be authorized: {type(error).__name__}"


async def _answer(request: httpx2.Request) -> httpx2.Response:
    """One response, whole, and with no redirect left to follow."""
    local = on_this_machine(request.url.host)
    async with (
        # The time is bounded as a whole, by the caller.
        httpx2.AsyncClient(timeout=None, follow_redirects=False, trust_env=not local) as client,
        client.stream(
            request.method, request.url, headers=request.headers, content=request.content
        ) as response,
    ):
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_ANSWER:
                raise httpx2.StreamError(f"it sent more than {MAX_ANSWER >> 20} MiB")
    kept = {name: value for name, value in response.headers.items() if name.lower() == "content-type"}
    return httpx2.Response(response.status_code, headers=kept, content=bytes(body), request=request)
