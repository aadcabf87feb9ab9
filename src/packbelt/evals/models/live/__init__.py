"""Models behind an endpoint: OpenAI's Chat Completions, which most servers speak, or Anthropic's Messages.

pydantic-ai asks them: it sends the tools' schemas and takes the calls' arguments just as they are. Retries
that heed `retry-after`, time-outs, the number of requests at once and the usage are its work and its SDKs'.
"""

from packbelt.evals.models.live.endpoint import PROVIDERS, Endpoint, EndpointError
from packbelt.evals.models.live.live import Live
from packbelt.evals.models.live.sampling import Sampling

__all__ = ["PROVIDERS", "Endpoint", "EndpointError", "Live", "Sampling"]
