"""Models behind an endpoint: OpenAI's Chat Completions, which most servers speak, or Anthropic's Messages.

pydantic-ai asks them, by its own clients: it sends the tools' schemas and takes the calls' arguments just as
they are. What it takes to ask (retries that heed `retry-after`, time-outs, the number of requests at once, the
usage in one form) is its work and its SDKs'.
"""

from packbelt.evals.models.live.endpoint import PROVIDERS, Endpoint, EndpointError
from packbelt.evals.models.live.live import Live

__all__ = ["PROVIDERS", "Endpoint", "EndpointError", "Live"]
