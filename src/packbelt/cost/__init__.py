"""What a request costs: exact under a stated form and encoding, or an estimate that says what it rests on.

Three methods: `json` (exact tokens of the neutral form, with a band of what providers bill), `openai` and
`anthropic` (estimates, with method, date and band). None of them asks a provider.
"""

from packbelt.cost.anthropic import anthropic
from packbelt.cost.measure import Cost, line_tokens, measure, scheme_of
from packbelt.cost.neutral import neutral
from packbelt.cost.openai import openai, request_tokens
from packbelt.cost.scheme import Method, Scheme
from packbelt.cost.shared import SharedText, shared_text

__all__ = [
    "Cost",
    "Method",
    "Scheme",
    "SharedText",
    "anthropic",
    "line_tokens",
    "measure",
    "neutral",
    "openai",
    "request_tokens",
    "scheme_of",
    "shared_text",
]
