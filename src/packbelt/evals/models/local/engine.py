"""llama.cpp's server in this process, through xllamacpp: one request at a time, the last prefix kept."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Any

import httpx2

from packbelt.evals.models.model import ModelError
from packbelt.model import PackbeltError

CONTEXT = 32_768
"""Tokens of a request and its reply at most: the flat layout of a fleet takes more than half of them."""
WAIT = 60.0
"""Seconds for a template to be rendered."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """How a text is drawn: `temperature` 0 takes the likeliest token each time.

    Attributes:
        temperature, top_p, top_k: as llama.cpp takes them.
        seed: of the draw.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """What was written, and what it took in tokens.

    Attributes:
        text: what was written.
        cut: whether it was cut at its limit.
        prompt: of the prompt.
        cached: those of the prompt that were kept from the request before.
        completion: of the text.
    """

    text: str
    cut: bool
    prompt: int
    cached: int
    completion: int


class Engine:
    """A GGUF model. It is loaded when it is first asked, and freed with this object.

    Args:
        path: the weights.
        threads: that work on a request; None for half of the processors, since one that has to wait for
            a processor holds up all the others.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        self.path = path
        self.threads = threads or max(1, (os.cpu_count() or 2) // 2)
        self._lock = Lock()
        self._key = token_hex()  # the server listens on loopback, and to nobody else
        self._server: Any = None

    def render(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> str:
        """The prompt of a conversation, by the model's own template.

        Raises:
            ModelError: the template does not take it.
        """
        with self._lock:
            address = self._started().listening_address
        body = {"messages": list(messages), "tools": list(tools)}
        headers = {"Authorization": f"Bearer {self._key}"}
        with httpx2.Client(base_url=address, trust_env=False, timeout=WAIT) as client:
            answer = client.post("/apply-template", json=body, headers=headers)
        if answer.status_code != httpx2.codes.OK:
            raise ModelError(f"the template of {self.path.name} does not take the conversation")
        return str(answer.json()["prompt"])

    def write(self, prompt: str, grammar: str, limit: int, sampled: Sampled) -> Text:
        """Go on with a prompt, within a grammar.

        Raises:
            ModelError: the prompt is too long, or the grammar cannot be used.
        """
        asked = {
            "prompt": prompt,
            "grammar": grammar,
            "max_tokens": limit,
            "cache_prompt": True,
            "temperature": sampled.temperature,
            "top_p": sampled.top_p,
            "top_k": sampled.top_k,
            "min_p": 0.0,
            "seed": sampled.seed,
        }
        with self._lock:
            try:
                answer = self._started().handle_completions(asked)
            except (RuntimeError, ValueError) as error:
                raise ModelError(f"{self.path.name} cannot go on: {error}") from None
        if "choices" not in answer:
            said = answer.get("error", {}).get("message") or answer.get("message") or "it says nothing"
            raise ModelError(f"{self.path.name} cannot go on: {said}")
        choice, usage = answer["choices"][0], answer["usage"]
        return Text(
            choice["text"],
            choice["finish_reason"] == "length",
            usage["prompt_tokens"],
            usage.get("prompt_tokens_details", {}).get("cached_tokens", 0),
            usage["completion_tokens"],
        )

    def _started(self) -> Any:
        if self._server is None:
            self._server = start(self.path, self.threads, self._key)
        return self._server


def start(path: Path, threads: int, key: str) -> Any:
    """A server of xllamacpp with one slot, silent, on a loopback port of its own.

    Raises:
        PackbeltError: xllamacpp is not installed, or cannot load the weights.
    """
    try:
        import xllamacpp  # noqa: PLC0415 - an extra
    except ImportError:
        raise PackbeltError("local models need xllamacpp", mend="install packbelt[local]") from None
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.cache_ram_mib = CONTEXT, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.verbosity, params.ui, params.api_keys = -1, False, [key]
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise PackbeltError(f"{path.name} cannot be loaded: {error}", mend="name a GGUF model") from None
