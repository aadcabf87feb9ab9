"""OpenTelemetry spans of agents and their calls, by the conventions for generative AI.

Source: OpenTelemetry semantic conventions for GenAI, status Development, as they stand beside the semantic
conventions 1.44 (github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-agent-spans.md and
execute-tool.md; up to 1.41 in semantic-conventions, docs/gen-ai).

- `invoke_agent {agent}`, kind INTERNAL (an agent in this process): `gen_ai.operation.name`,
  `gen_ai.agent.name`, `gen_ai.agent.id` (the path of agents from the root; ids of instances are not
  recommended there), `gen_ai.conversation.id` (the run, whose conversation is kept under this id).
- `execute_tool {tool}`, kind INTERNAL: `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.call.id`,
  `gen_ai.tool.type` (`function`: the model gives arguments, the client runs it), `gen_ai.agent.name`,
  `gen_ai.conversation.id`. A name that is no tool's stays out of the span's name, which is to be one of few.
- `error.type` is the outcome where that is not `ok` (`tool_error`, `rejected`, `not_started`, `ambiguous`),
  `failed` for a run, or the class of the exception that broke it off; the status is then ERROR, without a
  description, and no exception is recorded: their words may hold what no span may.
- `packbelt.agent.path`, `packbelt.tool.id`, `packbelt.server`, `packbelt.state`, `packbelt.rule`,
  `packbelt.outcome`, `packbelt.hint` say the rest.
- `gen_ai.provider.name` is left out: whose model it is, packbelt does not know.

The opt-in attributes `gen_ai.tool.call.arguments` and `gen_ai.tool.call.result` are there only where they
were asked for: by `Spans(content=True)`, or by OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT (`true`,
`span_only` or `span_and_event`), the variable that OpenTelemetry's own instrumentations read.

Spans nest by context: a hand-off's `execute_tool` holds the other agent's `invoke_agent`, and the client span
of the MCP SDK lies inside the call that it serves. Nothing that a tracer raises harms what it traces.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from packbelt._version import __version__

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The variable that asks for arguments and results on spans."""
_CAPTURING = frozenset({"true", "span_only", "span_and_event"})


class SpanHandle:
    """A span at work, or nothing where none is wanted: every method may always be called."""

    __slots__ = ("_span",)

    def __init__(self, span: "Span | None" = None) -> None:
        self._span = span

    @property
    def recording(self) -> bool:
        """Whether what is said here gets anywhere."""
        return self._span is not None

    def set(self, attributes: Mapping[str, str | None]) -> None:
        """Add attributes; those without a value are left out."""
        if self._span is not None:
            self._span.set_attributes(_told(attributes))

    def failed(self, error_type: str) -> None:
        """It ended in an error of this type."""
        if self._span is None:
            return
        from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - an extra

        self._span.set_attribute("error.type", error_type)
        self._span.set_status(Status(StatusCode.ERROR))


NO_SPAN = SpanHandle()


class Spans:
    """Makes spans where a tracer provider is configured, else nothing.

    Args:
        provider: a tracer provider; by default the one that is configured when a span begins.
        content: whether arguments and results are kept; by default as the environment says.
    """

    def __init__(self, provider: "TracerProvider | None" = None, *, content: bool | None = None) -> None:
        asked = os.environ.get(CAPTURE, "").strip().lower() in _CAPTURING
        self.content = asked if content is None else content
        self._given = provider
        self._made: tuple[TracerProvider, Tracer] | None = None
        try:
            from opentelemetry import trace  # noqa: PLC0415 - an extra
        except ImportError:
            self._trace: Any = None
        else:
            self._trace = trace
            self._idle = (trace.ProxyTracerProvider, trace.NoOpTracerProvider)

    @property
    def active(self) -> bool:
        """Whether a span would get anywhere."""
        return self._tracer() is not None

    @contextmanager
    def tool(
        self, name: str | None, attributes: Mapping[str, str | None], began: int | None = None
    ) -> Iterator[SpanHandle]:
        """While inside, a tool is called.

        Args:
            name: the tool's wire name, or None for a name that is no tool's.
            attributes: more attributes; those without a value are left out.
            began: when the call began, in nanoseconds since the epoch; now by default.
        """
        operation = "execute_tool"
        begun = {"gen_ai.operation.name": operation, "gen_ai.tool.name": name, "gen_ai.tool.type": "function"}
        full = f"{operation} {name}" if name else operation
        with self._span(full, {**begun, **attributes}, began) as span:
            yield span

    @contextmanager
    def agent(self, path: tuple[str, ...], run: str) -> Iterator[SpanHandle]:
        """While inside, an agent works on a request.

        Args:
            path: the agents from the root down to this one.
            run: the run's id.
        """
        operation, joined = "invoke_agent", "/".join(path)
        begun = {
            "gen_ai.operation.name": operation,
            "gen_ai.agent.name": path[-1],
            "gen_ai.agent.id": joined,
            "gen_ai.conversation.id": run,
            "packbelt.agent.path": joined,
        }
        with self._span(f"{operation} {path[-1]}", begun) as span:
            yield span

    def _tracer(self) -> "Tracer | None":
        if self._trace is None:
            return None
        provider = self._given or self._trace.get_tracer_provider()
        if isinstance(provider, self._idle):  # nobody configured one
            return None
        if self._made is None or self._made[0] is not provider:
            self._made = provider, provider.get_tracer("packbelt", __version__)
        return self._made[1]

    @contextmanager
    def _span(
        self, name: str, attributes: Mapping[str, str | None], began: int | None = None
    ) -> Iterator[SpanHandle]:
        begun = self._begin(name, attributes, began)
        if begun is None:
            yield NO_SPAN
            return
        span, token = begun
        handle = SpanHandle(span) if span.is_recording() else NO_SPAN
        try:
            yield handle
        except BaseException as error:
            handle.failed(type(error).__name__)
            raise
        finally:
            self._end(span, token)

    def _begin(
        self, name: str, attributes: Mapping[str, str | None], began: int | None
    ) -> "tuple[Span, Token[Context]] | None":
        tracer = self._tracer()
        if tracer is None:
            return None
        from opentelemetry import context  # noqa: PLC0415 - an extra

        with suppress(Exception):  # a sampler's or a processor's
            span = tracer.start_span(name, attributes=_told(attributes), start_time=began)
            return span, context.attach(self._trace.set_span_in_context(span))
        return None

    def _end(self, span: "Span", token: "Token[Context]") -> None:
        from opentelemetry import context  # noqa: PLC0415 - an extra

        if self._trace.get_current_span() is span:  # else it is ended in another task than it began in
            context.detach(token)
        with suppress(Exception):  # a processor's
            span.end()


def _told(attributes: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in attributes.items() if value}
