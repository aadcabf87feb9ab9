"""docs/how-to: each client's page has an entry in that client's own form, which starts the gateway."""

import json
import tomllib

import pytest
import yaml
from pages import ROOT, fences, parses

CLIENTS = ("claude-code", "claude-desktop", "codex", "cursor", "gemini-cli", "opencode", "vs-code")
KEYS = {"vs-code": "servers", "opencode": "mcp", "codex": "mcp_servers"}


def entry(client):
    """The gateway's entry in the first example of a client's page: command, arguments, environment."""
    kind, _, text = fences(ROOT / f"docs/how-to/{client}.md")[0]
    data = tomllib.loads(text) if kind == "toml" else json.loads(text)
    one = data[KEYS.get(client, "mcpServers")]["belt"]
    command, *args = one["command"] if isinstance(one["command"], list) else [one["command"], *one["args"]]
    return command, args, one.get("env") or one.get("environment")


@pytest.mark.parametrize("client", CLIENTS)
def test_an_entry_starts_the_gateway_for_one_agent_under_its_name(client):
    command, args, env = entry(client)
    context = parses(args)
    assert command == "packbelt"
    assert context.command.name == "serve"
    assert context.params["known_as"] == "belt"
    assert context.params["agents"] == ("orchestrator",)
    directory = args[args.index("-w") + 1]
    assert env["PACKBELT_TRUST"].endswith(directory.removeprefix("/"))


def test_every_page_of_a_client_stands_in_the_index_and_no_other():
    pages = {path.stem for path in (ROOT / "docs/how-to").glob("*.md")}
    examples = {path.name for path in (ROOT / "docs/examples").iterdir()} - {"ci", "first-workspace"}
    assert pages == {*CLIENTS, *examples}
    index = (ROOT / "docs/index.md").read_text()
    assert all(f"how-to/{page}\n" in index for page in pages)


def test_the_sub_agents_file_starts_the_gateway_too():
    (text,) = (text for kind, _, text in fences(ROOT / "docs/how-to/claude-code.md") if kind == "yaml")
    (server,) = yaml.safe_load(text.split("---\n")[1])["mcpServers"]
    assert parses(server["belt"]["args"]).params["agents"] == ("researcher",)
