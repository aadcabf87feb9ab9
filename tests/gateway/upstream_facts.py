"""What the server behind the gateway lists and gives."""

OBJECT = {"type": "object", "properties": {}}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
DEFINED = {
    "echo": {
        "description": "Says it back.",
        "inputSchema": TEXT,
        "annotations": {"title": "Echo", "readOnlyHint": True},
    },
    "fails": {"description": "Fails.", "inputSchema": OBJECT},
    "picture": {"description": "Gives text, an image and data.", "inputSchema": OBJECT},
    "guarded": {"description": "Wants a person's word.", "inputSchema": TEXT},
    "forbidden": {"description": "Nobody may.", "inputSchema": OBJECT},
    "ask": {"description": "Asks the user.", "inputSchema": OBJECT},
    "slow": {"description": "Takes for ever.", "inputSchema": OBJECT},
    "die": {"description": "Ends its server.", "inputSchema": OBJECT},
    "grow": {"description": "Adds a tool.", "inputSchema": OBJECT},
    "grown": {"description": "Was added.", "inputSchema": OBJECT},
}
PICTURE = [
    {"type": "text", "text": "a dot"},
    {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    {"type": "resource_link", "uri": "note://1", "name": "one"},
]
