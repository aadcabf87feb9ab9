"""What a hand-off's description says of the servers of the agent that it leads to."""

import pytest
from hypothesis import given

from packbelt.belt import Scope
from packbelt.catalog.inherited import LISTED
from packbelt.catalog.load import load
from packbelt.catalog.registry import pick
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.tokens import count
from packbelt.model.text import harmless
from packbelt.testing import agent, make_belt, make_snapshot, make_workspace, policy
from packbelt.testing.strategies import worlds

SERVERS = ["crm", "github", "jira", "mail", "wiki"]


def said(policies=None, *, servers=SERVERS, default_tools="inherit", deny=(), ceiling="execute", **keys):
    """What follows the agent's own description in that of the hand-off to it."""
    one = agent("worker", description="Does it.", **keys)
    owner = agent("boss")
    workspace = make_workspace(
        agents=[one, owner],
        servers=servers,
        policies=policies,
        default_tools=default_tools,
        deny=deny,
        ceiling=ceiling,
    )
    (tool,) = [tool for tool in workspace.tools if tool.target == "worker"]
    assert tool.description.startswith("Does it.")
    assert f'"description":"{tool.description}"' in tool.line
    return tool.description.removeprefix("Does it.").strip()


YOURS = "Has your MCP servers."


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({}, YOURS),
        ({"tools": ["*"]}, YOURS),
        ({"tools": ["*/*"]}, YOURS),
        ({"inherit_mcp_servers": False}, ""),
        ({"inherit_mcp_servers": []}, ""),
        ({"inherit_mcp_servers": ["github"]}, "Has your MCP server github."),
        ({"inherit_mcp_servers": ["jira", "github"]}, "Has your MCP servers jira and github."),
        ({"inherit_mcp_servers": ["github", "unheard_of"]}, "Has your MCP server github."),
        ({"inherit_mcp_servers": SERVERS}, "Has your MCP servers crm, github, jira and 2 more."),
        ({"mcp_servers": ["github"]}, "Has your MCP servers, and github of its own."),
        ({"inline": ["db"]}, "Has your MCP servers, and db of its own."),
        ({"inline": ["db"], "mcp_servers": ["crm"]}, "Has your MCP servers, and db and crm of its own."),
        ({"inline": ["db"], "inherit_mcp_servers": False}, "Has MCP server db of its own."),
        (
            {"inline": ["db"], "mcp_servers": ["crm"], "inherit_mcp_servers": ["crm", "wiki"]},
            "Has your MCP server wiki, and db and crm of its own.",
        ),
        ({"mcp_servers": ["unheard_of"], "inherit_mcp_servers": False}, ""),
        # what `tools` grants
        ({"tools": []}, ""),
        ({"tools": ["read_file", "pack:files"]}, ""),
        ({"tools": [], "mcp_servers": ["crm"], "inline": ["db"]}, ""),
        ({"tools": ["github/*"]}, "Has your MCP server github."),
        ({"tools": ["github/search", "read_file"]}, "Has your MCP server github."),
        ({"tools": ["pack:mcp:github", "wiki/*"]}, "Has your MCP servers github and wiki."),
        ({"tools": ["github/*"], "inherit_mcp_servers": ["wiki"]}, ""),
        ({"tools": ["db/*"], "inline": ["db"], "mcp_servers": ["crm"]}, "Has MCP server db of its own."),
        # what its own denies leave
        ({"disallowed_tools": ["*/*"]}, ""),
        ({"disallowed_tools": ["*"]}, ""),
        ({"disallowed_tools": ["github/*"]}, "Has your MCP servers except github."),
        ({"disallowed_tools": ["github/delete_*"]}, YOURS),
        ({"tools": ["github/search"], "disallowed_tools": ["github/s*"]}, ""),
        ({"tools": ["github/search"], "disallowed_tools": ["*/search"]}, ""),
        ({"disallowed_tools": ["db/*"], "inline": ["db"]}, YOURS),
        # its ceiling: a server's tool needs `execute` unless its policy says less
        ({"ceiling": "write"}, ""),
    ],
)
def test_what_the_agents_file_settles(keys, text):
    assert said(**keys) == text


@pytest.mark.parametrize(
    ("policies", "keys", "text"),
    [
        ({"*": policy(access="owners", owners=["boss"])}, {}, ""),
        ({"*": policy(access="owners", owners=["worker"])}, {}, YOURS),
        ({"*": policy(access="owners", carriers=["worker"])}, {}, YOURS),
        ({"*": policy(access="handoff", owners=["boss"])}, {}, YOURS),
        ({"*": policy(access="handoff", owners=["boss"])}, {"delegates": ["boss"]}, ""),
        ({"*": policy(exposure="off")}, {}, ""),
        ({"github": policy(exposure="off")}, {}, "Has your MCP servers except github."),
        ({"*": policy(exposure="off"), "wiki": policy()}, {}, "Has your MCP server wiki."),
        ({"late": policy()}, {"tools": ["late/*"]}, "Has your MCP server late."),
        ({"db": policy(exposure="off")}, {"inline": ["db"], "inherit_mcp_servers": False}, ""),
        ({"*": policy(permission="read")}, {"ceiling": "read"}, YOURS),
        (
            {"wiki": policy(tools={"look": {"permission": "read"}})},
            {"ceiling": "read"},
            "Has your MCP server wiki.",
        ),
        (
            {"wiki": policy(permission="read", tools={"drop": {"permission": "dangerous"}})},
            {"tools": ["wiki/drop"]},
            "",
        ),
    ],
)
def test_what_the_policies_settle(policies, keys, text):
    assert said(policies, **keys) == text


