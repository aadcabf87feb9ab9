"""Whether servers may be started at all. A directory never says so of itself.

Three ways to trust: the caller's word for this call (`--trust`), `PACKBELT_TRUST` (absolute directories,
separated as in PATH; the workspace's own directory must be among them, one above it does not count), and
the user's own file, which holds the SHA-256 of each server's definition under the workspace's path, so that
an edited definition is a new one. Otherwise a person is asked, and where there is nobody to ask the answer
is no. Not trusted means: no process, no connection, and no variable of the environment is read for it.
"""

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from packbelt.catalog.workspace import ServerSpec, Workspace
from packbelt.live import private
from packbelt.live.servers.failure import clean
from packbelt.model import PackbeltError, Where
from packbelt.model.text import few

VARIABLE = "PACKBELT_TRUST"
NOT_TRUSTED = "not trusted"
"""Why a server was not started, where nobody ever trusted it."""
_NAMED = 8
"""Servers that a refusal names for one reason; of more only the number is."""
_VERSION = 1
_MAX_FILE = 1 << 20
SHOWN = 16_000
"""Bytes of a definition that are shown to whoever is asked to trust it: enough that no tail stays hidden."""


class TrustError(PackbeltError):
    """The user's trust file cannot be used."""


class Consent(StrEnum):
    """What a person says when asked."""

    NO = "no"
    ONCE = "once"
    ALWAYS = "always"

    @classmethod
    def of(cls, said: str) -> Self | None:
        """The answer that some typed words are; None if they are none."""
        return next((answer for answer in cls if said.strip().lower() in _WORDS[answer]), None)


_WORDS = {
    Consent.NO: ("no", "n"),
    Consent.ONCE: ("once", "o", "yes", "y"),
    Consent.ALWAYS: ("always", "a"),
}


Ask = Callable[[Path, Sequence[ServerSpec]], Consent]
"""Asks a person, given the workspace's directory and the servers in question; see `describe`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which servers may be started.

    Attributes:
        trusted: these.
        refused: the others by name, each with the reason.
        root: the workspace's directory.
    """

    trusted: tuple[ServerSpec, ...]
    refused: Mapping[str, str]
    root: Path

    @property
    def line(self) -> str:
        """The refusal in one line that says how to trust; empty where nothing is refused."""
        if not self.refused:
            return ""
        by_reason: dict[str, list[str]] = {}
        for name, why in self.refused.items():
            by_reason.setdefault(why, []).append(name)
        said = "; ".join(
            f"not started ({why}): {few(names, most=_NAMED)}" for why, names in by_reason.items()
        )
        return f"{self.root}: {said}; to trust them, say --trust, or add the directory to {VARIABLE}"


