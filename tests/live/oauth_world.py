"""A protected MCP server and the authorization server it names, on two ports, over real HTTP.

Both are the official SDK's server side. Every secret that is handed out begins with `canary-`.
"""

import contextlib
import itertools
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from urllib.parse import parse_qs, urlsplit

import anyio
import uvicorn
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken
from starlette.applications import Starlette


class Granting:
    """Grants to everybody, in memory."""

    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}
        self.secrets = []
        self.numbers = itertools.count()
        self.declines = False
        self.client_secret = None
        self.scopes = None
        self.expires_in = 3600

    def secret(self, kind):
        self.secrets.append(f"canary-{kind}-{next(self.numbers)}")
        return self.secrets[-1]

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client):
        if self.client_secret:
            client.token_endpoint_auth_method = "client_secret_post"
            client.client_secret = self.client_secret
        self.clients[client.client_id] = client

    async def authorize(self, client, params):
        back = f"{params.redirect_uri}?state={params.state}"
        if self.declines:
            return f"{back}&error=access_denied"
        code = AuthorizationCode(
            code=self.secret("code"),
            client_id=client.client_id,
            expires_at=time.time() + 60,
            **params.model_dump(exclude={"state", "scopes"}),
            scopes=(params.scopes or []) if self.scopes is None else self.scopes,
        )
        self.codes[code.code] = code
        return f"{back}&code={code.code}"

    async def load_authorization_code(self, _client, code):
        return self.codes.get(code)

    async def exchange_authorization_code(self, client, code):
        del self.codes[code.code]
        return self.tokens(client, code.scopes)

    async def load_refresh_token(self, _client, token):
        return self.refresh.get(token)

    async def exchange_refresh_token(self, client, token, scopes):
        del self.refresh[token.token]
        return self.tokens(client, scopes)

    def tokens(self, client, scopes):
        access, refresh = self.secret("access"), self.secret("refresh")
        self.access[access] = AccessToken(token=access, client_id=client.client_id, scopes=scopes)
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes)
        return OAuthToken(
            access_token=access, refresh_token=refresh, expires_in=self.expires_in, scope=" ".join(scopes)
        )

    async def verify_token(self, token):
        return self.access.get(token)

    load_access_token = verify_token

    async def revoke_token(self, token):
        raise NotImplementedError


class Recorder:
    """Notes each request of an application, and may answer it instead."""

    def __init__(self, app):
        self.app, self.seen, self.bodies, self.headers, self.instead = app, [], [], [], {}

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        self.seen.append(scope["path"])
        self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        if forced := self.instead.get(scope["path"]):
            status, headers, *body = forced
            raw = [(name.encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": status, "headers": raw})
            return await send({"type": "http.response.body", "body": b"".join(body)})

        async def noting():
            message = await receive()
            self.bodies.append(message.get("body", b"").decode())
            return message

        return await self.app(scope, noting, send)


class World:
    """The two servers. `asked` holds the addresses that a person was shown."""

    def __init__(self, granting, authority, server, url):
        self.granting, self.authority, self.server, self.url = granting, authority, server, url
        self.asked = []

    def approve(self, _server, address):
        """What a person does: the address is opened, and the redirect followed."""
        self.asked.append(address)
        return opened(address)

    def secrets(self):
        """Everything that was secret: codes, tokens, verifiers, states, the client's secret."""
        forms = [parse_qs(body) for body in self.authority.bodies]
        verifiers = [value for form in forms for value in form.get("code_verifier", ())]
        states = [parse_qs(urlsplit(address).query)["state"][0] for address in self.asked]
        own = [self.granting.client_secret] if self.granting.client_secret else []
        return [*self.granting.secrets, *verifiers, *states, *own]


def opened(address):
    """Status and text at an address, redirects followed."""
    try:
        with urllib.request.urlopen(address, timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@contextlib.contextmanager
def world(scopes=None, path="/mcp"):
    granting = Granting()
    with listening() as (authority_socket, issuer), listening() as (server_socket, base):
        settings = AuthSettings(
            issuer_url=issuer,
            resource_server_url=f"{base}{path}",
            required_scopes=scopes,
            validate_token_resource=False,
        )
        routes = create_auth_routes(
            granting,
            issuer_url=settings.issuer_url,
            client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=scopes),
        )
        server = MCPServer("protected", token_verifier=granting, auth=settings)
        inside = Counter()

        @server.tool()
        async def together(count: int) -> int:
            """Waits until so many calls are inside at once."""
            return await inside.together(count)

        authority = Recorder(Starlette(routes=routes))
        protected = Recorder(server.streamable_http_app(streamable_http_path=path, json_response=True))
        with serving(authority, authority_socket), serving(protected, server_socket):
            yield World(granting, authority, protected, f"{base}{path}")


class Counter:
    def __init__(self):
        self.count = 0

    async def together(self, count):
        self.count += 1
        with anyio.fail_after(20):
            while self.count < count:
                await anyio.sleep(0.01)
        return self.count


@contextlib.contextmanager
def listening():
    with socket.create_server(("127.0.0.1", 0)) as bound:
        yield bound, f"http://127.0.0.1:{bound.getsockname()[1]}"


@contextlib.contextmanager
def serving(app, bound):
    config = uvicorn.Config(
        app, log_config=None, log_level="critical", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.005)
        yield
    finally:
        server.should_exit = True
        thread.join()


def entries(file):
    """What a token file holds."""
    return list(json.loads(file.read_text())["grants"].values())
