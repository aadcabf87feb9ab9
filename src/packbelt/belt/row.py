"""`Row`: the shape of one rule."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from packbelt.belt.placement import Placement
from packbelt.belt.scope import Subject
from packbelt.catalog.registry import Registry
from packbelt.catalog.workspace import Pack
from packbelt.model import Reason, Rule

Ask = tuple[Subject, Placement]


@dataclass(frozen=True, slots=True)
class Row:
    """One rule: whom it applies to, and why."""

    rule: Rule
    mask: Callable[[Ask], int]
    reasons: Callable[[Ask, int], Iterator[Reason]]


def pack_at(registry: Registry, i: int) -> Pack:
    """The pack of the tool at a bit; a nameless one for a tool in no pack."""
    pack = registry.pack_of(i)
    return registry.pack(pack) if pack else Pack("")
