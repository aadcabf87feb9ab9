"""The models that an eval can ask, by name."""

from pathlib import Path

from packbelt.catalog.near import listed, suggestion
from packbelt.evals.models.bots import BOTS, bot, scripted
from packbelt.evals.models.cassette import Recorder, Replay, ReplayError
from packbelt.evals.models.lexical import Lexical
from packbelt.evals.models.local import Local
from packbelt.evals.models.local.local import LOCAL, NAMES
from packbelt.evals.models.model import Mind, Model, ModelError, Request, call, say
from packbelt.evals.models.scripted import Scripted
from packbelt.model import PackbeltError

MODELS = ("scripted", "lexical", *(f"bot:{name}" for name in BOTS))
"""Every name that `model_named` knows, besides `replay:FILE`, `local:MODEL` and `local-names:MODEL`."""
REPLAY = "replay:"
"""What stands before a recording's file."""


def model_named(name: str) -> Model:
    """The model of a name.

    Raises:
        PackbeltError: there is none.
        ReplayError: a recording cannot be read.
        WeightsError: a local model is not there.
    """
    if name.startswith(REPLAY):
        return Replay.from_file(Path(name.removeprefix(REPLAY)))
    if name.startswith((LOCAL, NAMES)):
        return Local.named(name)
    if name not in MODELS:
        others = (f"{REPLAY}FILE", f"{LOCAL}MODEL", f"{NAMES}MODEL")
        mend = suggestion(name, MODELS, otherwise=f"there are: {listed((*MODELS, *others))}")
        raise PackbeltError(f"no model is called {name!r}", mend=mend, name=name)
    if name == "scripted":
        return scripted()
    return Lexical() if name == "lexical" else bot(name.removeprefix("bot:"))


__all__ = [
    "MODELS",
    "Lexical",
    "Local",
    "Mind",
    "Model",
    "ModelError",
    "Recorder",
    "Replay",
    "ReplayError",
    "Request",
    "Scripted",
    "bot",
    "call",
    "model_named",
    "say",
    "scripted",
]
