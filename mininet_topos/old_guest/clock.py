"""Set a guest's clock by this machine's: time stamps of both sides are compared.

User-Mode Linux reads this machine's clock once, early in its boot, and then counts this machine's seconds: it
is late by what passed in between, and stays so.  So it is asked a few times, as NTP asks (RFC 5905, section
8): the answer that came soonest tells best, to half of the time that it took.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mininet_topos.old_guest.messages import Kind, Wire, moment, moment_of

ROUNDS = 20
ANSWER_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class Reading:
    """What one question told.

    :param offset: nanoseconds that the other clock is ahead.
    :param took: nanoseconds between the question and the answer; the offset is known to half of that.
    """

    offset: int
    took: int


def reading(asked: int, there: int, answered: int) -> Reading:
    """By our clock before and after, and the other's in between; nanoseconds."""
    return Reading(there - (asked + answered) // 2, answered - asked)


def best(ask: Callable[[], int], now: Callable[[], int] = time.time_ns, rounds: int = ROUNDS) -> Reading:
    """The reading that was answered soonest.

    :param ask: the other clock.
    """
    readings = (reading(now(), ask(), now()) for _ in range(rounds))
    return min(readings, key=lambda one: one.took)


def set_clock(programs: Path) -> Reading:
    """Set the clock of the guest that listens here; by how much it was wrong.

    :raises OSError: if it does not answer.
    """
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(programs))
        wire = Wire(sock)
        found = best(lambda: _asked(wire))
        wire.say(Kind.STEP, moment(-found.offset))
        _asked(wire)  # and it is done
    return found


def _asked(wire: Wire) -> int:
    wire.say(Kind.CLOCK)
    while not (come := wire.take()):
        if come is None or not select.select([wire], [], [], ANSWER_TIMEOUT)[0]:
            raise TimeoutError("the guest does not say what time it is")
    return moment_of(come[0][1])
