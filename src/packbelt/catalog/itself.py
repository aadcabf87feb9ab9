"""Servers that are packbelt's own gateway on the workspace that names them: each would start the next."""

import re
from collections.abc import Sequence
from pathlib import Path

from packbelt.catalog.discover import find_workspace
from packbelt.catalog.workspace import ServerSpec
from packbelt.model import Code, Diagnostic, Level

_PROGRAM = re.compile(r"packbelt(?:\.exe)?(?:[@=<>~!\[].*)?\Z", re.IGNORECASE)
"""The program, also as installers name it: `packbelt@latest`, `packbelt==1.0`, `packbelt[postgres]`."""
_PYTHON = re.compile(r"(?:python[\d.]*w?|pypy[\d.]*|py)(?:\.exe)?\Z", re.IGNORECASE)
_LAUNCHER = re.compile(r"(?:uvx|uv|pipx|poetry|pdm|rye|hatch)(?:\.exe)?\Z", re.IGNORECASE)
_VALUED = frozenset(
    {
        *("--from", "--with", "--with-editable", "--with-requirements", "--package", "--extra", "--group"),
        *("--python", "-p", "--directory", "--project", "--env-file", "--index", "--spec", "--pip-args"),
    }
)
"""Options of launchers whose value is another word."""


def serves_itself(spec: ServerSpec, root: Path) -> bool:
    """Whether a server is `packbelt serve` on this workspace, as far as its definition tells.

    A workspace that stands in a variable (`-w ${DIR}`) is not known before the server is started.

    Args:
        spec: the server.
        root: the workspace's directory.
    """
    if spec.transport != "stdio":
        return False
    found = _arguments(spec.command, spec.args)
    if found is None or "serve" not in found[1]:
        return False
    moved, args = found
    named = _value(args, "--workspace", "-w")
    cwd = None if spec.cwd is None else root / Path(spec.cwd).expanduser()
    bases = _process_directories(root) if cwd is None else [cwd]
    bases = [base / moved for base in bases] if moved else bases
    if named is not None:
        return any((base / named).resolve() == root for base in bases)
    if cwd is None and not moved:
        return True  # the nearest workspace from where packbelt runs, which is how this one is found
    return any(find_workspace(base) == root for base in bases)


def left_out(spec: ServerSpec) -> Diagnostic:
    """The note on such a server."""
    return Diagnostic(
        Level.NOTE,
        Code.SERVER_IGNORED,
        f"server {spec.short_name!r} is packbelt's gateway on this very workspace, and would start itself "
        "without end; it is left out",
        spec.where,
        "remove the entry, or name another workspace in its `args`: -w DIR",
        spec.short_name,
    )


def _process_directories(root: Path) -> list[Path]:
    """Where packbelt's process may run: here, or in the workspace."""
    try:
        return [Path.cwd(), root]
    except OSError:  # the directory is gone
        return [root]


def _arguments(command: str, args: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """Packbelt's own arguments, after the directory that its launcher goes to; None for other programs."""
    program = re.split(r"[/\\]", command)[-1]
    if _PROGRAM.match(program):
        return "", args
    if _PYTHON.match(program):
        for i, word in enumerate(args):
            if word == "-m":
                return ("", args[i + 2 :]) if args[i + 1 : i + 2] == ("packbelt",) else None
        return None
    if not _LAUNCHER.match(program):
        return None
    for i, word in enumerate(args):
        if _PROGRAM.match(word) and (i == 0 or args[i - 1] not in _VALUED):
            return _value(args[:i], "--directory") or "", args[i + 1 :]
        if word == "-m" and args[i + 1 : i + 2] == ("packbelt",):  # uv run python -m packbelt
            return _value(args[:i], "--directory") or "", args[i + 2 :]
    return None


def _value(args: Sequence[str], option: str, short: str | None = None) -> str | None:
    """An option's value in any of its spellings; the last one counts."""
    found = None
    for i, word in enumerate(args):
        if word in (option, short):
            found = args[i + 1] if i + 1 < len(args) else None
        elif word.startswith(f"{option}="):
            found = word.partition("=")[2]
        elif short and word.startswith(short):
            found = word.removeprefix(short)
    return found
