"""One server's grant: as the SDK's OAuth context has it in memory, and as the store keeps it."""

import logging
import time
from typing import TYPE_CHECKING

import anyio.to_thread
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from packbelt.live.servers.tokens import Account, Grant, TokenError, TokenStore

if TYPE_CHECKING:
    from mcp.client.auth.oauth2 import OAuthContext

_LONG_AGO = 1.0
_logger = logging.getLogger(__name__)


class Granted:
    """The SDK's token storage for one server.

    The SDK itself keeps neither when a token expires nor where it is refreshed, and takes what it reads from
    a storage for fresh. So `load` puts the whole grant into its context, and what the SDK asks its storage
    for afterwards is what the context has already.

    Attributes:
        context: the SDK's; set once, before anything else.
        problem: why the store cannot be used, in one line; empty where it can.
    """

    context: "OAuthContext"

    def __init__(self, store: TokenStore, account: Account) -> None:
        self.problem = ""
        self._store = store
        self._account = account
        self._loaded = False
        self._dead: set[str] = set()

    @property
    def access_token(self) -> str:
        """The access token, fresh or not; empty where there is none."""
        tokens = self.context.current_tokens
        return tokens.access_token if tokens else ""

    @property
    def stale(self) -> bool:
        """Whether the access token has expired and can be refreshed."""
        return self.context.can_refresh_token() and not self.context.is_token_valid()

    async def load(self) -> None:
        """Take what is kept, once; before a refresh again, since another process may have been faster."""
        if not self._loaded or self.stale:
            self._loaded = True
            await self.reload(self.access_token)

    async def reload(self, sent: str) -> bool:
        """Take what is kept if its access token is another than the one that was sent; whether it was."""
        self.problem = ""
        try:
            grant = await anyio.to_thread.run_sync(self._store.get, self._account)
        except TokenError as error:
            self.problem = str(error)
            return False
        if grant is None or grant.tokens.access_token in {sent, *self._dead}:
            return False
        context = self.context
        context.current_tokens, context.token_expiry_time = grant.tokens, grant.expires_at
        context.client_info, context.oauth_metadata = grant.client, grant.metadata
        context.protected_resource_metadata = grant.resource
        if grant.resource is not None:
            context.auth_server_url = str(grant.resource.authorization_servers[0])
        return True

    def expire(self, sent: str) -> None:
        """The server refused this access token, whatever was said of its time."""
        if self.access_token == sent:
            self.context.token_expiry_time = _LONG_AGO

    def bury(self) -> None:
        """The authorization server refused to refresh this grant: do not try it again."""
        self._dead.add(self.access_token)

    async def get_tokens(self) -> OAuthToken | None:
        """What the context has."""
        return self.context.current_tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """What the context has."""
        return self.context.client_info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Nothing yet: a registration is kept with the tokens that were granted to it, or not at all."""

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the grant. Where it cannot be kept it holds for this connection, and a warning says so."""
        context = self.context
        grant = Grant(
            tokens=tokens,
            expires_at=None if tokens.expires_in is None else time.time() + tokens.expires_in,
            client=context.client_info,
            metadata=context.oauth_metadata,
            resource=context.protected_resource_metadata,
        )
        try:
            await anyio.to_thread.run_sync(self._store.put, self._account, grant)
        except TokenError as error:
            _logger.warning("server %r is authorized for now alone: %s", self._account.server, error)
