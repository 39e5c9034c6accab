"""A flow that runs: a program at each end, and what its receiver counted."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace

from mininet_topos.commands import Popen, stop_process
from mininet_topos.traffic import tcp_transfer, udp_stream
from mininet_topos.traffic.endpoint import ENDED, Delivery, Load

STOP_TIMEOUT = 8.0
"""Seconds in which both ends report after a stop: the sender's end may not reach the receiver."""
EXIT_TIMEOUT = 10.0
PROGRAMS = {"tcp": tcp_transfer.__name__, "udp": udp_stream.__name__}


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
        # A daemon thread: a program that hangs must not keep this process from its end.
        self._thread = threading.Thread(target=self._run, name=f"traffic {load.port}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the load; both ends report within :data:`STOP_TIMEOUT`."""
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
        for process in self._ends:
            process.terminate()

    def _run(self) -> None:
        try:
            delivery = self._carry()
            if self.stopped_at is not None:
                delivery.problem = ""
        except Exception as error:  # noqa: BLE001 - outermost guard of a thread: it becomes the flow's problem
            delivery = Delivery(received=self.received, problem=str(error) or repr(error))
        delivery.ended_at = max(delivery.ended_at, self.stopped_at or 0.0) or time.time()
        self.delivery = delivery
        self._notify()

    def _carry(self) -> Delivery:
        host, _ = self.load.destination
        with self._program(host, "receive") as receiver:
            event, counted = next(receiver)
            if event == ENDED:
                return Delivery(problem=f"receiver in {host}: {counted.problem}")
            with self._program(self.load.source[0], "send") as sender:
                event, sent = next(sender)
                if event == ENDED:
                    return Delivery(problem=sent.problem)
                self.began_at = time.time()
                self._notify()
                for _, counted in receiver:
                    self.received = counted.received
                _, sent = next(sender)
        return self._judge(counted, sent)

    def _judge(self, counted: Delivery, sent: Delivery) -> Delivery:
        """Return the delivery from the last line of each end; UDP can lose packets."""
        if counted.problem:
            problems = filter(None, (sent.problem, counted.problem))
            return replace(counted, problem="; ".join(problems))
        delivery = replace(counted, packets_sent=sent.packets_sent, packets_lost=sent.packets_lost)
        is_udp, size = self.load.protocol == "udp", self.load.size
        if is_udp and sent.packets_sent is not None:
            delivery.packets_lost = sent.packets_sent - counted.packets_received
        if size is None:
            delivery.problem = "the sender ended by itself"
        elif not is_udp and counted.received != size:
            delivery.problem = f"{counted.received} of {size} bytes arrived"
        return delivery

    @contextmanager
    def _program(self, host: str, side: str) -> Iterator[Iterator[tuple[str, Delivery]]]:
        """Start one end; yield the lines that it prints, and stop it when the context ends."""
        argv = [sys.executable, "-m", PROGRAMS[self.load.protocol], side, json.dumps(asdict(self.load))]
        process = self._popen(host, argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self._ends.append(process)
        if self.stopped_at is not None:  # stop() may not have seen this process
            process.terminate()
        with process:
            try:
                yield _read_lines(process)
            finally:
                stop_process(process, EXIT_TIMEOUT)


def _read_lines(process: subprocess.Popen[str]) -> Iterator[tuple[str, Delivery]]:
    """Yield event and delivery of each line; the last event is :data:`ENDED`, of a killed program too."""
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    event, delivery = "", Delivery()
    for line in process.stdout:
        if not line.endswith("\n"):  # the program was killed while it wrote
            break
        values = json.loads(line)
        event, delivery = values.pop("event"), Delivery(**values)
        yield event, delivery
    if event != ENDED:
        yield ENDED, replace(delivery, problem="it ended without a report")
