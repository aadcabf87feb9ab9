"""`--as NAME`: names on the wire stay, and every text names what the client shows."""

import pytest
from gateway_helpers import MODES, names, run, stdio, text_of

from packbelt.gateway.spelling import SpellingError, spelling


@pytest.mark.parametrize("mode", MODES)
@run
async def test_texts_name_what_the_client_shows(home, mode):
    async with stdio(home, mode=mode) as plain, stdio(home, "--as", "belt", mode=mode) as client:
        assert await names(client) == await names(plain)
        assert "`mcp__belt__use_pack` with pack `mcp:boxed`" in client.instructions
        (message,) = (await client.get_prompt("lead")).messages
        assert "`mcp__belt__use_pack`" in message.content.text
        listing = text_of(await client.call_tool("use_pack", {"pack": "mcp:boxed"}))
        assert 'mcp__belt__use_pack(pack="mcp:boxed"' in listing
        hint = text_of(await client.call_tool("mcp__main__ekko", {}))
        assert "mcp__belt__mcp__main__echo" in hint
        call = {
            "pack": "mcp:boxed",
            "tool": "mcp__belt__mcp__boxed__echo",
            "arguments": {"text": "either form"},
        }
        assert text_of(await client.call_tool("use_pack", call)) == "either form"
        call["tool"] = "mcp__boxed__echo"
        assert text_of(await client.call_tool("use_pack", call)) == "either form"


def test_a_name_that_clients_would_replace_is_refused():
    assert spelling("my-belt_1")("use_pack") == "mcp__my-belt_1__use_pack"
    assert spelling(None)("use_pack") == "use_pack"
    for name in ("my belt", "", "a.b", "x" * 65, "naïve"):
        with pytest.raises(SpellingError, match="use letters, digits"):
            spelling(name)
