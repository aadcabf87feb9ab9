"""A suite of cases as data: what is asked of whom, and where the request belongs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from packbelt.catalog.snapshot import Snapshot
from packbelt.model import Where

STEPS = 8
"""Replies that a model gets for one case where its suite says nothing."""


@dataclass(frozen=True, slots=True)
class Message:
    """A line of the conversation.

    Attributes:
        role: `user` or `assistant`.
        text: what was said.
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Wish:
    """What a scripted model would like to do next; what it does depends on what it is shown.

    Attributes:
        call: names in the order of preference. A tool that is advertised goes before one that stands in a
            pack's listing, whatever the order.
        direct: names that go before those of `call`, where they are advertised; never out of a listing.
        guess: the name that it makes up where none of these is advertised; None to make up none.
        look: whether it opens packs to find what is not advertised.
        times: how often it does the same.
        blind: whether it calls the first name without having seen it.
        told: whether it takes what the last answer names, if that is advertised and not the opener.
        read: the heading of a section of the prompt: it calls the first of `call` that this section names to
            be called as such, whatever else it is shown; None to go by what it is shown.
    """

    call: tuple[str, ...] = ()
    guess: str | None = None
    look: bool = True
    times: int = 1
    blind: bool = False
    told: bool = False
    read: str | None = None
    direct: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One request, and the way it should take.

    Attributes:
        id: unique in its suite.
        agent: who is asked.
        conversation: what was said; the last line is the user's.
        expect: the calls in order, each by the names of which any one will do; empty where no tool is right.
        forbid: selectors of tools that must not run.
        tags: for the reader, and to choose by.
        snapshot: what is connected.
        wishes: what a scripted model would like to do; empty for the persona of the report.
        steps: replies that a model gets.
        settle: whether the play ends as soon as no further reply can change how far the request got.
        answers: what a tool or hand-off says, by name, where that matters.
        lines: where the parts stand: `""`, `expect` and `forbid.<n>`.
    """

    id: str
    agent: str
    conversation: tuple[Message, ...]
    expect: tuple[tuple[str, ...], ...]
    forbid: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    snapshot: Snapshot = field(default_factory=Snapshot)
    wishes: tuple[Wish, ...] = ()
    steps: int = STEPS
    settle: bool = False
    answers: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, Where] = field(default_factory=dict)

    @property
    def request(self) -> str:
        """What the user asks in the end."""
        return self.conversation[-1].text

    def where(self, part: str = "") -> Where | None:
        """The place of a part, or of the case."""
        return self.lines.get(part) or self.lines.get("")


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases of one file.

    Attributes:
        id: unique in its workspace.
        summary: one line on what it proves.
        cases: in the order of the file.
        file: its name in messages.
    """

    id: str
    cases: tuple[Case, ...]
    summary: str = ""
    file: str = ""
