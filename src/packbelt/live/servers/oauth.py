"""Authorization of one HTTP server: the SDK's OAuth provider, and what it leaves to its caller.

The SDK discovers, registers, makes the PKCE challenge, exchanges and refreshes. Here is the rest: when it is
let in at all, who is asked, what is kept, and that nothing of it is ever said aloud.

- A request is sent as it is, with the access token that there is. Only a 401, an expired token, or a 403
  that asks for more scope goes through the SDK's flow, which lets one request at a time pass.
- A refused access token is refreshed, where it can be, before a person is asked for another.
- Whatever goes wrong leaves the server's own 401 as the answer, and the reason in `Witness.refusal`: a
  request that was refused never ran.
- Requests to the authorization server are made apart from the MCP server's; see `authority`.
"""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
from pydantic import AnyUrl

from packbelt.live.environment import Resolved
from packbelt.live.servers.authority import Authority, NotAuthorizedError
from packbelt.live.servers.failure import Witness
from packbelt.live.servers.granted import Granted
from packbelt.live.servers.redirect import HOST, PATH, Interact, Redirect, listening
from packbelt.live.servers.remote import on_this_machine
from packbelt.live.servers.tokens import Account, TokenStore

PATIENCE = 300.0
"""Seconds that a person has to authorize."""
_FOREVER = float("inf")
_HEADER = "Authorization"
_ATTEMPTS = 3
"""As it is, refreshed, and once a person was asked."""

Waiting = Callable[[], AbstractContextManager[object]]
"""Entered while a person is waited for: the server's clock stands still inside."""


@dataclass(frozen=True, slots=True)
class OAuth:
    """How the servers of a fleet are authorized.

    Attributes:
        store: where grants are kept.
        interact: shows a person the address; None where there is nobody to ask.
        seconds: for each request to an authorization server.
        patience: seconds that a person has.
    """

    store: TokenStore
    interact: Interact | None = None
    seconds: float = 15.0
    patience: float = PATIENCE


def provider(
    resolved: Resolved, root: Path, oauth: OAuth | None, witness: Witness, *, waiting: Waiting = nullcontext
) -> httpx2.Auth | None:
    """The authorization of one start of an HTTP server; None where it has its own, or none is wanted.

    Args:
        resolved: the server's definition. One with a credential of its own, in an `Authorization` header or
            in its address, gets no other.
        root: the workspace's directory.
        oauth: how; None for not at all.
        witness: gets the reason where the server stays unauthorized.
        waiting: see `Waiting` and `paused`.
    """
    spec = resolved.spec
    if (
        oauth is None
        or spec.transport != "http"
        or any(name.lower() == "authorization" for name in spec.headers)
    ):
        return None
    try:
        url = httpx2.URL(resolved.url.reveal())
    except (httpx2.InvalidURL, ValueError):
        return None  # the transport says what is wrong with it
    return None if url.userinfo else _Authorization(resolved, root.resolve(), oauth, witness, waiting)


@dataclass(slots=True)
class paused:  # noqa: N801 - a context manager, named like a function
    """While inside, a scope's deadline stands still; one that was moved meanwhile stays where it is now."""

    scope: anyio.CancelScope
    _left: float = field(default=_FOREVER, init=False)

    def __enter__(self) -> None:
        self._left = self.scope.deadline - anyio.current_time()
        self.scope.deadline = _FOREVER

    def __exit__(self, *_: object) -> None:
        if self.scope.deadline == _FOREVER:
            self.scope.deadline = anyio.current_time() + self._left


