"""Flows and loads are carried by threads; what happens to them is told to one inbox."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, field

from adon.errors import AdonError
from apps.experiments.lives import Carried
from mininet_topos.carrying import REPORT_S, Delivered, Inside, Load, carrying, deliver

END_S = 20.0
"""Seconds in which programs end when a trial is over and their receivers have had time to report."""


@dataclass(frozen=True, slots=True)
class Began:
    """The first bytes of something are sent; ``at`` is seconds since 1970."""

    name: str
    at: float


@dataclass(frozen=True, slots=True)
class Ended:
    """Something was carried to its end, or broken off."""

    name: str
    at: float
    delivered: Delivered


Message = Began | Ended


@dataclass(slots=True)
class Carriers:
    """The threads of a trial."""

    bed: Inside
    inbox: queue.SimpleQueue[Message] = field(default_factory=queue.SimpleQueue)
    _threads: list[threading.Thread] = field(default_factory=list)
    _carried: list[Carried] = field(default_factory=list)

    def begin(self, name: str, load: Load, carried: Carried) -> None:
        """Carry something; its :class:`Began` and :class:`Ended` come to the inbox."""
        carried.ordered = True
        self._carried.append(carried)
        # A daemon: whatever it hangs in must not keep the program from ending.
        thread = threading.Thread(target=self._run, args=(name, load, carried), name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _run(self, name: str, load: Load, carried: Carried) -> None:
        try:
            with carrying(self.bed, load) as carriage:
                carried.carriage = carriage
                if carried.stopped:
                    carriage.stop()
                done = deliver(self.bed, load, carriage, lambda: self.inbox.put(Began(name, time.time())))
        except Exception as error:  # noqa: BLE001 - a thread's outermost guard: it becomes the flow's trouble
            done = Delivered(trouble=str(error) if isinstance(error, AdonError) else repr(error))
        self.inbox.put(Ended(name, done.ended_at or time.time(), done))

    def end(self) -> None:
        """Break off what still runs, and wait for the programs."""
        for carried in self._carried:
            carried.stop()
        deadline = time.monotonic() + REPORT_S + END_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
