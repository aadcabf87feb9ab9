"""Other libraries' logs while servers are connected: no secret in them, and none of them on the terminal."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from packbelt.live.secret import Secret, masked

_SPEAKERS = (
    "client",  # the SDK's session
    "httpx2",  # logs every request's full address
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "httpcore2.socks",
    "mcp.client.auth.oauth2",
    "mcp.client.client",
    "mcp.client.streamable_http",
    "mcp.shared.dispatcher",
    "mcp.shared.jsonrpc_dispatcher",
)


_TRACEBACKS = logging.Formatter()


class _Masking(logging.Filter):
    """Masks the values in use in every record of the loggers it is attached to."""

    def __init__(self) -> None:
        super().__init__()
        self.inuse: list[Sequence[Secret]] = []

    def filter(self, record: logging.LogRecord) -> bool:
        if self.inuse:
            record.msg, record.args = self.mask(record.getMessage()), ()
            if record.exc_info:  # its words may be a server's, and a handler may show its locals
                record.exc_text = self.mask(_TRACEBACKS.formatException(record.exc_info))
                record.exc_info = None
        return True

    def mask(self, text: str) -> str:
        return masked(text, (secret for group in self.inuse for secret in group))


_masking = _Masking()


def mask(text: str) -> str:
    """The text without the value of any secret that a server of this process has now."""
    return _masking.mask(text)


@contextmanager
def discreet(secrets: Sequence[Secret]) -> Iterator[None]:
    """While inside, these values, and those added to them, are masked in the logs of SDK and HTTP client.

    Where the application configured no logging, what they log is dropped instead of printed: what went
    wrong with a server is reported once, in its state.
    """
    for name in _SPEAKERS:
        logger = logging.getLogger(name)
        logger.addFilter(_masking)  # twice is once
        if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
            logger.addHandler(logging.NullHandler())
    _masking.inuse.append(secrets)
    try:
        yield
    finally:
        _masking.inuse = [group for group in _masking.inuse if group is not secrets]
