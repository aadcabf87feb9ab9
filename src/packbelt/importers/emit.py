"""`packbelt.yaml` as text."""

import json
import re
from collections.abc import Mapping
from typing import Any

from packbelt.importers.rules import Rules

_HEAD = """\
# Written by `packbelt import`. Agents are in .claude/agents, servers in .mcp.json; `packbelt check` tries it.
# To give an agent a ceiling or delegates, move its file to prompts/agents and write the keys there.
"""


_PAIR = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})")
_JOINED = ("deny", "approve", "servers")


def config_text(rules: Rules, base: Mapping[str, Any]) -> str:
    """The file, with the rules that were found and where each came from.

    Args:
        rules: what was found, joined with what was there.
        base: the other keys that were there.
    """
    lines = [_HEAD.rstrip()]
    lines += [f"{key}: {quoted(value)}" for key, value in base.items() if key not in _JOINED]
    for key, selectors in (("deny", rules.deny), ("approve", rules.approve)):
        if selectors:
            lines.append(f"{key}:")
            lines += [f"  - {quoted(text)}  # {_comment(str(where))}" for text, where in selectors.items()]
    if rules.servers:
        lines.append("servers:")
        lines += [f"  {quoted(name)}: {quoted(policy)}" for name, policy in rules.servers.items()]
    return "\n".join(lines) + "\n"


def quoted(value: Any) -> str:
    """JSON, which is YAML but for its pairs of surrogates; in ASCII, since YAML takes not every character."""
    return _PAIR.sub(lambda found: f"\\U{_joined(*found.groups()):08x}", json.dumps(value))


def _joined(high: str, low: str) -> int:
    return ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00) + 0x10000


def _comment(text: str) -> str:
    return text.encode("ascii", "replace").decode() if text.isprintable() else "a file"
