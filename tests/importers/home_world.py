"""A home directory and a project in which every client has been at work."""

import json

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
OTHER_SECRET = "sk-proj-9aZ81kQw22LmP0x7Tn5YbV"


def write_all(root, files):
    """Write files below a directory; what is no text is JSON."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8"
        )
    return root


def agent(name, lines="", body="You do it."):
    return f"---\nname: {name}\ndescription: Does what {name} does.\n{lines}---\n\n{body}\n"


HOME = {
    ".claude/agents/reviewer.md": agent(
        "reviewer", "tools: Read, Grep, mcp__github__get_issue\nmodel: opus\n"
    ),
    ".claude/agents/deep/tester.md": agent("tester", "tools: [Bash, mcp__github]\n"),
    ".claude/settings.json": {
        "permissions": {
            "allow": ["mcp__github__get_issue"],
            "deny": ["mcp__github__delete_repo", "WebFetch", "Bash(curl:*)"],
            "ask": ["Write"],
        }
    },
    ".claude.json": {
        "numStartups": 7,
        "mcpServers": {
            "github": {
                "command": "github-mcp",
                "args": ["stdio"],
                "env": {"GITHUB_TOKEN": SECRET, "LOG": "info"},
            }
        },
        "projects": {
            "/srv/shop": {"mcpServers": {"shop-db": {"command": "db-mcp"}}},
            "/srv/empty": {"mcpServers": {}},
        },
    },
    ".config/Claude/claude_desktop_config.json": {
        "mcpServers": {"files": {"command": "files-mcp", "args": ["/srv/notes"]}}
    },
    ".config/Code/User/mcp.json": """{
  // VS Code takes comments
  "inputs": [{"type": "promptString", "id": "api-key", "password": true}],
  "servers": {
    "search": {"type": "http", "url": "https://search.example/mcp", "headers": {"X-Api-Key": "${input:api-key}"}},
    "old": {"type": "sse", "url": "https://old.example/sse"},
  },
}
""",
    ".cursor/mcp.json": {
        "mcpServers": {
            "github": {"command": "another-github"},
            "tickets": {
                "url": "https://tickets.example/mcp",
                "headers": {"Authorization": "Bearer ${env:TICKETS}"},
            },
        }
    },
    ".config/opencode/opencode.jsonc": """{
  "mcp": {
    "docs": {"type": "local", "command": ["docs-mcp", "--stdio"], "environment": {"KEY": "{env:DOCS_KEY}"}},
    "off": {"type": "remote", "url": "https://off.example/mcp", "enabled": false}
  },
  "agent": {
    "writer": {"description": "Writes pages.", "prompt": "You write.", "tools": {"bash": false, "docs_*": false}},
    "reader": {"description": "Only reads.", "tools": {"*": false, "read": true, "docs_find": true}}
  }
}
""",
    ".codex/config.toml": f"""model = "gpt-5"

[mcp_servers.wiki]
command = "wiki-mcp"
args = ["--token", "{OTHER_SECRET}"]
env_vars = ["WIKI_HOME"]
disabled_tools = ["erase"]

[mcp_servers.remote]
url = "https://remote.example/mcp"
bearer_token_env_var = "REMOTE_TOKEN"
""",
    ".gemini/settings.json": {
        "mcpServers": {
            "maps": {
                "httpUrl": "https://maps.example/mcp",
                "includeTools": ["find", "route"],
                "excludeTools": ["route"],
                "trust": True,
                "timeout": 5000,
            }
        }
    },
}

SERVERS = {
    "github": ("get_issue", "delete_repo", "list"),
    "files": ("read",),
    "search": ("find",),
    "tickets": ("open",),
    "docs": ("find", "write"),
    "wiki": ("page", "erase"),
    "remote": ("ping",),
    "maps": ("find", "route", "traffic"),
}
"""What the servers of the home directory list."""


def snapshot_data(servers):
    """A snapshot in which these servers are connected."""
    return {
        "servers": {
            name: {
                "status": "connected",
                "tools": [{"name": tool, "inputSchema": {"type": "object"}} for tool in tools],
            }
            for name, tools in servers.items()
        }
    }
