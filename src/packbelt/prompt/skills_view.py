"""The installed skills, as section templates see them."""

from dataclasses import dataclass

from packbelt.belt import Belt
from packbelt.catalog.workspace import Skill
from packbelt.model.text import LIMIT, harmless, quoted
from packbelt.prompt.words import NAME, Listing, fitted, is_long


@dataclass(frozen=True, slots=True)
class InstalledSkill:
    """An installed skill that this agent knows of.

    Attributes:
        name: its name, harmless.
        description: its own words in quotes; empty if it says nothing.
        path: its directory, harmless.
        cut: whether the description is only a part of what it says.
    """

    name: str
    description: str
    path: str
    cut: bool


def skills_of(belt: Belt) -> Listing[InstalledSkill]:
    """The skills that the agent may use, by name; of two with one name the first."""
    found: dict[str, Skill] = {}
    for skill in belt.subject.skills:
        found.setdefault(skill.name, skill)
    shown = (
        InstalledSkill(
            harmless(skill.name, NAME),
            quoted(skill.description, LIMIT) if harmless(skill.description) else "",
            harmless(skill.path),
            is_long(skill.description),
        )
        for _, skill in sorted(found.items())
    )
    return fitted(shown, lambda one: one.name, lambda one: len(f"{one.name}{one.description}".encode()) + 20)
