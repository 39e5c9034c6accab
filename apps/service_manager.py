"""What systemd is told: that we are ready, stopping, alive, and what we are doing (sd_notify(3)).

One datagram per message to the Unix socket that ``NOTIFY_SOCKET`` names; without it nothing is said.
Two processes speak: the supervisor of being ready and of stopping, and the controller's decision thread of
being alive, because a service whose decisions hang is not alive, whatever else answers.  Hence
``NotifyAccess=all`` in the unit.  Nothing waits for systemd: a message that it does not take at once is lost.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Mapping

log = logging.getLogger(__name__)

SOCKET, WATCHDOG, WATCHDOG_PID = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
LISTENING = ("LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES")
"""What tells a process which sockets it was passed (sd_listen_fds(3))."""
PULSES = 3
"""So many times in the time that the watchdog waits do we say that we are alive."""


class ServiceManager:
    """Says things to systemd, if it started us.

    :param environment: of this process.
    :param clock: seconds that never go back.
    """

    def __init__(self, environment: Mapping[str, str], clock: Callable[[], float] = time.monotonic) -> None:
        self._address = _address(environment.get(SOCKET, ""))
        self._clock = clock
        self._status = ""
        self._pulse_after = 0.0
        waits = environment.get(WATCHDOG, "")
        self.pulse_every: float | None = None
        """Seconds between two pulses; None if nobody watches."""
        if self._address is not None and waits.isascii() and waits.isdecimal() and int(waits) > 0:
            self.pulse_every = int(waits) / 1e6 / PULSES

    def ready(self) -> None:
        """The service does what it is there for."""
        self._send("READY=1")

    def stopping(self) -> None:
        """The service is about to end."""
        self._send("STOPPING=1\nSTATUS=stopping")

    def status(self, text: str) -> None:
        """What ``systemctl status`` shows; said when it changes."""
        if text != self._status:
            self._status = text
            self._send(f"STATUS={' '.join(text.split())}")

    def pulse(self) -> None:
        """We are alive; may be called at any rate, and is said as often as the watchdog needs it."""
        if self.pulse_every is None:
            return
        now = self._clock()
        if now >= self._pulse_after:
            self._pulse_after = now + self.pulse_every / 2
            self._send("WATCHDOG=1")

    def _send(self, message: str) -> None:
        if self._address is None:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as speaker:
                speaker.setblocking(False)
                speaker.sendto(message.encode(), self._address)
        except OSError as error:
            log.warning("event=notify.lost error=%r", error.strerror)


def _address(named: str) -> str | None:
    if named.startswith("@"):
        return "\0" + named[1:]  # an abstract socket (unix(7))
    return named if named.startswith("/") else None


def environment_of_parts(environment: Mapping[str, str], *, watched: bool) -> dict[str, str]:
    """What a process that we start inherits of our environment.

    :param watched: whether it says that it is alive; no other is told where systemd listens.
    """
    kept = {name: value for name, value in environment.items() if name not in (*LISTENING, WATCHDOG_PID)}
    if not watched:
        kept = {name: value for name, value in kept.items() if name not in (SOCKET, WATCHDOG)}
    return kept
