"""Sends fireflies: UDP packets that a collector may receive (:mod:`adon.marking`).

Nothing waits for them and nothing depends on them: what cannot be sent now is dropped, and the first
failure of a row is logged.
"""

from __future__ import annotations

import logging
import socket

from adon.config.policy import FireflyCollector

log = logging.getLogger(__name__)


def nowhere(payload: bytes) -> None:
    """There is no collector.

    :raises RuntimeError: always: without a collector nothing is to be sent.
    """
    raise RuntimeError(f"a firefly of {len(payload)} bytes, and no collector is configured")


class Sender:
    """A UDP socket that leads to the collector.

    :param collector: its address and port.
    """

    def __init__(self, collector: FireflyCollector) -> None:
        family = socket.AF_INET if collector.host.version == 4 else socket.AF_INET6
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._to = (str(collector.host), collector.port)
        self._failed = False

    def __call__(self, payload: bytes) -> None:
        """Send one packet; the first failure of a row is logged."""
        try:
            self._socket.sendto(payload, self._to)
        except OSError as error:
            if not self._failed:
                log.warning("event=firefly.failed to=%s port=%d error=%r", *self._to, str(error))
            self._failed = True
        else:
            self._failed = False

    def close(self) -> None:
        """Give the socket back."""
        self._socket.close()
