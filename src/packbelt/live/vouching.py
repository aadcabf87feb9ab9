"""Which servers a fleet may start: by the host's word, the user's trust, or a person's yes to one definition.

The host's word (`trust=True`, `PACKBELT_TRUST`) is for what stood in the files when it was given, and for
what the host itself has read again. What a tool that an agent called has brought in, a server just installed
say, waits for a person: no agent vouches for what it wrote. Nor does a watcher of files that sees it before
the tool tells: what it brings while such a tool is at work waits as well.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain

from packbelt.catalog.workspace import ServerSpec, Workspace
from packbelt.live.trust import NOT_TRUSTED, Trust
from packbelt.model import PackbeltError

_logger = logging.getLogger(__name__)

MAX_SERVERS = 256
"""Servers of one workspace, shared and agents' own; the rest fails."""

_MEND = "trust its directory (PACKBELT_TRUST), or open the fleet with trust=True"
_BROUGHT = f"{NOT_TRUSTED}: an agent brought it, and no person has agreed to it yet"


class NotTrustedError(PackbeltError):
    """A server may not be started."""


class Vouching:
    """What one fleet knows of who vouches for which definition.

    Args:
        trust: the host's word, or the user's trust.
        environ: whose trust counts where the host brings none.

    Attributes:
        refused: servers of the workspace last looked at that may not be started, by name, with the reason.
        doubtful: those of them that a person's yes can start.
    """

    def __init__(self, trust: bool | Trust, environ: Mapping[str, str] | None) -> None:
        self._word = trust
        self._environ = environ
        self._brought: set[tuple[str, str]] = set()
        self._agreed: set[tuple[str, str]] = set()
        self._at_work = 0
        self.refused: Mapping[str, str] = {}
        self.doubtful: frozenset[str] = frozenset()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """While inside, a native tool that an agent called is at work, and may be writing servers."""
        self._at_work += 1
        try:
            yield
        finally:
            self._at_work -= 1

    @property
    def in_doubt(self) -> bool:
        """Whether files that a watcher found changed may be the doing of an agent's tool."""
        return self._at_work > 0

    def look(self, workspace: Workspace, *, after: Workspace | None = None) -> None:
        """See which servers of a workspace may be started.

        Args:
            workspace: whose servers.
            after: the workspace that it follows, where it was read for an agent: what is new in it is that
                agent's doing.

        Raises:
            TrustError: the user's trust file cannot be used.
        """
        trust = Trust.of_user(self._environ) if isinstance(self._word, bool) else self._word
        every = list(_all(workspace))
        if after is not None:
            known = {*map(_key, _all(after)), *self._agreed}
            self._brought |= {_key(spec) for spec in every if _key(spec) not in known}
        asked = [spec for spec in every if _key(spec) not in self._agreed]
        brought = [spec for spec in asked if _key(spec) in self._brought]
        given = [spec for spec in asked if _key(spec) not in self._brought]
        verdict = trust.resolve(workspace, granted=self._word is True, specs=given)
        # For these the user's word counts that was given to the very definition, and no word for all.
        waiting = replace(trust, directories=frozenset()).resolve(workspace, specs=brought).refused
        if verdict.refused:
            _logger.warning("%s", verdict.line)
        self.doubtful = frozenset((*verdict.refused, *waiting))
        self.refused = {
            **{spec.name: f"the limit is {MAX_SERVERS} servers" for spec in every[MAX_SERVERS:]},
            **{name: f"{why}: {_MEND}" for name, why in verdict.refused.items()},
            **dict.fromkeys(waiting, _BROUGHT),
        }

    def check(self, spec: ServerSpec, agreed: ServerSpec | None = None) -> None:
        """Return where a server of the workspace last looked at may be started.

        Args:
            spec: the server.
            agreed: the definition that a person has agreed to. For as long as the fleet is open it is then as
                any other.

        Raises:
            NotTrustedError: it may not, or is not the one that was agreed to.
        """
        if agreed is not None:
            if _key(agreed) != _key(spec):
                why = f"server {spec.name!r} has changed since it was agreed to"
                raise NotTrustedError(why, mend="connect it again", name=spec.name)
            if spec.name in self.doubtful:
                self._agreed.add(_key(spec))
                self.doubtful -= {spec.name}
                self.refused = {name: why for name, why in self.refused.items() if name != spec.name}
        if spec.name in self.refused:
            why = f"server {spec.name!r} may not be started: {self.refused[spec.name]}"
            raise NotTrustedError(why, name=spec.name)


def _all(workspace: Workspace) -> Iterable[ServerSpec]:
    return chain(workspace.servers.values(), workspace.inline.values())


def _key(spec: ServerSpec) -> tuple[str, str]:
    return spec.name, spec.digest
