"""A difference between two workspaces, as data: what `diff` finds."""

from dataclasses import dataclass
from typing import Literal

from packbelt.model import Diagnostic, Reason, State, ToolId

Kind = Literal["gained", "lost", "moved"]
"""What became of a tool for an agent."""
Life = Literal["absent", "refused", "starts"]
"""Whether an agent is there, and can start."""


@dataclass(frozen=True, slots=True)
class Change:
    """One tool that one agent has in another state than before.

    Attributes:
        tool: its wire name.
        id: its identity.
        kind: `gained` if it is callable now and was not, `lost` the other way round, else `moved`.
        before: the state it was in; None where the agent could not be asked.
        after: the state it is in; None where the agent cannot be asked.
        cause: the rule that did it, with its place.
        ended: whether the cause is a rule of OLD that holds no more; else it is one of NEW.
        widened: whether it was there, was kept from the agent by a rule that somebody wrote, and is callable
            now. A server that was down and is up again widens nothing.
    """

    tool: str
    id: ToolId
    kind: Kind
    before: State | None
    after: State | None
    cause: Reason
    ended: bool = False
    widened: bool = False


@dataclass(frozen=True, slots=True)
class Prefix:
    """What a prompt cache keeps of the tools of a request: the front that stays byte for byte.

    It is of a session that begins now. One that runs keeps the order in which its tools arrived.

    Attributes:
        kept: tools at the front that stay.
        sent: tools that were sent.
        kept_tokens: o200k_base tokens of those that stay.
        sent_tokens: of those that were sent.
        breaks_at: the tool that ends it: one that came, went or changed; None where the lists are equal.
        prompt_stays: whether the prompt, which comes behind the tools, is the same.
    """

    kept: int
    sent: int
    kept_tokens: int
    sent_tokens: int
    breaks_at: str | None
    prompt_stays: bool

    @property
    def whole(self) -> bool:
        """Whether everything that was sent is sent again, in the same bytes."""
        return self.breaks_at is None and self.prompt_stays


@dataclass(frozen=True, slots=True)
class AgentDiff:
    """One agent before and after.

    Attributes:
        agent: its name.
        before: whether it was there, and could start.
        after: whether it is there, and can start.
        refused: why it cannot start now.
        changes: its tools in another state, by kind and then in the order of the workspace. An agent that
            is new has gained, and one that is gone or refused now has lost, all that it could call.
        unasked: tools that it may call now without a person's yes, and could call only with it.
        asked: the other way round.
        tokens: tokens of tools and sections before; None where there is no belt.
        tokens_now: the same now.
        prefix: what a prompt cache keeps; None unless it starts on both sides.
    """

    agent: str
    before: Life
    after: Life
    refused: tuple[Diagnostic, ...] = ()
    changes: tuple[Change, ...] = ()
    unasked: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    tokens: int | None = None
    tokens_now: int | None = None
    prefix: Prefix | None = None

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """The changes of one kind."""
        return tuple(change for change in self.changes if change.kind == kind)

    @property
    def widened(self) -> tuple[str, ...]:
        """Tools that it may call now and was kept from, or could call only with a person's yes."""
        return (*(change.tool for change in self.changes if change.widened), *self.unasked)

    @property
    def delta(self) -> int | None:
        """Tokens more than before; None unless it starts on both sides."""
        return None if self.tokens is None or self.tokens_now is None else self.tokens_now - self.tokens

    @property
    def felt(self) -> bool:
        """Whether anything differs in what it can call, what it is sent or what it costs."""
        reach = any(_callable(change.before) or _callable(change.after) for change in self.changes)
        sent = self.delta or (self.prefix is not None and not self.prefix.whole)
        return bool(reach or self.unasked or self.asked or sent or self.before != self.after)

    @property
    def differs(self) -> bool:
        """Whether anything about it does, be it only why it cannot call a tool."""
        return bool(self.changes) or self.felt


def _callable(state: State | None) -> bool:
    return state is not None and state.callable


@dataclass(frozen=True, slots=True)
class Diff:
    """Two workspaces, each with what is connected, compared.

    Attributes:
        agents: every agent of either side, the root of NEW first, then by name.
        tools_new: wire names of tools that only NEW knows.
        tools_gone: wire names of tools that only OLD knows.
        tools_changed: wire names of tools whose description, schema or needed permission is another.
        found: diagnostics of `check` that are new.
        mended: those that have vanished.
    """

    agents: tuple[AgentDiff, ...]
    tools_new: tuple[str, ...] = ()
    tools_gone: tuple[str, ...] = ()
    tools_changed: tuple[str, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    mended: tuple[Diagnostic, ...] = ()

    @property
    def differing(self) -> tuple[AgentDiff, ...]:
        """The agents that differ."""
        return tuple(one for one in self.agents if one.differs)

    @property
    def empty(self) -> bool:
        """Whether nothing differs that packbelt knows of."""
        tools = self.tools_new or self.tools_gone or self.tools_changed
        return not (self.differing or tools or self.found or self.mended)
