"""Ids of runs: UUIDs of version 7 (RFC 9562), which sort by age. `uuid.uuid7` needs Python 3.14."""

import secrets
import time
import uuid

_VERSION_7, _VARIANT = 0x7 << 76, 0b10 << 62


def new_run_id(now: float | None = None) -> str:
    """An id for a run created `now` (seconds since the epoch; the clock's time by default).

    48 bits of milliseconds, 12 of their fraction (RFC 9562, method 3), 62 of chance.
    """
    moment = int((time.time() if now is None else now) * 1000 * 4096)  # in 1/4096 ms
    milliseconds, fraction = divmod(moment, 4096)
    bits = (milliseconds & (1 << 48) - 1) << 80 | _VERSION_7 | fraction << 64 | _VARIANT
    return str(uuid.UUID(int=bits | secrets.randbits(62)))
