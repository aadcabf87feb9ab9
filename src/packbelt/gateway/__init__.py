"""A belt served over MCP, on stdio or streamable HTTP: packbelt for clients not written in Python."""
