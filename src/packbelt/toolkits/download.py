"""A file from an address, bounded in size and time."""

import hashlib
from pathlib import Path

import anyio
import httpx2

from packbelt.toolkits.limits import Limits, ToolkitError

_REDIRECTS = 5


async def download(url: str, out: Path, limits: Limits, *, strict_tls: bool) -> str:
    """Fetch a file.

    Args:
        url: its address.
        out: where it goes; must not exist.
        limits: how large it may be, and how long it may take.
        strict_tls: whether every address on the way has to be an https one.

    Returns:
        Its SHA-256, in hexadecimal.

    Raises:
        ToolkitError: it cannot be fetched, or is too large.
    """

    async def check(request: httpx2.Request) -> None:
        if strict_tls and request.url.scheme != "https":
            raise ToolkitError(f"it leads to {request.url.host!r} without encryption")

    digest = hashlib.sha256()
    try:
        with anyio.fail_after(limits.seconds):
            async with (
                httpx2.AsyncClient(
                    follow_redirects=True, max_redirects=_REDIRECTS, event_hooks={"request": [check]}
                ) as client,
                client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as response,
                await anyio.open_file(out, "xb") as file,
            ):
                if response.status_code != httpx2.codes.OK:
                    raise ToolkitError(f"{url} answers {response.status_code}")
                size = 0
                async for data in response.aiter_raw():
                    size += len(data)
                    if size > limits.source_bytes:
                        raise ToolkitError(f"{url} has more than {limits.source_bytes:,} bytes")
                    digest.update(data)
                    await file.write(data)
    except TimeoutError:
        raise ToolkitError(f"{url} did not arrive within {limits.seconds:g} seconds") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise ToolkitError(f"{url} cannot be fetched: {error or type(error).__name__}") from None
    return digest.hexdigest()
