"""`resolve`: what a model called becomes a call to make, a hand-off to run, or a refusal with a hint."""

from packbelt.belt.belt import Belt
from packbelt.belt.gate import Denial, admit
from packbelt.belt.hints import hint
from packbelt.belt.spell import Spell
from packbelt.model import Refusal, Resolution


def resolve(belt: Belt, name: str, arguments: object = None, spell: Spell = str) -> Resolution:
    """What becomes of a call.

    Args:
        belt: whose call it is.
        name: the name that was called.
        arguments: an object, or the JSON of one.
        spell: how the target spells wire names: in texts, and inside the arguments of packbelt's own tools.
    """
    admitted = admit(belt, name, arguments, spell)
    return Refusal(name, hint(belt, admitted, spell)) if isinstance(admitted, Denial) else admitted
