"""Names that models say, and the tool that each means.

The first group comes from public bug reports on agents that were given no way back; the second are the
ways in which models misspell, each tried on a server of the catalogue.
"""

REPORTED = (
    ("install_skill", "setup_skills"),  # invented: shares words and no letters in a row
    ("get_date", "get_time"),
    ("central_list_sites", "central_get_sites"),
    ("linear_get_team", "mcp__Linear__get_team"),  # a dispatcher that lower-cases
    ("Linear_get_team", "mcp__Linear__get_team"),  # the prefix of another host
    ("creating:view", "view"),
    ("default_api:view", "view"),
    ("entity_search", "mcp__graph__entity_search"),  # a bare catalogue name
    ("pdf", "run_skill"),  # an installed skill is no tool
)
"""(what was called, the tool that a hint should propose)."""

_MEANT = "mcp__billing__get_{thing}"

MISSPELT = (
    "mcp__billing__gte_{thing}",
    "mcp__biling__get_{thing}",
    "mcp__billing__get_{thing}s",
    "mcp_billing_get_{thing}",
    "billing__get_{thing}",
    "billing_get_{thing}",
    "billing-get-{thing}",
    "billing.get_{thing}",
    "billing/get_{thing}",
    "functions.mcp__billing__get_{thing}",
    "MCP__BILLING__GET_{THING}",
    "billingGet{Thing}",
    "mcp__billing__fetch_{thing}",
    "mcp__billing__read_{thing}",
    "billing_show_{thing}",
    "mcp__billing__{thing}_get",
    "get_billing_{thing}",
    "get_{thing}_from_billing",
)


def cases(thing: str) -> tuple[tuple[str, str], ...]:
    """All of them, on one thing of the server `billing`."""
    words = {"thing": thing, "Thing": thing.capitalize(), "THING": thing.upper()}
    return REPORTED + tuple((form.format(**words), _MEANT.format(**words)) for form in MISSPELT)
