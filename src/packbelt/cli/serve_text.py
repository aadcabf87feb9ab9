"""What `packbelt serve` says on standard error: standard output belongs to the client."""

import json
import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from packbelt.cli.output import note, several
from packbelt.model import PackbeltError, ServerStatus
from packbelt.model.text import few

if TYPE_CHECKING:
    from packbelt.gateway.agent import Served
    from packbelt.gateway.http import Listening
    from packbelt.gateway.tokens import Tokens
    from packbelt.live.fleet import Fleet

MOST = 3
"""Servers, agents or names of one kind that get a line each."""
NAMED = 8
"""Untrusted servers that are named in their line."""
_STAYS = "the last good workspace stays in force"
_LOOPBACK = ("127.", "localhost", "::1")


class Reporter:
    """Says what is served and what is not.

    Args:
        fleet: the servers' fleet.
        as_json: whether each line is JSON.
    """

    def __init__(self, fleet: "Fleet", *, as_json: bool) -> None:
        self._fleet = fleet
        self._json = as_json
        self._troubled = False
        self._left_out: frozenset[str] = frozenset()
        # The fleet logs the refusal that is said here: without a handler Python would print it a second time.
        logging.getLogger("packbelt.live.vouching").addHandler(logging.NullHandler())

    def waits(self, agent: str) -> None:
        """Somebody started it by hand."""
        self._say(
            f"serving {agent} on standard input and output, where an MCP client is expected; Ctrl-C ends it",
            event="waiting", agent=agent,
        )  # fmt: skip

    def made(self, tokens: "Tokens") -> None:
        """A file of tokens was made."""
        if tokens.made:
            self._say(
                f"made {tokens.source} with a token for {several(len(tokens.made), 'agent')}; keep it secret",
                event="tokens", file=tokens.source,
            )  # fmt: skip

    def stdio(self, live: "Served") -> None:
        """Every server has connected or failed."""
        self._servers()
        self._names([live])
        if self._json:
            self._say("", event="ready", agent=live.name)

    def http(self, listening: "Listening", tokens: "Tokens", host: str) -> None:
        """Requests are answered from now on."""
        self._servers()
        self._names(listening.agents)
        for name, error in listening.refused.items():
            self._say(f"{name} is not served: {error}", event="refused", agent=name, problem=str(error))
        self._say(
            f"serving {several(len(listening.paths), 'agent')} on {listening.url} "
            f"({', '.join(listening.paths.values())}), tokens from {tokens.source}",
            event="ready", url=listening.url, paths=dict(listening.paths),
        )  # fmt: skip
        if not host.startswith(_LOOPBACK):
            self._say(
                "this is plain HTTP beyond this machine: TLS is a balancer's business, or a proxy's",
                event="plain_http",
            )

    def followed(self, problem: PackbeltError | None) -> None:
        """The workspace's files were saved: they do not load, or have been taken."""
        if problem is not None:
            self._troubled = True
            self._say(_kept(problem), event="broken", problem=str(problem))
            return
        if self._troubled or self._json:
            self._say("the workspace's files load again, and are in force", event="reload")
        self._troubled = False
        self._untrusted(frozenset(self._fleet.refused) - self._left_out)

    def _untrusted(self, refused: Collection[str]) -> None:
        """Servers that are left out because nobody trusts them; a server is named once."""
        self._left_out = frozenset(self._fleet.refused)
        if refused:
            names = sorted(refused)
            named = few(names, most=NAMED)
            self._say(
                f"not trusted, and left out: {named}; say --trust, answer `always` to packbelt connect, or "
                f"add {self._fleet.workspace.root} to PACKBELT_TRUST",
                event="untrusted", servers=names,
            )  # fmt: skip

    def _servers(self) -> None:
        refused = self._fleet.refused
        self._untrusted(refused)
        states = self._fleet.snapshot.servers.values()
        failed = [one for one in states if one.status is ServerStatus.FAILED and one.name not in refused]
        for one in failed[:MOST]:
            line = f"server {one.name} is left out: {one.error}"
            self._say(line, event="server", server=one.name, problem=one.error)
        if len(failed) > MOST:
            self._say(f"and {len(failed) - MOST} more; packbelt connect shows them", event="servers")

    def _names(self, agents: "Sequence[Served]") -> None:
        """Names that are too long where the client puts its prefix before them."""
        from packbelt.gateway.spelling import SHOWN

        shown = sorted({name for live in agents for name in live.too_long()})
        for name in shown[:MOST]:
            self._say(
                f"{name} has {len(name)} letters where models see it, and some providers take {SHOWN}; "
                "a shorter --as mends it",
                event="name", name=name,
            )  # fmt: skip
        if len(shown) > MOST:
            self._say(f"and {len(shown) - MOST} more such names", event="names")

    def _say(self, line: str, **fields: Any) -> None:
        if self._json:
            click.echo(json.dumps(fields), err=True)
        elif line:
            note(line)


def _kept(problem: PackbeltError) -> str:
    """A problem in a line that says what stays in force."""
    if _STAYS in problem.problem:
        return str(problem)
    return str(PackbeltError(f"{problem.problem}; {_STAYS}", where=problem.where, mend=problem.mend))