def test_what_the_workspace_settles():
    assert said(default_tools="none") == ""
    assert said(default_tools="none", tools=["*/*"]) == YOURS
    assert said(deny=["*/*"]) == ""
    assert said(deny=["github/*"], inherit_mcp_servers=["github", "wiki"]) == "Has your MCP server wiki."
    assert said(ceiling="write") == ""
    assert said(servers=[]) == YOURS


def test_it_is_short_whatever_the_files_say():
    long = [f"server_{i}" for i in range(30)]
    everything = said(
        servers=long, inherit_mcp_servers=long, inline=["db", "kv", "mq", "fs"], mcp_servers=long
    )
    assert "27 more" in said(servers=long, inherit_mcp_servers=long)
    assert everything.count(",") <= 2 * LISTED
    assert count(f" {YOURS}") <= 6
    assert count(said(inherit_mcp_servers=["github", "wiki"], inline=["db"])) <= 20


def test_a_servers_name_is_made_harmless():
    name = "a\nb<c>`d` " + "x" * 200
    text = said(servers=[name], inherit_mcp_servers=[name])
    assert text.isprintable()
    assert not set(text) & set("<>`")
    assert len(text.encode()) < 100


def test_a_loaded_workspace_says_it_and_its_bytes_stay_when_servers_come(write):
    files = {
        ".mcp.json": '{"mcpServers": {"github": {"command": "gh"}, "off": {"command": "x", "disabled": true}}}',
        "prompts/agents/a.md": "---\nname: a\ndescription: Does it\ninherit_mcp_servers: [github, off]\n---\n",
    }
    workspace = load(write(files))
    handoff = "delegate_to_a"
    here, later = (
        make_belt(workspace, snapshot)[handoff].tool
        for snapshot in (Snapshot(), make_snapshot({"github": ["search"], "other": ["x"]}))
    )
    assert here.description == "Does it. Has your MCP server github."
    assert here.line == later.line
    assert workspace.agents["a"].description == "Does it"


def probed(world):
    """The shared servers, and a snapshot in which every server lists what any file names, and one tool more."""
    policies = world.workspace.config.servers
    shared = {*world.workspace.servers, *(policies.keys() - {"*"}), "zz_unheard_of"}
    exceptions = {tool for one in policies.values() for tool in one.tools}
    agents = world.workspace.agents.values()
    named = {entry.text.rpartition("/")[2] for one in agents for entry in one.tools or ()}
    tools = [{"name": name} for name in sorted({"zz_probe", *exceptions, *named} - {"*", ""})]
    snapshot = Snapshot()
    for name in (*shared, *world.workspace.inline):
        snapshot = snapshot.connect(name, tools)
    return shared, snapshot


@given(worlds())
def test_what_is_said_is_what_the_belt_of_a_child_of_the_root_gives(world):
    """Servers that are named are callable and others are not, for a caller that has every shared server."""
    workspace = world.workspace
    caller = workspace.agents.get(workspace.orchestrator)
    if caller is None or caller.inherit_mcp_servers is not True or caller.ceiling is not None:
        return  # what cuts the caller is not in the description
    if workspace.lock is not None or caller.inline:
        return
    shared, snapshot = probed(world)
    for tool in workspace.tools:
        one = workspace.agents.get(tool.target)
        if one is None:
            continue
        belt = make_belt(workspace, snapshot, Scope(caller.name).spawn(one.name))
        short = {name: name for name in shared} | {n: workspace.inline[n].short_name for n in one.inline}
        if belt.problems or any(harmless(name, 30) != name or " " in name for name in short.values()):
            continue  # it cannot start; or not every name is shown as it is
        told = _told(tool.description.removeprefix(one.description), shared)
        if told is None:
            continue
        can = {
            short[known.id.server]
            for known in pick(belt.registry.tools, belt.callable)
            if known.id.server in short
        }
        # Whether a server that is referred to and not configured will be there is not for the files to say.
        doubtful = {name for name in one.mcp_servers if name not in workspace.servers}
        assert told - doubtful == can - doubtful, (one.name, tool.description)


def _told(text, shared):
    """The names of the servers that a sentence gives an agent; None where it does not name them all."""
    if " more" in text:
        return None
    yours, _, own = text.partition(", and ")
    if "your MCP" not in yours:
        yours, own = "", text
    named = _words(own)
    if " except " in yours or yours.rstrip(".").endswith("your MCP servers"):
        return named | (shared - _words(yours.partition(" except ")[2]))
    return named | _words(yours)


def _words(text):
    words = set(text.replace(",", " ").removesuffix(".").removesuffix(" of its own").split())
    return words - {"Has", "your", "MCP", "server", "servers", "and"}
