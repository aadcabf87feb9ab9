"""Record a model's replies, and replay them: a live run that can be played again without the model.

A reply belongs to the whole request that it answered, to the model with its sampling, and to the repeat. What
changes a belt, a prompt or an answer changes the requests, so that a recording that is no longer true is an
error and never a result. The headers of a request are not in it, and so no key is.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packbelt.catalog.text import MAX_SNAPSHOT, read_text
from packbelt.evals.bound import Bound
from packbelt.evals.models.model import Mind, Model, Request
from packbelt.model import PackbeltError, Where
from packbelt.model.encode import digest

PARTS = ("tools", "prompt", "conversation")
"""The parts of a request, in the order in which a difference is looked for."""


class ReplayError(PackbeltError):
    """A recording has no reply to what is asked, or cannot be read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One reply of a recording.

    Attributes:
        model: who gave it, its sampling included.
        case: the case's id.
        repeat: how often the case was played before.
        turn: the reply's number in its case.
        asked: the digest of each part of the request.
        reply: the assistant's message.
    """

    model: str
    case: str
    repeat: int
    turn: int
    asked: Mapping[str, str]
    reply: Mapping[str, Any]

    def to_line(self) -> str:
        """The entry as a line of a recording."""
        data = {"model": self.model, "case": self.case, "repeat": self.repeat, "turn": self.turn}
        return json.dumps({**data, "asked": dict(self.asked), "reply": self.reply}, ensure_ascii=True) + "\n"


@dataclass(frozen=True, slots=True)
class Recorder:
    """A model whose replies are kept.

    Attributes:
        model: who is asked.
        keep: takes each entry when it is there.
    """

    model: Model
    keep: Callable[[Entry], object]

    @property
    def name(self) -> str:
        """As the model's own."""
        return self.model.name

    @property
    def concurrency(self) -> int:
        """As the model's own."""
        return getattr(self.model, "concurrency", 1)

    def begin(self, case: Bound, repeat: int = 0) -> Mind:
        """Begin a case."""
        return _Recorded(self, case.case.id, repeat, self.model.begin(case, repeat))


class _Recorded:
    def __init__(self, recorder: Recorder, case: str, repeat: int, mind: Mind) -> None:
        self.recorder, self.case, self.repeat, self.mind = recorder, case, repeat, mind
        self.turn = 0

    async def reply(self, request: Request) -> Mapping[str, Any]:
        self.turn += 1
        asked = asked_of(request)
        reply = await self.mind.reply(request)
        self.recorder.keep(Entry(self.recorder.name, self.case, self.repeat, self.turn, asked, reply))
        return reply


class Replay:
    """A model that says what was recorded, and nothing else.

    Args:
        entries: the recording, of one model.

    Raises:
        ReplayError: it is of several.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(entries)
        names = list(dict.fromkeys(entry.model for entry in self.entries))
        if len(names) > 1:
            mend = f"name one of them after the file: {' or '.join(f'#{name}' for name in names)}"
            raise ReplayError("the recording is of several models", mend=mend)
        self.name = f"replay of {names[0] if names else 'nothing'}"

    @classmethod
    def named(cls, name: str) -> "Replay":
        """A recording, as `--model replay:` names it: `FILE`, or `FILE#MODEL` for one model of several.

        Raises:
            ReplayError: the file cannot be read, is no recording, or has nothing of that model.
        """
        path, mark, model = name.rpartition("#")
        if not mark or Path(name).is_file():
            return cls.from_file(Path(name))
        return cls.from_file(Path(path), model)

    @classmethod
    def from_file(cls, path: Path, model: str | None = None) -> "Replay":
        """A recording; of one model, where that is named.

        Raises:
            ReplayError: the file cannot be read, is no recording, or has nothing of that model.
        """
        text = read_text(path, str(path), limit=MAX_SNAPSHOT, error=ReplayError)
        entries = [_entry(line, Where(str(path), number)) for number, line in enumerate(text.splitlines(), 1)]
        if model is None:
            return cls(entries)
        chosen = [entry for entry in entries if entry.model == model]
        if not chosen:
            names = ", ".join(dict.fromkeys(entry.model for entry in entries)) or "nobody"
            raise ReplayError(f"{path} has no reply of {model}", mend=f"it has those of {names}", name=model)
        return cls(chosen)

    def begin(self, case: Bound, repeat: int = 0) -> Mind:
        """Begin a case."""
        played = (case.case.id, repeat)
        return _Replayed(case.case.id, [one for one in self.entries if (one.case, one.repeat) == played])


class _Replayed:
    def __init__(self, case: str, entries: Sequence[Entry]) -> None:
        self.case, self.entries = case, entries
        self.turn = 0

    async def reply(self, request: Request) -> Mapping[str, Any]:
        self.turn += 1
        asked = asked_of(request)
        here = [one for one in self.entries if one.turn == self.turn]
        for entry in here:
            if entry.asked == asked:
                return entry.reply
        raise ReplayError(_missed(self.turn, asked, here), mend="record it anew", name=self.case)


def asked_of(request: Request) -> dict[str, str]:
    """The digest of each part of a request."""
    system, *conversation = request.messages
    return dict(zip(PARTS, map(digest, (list(request.tools), system, conversation)), strict=True))


def _missed(turn: int, asked: Mapping[str, str], here: Sequence[Entry]) -> str:
    if not here:
        return f"the recording has no reply number {turn} for this case"
    part = next(part for part in PARTS if here[0].asked.get(part) != asked[part])
    return f"the recording does not fit: at reply number {turn} the {part} sent is not what was recorded"


def _entry(line: str, where: Where) -> Entry:
    try:
        data = json.loads(line)
        return Entry(
            data["model"],
            data["case"],
            data["repeat"],
            data["turn"],
            dict(data["asked"]),
            dict(data["reply"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ReplayError(
            "is no line of a recording", where=where, mend="record it with --record FILE"
        ) from None
