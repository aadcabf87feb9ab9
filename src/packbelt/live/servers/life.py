"""One start of a server: what it is made of, and what is seen of it until it ends."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import mcp_types
from mcp import Client
from mcp.client import ClientRequestContext, Transport

from packbelt.catalog.workspace import Times
from packbelt.live.environment import Resolved, child_environment
from packbelt.live.servers.backoff import Backoff
from packbelt.live.servers.call import Sender
from packbelt.live.servers.child import child
from packbelt.live.servers.elicit import Asker, asker_now
from packbelt.live.servers.exchange import Exchange, Tap
from packbelt.live.servers.failure import ANSWER, Witness, ended, explain
from packbelt.live.servers.listing import SessionEndedError
from packbelt.live.servers.oauth import OAuth, paused, provider
from packbelt.live.servers.posting import unreachable
from packbelt.live.servers.remote import remote
from packbelt.live.servers.watch import Watch

_LOST = "the connection was lost"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the connections of a fleet share.

    Attributes:
        root: the workspace's directory; relative `cwd`s are relative to it.
        times: limits in seconds.
        environ: where placeholders and the children's environment come from; None for `os.environ`.
        starts: how many servers start at a time; each has its whole start time from when its turn comes.
        answerable: whether servers are told that a person can be asked. Where not, they are told so.
        oauth: how HTTP servers are authorized; None for not at all.
        backoff: pauses between attempts to start, list and subscribe again.
    """

    root: Path
    times: Times
    environ: Mapping[str, str] | None = field(repr=False)
    starts: anyio.CapacityLimiter
    answerable: bool = False
    oauth: OAuth | None = None
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(slots=True, eq=False)
class Life:
    """A server from one start to the end of it.

    Attributes:
        settings: what all servers share.
        resolved: its definition, filled in.
        watch: learns of changes of its list.
        on_lost: called when it is lost, at once.
        witness: what is seen of it.
        scope: the whole of it runs inside; its deadline moves along.
        over: set when it is to end, or has.
        why: the reason, where it ended by itself and a request showed it.
        sender: sends calls; None until it is connected.
        askers: the calls under way.
    """

    settings: Settings
    resolved: Resolved
    watch: Watch
    on_lost: Callable[["Life"], None]
    witness: Witness = field(default_factory=Witness)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)
    why: str = ""
    sender: Sender | None = None
    askers: set[Asker] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.witness.mask = self.resolved.mask

    def lose(self, why: str) -> None:
        """The server is no longer there, for this reason."""
        if not self.over.is_set():
            self.why = why
            self.over.set()
            self.on_lost(self)

    def heed(self, seen: Exchange) -> None:
        """Draw the conclusion from how one request fared."""
        if seen.session and seen.status == 404:  # noqa: PLR2004 - the status that the protocol names
            self.lose(str(SessionEndedError()))
        elif seen.lost is not None and unreachable(seen.lost):
            self.lose(explain(seen.lost, Witness(mask=self.resolved.mask), ANSWER))
        elif seen.lost is not None:
            self.watch.changed()  # listing again shows whether it is still there

    def last_words(self, failure: Exception | None) -> str:
        """The line for its end, masked; `failure` is what its client raised."""
        line = self.why or ended(self.witness)
        if not line and failure is not None and not self.scope.cancel_called:
            line = explain(failure, Witness(mask=self.resolved.mask), ANSWER)
        return self.resolved.mask(line or _LOST)

    def client(self) -> Client:
        """The SDK's client of it, not yet entered."""

        async def asked(
            context: ClientRequestContext, params: mcp_types.ElicitRequestParams
        ) -> mcp_types.ElicitResult:
            del context  # the SDK passes it by name too; the exchange tells more
            asker = asker_now(self.askers)
            return await asker.ask(params) if asker else mcp_types.ElicitResult(action="decline")

        piped = self.resolved.spec.transport == "stdio"
        return Client(
            Tap(self._transport(), piped=piped, on_end=lambda: self.lose("")),
            cache=None,
            message_handler=self.watch.notice,
            # Without a callback the SDK does not say that questions can be asked, and refuses them.
            elicitation_callback=asked if self.settings.answerable else None,
        )

    def _while_authorizing(self) -> AbstractContextManager[object]:
        """The clock that stands still while a person authorizes: the call's, or that of the start."""
        asker = asker_now(self.askers)
        if asker is not None:
            return paused(asker.scope)
        return nullcontext() if self.sender else paused(self.scope)

    def _transport(self) -> Transport:
        resolved, settings = self.resolved, self.settings
        spec = resolved.spec
        if spec.transport == "http":
            auth = provider(
                resolved,
                settings.root,
                settings.oauth,
                self.witness,
                waiting=self._while_authorizing,
            )
            return remote(
                resolved.url, resolved.headers, times=settings.times, witness=self.witness, auth=auth
            )
        return child(
            spec.command,
            [value.reveal() for value in resolved.args],
            env=child_environment(resolved, settings.environ),
            cwd=None if spec.cwd is None else settings.root / Path(spec.cwd).expanduser(),
            shutdown=settings.times.shutdown,
            witness=self.witness,
        )
