"""A person is asked by interrupting the graph, in the form that `HumanInTheLoopMiddleware` has made usual."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import interrupt

from packbelt.adapters.steps import AdapterError
from packbelt.live.asking import Approval
from packbelt.model.text import one_line


def decide(name: str, arguments: Mapping[str, Any]) -> str | None:
    """None where a person approves the call; else what is said after that he declined it.

    Raises:
        GraphInterrupt: he was not asked yet.
        AdapterError: the graph was resumed with no decision, or with one that was not offered.
    """
    answer = interrupt(
        {
            "action_requests": [{"name": name, "args": dict(arguments)}],
            "review_configs": [{"action_name": name, "allowed_decisions": ["approve", "reject"]}],
        }
    )
    decisions = answer.get("decisions") if isinstance(answer, Mapping) else None
    decision = decisions[0] if isinstance(decisions, list) and len(decisions) == 1 else {}
    kind = decision.get("type") if isinstance(decision, Mapping) else None
    if kind == "approve":
        return None
    if kind == "reject":
        why = one_line(str(decision.get("message") or ""))
        return f": {why}" if why else ""
    raise AdapterError(
        f"the call of {name!r} was resumed with {'no decision' if kind is None else f'{kind!r}'}",
        mend='resume with {"decisions": [{"type": "approve"}]}, or "reject"',
        name=name,
    )


def no(approval: Approval) -> bool:
    """He has declined already."""
    del approval
    return False
