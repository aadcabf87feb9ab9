"""`packbelt eval --record`: the file of a recording, which is whole and takes nothing else's place."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from packbelt.evals import Model, Recorder, read_results
from packbelt.evals.models import REPLAY
from packbelt.model import PackbeltError, Where


def check_record(record: Path, models: Sequence[str], results: Path | None) -> None:
    """Return where a recording can be written.

    Args:
        record: its file.
        models: who is asked.
        results: where plays are kept.

    Raises:
        PackbeltError: it would be written over while it is replayed, or lack what is played already.
    """
    where = Where(str(record))
    read = [name.removeprefix(REPLAY) for name in models if name.startswith(REPLAY)]
    files = {Path(part).resolve() for name in read for part in (name, name.rpartition("#")[0]) if part}
    if record.resolve() in files:
        raise PackbeltError("is replayed and cannot be recorded into", where=where, mend="record elsewhere")
    if results is not None and results.is_file() and results.stat().st_size and read_results(results)[1]:
        problem = f"would lack the replies of what {results} holds already"
        raise PackbeltError(problem, where=where, mend="name another --results FILE")


def recording(record: Path, made: Callable[[str], Model], stack: ExitStack) -> Callable[[str], Model]:
    """How models are made whose replies are written to a file.

    Args:
        record: the file.
        made: how the models themselves are made.
        stack: what closes the file.

    Raises:
        PackbeltError: it cannot be written.
    """
    try:
        file = stack.enter_context(record.open("w", encoding="utf-8"))
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise PackbeltError(problem, where=Where(str(record)), mend="check the directory") from None
    return lambda name: Recorder(made(name), lambda entry: file.write(entry.to_line()))
