"""A local model as an eval asks it: the template renders the tools, grammars hold what it writes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from anyio import to_thread

from packbelt.belt.arguments import parse
from packbelt.evals.bound import Bound
from packbelt.evals.models.local.engine import Engine, Sampled, Text
from packbelt.evals.models.local.grammar import (
    arguments_grammar,
    begun,
    named,
    names_grammar,
    offered,
    opener_schema,
    readable,
)
from packbelt.evals.models.local.weights import WeightsError, found, known, sha256_of
from packbelt.evals.models.model import Mind, ModelError, Request, call, say
from packbelt.evals.models.sight import Seen, Sight, arguments_for

LOCAL = "local:"
"""What stands before a model that writes whole calls."""
NAMES = "local-names:"
"""What stands before a model that chooses names alone."""
LIMIT = 256
"""Tokens of arguments, or of an answer."""
NAME_LIMIT = 64
"""Tokens of a name."""
FIRST = Sampled()
"""The first play of a case takes the likeliest token each time."""
REPEAT = Sampled(temperature=0.7, top_p=0.8, top_k=20)
"""Repeats sample as the generation config of Qwen2.5 says; the seed is the repeat."""
DONE = "That is all."
"""An answer that no model wrote."""


@dataclass(frozen=True)
class Local:
    """A GGUF model.

    Attributes:
        path: the weights.
        written: whether the model writes the arguments too. Otherwise it chooses names alone, of tools, and
            in the opener of pack and tool, and the smallest arguments that fit are filled in: a fifth of the
            time, where only the way is asked about.
        threads: as `Engine` takes them.
    """

    path: Path
    written: bool = True
    threads: int | None = None

    @classmethod
    def named(cls, name: str) -> "Local":
        """The model of `local:NAME`, `local:PATH`, or one of the two with `local-names:`.

        Raises:
            WeightsError: there is no such file, or it was not fetched.
        """
        written = name.startswith(LOCAL)
        place = name.removeprefix(LOCAL if written else NAMES)
        if place.endswith(".gguf"):
            if not Path(place).is_file():
                raise WeightsError(f"there is no file {place}", mend="name a .gguf file", name=place)
            return cls(Path(place), written)
        weights = known(place)
        path = found(weights)
        if path is None:
            mend = f"fetch them with python -m packbelt.evals.models.local {place}"
            raise WeightsError(f"the weights of {place} are not here", mend=mend, name=place)
        return cls(path, written)

    @cached_property
    def name(self) -> str:
        """The file's name, which says the quantisation, and the begin of its SHA-256."""
        return f"{LOCAL if self.written else NAMES}{self.path.stem}@{sha256_of(self.path)[:8]}"

    @cached_property
    def engine(self) -> Engine:
        """What runs it."""
        return Engine(self.path, self.threads)

    def begin(self, case: Bound, repeat: int = 0) -> Mind:
        """Begin a case: the first play takes the likeliest token each time, a repeat draws with its seed."""
        sampled = replace(REPEAT, seed=repeat) if repeat else FIRST
        return _Local(self.engine, case.case.request, sampled, self.written)


class _Local:
    """One case."""

    def __init__(self, engine: Engine, request: str, sampled: Sampled, written: bool) -> None:
        self.engine, self.request, self.sampled, self.written = engine, request, sampled, written
        self.number = 0

    async def reply(self, request: Request) -> Mapping[str, Any]:
        return await to_thread.run_sync(self._reply, request)

    def _reply(self, request: Request) -> Mapping[str, Any]:
        self.number += 1
        tools = {tool["function"]["name"]: tool["function"] for tool in offered(request)}
        prompt = begun(self.engine.render(readable(request.messages), offered(request)))
        chosen = self.engine.write(prompt, names_grammar(list(tools)), NAME_LIMIT, self.sampled)
        name = parse_name(chosen)
        answers = name == list(tools)[-1]
        went_on = named(prompt, name)
        if self.written:
            given = self._write(went_on, tools[name].get("parameters", {}))
        else:
            given = self._fill(went_on, name, Sight(request), answers=answers)
        message = say(_said(given)) if answers else call(self.number, name, {})
        if not answers:
            message["tool_calls"][0]["function"]["arguments"] = given.text.strip()
        return {**message, "usage": _usage(chosen, given)}

    def _write(self, prompt: str, schema: Mapping[str, Any]) -> Text:
        return self.engine.write(prompt, arguments_grammar(schema), LIMIT, self.sampled)

    def _fill(self, prompt: str, name: str, sight: Sight, *, answers: bool) -> Text:
        """The smallest arguments that fit; in the opener the model says which pack and tool."""
        if answers:
            return filled({"text": DONE})
        opener = sight.opener
        if opener is None or name != opener.name:
            return filled(arguments_for(sight.advertised[name], self.request))
        through = self._write(prompt, opener_schema(opener))
        chosen = parse(through.text)
        if not chosen or "tool" not in chosen:
            return through
        tool = str(chosen["tool"])
        unseen = Seen(tool, "", {"properties": {"request": {}}})  # a hand-off, which the prompt names
        inner = arguments_for(sight.listed.get(tool, unseen), self.request)
        return replace(through, text=json.dumps({**chosen, "arguments": inner}))


def filled(arguments: Mapping[str, Any]) -> Text:
    """Arguments that no model wrote."""
    return Text(json.dumps(arguments), cut=False, prompt=0, cached=0, completion=0)


def parse_name(chosen: Text) -> str:
    """The name that was chosen.

    Raises:
        ModelError: it was cut.
    """
    try:
        return str(json.loads(chosen.text))
    except ValueError:
        raise ModelError(f"it wrote no whole name: {chosen.text!r}") from None


def _said(given: Text) -> str:
    said = parse(given.text)
    return str(said.get("text", "")) if said else given.text.strip()


def _usage(chosen: Text, given: Text) -> dict[str, Any]:
    """What a reply took, in the form of Chat Completions: the request is counted once."""
    return {
        "prompt_tokens": chosen.prompt,
        "completion_tokens": chosen.completion + given.completion,
        "prompt_tokens_details": {"cached_tokens": chosen.cached},
    }
