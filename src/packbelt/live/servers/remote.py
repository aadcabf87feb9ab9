"""A server over streamable HTTP: TLS or loopback, bounded times, and no redirect ever."""

import ipaddress
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2
from mcp.client.streamable_http import streamable_http_client

from packbelt.catalog.workspace import Times
from packbelt.live.secret import Secret
from packbelt.live.servers.failure import MAX_MESSAGE, CannotStartError, RedirectRefusedError, Witness
from packbelt.live.servers.posting import Posting

if TYPE_CHECKING:  # the SDK gives these types no public home
    from mcp.client._transport import TransportStreams

_NO_ANSWER = 300
_SENT_AGAIN = 4
"""Times that authorization may send a request: as it is, with another token, and when a person was asked."""


@asynccontextmanager
async def remote(
    url: Secret,
    headers: Mapping[str, Secret],
    *,
    times: Times,
    witness: Witness,
    auth: httpx2.Auth | None = None,
) -> AsyncIterator["TransportStreams"]:
    """A transport to an HTTP server.

    The SDK follows redirects within an origin whatever the client says; a hook that sees every response
    first, and a redirect budget of zero behind it, see to it that none is followed. (Where there is `auth`
    the budget counts what it sends again, so that the hook stands alone.)

    Args:
        url: the server's address.
        headers: of every request.
        times: `start` and `list` bound each step of a request.
        witness: gets what HTTP answered.
        auth: authorizes requests; see `oauth.provider`.

    Raises:
        CannotStartError: the address is neither https nor on this machine.
    """
    local = _loopback(url)

    async def look(response: httpx2.Response) -> None:
        if response.has_redirect_location:
            raise RedirectRefusedError(response.status_code, _origin(response))
        if response.request.method == "POST":
            witness.status = response.status_code if response.status_code >= _NO_ANSWER else None

    timeout = httpx2.Timeout(times.start, read=max(times.start, times.list))
    async with (
        Posting(
            witness,
            headers={name: value.reveal() for name, value in headers.items()},
            timeout=timeout,
            follow_redirects=False,
            max_redirects=0 if auth is None else _SENT_AGAIN,
            auth=auth,
            event_hooks={"response": [look]},
            # A proxy named by the environment would read plain HTTP, credentials included.
            trust_env=not local,
        ) as client,
        streamable_http_client(url.reveal(), http_client=client, max_sse_event_size=MAX_MESSAGE) as streams,
    ):
        yield streams


def _loopback(url: Secret) -> bool:
    """Whether the address is on this machine.

    Raises:
        CannotStartError: it is not, and it is not https either.
    """
    try:
        parsed = httpx2.URL(url.reveal())
    except (httpx2.InvalidURL, ValueError):
        raise CannotStartError("its `url` is no address") from None
    local = on_this_machine(parsed.host)
    if not parsed.host or not (parsed.scheme == "https" or (parsed.scheme == "http" and local)):
        raise CannotStartError("its `url` must be https, or http on this machine")
    return local


def on_this_machine(host: str) -> bool:
    """Whether a host is this machine by name; nothing is looked up."""
    host = host.strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _origin(response: httpx2.Response) -> str:
    """Scheme, host and port that a redirect leads to; path, query and user name stay out of messages."""
    try:
        target = response.request.url.join(response.headers.get("location", ""))
    except (httpx2.InvalidURL, ValueError):
        return "an address that cannot be read"
    port = f":{target.port}" if target.port else ""
    return f"{target.scheme}://{target.host}{port}"
