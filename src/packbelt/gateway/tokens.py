"""Bearer tokens: each opens one agent's path and no other.

They come from `PACKBELT_SERVE_TOKENS` (`agent=token`, separated by commas) or from a file with such a line
for each agent, which its owner alone may read. Only their digests are kept; no error, log or event holds one.
"""

import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Self

from packbelt.live import private
from packbelt.model import PackbeltError, Where

VARIABLE = "PACKBELT_SERVE_TOKENS"
SHORTEST = 16
"""Letters of a token; a shorter one can be guessed."""
_MAX_FILE = 1 << 20
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What a bearer token is made of (RFC 6750, 2.1)."""


class BearerTokenError(PackbeltError):
    """The gateway's tokens cannot be used. Never holds one."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Which token opens which agent's path.

    Attributes:
        digests: SHA-256 of each agent's token.
        source: where they came from, for people.
        made: agents whose token was made just now.
    """

    digests: Mapping[str, bytes] = field(repr=False)
    source: str
    made: tuple[str, ...] = ()

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that have a token."""
        return tuple(self.digests)

    def owner(self, presented: str) -> str | None:
        """The agent whose token this is; None for nobody's. Takes the same time for each."""
        digest = sha256(presented.encode("utf-8", "surrogatepass")).digest()
        found: str | None = None
        for agent, known in self.digests.items():
            if secrets.compare_digest(known, digest):
                found = agent
        return found

    def of(self, agents: Iterable[str]) -> Self:
        """The tokens of some agents only."""
        wanted = frozenset(agents)
        return replace(self, digests={a: digest for a, digest in self.digests.items() if a in wanted})

    def key(self, agent: str) -> bytes:
        """A key that all processes with this agent's token share, and nobody else has."""
        return sha256(b"packbelt: state of a call\0" + self.digests[agent]).digest()

    @classmethod
    def of_environment(cls, environ: Mapping[str, str]) -> Self | None:
        """The tokens of `PACKBELT_SERVE_TOKENS`, or None where it is not set or empty.

        Raises:
            BearerTokenError: it is not `agent=token`, separated by commas.
        """
        text = environ.get(VARIABLE, "")
        if not text.strip():
            return None
        entries = ((f"{VARIABLE}, entry {i}", entry) for i, entry in enumerate(text.split(","), 1))
        return cls(_digests(entries, None), VARIABLE)

    @classmethod
    def of_file(cls, file: Path, agents: Iterable[str]) -> Self:
        """The tokens of a file; one that does not exist is made, with a random token for each agent.

        Raises:
            BearerTokenError: others can read it, it cannot be read or written, or a line is not
                `agent=token`.
        """
        try:
            with file.open("rb") as opened:
                if private.others_can_use(os.fstat(opened.fileno())):
                    mend = f"make it yours alone: chmod 600 {file}"
                    raise _error(file, "others than you can read it", mend)
                raw = opened.read(_MAX_FILE)
        except FileNotFoundError:
            return cls._made(file, list(agents))
        except OSError as error:
            raise _error(
                file, f"cannot be read: {error.strerror}", "check its path and permissions"
            ) from None
        text = raw.decode("utf-8", "replace")
        lines = ((f"line {i}", line) for i, line in enumerate(text.splitlines(), 1))
        written = (
            (place, line) for place, line in lines if line.strip() and not line.lstrip().startswith("#")
        )
        return cls(_digests(written, file), str(file))

    @classmethod
    def _made(cls, file: Path, agents: list[str]) -> Self:
        tokens = {agent: secrets.token_urlsafe(32) for agent in agents}
        text = "# packbelt serve --http: agent=token\n" + "".join(f"{a}={t}\n" for a, t in tokens.items())
        try:
            private.create(file, text)
        except OSError as error:
            raise _error(file, f"the file cannot be made: {error.strerror}", "check its directory") from None
        return cls({a: _digest(t) for a, t in tokens.items()}, str(file), tuple(tokens))


def _digests(entries: Iterable[tuple[str, str]], file: Path | None) -> dict[str, bytes]:
    return dict(_read(entries, file))


def _read(entries: Iterable[tuple[str, str]], file: Path | None) -> Iterator[tuple[str, bytes]]:
    agents: set[str] = set()
    known: dict[bytes, str] = {}
    for place, entry in entries:
        agent, equals, token = entry.strip().partition("=")
        agent, token = agent.strip(), token.strip()
        if not equals or not agent:
            raise _error(file, f"{place}: it is not agent=token", "write each as agent=token")
        if len(token) < SHORTEST or not _TOKEN.fullmatch(token):
            raise _error(
                file,
                f"{place}: the token of {agent!r} is no bearer token of at least {SHORTEST} letters",
                "make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'",
            )
        digest = _digest(token)
        if agent in agents:
            raise _error(file, f"{place}: {agent!r} has a second token", "give each agent one")
        if digest in known:
            both = f"{known[digest]!r} and {agent!r} have the same token"
            raise _error(file, f"{place}: {both}", "give each agent one of its own")
        agents.add(agent)
        known[digest] = agent
        yield agent, digest


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


def _error(file: Path | None, problem: str, mend: str) -> BearerTokenError:
    where = Where(str(file)) if file else None
    return BearerTokenError(f"the tokens cannot be used: {problem}", where=where, mend=mend)
