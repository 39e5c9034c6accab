"""Sandwich probing (Coates et al.; [HEALTH] 5.1): what a large packet ahead of a small one costs it.

Two small packets are sent d apart, a large one right before the second; d' is how far apart they come.  Both
are differences of one clock each, so the two need not agree.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from measurement.probes import wire
from measurement.probes.findings import Failure, ProbeError, Widened
from measurement.probes.orders import Sandwich, SandwichBack
from measurement.probes.round_trips import SLICE
from measurement.probes.stamps import offset_now, stepped
from measurement.probes.udp import UdpPath


class _Spoilt(Enum):
    SILENT = "a small packet was not answered"
    WITHOUT_LARGE = "the large packet did not come"
    STEPPED = "the answerer's clock was set"


def sandwich(path: UdpPath, asked: Sandwich, ended: threading.Event) -> Widened:
    """All tries, one after the other; a silent target is asked twice, not ``count`` times.

    :raises ProbeError: ``too-large`` if small packets came and no large one, ``clock-stepped``.
    :raises OSError: as the network said.
    """
    large = path.payload() if asked.large is None else asked.large
    tries = list[float | _Spoilt]()
    while len(tries) < asked.count and not ended.is_set():
        if len(tries) >= 2 and set(tries) == {_Spoilt.SILENT}:
            break
        tries.append(_tried(path, asked, large, ended))
        time.sleep(asked.interval)
    return _found(tries, asked, large)


def _found(tries: list[float | _Spoilt], asked: Sandwich | SandwichBack, large: int) -> Widened:
    """What all tries say.

    :raises ProbeError: ``too-large`` or ``clock-stepped`` if none says anything for that.
    """
    values = tuple(each if isinstance(each, float) else None for each in tries)
    if not any(isinstance(each, float) for each in tries):
        if _Spoilt.STEPPED in tries:
            raise ProbeError(Failure.CLOCK_STEPPED, "the receiver's clock was set between two packets")
        if _Spoilt.WITHOUT_LARGE in tries:
            raise ProbeError(
                Failure.TOO_LARGE, f"packets with {large} bytes do not arrive, with {asked.length} they do"
            )
    return Widened(values + (None,) * (asked.count - len(values)), large)


def widened(
    sent: tuple[int, int], answers: tuple[wire.Packet, wire.Packet], elapsed_ns: int
) -> float | _Spoilt:
    """What one try says: d' - d in seconds.

    :param sent: when the small packets were sent, nanoseconds of any one clock.
    :param answers: to the first and the second.
    """
    first, second = answers
    if not second.after:
        return _Spoilt.WITHOUT_LARGE
    if stepped(first.offset, second.offset, elapsed_ns):
        return _Spoilt.STEPPED
    return ((second.received - first.received) - (sent[1] - sent[0])) / 1e9


def _tried(path: UdpPath, asked: Sandwich, large: int, ended: threading.Event) -> float | _Spoilt:
    offset, begun = offset_now(), time.monotonic_ns()
    first = path.send(wire.Kind.ECHO, asked.length)
    sent_first = time.monotonic_ns()
    time.sleep(asked.gap)
    path.send(wire.Kind.FILL, large)
    second = path.send(wire.Kind.ECHO, asked.length)
    sent = (sent_first, time.monotonic_ns())
    answers = dict[int, wire.Packet]()
    until = time.monotonic() + asked.timeout
    while len(answers) < 2 and not ended.is_set() and (left := until - time.monotonic()) > 0:
        found = path.answer(min(left, SLICE))
        if found is not None and found[0].number in (first, second):
            answers[found[0].number] = found[0]
    if len(answers) < 2:
        return _Spoilt.SILENT
    elapsed = time.monotonic_ns() - begun
    outs = path.went_out()
    if first in outs and second in outs and not stepped(offset, offset_now(), elapsed):
        sent = (outs[first], outs[second])
    return widened(sent, (answers[first], answers[second]), elapsed)


@dataclass(frozen=True, slots=True)
class Apart:
    """Sandwiches as they were sent.

    :param seconds: between the two small packets of each.
    :param large: bytes of payload of the large one.
    """

    seconds: tuple[float, ...]
    large: int


def send_sandwiches(path: UdpPath, asked: SandwichBack, ended: threading.Event) -> Apart:
    """Send all, three packets each with numbers in a row; fewer if nobody wants them any more.

    :raises OSError: ``EMSGSIZE`` and the like.
    """
    large = path.payload() if asked.large is None else asked.large
    sent = list[tuple[int, int, float]]()
    offset, begun = offset_now(), time.monotonic_ns()
    while len(sent) < asked.count and not ended.is_set():
        first = path.send(wire.Kind.BACK, asked.length)
        at_first = time.monotonic_ns()
        time.sleep(asked.gap)
        path.send(wire.Kind.BACK, large)
        second = path.send(wire.Kind.BACK, asked.length)
        sent.append((first, second, (time.monotonic_ns() - at_first) / 1e9))
        time.sleep(asked.interval)
    outs = path.went_out()
    if stepped(offset, offset_now(), time.monotonic_ns() - begun):
        outs = {}
    return Apart(
        tuple(
            (outs[second] - outs[first]) / 1e9 if first in outs and second in outs else seconds
            for first, second, seconds in sent
        ),
        large,
    )


class SandwichReceiver:
    """Notes when the packets of sandwiches come that a target sends.

    :param path: where they come.
    :param first: the number of the first packet.
    """

    def __init__(self, path: UdpPath, asked: SandwichBack, first: int) -> None:
        self._path = path
        self._asked = asked
        self._first = first
        self._came = dict[int, int]()
        self._last = threading.Event()
        self._offset, self._begun = offset_now(), time.monotonic_ns()

    def receive(self, seconds: float, ended: threading.Event) -> None:
        """Take packets until the last came, or this long.

        :raises OSError: as the network said.
        """
        count = 3 * self._asked.count
        until = time.monotonic() + seconds
        while not ended.is_set() and not self._last.is_set() and time.monotonic() < until:
            found = self._path.answer(SLICE, wire.Kind.BACK)
            if found is None or found[1] is None or not 0 <= found[0].number - self._first < count:
                continue
            place = found[0].number - self._first
            self._came.setdefault(place, found[1])
            if place == count - 1:
                return

    def stop(self) -> None:
        """Take no more."""
        self._last.set()

    @property
    def batches(self) -> int:
        """How many packets came so far."""
        return len(self._came)

    def found(self, sent: Apart) -> Widened:
        """What they say.

        :raises ProbeError: as :func:`sandwich`.
        """
        set_meanwhile = stepped(self._offset, offset_now(), time.monotonic_ns() - self._begun)
        return widened_back(self._asked, sent, self._came, set_meanwhile=set_meanwhile)


def widened_back(
    asked: SandwichBack, sent: Apart, came: Mapping[int, int], *, set_meanwhile: bool = False
) -> Widened:
    """What sandwiches say that a target sent.

    :param came: nanoseconds of one clock by the packet's place, from 0, three to a sandwich.
    :param set_meanwhile: whether that clock was.
    :raises ProbeError: as :func:`sandwich`.
    """
    tries = list[float | _Spoilt]()
    for number, seconds in enumerate(sent.seconds[: asked.count]):
        first, large, second = (came.get(3 * number + place) for place in range(3))
        if first is None or second is None:
            tries.append(_Spoilt.SILENT)
        elif set_meanwhile:
            tries.append(_Spoilt.STEPPED)
        elif large is None:
            tries.append(_Spoilt.WITHOUT_LARGE)
        else:
            tries.append((second - first) / 1e9 - seconds)
    return _found(tries, asked, sent.large)
