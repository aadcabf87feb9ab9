"""`Seen`: one call, as the relay tells of it from the gate to its end."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from time import perf_counter, time_ns
from typing import TYPE_CHECKING, Protocol, Self

from packbelt.belt.arguments import parse
from packbelt.catalog.snapshot import Snapshot
from packbelt.live.observe.events import CallEvent
from packbelt.live.observe.spans import NO_SPAN, SpanHandle
from packbelt.model import Call, HandOff, Outcome, Rule, State, Tool, ToolCall, ToolResult
from packbelt.model.text import cut, one_line
from packbelt.turn import AgentHandle, Turn

if TYPE_CHECKING:
    from packbelt.live.observe.observer import Observer

NAME = 240
"""Bytes of UTF-8 that are kept of what others wrote: a name, an id, an error's words."""
CONTENT = 2_000
"""Bytes of UTF-8 that are kept of the arguments, and of the result, where they were asked for."""


class Actor(Protocol):
    """What is asked of an agent at work; a `LiveAgent` is one."""

    @property
    def path(self) -> tuple[str, ...]:
        """The agents from the root down to this one."""
        ...

    @property
    def run_id(self) -> str:
        """The id of its run."""
        ...

    @property
    def parent(self) -> "Actor | None":
        """The agent that spawned it."""
        ...

    @property
    def snapshot(self) -> Snapshot:
        """What is true for it now."""
        ...

    def handle(self) -> AgentHandle:
        """Its handle, with the turn as it would be decided now."""
        ...


class Words:
    """What may be written down of what others said.

    Args:
        mask: replaces the values of the secrets in use in a text.
    """

    def __init__(self, mask: Callable[[str], str]) -> None:
        self._mask = mask

    def said(self, text: str) -> str:
        """A name, an id or an error: masked, one line, no control characters, not long."""
        return cut(one_line(self._mask(text)), NAME) if text else ""

    def content(self, data: object) -> str:
        """Arguments or a result: masked wherever a text stands in them, then cut."""
        text = data if isinstance(data, str) else json.dumps(self._masked(data), ensure_ascii=False)
        return cut(self._mask(text), CONTENT)

    def _masked(self, data: object) -> object:
        # Before it is JSON: a value with a quote or a line break in it is another text after.
        if isinstance(data, str):
            return self._mask(data)
        if isinstance(data, Mapping):
            return {self._mask(str(key)): self._masked(value) for key, value in data.items()}
        if isinstance(data, list | tuple):
            return [self._masked(value) for value in data]
        return data if data is None or isinstance(data, bool | int | float) else self._mask(str(data))


class Seen(AbstractContextManager["Seen"]):
    """One call, its span and its event. Entered before the gate; the event is written when it is left."""

    def __init__(self, observer: "Observer", agent: Actor, call: ToolCall) -> None:
        self._observer = observer
        self._agent = agent
        self._call = call
        self._stack = ExitStack()
        self._span: SpanHandle = NO_SPAN
        self._about: _About | None = None
        self._result: ToolResult | None = None
        self._approval = ""
        self._decided: float | None = None
        self._admitted: float | None = None
        self._sent: float | None = None

    def __enter__(self) -> Self:
        self._time, self._began = time_ns(), perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        over = perf_counter()
        broken = kind.__name__ if kind else ""
        self._look(None)
        with suppress(Exception):  # to tell of a call is not to make it
            self._tell(broken)
        self._stack.close()
        self._observer.emit(lambda: self._event(over, broken))

    # what the relay says --------------------------------------------------------------------------------

    def asked(self, refusal: str) -> None:
        """A person was asked; an empty refusal is a yes."""
        self._approval, self._decided = "refused" if refusal else "granted", perf_counter()

    def admitted(self, resolved: Call | HandOff) -> None:
        """The gate let the call through, and it is about to be dispatched: its span begins to hold others."""
        self._look(resolved.tool)
        self._admitted = perf_counter()

    def dispatched(self) -> None:
        """The call is sent now; until here it waited."""
        self._sent = perf_counter()

    def ended(self, result: ToolResult) -> ToolResult:
        """The call ended so, or was refused; this is what its caller is told. Gives the result back."""
        self._result = result
        self._look(None)
        return result

    # what becomes of it ---------------------------------------------------------------------------------

    def _look(self, tool: Tool | None) -> None:
        """Read off what the call is about, once, while the turn that decided it is the present one."""
        if self._about is not None:
            return
        about = _About(self._call)
        with suppress(Exception):  # an agent whose file is gone has no turn, and the relay says so
            turn = self._agent.handle().turn(self._agent.snapshot)
            about = _About.of(turn, self._call, tool, self._result)
        self._about = about
        if self._observer.spans.active:
            with suppress(Exception):
                self._span = self._stack.enter_context(self._begin(about))

    def _begin(self, about: "_About") -> AbstractContextManager[SpanHandle]:
        words, spans, agent, tool = self._observer.words, self._observer.spans, self._agent, about.tool
        attributes = {
            "gen_ai.tool.name": words.said(tool.wire_name if tool else about.name),
            "gen_ai.tool.call.id": words.said(about.call),
            "gen_ai.agent.name": agent.path[-1],
            "gen_ai.conversation.id": agent.run_id,
            "packbelt.agent.path": "/".join(agent.path),
            "packbelt.tool.id": words.said(str(tool.id)) if tool else None,
            "packbelt.server": words.said(tool.id.server or "") if tool else None,
            "packbelt.state": str(about.state),
            "packbelt.rule": str(about.rule),
            "gen_ai.tool.call.arguments": words.content(about.arguments) if spans.content else None,
        }
        return spans.tool(tool.wire_name if tool else None, attributes, self._time)

    def _tell(self, broken: str) -> None:
        span, result = self._span, self._result
        if not span.recording:
            return
        if result is None:
            span.failed(broken)
            return
        hint = str(result.hint.kind) if result.hint else None
        span.set({"packbelt.outcome": str(result.outcome), "packbelt.hint": hint})
        if result.outcome is not Outcome.OK:
            span.failed(str(result.outcome))
        if self._observer.spans.content:
            span.set({"gen_ai.tool.call.result": self._observer.words.content(result.text)})

    def _cut_off(self) -> Outcome | None:
        """How a cancelled call ended: what had been sent may have happened. A hand-off is no such call."""
        tool = self._about.tool if self._about else None
        return Outcome.AMBIGUOUS if self._sent and tool and tool.target is None else None

    def _event(self, over: float, broken: str) -> CallEvent:
        about, result, words = self._about or _About(self._call), self._result, self._observer.words
        tool, sent, content = about.tool, self._sent, self._observer.log.arguments
        return CallEvent(
            agent="/".join(self._agent.path),
            run=self._agent.run_id,
            call=words.said(about.call),
            name=words.said(about.name),
            tool=words.said(str(tool.id)) if tool else "",
            wire_name=words.said(tool.wire_name) if tool else "",
            pack=words.said(about.pack),
            target=(tool.target or "") if tool else "",
            state=about.state,
            rule=about.rule,
            hint=result.hint.kind if result and result.hint else None,
            approval=self._approval,
            approval_ms=None if self._decided is None else milliseconds(self._decided - self._began),
            outcome=result.outcome if result else self._cut_off(),
            error="" if result else broken,
            queued_ms=None if sent is None else milliseconds(sent - (self._admitted or self._began)),
            running_ms=None if sent is None else milliseconds(over - sent),
            arguments=words.content(about.arguments) if content else None,
            result=words.content(result.text) if content and result else None,
        )


