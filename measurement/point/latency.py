"""The lead's side of one-way delay: sessions at the other point, one for ``latency``, many for ``latencybg``.

``latencybg`` measures as powstream does: each reporting period is a session of its own, the next begins as
soon as one has sent its packets, and what arrived of it is fetched meanwhile.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from measurement.errors import PointError
from measurement.point import owd
from measurement.point.children import RunCanceled, ToolFailed
from measurement.point.peers import Peer
from measurement.point.specs import Latency, LatencyBackground

LOG = logging.getLogger(__name__)
_AFTER_LAST_PACKET = 0.2
_LONGEST_BACKOFF = 60.0

Pause = Callable[[float], None]
Peers = Callable[[str], Peer]


@dataclass(frozen=True, slots=True)
class _Session:
    peer: Peer
    name: str
    port: int
    token: bytes


def once(spec: Latency, pause: Pause, peers: Peers) -> dict[str, Any]:
    """One session's result.

    :raises ToolFailed: when nothing could be sent.
    :raises PointError: when the other point does not receive.
    """
    session = _open_session(spec, peers)
    _send_packets(spec, session, pause)
    pause(_patience(spec))
    return owd.result(session.peer.close_session(session.name), spec)


def continuous(
    spec: LatencyBackground, pause: Pause, peers: Peers, report: Callable[[dict[str, Any]], None]
) -> None:
    """A session per reporting period, until ``duration`` is over; each result goes to ``report``.

    The first must succeed; after that an interruption costs the periods that it lasts.

    :raises ToolFailed: when nothing could be sent.
    :raises PointError: when the other point does not receive from the beginning.
    """
    # The last packet of a period is sent one interval before its end.
    ends = time.monotonic() + spec.duration + spec.packet_interval
    gathering = [_period(spec, pause, peers, report)]
    failures = 0
    while time.monotonic() + spec.period <= ends:
        try:
            gathering.append(_period(spec, pause, peers, report))
            failures = 0
        except (PointError, ToolFailed) as error:
            failures += 1
            LOG.warning('event=latencybg_interrupted cause="%s"', error)
            pause(min(_LONGEST_BACKOFF, 2.0**failures))
        gathering = [thread for thread in gathering if thread.is_alive()]
    for thread in gathering:
        thread.join()


def _period(
    spec: LatencyBackground, pause: Pause, peers: Peers, report: Callable[[dict[str, Any]], None]
) -> threading.Thread:
    session = _open_session(spec, peers)
    _send_packets(spec, session, pause)
    return _start_gathering(spec, session, pause, report)


def _open_session(spec: Latency, peers: Peers) -> _Session:
    peer = peers(spec.dest_node if spec.dest_node is not None else spec.dest)
    lasts = spec.packet_count * spec.packet_interval + spec.packet_timeout
    request = {
        "address": spec.dest,
        "source": spec.source,
        "packets": spec.packet_count,
        "lifetime": lasts + 8.0,
    }
    return _Session(peer, *peer.open_session(request))


def _send_packets(spec: Latency, session: _Session, pause: Pause) -> None:
    try:
        owd.send(spec, session.port, session.token, pause)
    except OSError as error:
        session.peer.close_session(session.name)
        raise ToolFailed(f"cannot send from {spec.source}: {error.strerror}") from None


def _start_gathering(
    spec: LatencyBackground, session: _Session, pause: Pause, report: Callable[[dict[str, Any]], None]
) -> threading.Thread:
    def gather() -> None:
        try:
            pause(_patience(spec))
            report(owd.result(session.peer.close_session(session.name), spec))
        except RunCanceled:
            return
        except PointError as error:
            LOG.warning('event=latencybg_result_lost cause="%s"', error)
        except Exception:  # a thread's outermost guard
            LOG.exception("event=fault thread=latencybg")

    thread = threading.Thread(target=gather, name="latencybg", daemon=True)
    thread.start()
    return thread


def _patience(spec: Latency) -> float:
    return max(spec.packet_timeout, _AFTER_LAST_PACKET)
