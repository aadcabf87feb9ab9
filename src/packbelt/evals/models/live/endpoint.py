"""Where a live model is asked, and whose fault it is when it does not answer."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from packbelt.evals.models.model import ModelError
from packbelt.model import PackbeltError
from packbelt.model.text import one_line

if TYPE_CHECKING:
    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.models import Model as Client

NO_KEY = "none"
"""What is sent as the key to an endpoint of one's own for which none is set."""
SAMPLED = frozenset({"temperature", "max_tokens", "max_completion_tokens", "seed"})
"""The parameters of a request that the eval sets, and not the agent."""


class EndpointError(PackbeltError):
    """An endpoint cannot be asked: the eval's own fault or the endpoint's, never the agent's."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How a model is asked; nothing here changes what it says.

    Attributes:
        base_url: where; None for the provider's own address, or what the SDK's environment variable says.
        max_connections: requests at the same time, in one process.
        retries: attempts after the first one; each waits longer, or as long as the endpoint says.
        timeout: seconds that one attempt may take.
    """

    base_url: str | None = None
    max_connections: int = 4
    retries: int = 5
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class Provider:
    """A protocol.

    Attributes:
        opened: a client for a model's name.
        keys: environment variables that hold a key, any one of which will do.
        seeds: whether a request takes a seed.
    """

    opened: Callable[[str, Endpoint], AbstractAsyncContextManager["Client"]]
    keys: tuple[str, ...]
    seeds: bool


def check(provider: str, endpoint: Endpoint) -> None:
    """Raise if a provider cannot be asked from here: before anything is played.

    Raises:
        EndpointError: no key is set, or the packages are missing.
    """
    keys = PROVIDERS[provider].keys
    if endpoint.base_url is None and not any(os.environ.get(key) for key in keys):
        raise EndpointError(
            f"no key for {provider} is in the environment",
            mend=f"set {' or '.join(keys)}, or name an endpoint that needs none with --base-url",
        )
    try:
        __import__(provider)
        __import__("pydantic_ai")
    except ImportError as error:
        raise EndpointError(
            f"{error.name} is not installed", mend="pip install 'packbelt[evals]'", name=error.name or ""
        ) from None


@asynccontextmanager
async def _openai(name: str, endpoint: Endpoint) -> AsyncIterator["Client"]:
    from openai import AsyncOpenAI  # noqa: PLC0415 - an extra
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    said = OpenAIModelProfile(json_schema_transformer=None)
    if endpoint.base_url is not None:  # the name that the other servers know
        said["openai_chat_supports_max_completion_tokens"] = False
    given = _given(endpoint, "OPENAI_API_KEY")
    async with AsyncOpenAI(**given) as client:
        yield OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client), profile=said)


@asynccontextmanager
async def _anthropic(name: str, endpoint: Endpoint) -> AsyncIterator["Client"]:
    from anthropic import AsyncAnthropic  # noqa: PLC0415 - an extra
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.profiles.anthropic import AnthropicModelProfile  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    given = _given(endpoint, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    async with AsyncAnthropic(**given) as client:
        said = AnthropicModelProfile(json_schema_transformer=None)
        yield AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client), profile=said)


def _given(endpoint: Endpoint, *keys: str) -> dict[str, Any]:
    """What a client is made with; a key that is set it reads by itself."""
    given: dict[str, Any] = {"max_retries": endpoint.retries, "timeout": endpoint.timeout}
    if endpoint.base_url is not None:
        given["base_url"] = endpoint.base_url
    if not any(os.environ.get(key) for key in keys):
        given["api_key"] = NO_KEY
    return given


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(_openai, ("OPENAI_API_KEY",), seeds=True),
    "anthropic": Provider(_anthropic, ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), seeds=False),
}
"""Every protocol, by what stands before the slash of a model's name."""


def fault(error: "AgentRunError", name: str) -> PackbeltError:
    """Whose fault a failed request is.

    A request that is refused as it is (a schema, a length) cannot be asked by the agent either: that is the
    agent's. A key, an unknown model, a limit, an outage or a parameter of the eval's own are the harness's.
    What the endpoint says of a key is not repeated: some repeat the key.

    Args:
        error: what the client raised.
        name: the model's.
    """
    from pydantic_ai import exceptions as known  # noqa: PLC0415 - an extra

    if isinstance(error, known.ModelAuthenticationError):
        return EndpointError(
            f"the endpoint of {name} refuses the key", mend="set one in the environment that it takes"
        )
    said = _said(error)
    if isinstance(error, known.ModelNotFoundError):
        return EndpointError(f"the endpoint knows no model {name}{said}", mend="name one that it has")
    too_large = getattr(error, "status_code", None) == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if too_large or isinstance(error, known.ModelContextWindowExceededError):
        return ModelError(f"the request is longer than {name} can read{said}")
    if isinstance(error, known.ModelRequestRejectedError):
        if _param(error) in SAMPLED:
            return EndpointError(f"{name} does not take `{_param(error)}` as set{said}", mend="leave it out")
        return ModelError(f"{name} refuses the request{said}")
    if isinstance(error, (known.ModelRateLimitError, known.ModelQuotaExceededError)):
        mend = "wait, or ask less at once with --max-connections"
        return EndpointError(
            f"the endpoint of {name} limits the rate, or its quota is used up{said}", mend=mend
        )
    if isinstance(error, known.ModelTimeoutError):
        return EndpointError(f"the endpoint of {name} did not answer in time", mend="see whether it is up")
    if isinstance(error, known.ModelConnectionError):
        return EndpointError(
            f"the endpoint of {name} cannot be reached", mend="see --base-url, and whether it is up"
        )
    if isinstance(error, known.ContentFilterError):
        return ModelError(f"{name} says nothing: the provider's filter stopped it")
    return EndpointError(
        f"the endpoint of {name} failed{said}", mend="see whether it is up, and speaks the protocol"
    )


def _body(error: Exception) -> Mapping[str, Any]:
    """The `error` of an answer, in both protocols; the OpenAI SDK has unwrapped it."""
    body = getattr(error, "body", None)
    body = body if isinstance(body, Mapping) else {}
    inner = body.get("error")
    return inner if isinstance(inner, Mapping) else body


def _param(error: Exception) -> str:
    return str(_body(error).get("param") or "")


def _said(error: Exception) -> str:
    """The status and the endpoint's own words, for the end of a sentence."""
    status, words = getattr(error, "status_code", None), _body(error).get("message")
    parts = ([str(status)] if status else []) + ([one_line(words)] if isinstance(words, str) else [])
    return f" ({': '.join(parts)})" if parts else ""