class _Authorization(httpx2.Auth):
    """See `provider`."""

    def __init__(
        self, resolved: Resolved, root: Path, oauth: OAuth, witness: Witness, waiting: Waiting
    ) -> None:
        _hush()
        url = httpx2.URL(resolved.url.reveal())
        self._resolved = resolved
        self._name = resolved.spec.name
        self._oauth = oauth
        self._witness = witness
        self._waiting = waiting
        self._authority = Authority(oauth.seconds, local=on_this_machine(url.host))
        self._granted = Granted(oauth.store, Account(self._name, root, resolved.url))
        self._sdk = OAuthClientProvider(
            # The address goes to the authorization server and before people's eyes; its query may be a key.
            str(url.copy_with(query=None, fragment=None)),
            OAuthClientMetadata(
                client_name="packbelt",
                redirect_uris=[AnyUrl(f"http://{HOST}{PATH}")],
                token_endpoint_auth_method="none",  # noqa: S106 - a public client has no secret to keep
            ),
            self._granted,
            redirect_handler=self._remember,
            callback_handler=self._wait,
        )
        self._granted.context = self._sdk.context
        self._redirect: Redirect | None = None
        self._address = ""
        self._gave_up = ""
        self._before: OAuthClientInformationFull | None = None
        """The registration that the tokens belong to while another is being made."""

    def __repr__(self) -> str:
        return f"<authorization of server {self._name!r}>"

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request with what there is, then with what a refresh gives, then with what a person does."""
        await self._granted.load()
        asked, failed = False, ""
        if self._granted.stale:
            _, failed = await self._renew(request, None)
        for attempt in range(_ATTEMPTS):
            self._attach(request)
            sent = self._granted.access_token
            response = yield request
            if not _refused(response):
                if response.is_success:  # what was refused before is not what is wrong from now on
                    self._witness.refusal = ""
                return
            if asked:
                failed = f"was authorized, and answers HTTP {response.status_code} still"
                self._gave_up = failed
            failed = failed or await self._why_not(response, sent, first=attempt == 0)
            if not failed:
                asked, failed = await self._renew(request, response)
            if failed:
                self._witness.refusal = failed
                return

    async def _why_not(self, response: httpx2.Response, sent: str, *, first: bool) -> str:
        """Why nothing can be done about a refused request; empty where something can."""
        if response.status_code == httpx2.codes.FORBIDDEN:
            return self._nobody_to_ask()
        if await self._granted.reload(sent) or self._granted.access_token not in {"", sent}:
            return ""
        if first:
            self._granted.expire(sent)
        return "" if self._granted.stale else self._nobody_to_ask()

    async def _renew(self, request: httpx2.Request, refusal: httpx2.Response | None) -> tuple[bool, str]:
        """Get another token by the SDK's flow, which is told how the request fared; None if it was not sent.

        The flow would send the request itself, and let no other request pass meanwhile: it is left as soon
        as it has a token.

        Returns:
            Whether a person was asked, and why there is no token; empty where there is one.
        """
        sent = request.headers.pop(_HEADER, None)
        asked, failed = False, ""
        flow = self._sdk.async_auth_flow(request)
        async with AsyncExitStack() as until_then:
            until_then.push_async_callback(flow.aclose)
            try:
                outgoing = await anext(flow)
                while True:
                    if outgoing is not request:
                        outgoing = await flow.asend(await self._besides(outgoing))
                        continue
                    if asked or refusal is None or await self._renewed(request, sent):
                        break
                    await self._prepare(until_then)
                    asked = True
                    outgoing = await flow.asend(refusal)
            except Exception as error:  # noqa: BLE001 - a failed authorization costs this request alone
                failed = self._authority.line(error)
        if failed and asked:  # nobody is asked twice
            self._gave_up = failed
            self._sdk.context.client_info = self._before
        return asked, failed

    async def _renewed(self, request: httpx2.Request, sent: str | None) -> bool:
        """Whether there is another token than the one that was refused: from a refresh, or in the store."""
        now = request.headers.get(_HEADER)
        return now != sent if now else await self._granted.reload("")

    async def _besides(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._authority.send(request)
        if not response.is_success and b"grant_type=refresh_token" in request.content:
            self._granted.bury()
        return response

    def _attach(self, request: httpx2.Request) -> None:
        self._learn()
        if token := self._granted.access_token:
            request.headers[_HEADER] = f"Bearer {token}"

    def _learn(self) -> None:
        """What was granted is masked as what the definition holds is."""
        tokens, client = self._sdk.context.current_tokens, self._sdk.context.client_info
        values = (
            tokens and tokens.access_token,
            tokens and tokens.refresh_token,
            client and client.client_secret,
        )
        self._resolved.learn(value for value in values if value)

    def _nobody_to_ask(self) -> str:
        """Why no person can be asked; empty where one can."""
        if self._granted.problem or self._gave_up:
            return self._granted.problem or self._gave_up
        if self._oauth.interact is None:
            return f"needs authorization: run `packbelt connect {self._name}` in a terminal"
        return ""

    async def _prepare(self, until_then: AsyncExitStack) -> None:
        """Take a port for the redirect, before the client is registered with it."""
        if line := self._nobody_to_ask():
            raise NotAuthorizedError(line)
        self._redirect = await until_then.enter_async_context(listening())
        context = self._sdk.context
        context.client_metadata.redirect_uris = [AnyUrl(self._redirect.uri)]
        # Anew each time: a registration holds for its port, and may long be forgotten over there.
        self._before, context.client_info = context.client_info, None

    async def _remember(self, address: str) -> None:
        self._authority.check(httpx2.URL(address))
        self._address = address

    async def _wait(self) -> AuthorizationCodeResult:
        redirect, interact = self._redirect, self._oauth.interact
        if redirect is None or interact is None:  # `_prepare` comes before
            raise NotAuthorizedError(self._nobody_to_ask())
        with self._waiting():
            return await redirect.ask(self._name, self._address, interact, self._oauth.patience)


def _refused(response: httpx2.Response) -> bool:
    """Whether more authorization is wanted."""
    return response.status_code == httpx2.codes.UNAUTHORIZED or (
        response.status_code == httpx2.codes.FORBIDDEN
        and extract_field_from_www_auth(response, "error") == "insufficient_scope"
    )


class _Hush(logging.Filter):
    """Takes tracebacks out of the SDK's records: they end in what a token endpoint said."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = record.exc_text = None
        return True


_HUSH = _Hush()


def _hush() -> None:
    logger = logging.getLogger("mcp.client.auth.oauth2")
    logger.addFilter(_HUSH)  # twice is once
    if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
        logger.addHandler(logging.NullHandler())
