import pytest

from packbelt.catalog import load
from packbelt.catalog.config import parse_config
from packbelt.model import Access, Code, Exposure, Level, Permission, WorkspaceError


def refused(text: str) -> WorkspaceError:
    with pytest.raises(WorkspaceError) as caught:
        parse_config(text, "packbelt.yaml")
    assert caught.value.mend
    return caught.value


def test_an_empty_file_is_the_defaults():
    config = parse_config("", "packbelt.yaml")
    assert (config.orchestrator, config.default_tools, config.opener) == (
        "orchestrator",
        "inherit",
        "use_pack",
    )
    assert config.ceiling is Permission.EXECUTE
    assert (config.budget.server_tokens, config.budget.tool_tokens, config.budget.belt_tokens) == (
        4000,
        800,
        12000,
    )
    assert (config.times.start, config.times.list, config.times.call) == (15, 60, 60)
    assert config.skills == ("skills",)


def test_server_policies_are_merged_over_those_for_every_server():
    config = parse_config(
        """
servers:
  "*": {exposure: auto, access: handoff, owners: [mcp_agent], tools: {drop: {permission: dangerous}}}
  github:
    exposure: packed
    approve: true
    tools: {delete_repo: {permission: dangerous}, drop: {approve: true}}
""",
        "packbelt.yaml",
    )
    github = config.servers["github"]
    assert (github.exposure, github.access, github.owners) == (
        Exposure.PACKED,
        Access.HANDOFF,
        ("mcp_agent",),
    )
    assert github.approve
    assert not config.servers["*"].approve
    assert github.tools["delete_repo"].permission is Permission.DANGEROUS
    assert (github.tools["drop"].permission, github.tools["drop"].approve) == (Permission.DANGEROUS, True)
    assert set(config.servers["*"].tools) == {"drop"}
    assert github.where is not None
    assert github.where.line == 4


def test_selectors_and_keys_have_their_lines():
    config = parse_config("deny:\n  - a\n  - b/c\napprove: []\n", "packbelt.yaml")
    assert [str(s.where) for s in config.deny] == ["packbelt.yaml:2", "packbelt.yaml:3"]
    assert str(config.where("approve")) == "packbelt.yaml:4"
    assert str(config.where("budget")) == "packbelt.yaml"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("orchestrator: x\nopenr: y\n", 2, "did you mean 'opener'?"),
        ("budget:\n  server_token: 3\n", 2, "did you mean 'server_tokens'?"),
        ("servers:\n  gh:\n    tools:\n      x:\n        permision: read\n", 5, "did you mean 'permission'?"),
        ("deny:\n", 1, "write [] or remove the key"),
        ("deny: a, b\n", 1, "write [a, b]"),
        ("deny:\n  - a\n  - {b: c}\n", 3, "`deny[2]` is a mapping, not text"),
        ("deny: [1]\n", 1, "put it in quotes"),
        ("default_tools: non\n", 1, "did you mean 'none'?"),
        ("ceiling: all\n", 1, "write one of none, read, write, execute, dangerous"),
        ("times: {call: 0}\n", 1, "`times.call` is 0"),
        ("times: {call: fast}\n", 1, "a number"),
        ("budget: {tool_tokens: -1}\n", 1, "above 0"),
        ("budget: {tool_tokens: 1.5}\n", 1, "a whole number"),
        ("plugins_only: 1\n", 1, "true or false"),
        ("- a\n", 1, "not a mapping"),
        ("opener: find_tools\n", 1, "another tool"),
        ("opener: mcp__x\n", 1, "belong to servers' tools"),
        ("opener:\n", 1, "give it a value or remove the key"),
        ("orchestrator: ''\n", 1, "is empty"),
        ("orchestrator: a/b\n", 1, "'a/b'"),
        ("skills: [../elsewhere]\n", 1, "outside the workspace"),
        ("skills: [/etc]\n", 1, "outside the workspace"),
        ("servers: {gh: {exposure: sometimes}}\n", 1, "`servers.gh.exposure`"),
    ],
)
def test_what_packbelt_yaml_refuses(text, line, words):
    error = refused(text)
    assert error.where is not None
    assert error.where.line == line
    assert words in str(error)


PACK = "id: p\ntools:\n  - listed\n  - name: known\n    description: D.\n"
MCP = '{"mcpServers": {"github": {"command": "gh"}, "broken": {"type": "sse", "url": "https://x"}}}'
AGENT = "---\nname: a\ndescription: D.\nmcp_servers: [{db: {command: db}}]\n---\n"


