"""Who is told when what is true changes."""

import logging
from collections.abc import Callable
from contextlib import suppress

_logger = logging.getLogger(__name__)

Listener = Callable[[], None]


class Listeners:
    """Functions of the host's, called in the order in which they came."""

    def __init__(self) -> None:
        self._all: list[Listener] = []

    def add(self, listener: Listener) -> Callable[[], None]:
        """Tell this one too; what is given back ends that, and may be called twice."""
        self._all.append(listener)

        def end() -> None:
            with suppress(ValueError):
                self._all.remove(listener)

        return end

    def tell(self) -> None:
        """Call them all; raises nothing."""
        for listener in tuple(self._all):
            try:
                listener()
            except Exception as error:  # noqa: BLE001 - the host's own; it is no server's fault
                _logger.warning("a listener of the fleet raised %s", type(error).__name__)
