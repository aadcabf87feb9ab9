"""A small fleet: an orchestrator, the owner of a reserved pack, one broken and one refused agent."""

FILES = {
    "packbelt.yaml": """\
servers:
  "*": {access: handoff, owners: [mcp_agent]}
deny: [shell]
approve: [file_write]
""",
    "packs/files.yaml": """\
id: files
summary: Files of the project.
tools:
  - {name: file_read, description: Reads a file., permission: read,
     input_schema: {type: object, properties: {path: {type: string}}, required: [path]}}
  - {name: file_write, description: Writes a file., permission: write, input_schema: {type: object}}
""",
    "packs/integrations.yaml": """\
id: integrations
summary: Find and call MCP servers.
access: owners
owners: [mcp_agent]
direct: [use_mcp_server]
tools:
  - use_mcp_server
  - {name: registry_search, description: Searches the registry., permission: read,
     input_schema: {type: object, properties: {query: {type: string}}, required: [query]}}
""",
    "packs/core.yaml": """\
id: core
summary: Always at hand.
exposure: direct
tools:
  - {name: shell, description: Runs a command., permission: execute, input_schema: {type: object}}
  - {name: clock, description: Tells the time., permission: none, input_schema: {type: object}}
""",
    "prompts/agents/orchestrator.md": """\
---
name: orchestrator
description: Sorts requests.
delegates: [mcp_agent, broken]
---
You sort requests.

{{ sections.routing }}
""",
    "prompts/agents/mcp_agent.md": """\
---
name: mcp_agent
description: Works with MCP servers.
handoff: use_mcp_server
tools: ["pack:integrations", "*/*", file_write]
---
You work with servers.
""",
    "prompts/agents/broken.md": "---\nname: broken\ndescription: Is broken.\ntools: null\n---\nx\n",
    "prompts/agents/refused.md": "---\nname: refused\ndescription: Is refused.\ntools: [nowhere/x]\n---\nx\n",
    "now.yaml": """\
servers:
  weather:
    status: connected
    tools:
      - {name: get_forecast, description: Forecast., inputSchema: {type: object, properties: {city: {type: string}}}}
  slow: {status: starting}
""",
}


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root
