"""The MCP registry's HTTP API, version 0.1: its list of servers, and one of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import anyio
import httpx2

from packbelt.toolkits.limits import ToolkitError

_SECONDS = 30.0
_MAX_ANSWER = 8 << 20


@dataclass(frozen=True, slots=True)
class RegistryApi:
    """One registry.

    Args:
        url: its address, without the API's version.
    """

    url: str

    async def search(self, query: str, limit: int, cursor: str | None) -> tuple[list[dict[str, Any]], str]:
        """The latest versions of servers whose name holds the query, and where the next page begins."""
        given = {"search": query, "limit": str(limit), "version": "latest"}
        page = await self._get("/v0.1/servers", given | ({"cursor": cursor} if cursor else {}))
        rows = page.get("servers")
        servers = (
            [each.get("server") for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
        )
        more = page.get("metadata")
        following = more.get("nextCursor") if isinstance(more, dict) else None
        return [each for each in servers if isinstance(each, dict)], str(following or "")

    async def get(self, name: str, version: str) -> tuple[dict[str, Any], str]:
        """One server's `server.json`, and its address in the registry.

        Raises:
            ToolkitError: the registry has none, or answers with another one.
        """
        path = f"/v0.1/servers/{quote(name, safe='')}/versions/"
        answer = await self._get(path + quote(version, safe=""), {})
        server = answer.get("server")
        if not isinstance(server, dict) or server.get("name") != name:
            raise ToolkitError(f"the registry's answer is no entry of {name!r}")
        return server, self.url.rstrip("/") + path + quote(str(server.get("version", version)), safe="")

    async def _get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        url = self.url.rstrip("/") + path
        body = bytearray()
        try:
            with anyio.fail_after(_SECONDS):
                async with (
                    httpx2.AsyncClient(follow_redirects=False) as client,
                    client.stream("GET", url, params=dict(query)) as response,
                ):
                    if response.status_code == httpx2.codes.NOT_FOUND:
                        raise ToolkitError("the registry has no such server", mend="search for its name")
                    if response.status_code != httpx2.codes.OK:
                        raise ToolkitError(f"the registry answers {response.status_code}")
                    async for data in response.aiter_bytes():
                        body += data
                        if len(body) > _MAX_ANSWER:
                            raise ToolkitError(f"the registry's answer has more than {_MAX_ANSWER:,} bytes")
            answer = json.loads(body)
        except TimeoutError:
            raise ToolkitError(f"the registry did not answer within {_SECONDS:g} seconds") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise ToolkitError(f"the registry cannot be reached: {error or type(error).__name__}") from None
        except (ValueError, RecursionError):
            raise ToolkitError("the registry's answer is no JSON") from None
        if not isinstance(answer, dict):
            raise ToolkitError("the registry's answer is no object")
        return answer
