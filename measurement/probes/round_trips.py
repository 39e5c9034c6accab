"""Requests and their answers, one after the other, on any kind of channel: the loop that measures.

It runs in a thread of its own and waits in the kernel; how long Python took to wake up is known from the
kernel's time stamps, and is in no result (:class:`measurement.probes.pacing.Trip`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from measurement.probes.pacing import Trip, due
from measurement.probes.stamps import offset_now, stepped

SLICE = 0.2
"""Seconds after which a waiting thread looks whether it is still wanted."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that came.

    :param number: of the request, from 0.
    :param back: when it came, by the kernel, nanoseconds since 1970; None if it does not say.
    :param resided: nanoseconds that the answerer took.
    """

    number: int
    back: int | None
    resided: int = 0


class Channel(Protocol):
    """What requests go out on."""

    def send(self, number: int) -> None:
        """Send the request of this number, from 0.

        :raises OSError: if the system does not.
        """

    def receive(self, seconds: float) -> Iterable[Answer]:
        """Wait so long at most; answers that came, or none.

        :raises OSError: if there will be no more.
        """

    def went_out(self) -> Mapping[int, int]:
        """When requests went out, by the kernel, nanoseconds since 1970; the times not told before."""


def round_trips(
    channel: Channel, count: int, interval: float, timeout: float, ended: threading.Event
) -> tuple[float | None, ...]:
    """Times of ``count`` requests in seconds, None for the silent ones.

    :param ended: set when nobody wants the result any more.
    :raises OSError: as the channel's.
    """
    begun, offset = time.monotonic_ns(), offset_now()
    trips = dict[int, Trip]()
    sent = list[int]()
    while not ended.is_set():
        now = time.monotonic_ns()
        answered = not sent or len(sent) - 1 in trips
        wait = due(len(sent), count, sent[-1] if sent else 0, answered, interval, now)
        if wait == 0:
            sent.append(time.monotonic_ns())
            channel.send(len(sent) - 1)
            continue
        if wait is None:
            wait = (sent[-1] - now) / 1e9 + timeout
            if len(trips) == count or wait <= 0:
                break
        for answer in channel.receive(min(wait, SLICE)):
            came = time.monotonic_ns()
            if answer.number < len(sent) and came - sent[answer.number] <= timeout * 1e9:
                trip = Trip(sent[answer.number], came, back=answer.back, resided=answer.resided)
                trips.setdefault(answer.number, trip)
    set_meanwhile = stepped(offset, offset_now(), time.monotonic_ns() - begun)
    outs = channel.went_out()
    return tuple(_time(trips.get(number), outs.get(number), set_meanwhile) for number in range(count))


def _time(trip: Trip | None, out: int | None, set_meanwhile: bool) -> float | None:
    return None if trip is None else replace(trip, out=out).seconds(stepped=set_meanwhile)
