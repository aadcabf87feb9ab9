"""What the laws' tests ask of a belt, besides what it offers itself."""

import re

from packbelt.belt import Denial, admit
from packbelt.belt.arguments import sample
from packbelt.model import Call, HandOff, State

PERMISSION_WORDS = re.compile(
    r"\b(allow(ed|s)?|permission|permitted|den(y|ied|ies)|forbidden|refused|ceiling|unauthori[sz]ed)\b",
    re.IGNORECASE,
)
UNKNOWN_WORDS = re.compile(r"\bno (such )?(tool|pack)\b|\bdoes not exist\b|\bunknown\b", re.IGNORECASE)


def fitting(tool):
    """Arguments that a tool's schema admits, for the schemas that the strategies use."""
    if "v" in tool.input_schema["properties"]:
        return {"v": "1234"}  # of a pattern that no sample is made for
    return sample(tool.input_schema) or {}


def admits(belt, name, arguments):
    return isinstance(admit(belt, name, arguments), Call | HandOff)


def reached(belt, name, arguments):
    """The wire name of the tool that a call ends at, or None where it is not admitted or packbelt answers."""
    admitted = admit(belt, name, arguments)
    if isinstance(admitted, Denial) or (isinstance(admitted, Call) and admitted.answer is not None):
        return None
    return admitted.tool.wire_name


def of_state(belt, *states):
    """Bits of the tools in one of some states."""
    return [i for i in range(len(belt.registry.tools)) if belt.state(i) in states]


def callable_ids(belt):
    """Identities of the tools that can be called."""
    return {
        str(belt.registry.tools[i].id) for i in of_state(belt, State.DIRECT, State.PACKED, State.DEFERRED)
    }


def listed_names(belt, text):
    """Wire names that a listing gives, by its line starts."""
    known = set(belt)
    heads = (line.partition(":")[0] for line in text.splitlines())
    return {head for head in heads if head in known}


def lines(belt):
    """The bytes that are sent of the tools, in order."""
    return [tool.line for tool in belt.tools]


def outline(belt):
    """Everything that a belt says of every tool, for comparisons."""
    return {
        str(tool.id): (
            belt.state(i),
            tuple((reason.rule, reason.detail) for reason in belt.reasons(i)),
            tuple((r.via, r.call, dict(r.arguments), r.agents) for r in belt.decision(i).routes),
            belt.at(i).approve,
        )
        for i, tool in enumerate(belt.registry.tools)
    }


def differences(one, other):
    """Where two outlines differ: tool, the one's part, the other's."""
    parts = ("state", "reasons", "routes", "approve")
    for name in sorted({*one, *other}):
        if name not in one or name not in other:
            yield name, "only in the " + ("first" if name in one else "second")
            continue
        yield from (
            (name, part, mine, theirs)
            for part, mine, theirs in zip(parts, one[name], other[name], strict=True)
            if mine != theirs
        )
