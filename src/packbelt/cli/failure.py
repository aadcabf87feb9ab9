"""What becomes of an error: one line on standard error, and an exit code."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

import click

FINE, FINDINGS, BAD_INPUT = 0, 1, 2
INTERRUPTED = 130
"""128 and the number of SIGINT, as a shell reports it."""
PIPE_CLOSED = 141
"""128 and the number of SIGPIPE, as a shell reports it."""
TRACEBACK = "PACKBELT_TRACEBACK"
"""The variable that lets a traceback through."""


class PipeClosedError(Exception):
    """Whoever read standard output has what he wanted."""


def guarded(run: Callable[[], object]) -> int:
    """Run, and return the exit code. A command returns its code, or None for 0."""
    try:
        code = run()
    except PipeClosedError:
        return _hush()
    except click.exceptions.Abort:
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except click.UsageError as error:
        help_of = f" ({error.ctx.command_path} --help says how)" if error.ctx else ""
        return _fail(error.format_message().rstrip(".") + help_of)
    except click.ClickException as error:
        return _fail(error.format_message())
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        return _fail(_say(error))
    return code if isinstance(code, int) else FINE


def _say(error: Exception) -> str:
    from packbelt.model import PackbeltError

    if isinstance(error, PackbeltError):
        return str(error)
    kind = type(error).__name__
    return f"a mistake of packbelt's own ({kind}: {error}); {TRACEBACK}=1 shows the traceback to report"


def _fail(line: str) -> int:
    from packbelt.model.text import one_line

    click.echo(f"packbelt: error: {one_line(line)}", err=True)
    return BAD_INPUT


def _hush() -> int:
    """Give standard output nowhere to go, so that the interpreter's last flush does not complain."""
    with suppress(OSError, ValueError):  # no real file may be behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED
