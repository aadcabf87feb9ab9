import pytest

from packbelt.catalog import load
from packbelt.catalog.agents import parse_agent
from packbelt.catalog.drafts import Draft
from packbelt.model import Code, Level, Origin, Permission, WorkspaceError

FULL = """\
---
name: mcp_agent
description: Answers with the tools of the servers.
handoff: use_mcp_server
tools: ["pack:integrations", "*/*", read_file]
disallowed_tools: ["github/delete_*"]
delegates: [helper]
mcp_servers:
  - github
  - scratch: {type: stdio, command: db-mcp, args: [serve], env: {DB_URL: "${DB_URL}"}, required: true}
inherit_mcp_servers: [github]
skills: [pdf]
permission: dangerous
ceiling: write
---
Answer. {{ sections.routing }} {not a placeholder}
"""


def parse(text: str) -> Draft:
    return parse_agent(text, "prompts/agents/a.md", "a", Origin.PROJECT)


def front(lines: str) -> str:
    return f"---\nname: a\ndescription: D.\n{lines}\n---\nBody\n"


def test_an_agent_in_full():
    draft = parse(FULL)
    agent = draft.agent
    assert (agent.name, agent.handoff) == ("mcp_agent", "use_mcp_server")
    assert [(s.text, s.lenient) for s in agent.tools or ()] == [
        ("pack:integrations", False),
        ("*/*", False),
        ("read_file", False),
    ]
    assert [s.text for s in agent.disallowed_tools] == ["github/delete_*"]
    assert (agent.delegates, agent.mcp_servers, agent.inline) == (
        ("helper",),
        ("github",),
        ("mcp_agent.scratch",),
    )
    assert (agent.inherit_mcp_servers, agent.skills) == (("github",), ("pdf",))
    assert (agent.permission, agent.ceiling) == (Permission.DANGEROUS, Permission.WRITE)
    assert agent.is_template
    assert agent.body == "Answer. {{ sections.routing }} {not a placeholder}"
    assert (str(agent.where("tools")), agent.lines["body"]) == ("prompts/agents/a.md:5", 16)
    spec = draft.inline["mcp_agent.scratch"]
    assert (spec.owner, spec.short_name, spec.required) == ("mcp_agent", "scratch", True)
    assert spec.env == {"DB_URL": "${DB_URL}"}


def test_what_is_left_out_takes_its_default():
    agent = parse("---\ndescription: D.\n---\n").agent
    assert (agent.name, agent.handoff, agent.delegates) == ("a", "delegate_to_a", ())
    assert agent.tools is None
    assert (agent.permission, agent.ceiling) == (Permission.EXECUTE, None)
    assert (agent.inherit_mcp_servers, agent.skills) == (True, None)


def test_absent_and_empty_tools_are_two_things():
    assert parse(front("color_less: 1").replace("color_less: 1\n", "")).agent.tools is None
    assert parse(front("tools: []")).agent.tools == ()


@pytest.mark.parametrize("key", ["tools", "disallowed_tools", "delegates", "mcp_servers", "skills"])
def test_fm06_null_lists_are_errors(key):
    with pytest.raises(WorkspaceError, match=rf"a\.md:4: .*{key}.*write \[\] or remove the key"):
        parse(front(f"{key}:"))


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ("tool: [x]", 4, "did you mean 'tools'?"),
        ("disallowedTools: [x]", 4, "did you mean 'disallowed_tools'?"),
        ("origin: user", 4, "where a file was found is its origin"),
        ("tools: 'a, b'", 4, "write [a, b]"),
        ('tools:\n  - "*": false\n  - read', 5, "`tools[1]` is a mapping, not text"),
        ("handoff: a b", 4, "1 to 64"),
        ("handoff: mcp__x", 4, "belong to servers"),
        ("delegates: ['*', b]", 4, 'write delegates: "*"'),
        ("delegates: b", 4, "write [b]"),
        ("inherit_mcp_servers: some", 4, "write true, false or a list"),
        ("mcp_servers: github", 4, "write [github]"),
        ("mcp_servers: [a, a]", 4, "stands twice"),
        ("mcp_servers: [{a: {command: x}, b: {command: y}}]", 4, "one name with its definition"),
        ("mcp_servers: [{a: {type: sse, url: 'https://x'}}]", 4, "sse"),
        ("permission: exec", 4, "did you mean 'execute'?"),
        ("tools: [a]\ntools: [b]", 5, "stands twice"),
    ],
)
def test_what_an_agent_refuses(lines, line, words):
    with pytest.raises(WorkspaceError) as caught:
        parse(front(lines))
    assert caught.value.where is not None
    assert (caught.value.where.line, bool(caught.value.mend)) == (line, True)
    assert words in str(caught.value)


def test_fm13_unknown_keys_of_nested_servers_are_errors():
    with pytest.raises(WorkspaceError, match=r"a\.md:7: server 'db' has the unknown key `environment`"):
        parse(front("mcp_servers:\n  - db:\n      command: x\n      environment: {A: b}"))


