"""Sandwich probing (Coates et al.; [HEALTH] 5.1): what a large packet ahead of a small one costs it.

Two small packets are sent d apart, a large one right before the second; d' is how far apart they come.  Both
are differences of one clock each, so the two need not agree.
"""

from __future__ import annotations

import threading
import time
from enum import Enum

from measurement.probes import wire
from measurement.probes.findings import Failure, ProbeError, Widened
from measurement.probes.orders import Sandwich
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
    values = tuple(each if isinstance(each, float) else None for each in tries)
    if not any(isinstance(each, float) for each in tries):
        if _Spoilt.STEPPED in tries:
            raise ProbeError(Failure.CLOCK_STEPPED, "the target's clock was set between two packets")
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
