"""Round trips on any kind of channel: requests and their answers, one after the other.

The loop waits in the kernel.  How long Python took to wake up is known from the kernel's time stamps and is
in no result (:meth:`RoundTrip.seconds`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from measurement.probes.kernel_timestamps import ClockCheck

SLICE = 0.2
"""Seconds after which a waiting thread looks at its stop signal."""
PATIENCE = 0.2
"""Seconds that the next request waits for the answer to the last: later ones may overtake, and a target that
is silent costs one time-out, not one per request."""


class StopSignal(Protocol):
    """Set when the result of a probe is not needed any more, for example a ``threading.Event``."""

    def is_set(self) -> bool:
        """Return whether the probe should end."""


@dataclass(frozen=True, slots=True)
class EchoAnswer:
    """An answer that arrived.

    :param number: of the request, from 0.
    :param arrived: by the kernel, nanoseconds since 1970; None if it is not reported.
    :param resided: nanoseconds that the target took.
    """

    number: int
    arrived: int | None
    resided: int = 0


class EchoChannel(Protocol):
    """Sends requests and receives answers."""

    def send(self, number: int) -> None:
        """Send the request of this number, from 0.

        :raises OSError: if the system refuses.
        """

    def receive(self, seconds: float) -> Iterable[EchoAnswer]:
        """Wait at most so long; return answers that arrived, or none.

        :raises OSError: if there will be no more.
        """

    def send_times(self) -> Mapping[int, int]:
        """Return when requests were sent, by the kernel, nanoseconds since 1970, by their numbers."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One request and its answer, in nanoseconds.

    :param sent, received: by the monotonic clock, just around the calls to the kernel.
    :param left, arrived: by the kernel, since 1970; None where it did not report it.
    :param resided: that the target reported.
    """

    sent: int
    received: int
    left: int | None = None
    arrived: int | None = None
    resided: int = 0

    def seconds(self, *, stepped: bool) -> float | None:
        """Return the round-trip time without what the two ends took; None if the target's part is impossible.

        The kernel's times leave Python's own out.  Where the wall clock was set meanwhile, or they exceed the
        time by the monotonic clock, the latter counts.

        :param stepped: whether the wall clock was set meanwhile.
        """
        longest = self.received - self.sent
        elapsed = longest
        if not stepped and self.left is not None and self.arrived is not None:
            by_kernel = self.arrived - self.left
            elapsed = by_kernel if 0 < by_kernel <= longest else longest
        if not 0 <= self.resided <= longest:
            return None
        # Two clocks that are read at different places of a computer may differ by some nanoseconds.
        return max(1, elapsed - self.resided) / 1e9


def next_send_wait(
    number: int, count: int, last_sent: int, last_answered: bool, interval: float, now: int
) -> float | None:
    """Return the seconds until the next request is to be sent; 0 for at once, None if all were sent.

    :param number: requests sent so far; :param last_sent, now: nanoseconds of the monotonic clock.
    """
    if number >= count:
        return None
    if number == 0:
        return 0.0
    wait = interval if last_answered else max(interval, PATIENCE)
    return max(0.0, wait - (now - last_sent) / 1e9)


def measure_round_trips(
    channel: EchoChannel, count: int, interval: float, timeout: float, stop: StopSignal
) -> tuple[float | None, ...]:
    """Return the times of ``count`` requests in seconds, None for the silent ones.

    :raises OSError: as the channel's.
    """
    clock = ClockCheck()
    trips = dict[int, RoundTrip]()
    sent = list[int]()
    while not stop.is_set():
        now = time.monotonic_ns()
        answered = not sent or len(sent) - 1 in trips
        wait = next_send_wait(len(sent), count, sent[-1] if sent else 0, answered, interval, now)
        if wait == 0:
            sent.append(time.monotonic_ns())
            channel.send(len(sent) - 1)
            continue
        if wait is None:
            wait = (sent[-1] - now) / 1e9 + timeout
            if len(trips) == count or wait <= 0:
                break
        for answer in channel.receive(min(wait, SLICE)):
            received = time.monotonic_ns()
            if answer.number < len(sent) and received - sent[answer.number] <= timeout * 1e9:
                trip = RoundTrip(sent[answer.number], received, None, answer.arrived, answer.resided)
                trips.setdefault(answer.number, trip)
    stepped = clock.was_stepped()
    left = channel.send_times()
    timed = {number: replace(trip, left=left.get(number)) for number, trip in trips.items()}
    return tuple(
        timed[number].seconds(stepped=stepped) if number in timed else None for number in range(count)
    )
