"""A host's model loop by name, for command lines: `module:function`."""

import importlib
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from packbelt.model import PackbeltError
from packbelt.model.text import one_line

if TYPE_CHECKING:
    from packbelt.live.fleet import RunAgent

_FORM = "give an async function `run(agent, request) -> str` as module:function"


class RunnerError(PackbeltError):
    """The model loop that was named cannot be used."""


def load_runner(name: str, root: Path) -> "RunAgent":
    """The function of a name such as `my_loop:run_agent`, from the workspace's directory or installed.

    Importing it runs its module: a name from the command line is the user's own word that it may.

    Args:
        name: module and function, a `:` between them.
        root: the workspace's directory, which is looked in first and stays on `sys.path`: a runner may
            import its neighbours when it runs.

    Raises:
        RunnerError: there is no such module or function, importing it failed, or it is no async function of
            two arguments.
    """
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise RunnerError(f"{name!r} names no runner", mend=_FORM, name=name)
    place = str(root.resolve())
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        found = importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - whatever a module does when it is imported
        missing = isinstance(error, ModuleNotFoundError) and error.name in _parents(module)
        what = "there is no such module" if missing else f"importing it failed: {_told(error)}"
        mend = f"put it into {root}, or install it" if missing else "mend the module"
        raise RunnerError(f"runner {name!r}: {what}", mend=mend, name=name) from None
    run = getattr(found, function, None)
    if run is None:
        raise RunnerError(f"runner {name!r}: {module} has no {function!r}", mend=_FORM, name=name)
    if not (inspect.iscoroutinefunction(run) or inspect.iscoroutinefunction(type(run).__call__)):
        raise RunnerError(f"runner {name!r}: it is no async function", mend=_FORM, name=name)
    try:
        inspect.signature(run).bind(None, "")
    except (TypeError, ValueError):
        raise RunnerError(
            f"runner {name!r}: it does not take (agent, request)", mend=_FORM, name=name
        ) from None
    loaded: RunAgent = run
    return loaded


def _parents(module: str) -> set[str]:
    """The module and the packages that it is in."""
    parts = module.split(".")
    return {".".join(parts[: i + 1]) for i in range(len(parts))}


def _told(error: Exception) -> str:
    said = one_line(str(error))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
