"""A flow that runs: a program at each end, and what its receiver counted."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from mininet_topos.commands import Popen, stop_process
from mininet_topos.traffic import tcp_transfer, udp_stream
from mininet_topos.traffic.endpoint import FAILED, LISTENING, RECEIVED, SENDING, Load

STOP_TIMEOUT = 8.0
"""Seconds in which both ends report after a stop: the sender's end may not reach the receiver."""
EXIT_TIMEOUT = 10.0
PROGRAMS = {"tcp": tcp_transfer.__name__, "udp": udp_stream.__name__}

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delivery:
    """Result of a load; times are seconds since the epoch.

    :param began_at: when the first stream or packet arrived; None if none is known to have arrived.
    :param ended_at: when the last byte arrived; of a flow that was stopped, not before the stop.
    :param per_second: bytes of each second since ``began_at``.
    :param packets_sent, packets_lost: UDP packets; TCP segments and retransmissions.
    :param jitter: seconds (UDP).
    :param problem: why the delivery is incomplete; empty if it is complete.
    """

    ended_at: float
    received: int = 0
    began_at: float | None = None
    per_second: tuple[int, ...] = ()
    packets_sent: int | None = None
    packets_lost: int | None = None
    jitter: float | None = None
    problem: str = ""


class TrafficRun:
    """A load that runs, followed by a thread; it starts at once.

    :param notify: called in that thread when the first byte is sent and when the load has ended.
    :ivar began_at: when the first byte was sent (seconds since the epoch); None before that.
    :ivar delivery: None until it has ended.
    :ivar received: bytes that the receiver has counted, as of each second.
    """

    def __init__(self, popen: Popen, load: Load, notify: Callable[[], object] = lambda: None) -> None:
        self.load = load
        self.began_at: float | None = None
        self.delivery: Delivery | None = None
        self.received = 0
        self.stopped_at: float | None = None
        self._popen, self._notify = popen, notify
        self._ends: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()
        # A daemon thread: a program that hangs must not keep this process from its end.
        self._thread = threading.Thread(target=self._run, name=f"traffic {load.port}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the load; both ends report within :data:`STOP_TIMEOUT`."""
        with self._lock:
            if self.stopped_at is not None:
                return
            self.stopped_at = time.time()
            # The end of the sender ends the receiver, unless no byte has reached the receiver.
            for process in self._ends[0 if self.received == 0 else 1 :]:
                process.terminate()
        timer = threading.Timer(STOP_TIMEOUT, self._end_programs)
        timer.daemon = True
        timer.start()

    def join(self, timeout: float = STOP_TIMEOUT + EXIT_TIMEOUT) -> None:
        """Wait until the load has ended."""
        self._thread.join(timeout)

    def _end_programs(self) -> None:
        with self._lock:
            for process in self._ends:
                process.terminate()

    def _run(self) -> None:
        try:
            self.delivery = self._carry()
        except Exception as error:  # noqa: BLE001 - outermost guard of a thread: it becomes the flow's problem
            self.delivery = Delivery(time.time(), self.received, problem=str(error) or repr(error))
        self._notify()

    def _carry(self) -> Delivery:
        host, _ = self.load.destination
        with self._program(host, "receive") as receiver:
            first = _next(receiver)
            if self.stopped_at is not None:
                return Delivery(time.time())
            if first.get("event") != LISTENING:
                return Delivery(time.time(), problem=f"receiver in {host}: {_reason(first)}")
            with self._program(self.load.source[0], "send") as sender:
                return self._follow(receiver, sender)

    def _follow(self, receiver: subprocess.Popen[str], sender: subprocess.Popen[str]) -> Delivery:
        sent = _next(sender)
        if sent.get("event") == SENDING:
            self.began_at = time.time()
            self._notify()
        else:
            receiver.terminate()  # no byte will come
        last: Message = {}
        for message in iter(lambda: _next(receiver), {}):
            last = {**last, **message}  # a program that fails may not count any more
            self.received = last.get("bytes", 0)
        for message in iter(lambda: _next(sender), {}):
            sent = message
        return self._judge(last, sent)

    def _judge(self, last: Message, sent: Message) -> Delivery:
        """Return the delivery from the last counts of the receiver and the last line of the sender."""
        delivery = Delivery(
            max(last.get("ended_at", 0.0), self.stopped_at or 0.0) or time.time(),
            self.received,
            last.get("began_at"),
            tuple(last.get("per_second", ())),
            problem="" if self.stopped_at is not None else self._find_problem(last, sent),
        )
        if last.get("event") != RECEIVED:
            return delivery
        total, lost = sent.get("packets", last.get("sent")), sent.get("lost")
        if self.load.protocol == "udp" and total is not None:
            lost = total - last["packets"]
        return replace(delivery, packets_sent=total, packets_lost=lost, jitter=last.get("jitter"))

    def _find_problem(self, last: Message, sent: Message) -> str:
        """Return why a flow that was not stopped is incomplete; UDP can lose packets."""
        if last.get("event") != RECEIVED:
            failed = [_reason(one) for one in (sent, last) if one.get("event") == FAILED]
            return "; ".join(failed) or _reason({})
        if self.load.size is None:
            return "the sender ended by itself"
        if self.load.protocol == "udp" or self.received == self.load.size:
            return ""
        return f"{self.received} of {self.load.size} bytes arrived"

    @contextmanager
    def _program(self, host: str, side: str) -> Iterator[subprocess.Popen[str]]:
        argv = [sys.executable, "-m", PROGRAMS[self.load.protocol], side, json.dumps(asdict(self.load))]
        process = self._popen(host, argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        with self._lock:
            self._ends.append(process)
            if self.stopped_at is not None:
                process.terminate()
        with process:
            try:
                yield process
            finally:
                stop_process(process, EXIT_TIMEOUT)


def _next(process: subprocess.Popen[str]) -> Message:
    """Return the next line of a program; empty when it has ended."""
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    line = process.stdout.readline()
    if not line:
        return {}
    try:
        return dict(json.loads(line))
    except ValueError:  # the program was killed while it wrote
        return {"event": FAILED, "reason": line.strip()[:200]}


def _reason(message: Message) -> str:
    return str(message.get("reason") or "it ended without a report")
