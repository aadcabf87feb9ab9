"""The models that an eval can ask, by name."""

from packbelt.catalog.near import listed, suggestion
from packbelt.evals.models.bots import BOTS, bot, scripted
from packbelt.evals.models.cassette import Recorder, Replay, ReplayError
from packbelt.evals.models.lexical import Lexical
from packbelt.evals.models.live import PROVIDERS, Endpoint, EndpointError, Live, Sampling
from packbelt.evals.models.local import Local
from packbelt.evals.models.local.local import LOCAL, NAMES
from packbelt.evals.models.model import Mind, Model, ModelError, Request, call, say
from packbelt.evals.models.scripted import Scripted
from packbelt.model import PackbeltError

MODELS = ("scripted", "lexical", *(f"bot:{name}" for name in BOTS))
"""Every name that `model_named` knows, besides recordings, local models and those behind an endpoint."""
REPLAY = "replay:"
"""What stands before a recording's file."""


def sampled(name: str, sampling: Sampling) -> str:
    """The name with a sampling, where it is that of a model which samples; others as they are.

    Raises:
        PackbeltError: what follows the name is no sampling.
    """
    return sampling.of(name) if name.partition("/")[0] in PROVIDERS else name


def model_named(name: str, endpoint: Endpoint | None = None) -> Model:
    """The model of a name.

    Args:
        name: one of `MODELS`, `replay:FILE` or `replay:FILE#MODEL`, `openai/MODEL` or `anthropic/MODEL`; how
            that samples can follow, as in `openai/MODEL?temperature=0&max_tokens=512`.
        endpoint: how a live model is asked.

    Raises:
        PackbeltError: there is none.
        EndpointError: a live model cannot be asked from here.
        ReplayError: a recording cannot be read, or has nothing of that model.
        WeightsError: a local model is not there.
    """
    if name.startswith(REPLAY):
        return Replay.named(name.removeprefix(REPLAY))
    if name.startswith((LOCAL, NAMES)):
        return Local.named(name)
    provider, slash, model = name.partition("/")
    if slash and model and provider in PROVIDERS:
        return Live(name, endpoint)
    if name not in MODELS:
        others = (
            f"{REPLAY}FILE",
            f"{LOCAL}MODEL",
            f"{NAMES}MODEL",
            *(f"{provider}/MODEL" for provider in PROVIDERS),
        )
        mend = suggestion(name, MODELS, otherwise=f"there are: {listed((*MODELS, *others))}")
        raise PackbeltError(f"no model is called {name!r}", mend=mend, name=name)
    if name == "scripted":
        return scripted()
    return Lexical() if name == "lexical" else bot(name.removeprefix("bot:"))


__all__ = [
    "MODELS",
    "Endpoint",
    "EndpointError",
    "Lexical",
    "Live",
    "Local",
    "Mind",
    "Model",
    "ModelError",
    "Recorder",
    "Replay",
    "ReplayError",
    "Request",
    "Sampling",
    "Scripted",
    "bot",
    "call",
    "model_named",
    "sampled",
    "say",
    "scripted",
]
