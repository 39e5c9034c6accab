"""Real transfers between the guests of an emulated cloud, told and awaited from one place."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from measurement.health.model import Pair
from mininet_topos.cloud.build import Running

SILENT_S = 180.0
"""Nothing that a benchmark transfers takes so long."""


@dataclass
class Flows:
    """The transfers of one application.

    :param parts: per sender, its number there and whose transfers they are, in the order told.
    """

    parts: Mapping[str, tuple[int, tuple[tuple[str, str], ...]]]
    waiting: set[str] = field(default_factory=set)


class Ends:
    """A process in each guest."""

    def __init__(self, running: Running, processes: Mapping[str, subprocess.Popen[str]]) -> None:
        self._running = running
        self._processes = processes
        self._said: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self._numbers = itertools.count(1)
        for name, process in processes.items():
            threading.Thread(target=self._read, args=(name, process), daemon=True).start()
        for _ in processes:
            self._said.get(timeout=SILENT_S)

    def start(self, sent: Mapping[tuple[str, str], int], machines: Mapping[str, str]) -> Flows:
        """Begin the transfers of an application between the machines of its tasks."""
        by_sender: dict[str, list[tuple[tuple[str, str], str, int]]] = {}
        for (one, other), size in sent.items():
            pair = Pair(machines[one], machines[other])
            if size and pair.source != pair.destination:
                by_sender.setdefault(pair.source, []).append(((one, other), pair.destination, size))
        flows = Flows({n: (next(self._numbers), tuple(t for t, _, _ in its)) for n, its in by_sender.items()})
        flows.waiting = {*by_sender}
        for name, its in by_sender.items():
            to = [[str(self._running.cloud.address(other)), size] for _, other, size in its]
            self._tell(name, {"send": flows.parts[name][0], "to": to})
        return flows

    def ended(self, under_way: Mapping[str, Flows], timeout: float | None = None) -> str | None:
        """The first of these applications whose transfers are over; None if none is in time."""
        while True:
            for name, flows in under_way.items():
                if not flows.waiting:
                    return name
            try:
                sender, message = self._said.get(timeout=SILENT_S if timeout is None else max(0.0, timeout))
            except queue.Empty:
                if timeout is None:
                    raise RuntimeError("transfers do not end") from None
                return None
            for flows in under_way.values():
                if sender in flows.waiting and flows.parts[sender][0] == message.get("sent"):
                    flows.waiting.discard(sender)

    def left(self, flows: Flows, under_way: Mapping[str, Flows]) -> dict[tuple[str, str], float]:
        """Bytes that transfers have still to send."""
        found: dict[tuple[str, str], float] = {}
        for name, (number, tasks) in flows.parts.items():
            self._tell(name, {"left": number})
            while True:
                sender, message = self._said.get(timeout=SILENT_S)
                if sender == name and message.get("left") == number:
                    found |= dict(zip(tasks, message["bytes"], strict=True))
                    break
                for other in under_way.values():
                    if sender in other.waiting and other.parts[sender][0] == message.get("sent"):
                        other.waiting.discard(sender)
        return found

    def _tell(self, name: str, message: dict[str, Any]) -> None:
        to = self._processes[name].stdin
        assert to is not None
        to.write(json.dumps(message) + "\n")
        to.flush()

    def _read(self, name: str, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._said.put((name, json.loads(line)))


@contextmanager
def ends(running: Running) -> Iterator[Ends]:
    """Start one in each guest; they end with the context."""
    argv = (sys.executable, "-m", "benchmarks.transfer_ends")
    with ExitStack() as stack:
        processes = {}
        for guest in running.cloud.guests:
            process = running.popen(
                guest.name, *argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            processes[guest.name] = process
        yield Ends(running, processes)