@pytest.mark.parametrize(
    "entry",
    [
        *("known", "listed", "kno*", "*", "*/*", "*/delete_*", "pack:p", "pack:mcp:github", "delegate_to_a"),
        *("github/*", "github/x", "github/delete_*", "broken/*", "db/query", "a.db/query", "policy/*"),
    ],
)
def test_a_deny_that_can_match_stands(write, entry):
    policy = "servers: {policy: {}}\n"
    root = write(
        {
            "packbelt.yaml": f"{policy}deny: ['{entry}']\napprove: ['{entry}']\n",
            "packs/p.yaml": PACK,
            ".mcp.json": MCP,
            "prompts/agents/a.md": AGENT,
        }
    )
    assert load(root).config.deny[0].text == entry


@pytest.mark.parametrize("key", ["deny", "approve"])
@pytest.mark.parametrize(
    ("entry", "mend"),
    [
        ("knwon", "did you mean 'known'?"),
        ("zzz*", "name a tool"),
        ("githb/x", "did you mean 'github'?"),
        ("pack:q", "p"),
        ("pack:mcp:githb", "did you mean 'github'?"),
        ("github", "write github/*"),
        ("mcp__github__x", "write server/tool"),
        ("known, listed", "write [known, listed]"),
        ("", "write a selector"),
        (" known", "write a selector"),
    ],
)
def test_a_deny_that_nothing_answers_to_fails_the_load(write, key, entry, mend):
    root = write({"packbelt.yaml": f"{key}:\n  - '{entry}'\n", "packs/p.yaml": PACK, ".mcp.json": MCP})
    with pytest.raises(WorkspaceError) as caught:
        load(root)
    assert str(caught.value.where) == "packbelt.yaml:2"
    assert mend in str(caught.value)


def test_a_deny_of_a_server_stands_while_nobody_can_read_which_servers_there_are(write):
    root = write({"packbelt.yaml": "deny: [github/*]\n", ".mcp.json": "{"})
    assert load(root).config.deny[0].text == "github/*"


def test_the_other_ending_is_refused_and_not_silently_ignored(write):
    root = write({"packbelt.yml": "ceiling: read\n", "packbelt.yaml": ""})
    with pytest.raises(WorkspaceError, match=r"packbelt.yml: this name is not read; rename it"):
        load(root)


def test_a_root_that_is_named_and_has_no_file_is_an_error_where_other_agents_have_one(write):
    lead = "---\nname: lead\ndescription: Leads.\ntools: []\n---\nLead.\n"
    root = write({"packbelt.yaml": "orchestrator: leed\n", "prompts/agents/lead.md": lead})
    (found,) = load(root).diagnostics
    assert (found.code, found.level, str(found.where)) == (
        Code.ROOT_UNKNOWN,
        Level.ERROR,
        "packbelt.yaml:1",
    )
    assert "'lead'" in found.mend


def test_a_root_that_is_named_is_implied_where_no_agent_has_a_file(write):
    assert load(write({"packbelt.yaml": "orchestrator: boss\n"})).diagnostics == ()


@pytest.mark.parametrize("key", ["deny", "approve"])
@pytest.mark.parametrize(
    ("entry", "words"), [("/log", "names no server"), ("git/", "names no tool"), ("*/", "names no tool")]
)
def test_a_selector_without_its_server_or_tool_is_an_error(write, key, entry, words):
    mcp = '{"mcpServers": {"git": {"command": "x"}}}'
    with pytest.raises(WorkspaceError, match=words):
        load(write({".mcp.json": mcp, "packbelt.yaml": f'{key}: ["{entry}"]\n'}))


def test_how_many_calls_a_server_gets_at_a_time(write):
    config = "servers:\n  '*': {concurrency: 4}\n  one: {access: owners}\n  db: {concurrency: 1}\n"
    workspace = load(write({"packbelt.yaml": config, ".mcp.json": MCP, "prompts/agents/a.md": AGENT}))
    said = {name: workspace.policy(name).concurrency for name in ("*", "one", "db", "a.db", "github")}
    assert said == {"*": 4, "one": 4, "db": 1, "a.db": 1, "github": 4}
    assert parse_config("servers: {one: {}}\n", "packbelt.yaml").servers["one"].concurrency == 8
    assert load(write({"packbelt.yaml": ""})).policy("github").concurrency == 8


@pytest.mark.parametrize("number", ["0", "257", "-1", "1.5", "true", '"8"', "many"])
def test_a_number_of_calls_is_a_whole_one_from_1_to_256(number):
    error = refused(f"servers:\n  gh:\n    concurrency: {number}\n")
    assert error.where is not None
    assert error.where.line == 3
    assert "servers.gh.concurrency" in str(error)
    for good in (1, 256):
        text = f"servers: {{gh: {{concurrency: {good}}}}}\n"
        assert parse_config(text, "packbelt.yaml").servers["gh"].concurrency == good
