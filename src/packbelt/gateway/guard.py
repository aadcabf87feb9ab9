"""Who may come in over HTTP: each request is looked at before a single byte of it is understood."""

from collections.abc import Mapping
from urllib.parse import quote

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from packbelt.gateway.tokens import Tokens

AGENTS = "/agents/"
HEALTH = "/health"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_BEARER = "bearer"


def path_of(agent: str) -> str:
    """The path of an agent."""
    return AGENTS + quote(agent, safe="")


def allowed(hosts: tuple[str, ...]) -> TransportSecuritySettings:
    """What `Host` and `Origin` may say: these names, and this machine's own, on any port."""
    names = (*LOOPBACK, *hosts)
    return TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            form
            for scheme in ("http", "https")
            for name in names
            for form in (f"{scheme}://{name}", f"{scheme}://{name}:*")
        ],
    )


class Guard:
    """The gateway's door: health, `Host` and `Origin`, the token, and only then the agent's own server.

    A token opens its agent's path. On every other path it is answered with 403, whether there is such an
    agent or not; without one, or with nobody's, it is 401.

    Args:
        servers: an application for each agent.
        tokens: whose token opens what.
        settings: which hosts and origins are answered.
    """

    def __init__(
        self, servers: Mapping[str, ASGIApp], tokens: Tokens, settings: TransportSecuritySettings
    ) -> None:
        self._servers = servers
        self._tokens = tokens
        self._security = TransportSecurityMiddleware(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if scope["path"] == HEALTH:
            await JSONResponse({"status": "ok"})(scope, receive, send)
            return
        refusal = (
            await self._security.validate_request(Request(scope)) or self._refusal(scope) or _only_post(scope)
        )
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._servers[scope["path"].removeprefix(AGENTS)](scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        presented = _presented(Headers(scope=scope))
        owner = self._tokens.owner(presented) if presented else None
        if owner is None:
            error = ', error="invalid_token"' if presented else ""
            headers = {"WWW-Authenticate": f'Bearer realm="packbelt"{error}'}
            return PlainTextResponse("this needs an agent's bearer token\n", 401, headers)
        if scope["path"] != AGENTS + owner:
            return PlainTextResponse("this token is for another path\n", 403)
        if owner not in self._servers:
            return PlainTextResponse("this agent is not served\n", 404)
        return None


def _only_post(scope: Scope) -> Response | None:
    """There is no session to end and no stream to wait on."""
    if scope["method"] == "POST":
        return None
    return PlainTextResponse("only POST is answered here\n", 405, {"Allow": "POST"})


def _presented(headers: Headers) -> str:
    """The bearer token of a request; empty without one, and where there are several."""
    given = headers.getlist("authorization")
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == _BEARER else ""