@dataclass(frozen=True, slots=True)
class Trust:
    """What this user trusts.

    Attributes:
        file: the user's trust file; it need not exist.
        directories: resolved directories from `PACKBELT_TRUST`.
        definitions: digests of definitions that are trusted for as long as this process lasts.
    """

    file: Path
    directories: frozenset[Path] = field(default_factory=frozenset)
    definitions: frozenset[str] = frozenset()

    @classmethod
    def of_user(cls, environ: Mapping[str, str] | None = None) -> Self:
        """The trust of the user whose environment this is; the process's by default."""
        environ = os.environ if environ is None else environ
        entries = (Path(entry).expanduser() for entry in environ.get(VARIABLE, "").split(os.pathsep) if entry)
        # A relative entry would trust whatever directory one happens to stand in.
        return cls(
            config_directory(environ) / "trust.json",
            frozenset(entry.resolve() for entry in entries if entry.is_absolute()),
        )

    def also(self, workspace: Workspace) -> Self:
        """The same, and the servers of a workspace as it defines them now: what changes later is not."""
        specs = (*workspace.servers.values(), *workspace.inline.values())
        return replace(self, definitions=self.definitions | {spec.digest for spec in specs if spec.digest})

    def resolve(
        self,
        workspace: Workspace,
        *,
        granted: bool = False,
        ask: Ask | None = None,
        specs: Sequence[ServerSpec] | None = None,
    ) -> Verdict:
        """Which of a workspace's servers may be started.

        Args:
            workspace: their workspace.
            granted: the caller's word that all of them may.
            ask: asks a person about those in question; None where there is nobody to ask.
            specs: the servers; the workspace's shared ones by default.

        Raises:
            TrustError: the user's trust file is not what it should be.
        """
        specs = tuple(workspace.servers.values()) if specs is None else tuple(specs)
        root = workspace.root.resolve()
        if granted or root in self.directories or not specs:
            return Verdict(specs, {}, root)
        known = self._known().get(str(root), {})
        granted_now = {spec.name for spec in specs if spec.digest in self.definitions}
        doubtful = [
            spec
            for spec in specs
            if spec.name not in granted_now and not (spec.digest and known.get(spec.name) == spec.digest)
        ]
        answer = ask(root, doubtful) if ask is not None and doubtful else Consent.NO
        if answer is Consent.ALWAYS:
            self.remember(workspace, doubtful)
        if answer is not Consent.NO:
            return Verdict(specs, {}, root)
        names = {spec.name for spec in doubtful}
        why = {
            spec.name: "declined"
            if ask is not None
            else "its definition changed since it was trusted"
            if spec.name in known
            else NOT_TRUSTED
            for spec in doubtful
        }
        return Verdict(tuple(spec for spec in specs if spec.name not in names), why, root)

    def remember(self, workspace: Workspace, specs: Sequence[ServerSpec]) -> None:
        """Trust these definitions in this directory from now on.

        The file is written whole or not at all, and readable by this user alone.

        Raises:
            TrustError: the trust file cannot be read or written.
        """
        known = self._known()
        root = str(workspace.root.resolve())
        known[root] = known.get(root, {}) | {spec.name: spec.digest for spec in specs if spec.digest}
        text = json.dumps({"version": _VERSION, "trusted": known}, indent=2, sort_keys=True) + "\n"
        try:
            private.replace(self.file, text)
        except OSError as error:
            raise self._error(f"it cannot be written: {error.strerror}", "check the directory") from None

    def _known(self) -> dict[str, dict[str, str]]:
        """Digest by server name by directory."""
        try:
            with self.file.open("rb") as file:
                if private.others_can_write(os.fstat(file.fileno())):
                    raise self._error("others can write it", "make it yours alone (chmod 600)")
                raw = file.read(_MAX_FILE)  # what is cut off is no JSON
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._error(f"it cannot be read: {error.strerror}", "check its permissions") from None
        try:
            data: Any = json.loads(raw)
            if data["version"] != _VERSION:
                raise self._error("it is of another version", "remove it, and trust anew")
            return {
                str(root): {str(name): str(digest) for name, digest in servers.items()}
                for root, servers in data["trusted"].items()
            }
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._error("it is not a trust file", "remove it, and trust anew") from None

    def _error(self, problem: str, mend: str) -> TrustError:
        return TrustError(f"the trust file cannot be used: {problem}", where=Where(str(self.file)), mend=mend)


def describe(spec: ServerSpec) -> str:
    """What starting a server would do, in one line as its file has it: no placeholder is filled in."""
    what = spec.url if spec.transport == "http" else shlex.join([spec.command, *spec.args])
    names = [*spec.env, *spec.headers]
    with_names = f" (sets {', '.join(names)})" if names else ""
    return clean(f"{spec.name}: {what}{with_names}", SHOWN)


def config_directory(environ: Mapping[str, str]) -> Path:
    """The directory of packbelt among the user's settings; `XDG_CONFIG_HOME` wins where it is absolute."""
    stated = Path(environ.get("XDG_CONFIG_HOME", ""))
    if stated.is_absolute():
        return stated / "packbelt"
    if sys.platform == "win32":
        return Path(environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "packbelt"
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "packbelt"
    return home / ".config" / "packbelt"