def test_names_of_two_hundred_characters_are_refused():
    with pytest.raises(WorkspaceError, match="1 to 64"):
        parse(f"---\nname: {'n' * 200}\ndescription: D.\n---\n")


def load_agents(write, **files):
    names = {f"prompts/agents/{name}.md": text for name, text in files.items()}
    return load(
        write(
            {"packs/p.yaml": "tools: [x]\n", ".mcp.json": '{"mcpServers": {"gh": {"command": "g"}}}', **names}
        )
    )


def test_fm01_one_broken_file_costs_one_agent(write):
    good = {name: f"---\nname: {name}\ndescription: D.\n---\n" for name in "bcde"}
    broken = "---\nname: tester\nhandoff: run_tests\ndescription: Use when: tests fail\n---\n"
    workspace = load_agents(write, a=broken, **good)
    assert set(workspace.agents) == {"orchestrator", "b", "c", "d", "e"}
    (diagnostic,) = workspace.diagnostics
    assert (diagnostic.level, diagnostic.code) == (Level.ERROR, Code.AGENT_BROKEN)
    assert str(diagnostic.where) == "prompts/agents/a.md:4"
    assert "tester" in str(diagnostic)
    assert workspace.broken["tester"].handoff == "run_tests"
    assert "run_tests" in {tool.name for tool in workspace.tools}, "its hand-off keeps its name"


def test_fm02_broken_front_matter_never_falls_back_to_default_tools(write):
    text = "---\nname: a\ndescription: D.\ntools: {bash: false}\nx: [\n---\nBody\n"
    workspace = load_agents(write, a=text)
    assert "a" in workspace.broken
    assert "a" not in workspace.agents


def test_fm23_an_agent_without_a_description_is_named_with_the_key(write):
    workspace = load_agents(write, a="---\nname: a\n---\n")
    (diagnostic,) = workspace.diagnostics
    assert "`description` is missing" in diagnostic.message
    assert str(diagnostic.where).startswith("prompts/agents/a.md:")


def test_front_matter_without_an_end_is_a_diagnostic(write):
    workspace = load_agents(write, a="---\nname: z\ndescription: D.\n\nBody\n")
    assert set(workspace.broken) == {"z"}
    assert str(workspace.diagnostics[0].where) == "prompts/agents/a.md:1"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("gh/delete_*", "only deny lists"),
        ("read_*", "only deny lists"),
        ("*/search", "only deny lists"),
        ("unknown/delete_*", "only deny lists"),
        ("pack:q", "names no pack"),
        ("gh", "write gh/*"),
        ("x, y", "write [x, y]"),
        ("mcp__gh__search", "write server/tool"),
        ("", "write a selector"),
    ],
)
def test_entries_of_tools_that_break_the_agent(write, entry, words):
    workspace = load_agents(write, a=front(f"tools:\n  - '{entry}'"))
    assert set(workspace.broken) == {"a"}
    (diagnostic,) = workspace.diagnostics
    assert str(diagnostic.where) == "prompts/agents/a.md:5"
    assert words in str(diagnostic)


def test_fm22_a_quoted_star_is_everything_and_a_bare_one_is_an_error(write):
    assert [s.text for s in load_agents(write, a=front('tools: ["*"]')).agents["a"].tools or ()] == ["*"]
    assert "a" in load_agents(write, a=front("tools: *")).broken


def test_disallowed_tools_takes_globs_and_refuses_unknown_packs(write):
    workspace = load_agents(
        write,
        a=front("disallowed_tools: [gh/delete_*, 'read_*']"),
        b=front("disallowed_tools: ['pack:q']").replace(": a", ": b"),
    )
    assert "a" in workspace.agents
    assert "b" in workspace.broken


def test_a_reference_to_a_server_that_is_not_configured_is_skipped_with_a_warning(write):
    workspace = load_agents(write, a=front("mcp_servers: [gh, slack]"))
    (diagnostic,) = workspace.diagnostics
    assert (diagnostic.code, diagnostic.level, diagnostic.name) == (
        Code.SERVER_UNKNOWN,
        Level.WARNING,
        "slack",
    )
    assert workspace.agents["a"].mcp_servers == ("gh", "slack")


def test_an_inline_server_with_the_full_name_of_a_shared_one(write):
    root = write(
        {
            ".mcp.json": '{"mcpServers": {"a.db": {"command": "x"}}}',
            "prompts/agents/a.md": front("mcp_servers: [{db: {command: y}}]"),
        }
    )
    with pytest.raises(WorkspaceError, match=r"prompts/agents/a\.md:4: two servers are called 'a\.db'"):
        load(root)


def test_a_read_me_beside_agents_is_no_agent(write):
    root = "---\nname: orchestrator\ndescription: D.\n---\n"
    workspace = load_agents(write, README="# Agents\n", notes="no front matter\n", orchestrator=root)
    assert set(workspace.broken) == {"notes"}
