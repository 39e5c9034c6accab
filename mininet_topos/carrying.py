"""Carry a flow over a running test network: a program at each end, and what its receiver counted.

Both programs are ended with their context, or by :meth:`Carriage.stop`; what had arrived by then counts.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from adon.errors import Unavailable
from mininet_topos import media, transfer
from mininet_topos.transfer import Transfer

STOP_S = 10.0
REPORT_S = 8.0
"""Seconds in which the receiver of what is stopped may hear of it from its sender: a path that carries
nothing tells it nothing."""
BEGIN_S = 30.0
"""Seconds within which a load's programs run: in a guest they start slowly."""


Message = Mapping[str, Any]


class Inside(Protocol):
    """What of a test network is used here."""

    def inside(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """The command that runs a program in a host."""


@dataclass(frozen=True, slots=True)
class Load:
    """What is to be carried.

    :param source, destination: host, and the address there.
    :param size: bytes; None for what lasts ``seconds``.
    :param rate: bits/s: what UDP is sent at, what TCP does not exceed.
    :param window: bytes of each stream that may be under way (:mod:`mininet_topos.windows`).
    :param into: a folder on the disk that the receiver writes to; None: it counts, and forgets.
    :param patience: seconds without any progress after which it has failed.
    """

    source: tuple[str, str]
    destination: tuple[str, str]
    port: int
    protocol: Literal["tcp", "udp"] = "tcp"
    size: int | None = None
    seconds: float | None = None
    streams: int = 1
    rate: float | None = None
    window: int | None = None
    into: str | None = None
    patience: float = transfer.DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        if (self.size is None) == (self.seconds is None):
            raise ValueError("size: say either how many bytes, or how many seconds")
        if self.protocol == "udp" and self.rate is None:
            raise ValueError("rate: UDP needs one")

    @property
    def media_seconds(self) -> float:
        """How long UDP is sent."""
        assert self.rate is not None  # noqa: S101 - UDP has one
        return self.seconds if self.seconds is not None else (self.size or 0) * 8 / self.rate

    def receiver(self) -> list[str]:
        """The command at the destination."""
        to = self.destination[1]
        if self.protocol == "udp":
            return media.arguments("receive", to, self.port, timeout=self.patience)
        return transfer.arguments("receive", self._side(to), seconds=self.seconds)

    def sender(self) -> list[str]:
        """The command at the source."""
        bind, to = self.source[1], self.destination[1]
        if self.protocol == "udp":
            assert self.rate is not None  # noqa: S101 - UDP has one
            told = media.sending(to, self.rate, self.media_seconds)
            return [*media.arguments("send", bind, self.port), *told]
        return transfer.arguments("send", self._side(bind), to, self.size, self.seconds)

    def _side(self, bind: str) -> Transfer:
        return Transfer(bind, (self.port,), self.streams, self.patience, self.rate, self.window, self.into)


@dataclass(frozen=True, slots=True)
class Delivered:
    """What came of it, by its receiver.

    :param seconds: from the first stream, or packet, to the last byte, as far as the receiver told.
    :param began_at: when the first stream, or packet, arrived (seconds since 1970); 0 if that is not known.
        By this machine's clock: a guest has one of its own, so it is counted back from when the report came.
    :param per_second: bytes that arrived in each second since then.
    :param ended_at: when the last byte had arrived; of what was stopped, not before it was: it would have
        gone on.  0 if it failed.
    :param packets_sent, packets_lost: datagrams, and those that never arrived; of TCP segments, and those
        that were sent again.
    :param rtt, jitter: seconds.
    :param trouble: why it is not whole; empty if it is.
    """

    received: int = 0
    seconds: float = 0.0
    began_at: float = 0.0
    per_second: tuple[int, ...] = ()
    packets_sent: int | None = None
    packets_lost: int | None = None
    rtt: float | None = None
    jitter: float | None = None
    ended_at: float = 0.0
    trouble: str = ""


@dataclass(slots=True)
class Carriage:
    """A flow under way."""

    receiver: subprocess.Popen[str]
    sender: subprocess.Popen[str] | None = None
    received: int = 0
    """Bytes so far, as the receiver told last: about each second."""
    stopped_at: float = 0.0
    """When it was first told to end (seconds since 1970); 0 if it was not."""
    _before: list[int] = field(default_factory=list)
    _second: int = 0
    _abandoned: bool = False
    _late: threading.Timer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def stopped(self) -> bool:
        """Whether it was told to end."""
        return self.stopped_at > 0

    def stop(self) -> None:
        """Let it end now: the sender hangs up, and the receiver reports what it has, within ``REPORT_S``."""
        with self._lock:
            self.stopped_at = self.stopped_at or time.time()
            if self.sender is not None and self.sender.poll() is None:
                self.sender.terminate()
            if self.received == 0:
                self._end_receiver()  # perhaps nobody ever comes who could hang up
            if self._late is None:
                self._late = threading.Timer(REPORT_S, self._end_both)
                self._late.daemon = True
                self._late.start()

    def abandon(self) -> None:
        """Let the receiver report what it has without waiting for its sender."""
        with self._lock:
            self._end_receiver()

    def _end_both(self) -> None:
        with self._lock:
            self._end_receiver()
            if self.sender is not None and self.sender.poll() is None:
                self.sender.kill()  # it had its time to end by itself: nobody waits for what it may still say

    def _end_receiver(self) -> None:
        if not self._abandoned:  # a second signal would end it before it has reported
            self._abandoned = True
            self.receiver.terminate()

    def over(self) -> None:
        """Nothing more is to be ended."""
        with self._lock:
            if self._late is not None:
                self._late.cancel()

    def started(self, sender: subprocess.Popen[str]) -> bool:
        """Note the sender; False if it is to be stopped already."""
        with self._lock:
            self.sender = sender
            return not self.stopped

    def heard(self, message: Message) -> None:
        """Note what the receiver said."""
        before = self.received
        if "bytes" in message:
            self.received = int(message["bytes"])
        if message.get("event") == "progress":
            # Seconds without bytes are not told of: what came before this one came in the one told of last.
            second, of_second = int(message["second"]), int(message["of_second"])
            self._before += [0] * (second + 1 - len(self._before))
            self._before[self._second] += self.received - before - of_second
            self._before[second] += of_second
            self._second = second

    @property
    def so_far(self) -> tuple[int, ...]:
        """Bytes of each second, as far as the receiver told: for what is cut off."""
        return tuple(self._before)


@contextmanager
def carrying(bed: Inside, load: Load) -> Iterator[Carriage]:
    """The receiver at its end, listening; the sender is :func:`deliver`'s to start.

    :raises Unavailable: if the receiver does not listen.
    """
    with _program(bed, load.destination[0], load.receiver()) as receiver:
        carriage = Carriage(receiver)
        try:
            yield carriage
        finally:
            carriage.over()


def deliver(bed: Inside, load: Load, carriage: Carriage, began: Callable[[], None]) -> Delivered:
    """Carry it to its end, or until it is stopped; ``began`` is called when the first bytes are sent.

    :raises Unavailable: if an end does not start.
    """
    first = _next(carriage.receiver)
    if carriage.stopped:
        return Delivered()
    if first.get("event") != "listening":
        raise Unavailable(f"the receiver in {load.destination[0]} does not listen: {_why(first)}")
    with _program(bed, load.source[0], load.sender()) as sender:
        if not carriage.started(sender):
            sender.terminate()
        sent = _next(sender)  # connected, or failed
        if sent.get("event") == "sending":
            began()
        else:
            carriage.abandon()  # nobody will come
        last: Message = {}
        heard_at = 0.0
        while message := _next(carriage.receiver):
            carriage.heard(message)
            last, heard_at = message, time.time()
        sent = _last(sender) or sent
    return _delivered(load, carriage, last, sent, heard_at)


@contextmanager
def meanwhile(bed: Inside, load: Load) -> Iterator[None]:
    """Carry it as long as the context lasts, at most.

    :raises Unavailable: if it does not begin.
    """
    began, troubles = threading.Event(), list[str]()

    def run(carriage: Carriage) -> None:
        try:
            troubles.append(deliver(bed, load, carriage, began.set).trouble)
        except Unavailable as error:
            troubles.append(str(error))
        began.set()

    with carrying(bed, load) as carriage:
        # A daemon: whatever it hangs in must not keep the program from ending.
        thread = threading.Thread(target=run, args=(carriage,), name="meanwhile", daemon=True)
        thread.start()
        try:
            if not began.wait(BEGIN_S) or any(troubles):
                raise Unavailable(
                    f"a load does not begin: {'; '.join(troubles) or 'its programs are silent'}"
                )
            yield
        finally:
            carriage.stop()
            thread.join(STOP_S)


def _delivered(load: Load, carriage: Carriage, last: Message, sent: Message, heard_at: float) -> Delivered:
    if last.get("event") != "received":
        failed = [_why(said) for said in (sent, last) if said.get("event") == "failed"]
        why = "; ".join(failed) or "it ended without a report"
        if "per_second" in last:
            return replace(_counted(last, heard_at), ended_at=0.0, trouble=why)
        per_second = carriage.so_far
        return Delivered(carriage.received, float(len(per_second)), 0.0, per_second, trouble=why)
    done = _counted(last, heard_at)
    if carriage.stopped:
        done = replace(done, ended_at=max(done.ended_at, min(carriage.stopped_at, heard_at)))
    if load.protocol == "udp":
        total = last["sent"] if last["sent"] is not None else sent.get("packets")
        lost = None if total is None else total - last["packets"]
        return replace(done, packets_sent=total, packets_lost=lost, jitter=last["jitter"])
    trouble = ""
    if load.size is not None and last["bytes"] != load.size and not carriage.stopped:
        trouble = f"{last['bytes']} of {load.size} bytes arrived"
    segments, again = sent.get("segments"), sent.get("retransmitted")
    return replace(done, packets_sent=segments, packets_lost=again, rtt=sent.get("rtt"), trouble=trouble)


def _counted(report: Message, heard_at: float) -> Delivered:
    """What a receiver counted, which may have waited long for more before it said so."""
    seconds, ended_at = float(report["seconds"]), heard_at - float(report["silent"])
    return Delivered(
        received=int(report["bytes"]),
        seconds=seconds,
        began_at=ended_at - seconds,
        per_second=tuple(report["per_second"]),
        ended_at=ended_at,
    )


def _next(process: subprocess.Popen[str]) -> Message:
    """The next line that a program says; empty when it has ended."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    line = process.stdout.readline()
    if not line:
        return {}
    try:
        found = json.loads(line)
    except ValueError:
        return {"event": "failed", "reason": line.strip()[:200]}
    return found if isinstance(found, dict) else {}


def _last(process: subprocess.Popen[str]) -> Message:
    last: Message = {}
    while message := _next(process):
        last = message
    return last


def _why(message: Message) -> str:
    return str(message.get("reason") or "it ended without a report")


@contextmanager
def _program(bed: Inside, host: str, argv: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    # A session of its own: a Ctrl-C is ours to handle.
    process = subprocess.Popen(
        bed.inside(argv, host),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None  # noqa: S101 - it was asked for
        process.stdout.close()
