"""A model behind an endpoint."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from packbelt.evals.bound import Bound
from packbelt.evals.models.live.chat import message_of, messages_of, tools_of
from packbelt.evals.models.live.endpoint import PROVIDERS, Endpoint, check, fault
from packbelt.evals.models.live.sampling import Sampling
from packbelt.evals.models.model import Mind, Request

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.settings import ModelSettings


class Live:
    """A model behind an endpoint.

    Args:
        name: `openai/MODEL` for Chat Completions, `anthropic/MODEL` for Messages; how it samples can follow,
            as in `openai/MODEL?temperature=0&max_tokens=512`.
        endpoint: how it is asked.

    Attributes:
        name: as given, the sampling in its one spelling.
        concurrency: cases that may be under way at a time.

    Raises:
        PackbeltError: what follows the name is no sampling.
        EndpointError: no key is set, or the packages of `packbelt[evals]` are missing.
        KeyError: the name begins with neither.
    """

    def __init__(self, name: str, endpoint: Endpoint | None = None) -> None:
        plain, _, said = name.partition("?")
        provider, _, self.model = plain.partition("/")
        self.provider = PROVIDERS[provider]
        self.sampling = Sampling.read(said)
        self.name, self.endpoint = self.sampling.of(plain), endpoint or Endpoint()
        check(provider, self.endpoint)
        from pydantic_ai.concurrency import ConcurrencyLimiter  # noqa: PLC0415 - an extra

        self.concurrency = self.endpoint.max_connections
        self.limiter = ConcurrencyLimiter(self.endpoint.max_connections)

    def begin(self, case: Bound, repeat: int = 0) -> Mind:
        """Begin a case; the repeat is the seed where the protocol has one."""
        del case
        return _Asked(self, repeat)

    def settings(self, repeat: int) -> "ModelSettings":
        """What goes with each request; what is not set is left to the endpoint."""
        from pydantic_ai.settings import ModelSettings  # noqa: PLC0415 - an extra

        said = ModelSettings(seed=repeat) if self.provider.seeds else ModelSettings()
        return cast("ModelSettings", {**said, **self.sampling.given()})


class _Asked:
    """One case. Each request has a client of its own, which does not outlive it: any loop will do."""

    def __init__(self, live: Live, repeat: int) -> None:
        self.live, self.repeat = live, repeat
        self.made: list[ModelResponse] = []

    async def reply(self, request: Request) -> Mapping[str, Any]:
        from pydantic_ai.exceptions import AgentRunError  # noqa: PLC0415 - an extra
        from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415
        from pydantic_ai.models.concurrency import ConcurrencyLimitedModel  # noqa: PLC0415

        live = self.live
        messages = messages_of(request.messages, self.made)
        parameters = ModelRequestParameters(function_tools=tools_of(request.tools))
        async with live.provider.opened(live.model, live.endpoint) as client:
            limited = ConcurrencyLimitedModel(client, live.limiter)
            try:
                reply = await limited.request(messages, live.settings(self.repeat), parameters)
            except AgentRunError as error:
                raise fault(error, live.name) from None
        self.made.append(reply)
        return message_of(reply)
