"""Published figures of Anthropic's models: what the presence of tools costs, and the tokenizer's ratio.

Overheads are the "tool use system prompt token count" of Anthropic's documentation, for tool choice `auto`
or `none` and for `any` or a named tool. They changed over time for the same model, hence the date of each.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """Models that are billed alike.

    Attributes:
        name: as in `opus-4.7`.
        as_of: when the documentation said so.
        auto: tokens of overhead where the model chooses whether to call a tool.
        forced: tokens of overhead where it must call one.
        percent: its tokens for each hundred of o200k_base, on the JSON of tools.
    """

    name: str
    as_of: str
    auto: int
    forced: int
    percent: int


OLD, NEW = 115, 150
"""Percent of o200k_base. On the tools of five real servers a reconstruction of the older tokenizer gave 105
to 113, of the newer one 136 to 149; rounded up, since budgets are compared with the upper figures."""

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("sonnet-5", "2026", 354, 474, NEW),
        Family("opus-4.8", "2026", 290, 410, NEW),
        Family("opus-4.7", "2026", 675, 804, NEW),
        Family("opus-4.6", "2026", 497, 589, OLD),
        Family("sonnet-4.6", "2026", 497, 589, OLD),
        Family("opus-4.5", "2026", 496, 588, OLD),
        Family("sonnet-4.5", "2026", 496, 588, OLD),
        Family("haiku-4.5", "2026", 496, 588, OLD),
        Family("opus-4.1", "2026", 313, 315, OLD),
        Family("opus-4", "2026", 313, 315, OLD),
        Family("sonnet-4", "2026", 313, 315, OLD),
        Family("haiku-3.5", "2026", 264, 355, OLD),
        Family("sonnet-3.7", "2024-11", 346, 313, OLD),
        Family("sonnet-3.5", "2024-11", 346, 313, OLD),
        Family("opus-3", "2024", 530, 281, OLD),
        Family("sonnet-3", "2024", 159, 235, OLD),
        Family("haiku-3", "2024", 264, 340, OLD),
    )
}

NEWEST = "sonnet-5"
"""The family that is meant where none is named: the latest generation with published figures."""