class Deaf(Seen):
    """A call of which nobody wants to hear."""

    def __init__(self) -> None:
        """There is nothing to keep."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        pass

    def asked(self, refusal: str) -> None:
        """Nothing."""

    def admitted(self, resolved: Call | HandOff) -> None:
        """Nothing."""

    def dispatched(self) -> None:
        """Nothing."""

    def ended(self, result: ToolResult) -> ToolResult:
        """Nothing but the result."""
        return result


class _About:
    """What a call is about, read off the belt that decided it.

    Attributes:
        call: the provider's id.
        name: what was called, as the model said it.
        arguments: with what.
        pack: the pack it was looked for in, where it came by the opener.
        tool: the tool that was meant, where there is one.
        state: what that is to the agent.
        rule: why.
    """

    __slots__ = ("arguments", "call", "name", "pack", "rule", "state", "tool")

    def __init__(self, call: ToolCall) -> None:
        given = parse(call.arguments)
        self.call, self.name, self.pack = str(call.id), str(call.name), ""
        self.arguments: object = call.arguments if given is None else given
        self.tool: Tool | None = None
        self.state, self.rule = State.UNKNOWN, Rule.NO_SUCH_TOOL

    @classmethod
    def of(cls, turn: Turn, call: ToolCall, tool: Tool | None, result: ToolResult | None) -> Self:
        """A call in a turn: of a tool that was found, or of what a result or a refusal tells of it."""
        about, belt = cls(call), turn.belt
        opener = belt.opener
        inner = about.name
        if opener and about.name == opener.wire_name and isinstance(about.arguments, Mapping):
            about.pack = str(about.arguments.get("pack") or "")
            inner = str(about.arguments.get("tool") or inner)
        found = belt.registry.wire.get(tool.wire_name if tool else inner)
        if found is None and result and result.tool:
            found = belt.registry.identified(str(result.tool))
        if found is None and about.pack and tool is None:  # inside a pack, a plain name may do
            mask = belt.registry.pack_mask(about.pack) or 0
            named = [i for i in belt.registry.named(inner) if mask >> i & 1]
            found = named[0] if len(named) == 1 else None
        if found is None and inner in belt and tool is None:
            tool = belt[inner].tool
        if found is not None:
            about.tool = belt.registry.tools[found]
            about.state, about.rule = belt.state(found), belt.reasons(found)[0].rule
        elif tool is not None and tool.wire_name in belt:  # the opener, or the search
            about.tool, decision = tool, belt[tool.wire_name].decision
            about.state, about.rule = decision.state, decision.reasons[0].rule
        return about


def milliseconds(seconds: float | None) -> float | None:
    """Milliseconds with three decimals, or None for none."""
    return None if seconds is None else round(seconds * 1000, 3)
