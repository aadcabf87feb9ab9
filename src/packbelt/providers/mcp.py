"""MCP: a belt as an MCP server lists it; the gateway serves this form and no other."""

import re
from collections.abc import Mapping
from typing import Any

from packbelt.belt import Belt
from packbelt.belt.spell import Spell
from packbelt.model import Code, Diagnostic, Level, Tool
from packbelt.providers.form import Enforcement, Form
from packbelt.providers.plan import plan
from packbelt.providers.target import Target, TargetError

SHOWN = 64
"""Letters of a name that every provider takes."""


class SpellingError(TargetError):
    """No client shows a server's tools under this name of the server."""


_CLIENT_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def build(target: Target, belt: Belt, *, strict: bool, shown_as: str | None = None) -> Form:
    """`tools` in the protocol's own form, and `instructions`.

    The plan has the names as they are listed. The name table has them as the client's model sees them.

    Args:
        target: the descriptor.
        belt: the decision.
        strict: see `compile_belt`.
        shown_as: the name by which the client knows the server, where it puts it before the names that its
            model sees (`mcp__packbelt__use_pack`); texts then say names so.

    Raises:
        SpellingError: no client shows that name as it is.
    """
    spell = spelling(shown_as)
    made = plan(belt, target, strict=strict, mapped=lambda tool: spell(tool.wire_name))
    tools = [entry(tool) for tool in made.tools]
    kwargs: dict[str, Any] = {"tools": tools}
    if made.sections:
        kwargs["instructions"] = "\n\n".join(made.sections.values())
    return Form(
        target.name,
        kwargs,
        made.names,
        Enforcement(target, target.enforcement, tuple(tool.wire_name for tool in made.tools)),
        made.system,
        (*made.diagnostics, *_long(made.shown)),
        tools=made.tools,
    )


def spelling(name: str | None) -> Spell:
    """How a client that knows the server by a name shows a wire name; None for one that shows it as it is.

    Raises:
        SpellingError: the name has letters that clients replace, or too many.
    """
    if name is None:
        return str
    if not _CLIENT_NAME.fullmatch(name):
        raise SpellingError(
            f"{name!r} is no name that a client shows as it is",
            mend="use letters, digits, `_` and `-`, and the same name in the client's configuration",
            name=name,
        )
    prefix = f"mcp__{name}__"
    return lambda wire_name: prefix + wire_name


def entry(tool: Tool) -> dict[str, Any]:
    """A tool as an entry of `tools/list`."""
    made: dict[str, Any] = {"name": tool.wire_name, "inputSchema": dict(tool.input_schema)}
    if tool.description:
        made["description"] = tool.description
    annotations = _known(tool.annotations)
    return {**made, "annotations": annotations} if annotations else made


def _known(annotations: Mapping[str, Any]) -> dict[str, Any]:
    """What its server says of a tool, where the protocol knows it."""
    title = annotations.get("title")
    found: dict[str, Any] = {"title": title} if isinstance(title, str) else {}
    return found | {hint: annotations[hint] for hint in _HINTS if isinstance(annotations.get(hint), bool)}


def _long(shown: tuple[str, ...]) -> list[Diagnostic]:
    """Names that are longer, as the client shows them, than some provider takes."""
    return [
        Diagnostic(
            Level.WARNING,
            Code.TARGET_NAME,
            f"the client shows {name!r}: {len(name)} letters, and some providers take {SHOWN}",
            mend="give the gateway a shorter name in the client, or rename the tool or its server",
            name=name,
        )
        for name in shown
        if len(name) > SHOWN
    ]
