"""The way of an order's UDP probes to its target: one path for all of them, and what they showed of it.

Each probe on a path of its own would have to show again that its packets arrive: of what the probes of a pair
cost, a good part.  For threads; not for two at a time.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.findings import Failure, ProbeError, RoundTrips, Widened
from measurement.probes.orders import SHORTEST_UDP
from measurement.probes.round_trips import round_trips
from measurement.probes.udp import Numbers, UdpChannel, UdpPath, arrives, comes_back

_ECHO_TIMEOUT = 1.0


class Way:
    """See the module's text.

    :param keys: of the connection with the target's agent.
    """

    def __init__(self, target: Instance, keys: wire.Keys) -> None:
        self._target = target
        self._keys = keys
        self._numbers = Numbers()
        self._path: UdpPath | None = None
        self._heard = list[float]()
        self._there = self._back = 0

    @contextlib.contextmanager
    def path(self) -> Iterator[UdpPath]:
        """The path, for one probe.  If it fails, the next has another: errors of the network may come late.

        :raises ProbeError: ``unreachable``.
        """
        if self._path is None:
            self._path = self.another()
        try:
            yield self._path
        except BaseException:
            self.close()
            raise

    def another(self) -> UdpPath:
        """A path for one probe that changes it; to be closed.

        :raises ProbeError: ``unreachable``.
        """
        return UdpPath(self._target, self._keys, self._numbers)

    @contextlib.contextmanager
    def last(self) -> Iterator[UdpPath]:
        """The path, for a probe that takes its socket; the next has another."""
        with self.path() as path, contextlib.closing(path):
            self._forget()
            yield path

    def echoes(
        self, length: int, count: int, interval: float, timeout: float, ended: threading.Event
    ) -> RoundTrips:
        """Round trips of packets of so many bytes.

        :raises ProbeError: ``too-large`` if none is answered, and shorter ones arrive.
        :raises OSError: as the network said.
        """
        with self.path() as path:
            found = RoundTrips(round_trips(UdpChannel(path, length), count, interval, timeout, ended))
            if not found.answered and length > SHORTEST_UDP and arrives(path, length, ended) is False:
                raise ProbeError(Failure.TOO_LARGE, _too_large(length, "arrive"))
        if None in found.times:
            self.close()
        else:
            self._there, self._back = max(self._there, length), max(self._back, length)
            self._heard += found.answered if length == SHORTEST_UDP else ()
        return found

    def known(self, echoes: int, there: int, back: int) -> tuple[float, ...] | None:
        """As :meth:`show`, of what was seen before; None if something is still to be seen."""
        seen = len(self._heard) >= echoes and there <= self._there and back <= self._back
        return tuple(self._heard) if seen else None

    def show(self, echoes: int, there: int, back: int, ended: threading.Event) -> tuple[float, ...]:
        """Round trips of so many short packets; none if there are none.

        The target's agent knows where the path begins if there is any.

        :param there, back: bytes of packets that must arrive, and come from the target.
        :raises ProbeError: ``too-large`` if they do not.
        :raises OSError: as the network said.
        """
        missing = echoes - len(self._heard)
        heard = tuple(self._heard)
        if missing > 0:
            heard += self.echoes(SHORTEST_UDP, missing, 0.0, _ECHO_TIMEOUT, ended).answered
        if heard:
            self._must_come(there, back, ended)
        return heard

    def _must_come(self, there: int, back: int, ended: threading.Event) -> None:
        with self.path() as path:
            if back > self._back:
                if not comes_back(path, back, ended):
                    raise ProbeError(Failure.TOO_LARGE, _too_large(back, "come back"))
                self._there, self._back = max(self._there, back), back
            if there > self._there:
                if arrives(path, there, ended) is False:
                    raise ProbeError(Failure.TOO_LARGE, _too_large(there, "arrive"))
                self._there = there

    def saw(self, found: Widened, *, back: bool) -> None:
        """Learn from sandwiches that their large packets came, or take another path if some did not.

        :param back: whether they came from the target.
        """
        if None in found.by:
            self.close()
        elif back:
            self._back = max(self._back, found.large)
        else:
            self._there = max(self._there, found.large)

    def close(self) -> None:
        """End the path; the next probe has another."""
        path = self._path
        self._forget()
        if path is not None:
            path.close()

    def _forget(self) -> None:
        self._path = None
        self._heard.clear()
        self._there = self._back = 0


def _too_large(length: int, what: str) -> str:
    return f"packets with {length} bytes do not {what}, shorter ones do"
