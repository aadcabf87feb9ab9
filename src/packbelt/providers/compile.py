"""`compile_belt`: a belt in a target's form."""

from importlib import import_module
from typing import Any

from packbelt.belt import Belt
from packbelt.providers.form import Form
from packbelt.providers.target import Target, TargetError, target

_MODULES = {
    "anthropic": "anthropic",
    "openai": "openai",
    "openai-chat": "openai_chat",
    "gemini": "gemini",
    "claude-agent-sdk": "claude_agent_sdk",
    "openai-agents": "openai_agents",
    "pydantic-ai": "pydantic_ai",
    "langchain": "langchain",
    "copilot": "copilot",
    "mcp": "mcp",
}
"""Where each target's form is written."""


def compile_belt(belt: Belt, name: str, /, *, strict: bool = True, **options: Any) -> Form:
    """A belt in the form of one target.

    Args:
        belt: the decision.
        name: the target.
        strict: whether a tool that cannot be said there refuses the whole; else it alone is left out.
        options: the target's own; see its module.

    Raises:
        TargetError: there is no such target, or it has no such option.
        CompileError: a tool cannot be said there; names both sides.
    """
    found: Target = target(name)
    build = import_module(f"packbelt.providers.{_MODULES[name]}").build
    unknown = options.keys() - (build.__kwdefaults__ or {}).keys()
    if unknown:
        known = ", ".join(sorted((build.__kwdefaults__ or {}).keys() - {"strict"})) or "none"
        raise TargetError(
            f"target {name!r} has no option {min(unknown)!r}", mend=f"it has: {known}", name=name
        )
    form: Form = build(found, belt, strict=strict, **options)
    return form
