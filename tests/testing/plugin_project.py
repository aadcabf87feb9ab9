"""A workspace for the plugin's tests: a lead, a worker that owns a reserved pack, and a broken agent."""

FILES = {
    "packbelt.yaml": """\
orchestrator: lead
servers:
  "*": {access: handoff, owners: [worker]}
deny: [shell]
approve: [file_write]
""",
    "packs/files.yaml": """\
id: files
summary: Files of the project.
tools:
  - {name: file_read, description: Reads a file., permission: read, input_schema: {type: object}}
  - {name: file_write, description: Writes a file., permission: write, input_schema: {type: object}}
""",
    "packs/integrations.yaml": """\
id: integrations
summary: Find and call MCP servers.
access: owners
owners: [worker]
direct: [ask_worker]
tools:
  - ask_worker
  - {name: registry_search, description: Searches the registry., permission: read, input_schema: {type: object}}
""",
    "packs/system.yaml": """\
id: system
summary: The machine.
tools:
  - {name: shell, description: Runs a command., permission: execute, input_schema: {type: object}}
""",
    "prompts/agents/lead.md": "---\nname: lead\ndescription: Sorts requests.\ndelegates: [worker]\n---\nYou sort.\n",
    "prompts/agents/worker.md": """\
---
name: worker
description: Works with servers.
handoff: ask_worker
tools: ["pack:integrations", "*/*"]
---
You work with servers.
""",
    "prompts/agents/broken.md": "---\nname: broken\ndescription: Is broken.\ntools: null\n---\nx\n",
    "now.yaml": """\
servers:
  weather:
    status: connected
    tools:
      - {name: get_forecast, description: Forecast., inputSchema: {type: object}}
""",
    "nothing.yaml": "servers: {}\n",
}


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
