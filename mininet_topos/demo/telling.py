"""What every scene of the demo is made of: ask ADON over its REST API, carry bytes, note what was found.

Nothing here decides: flows are submitted, their states are read, transfers start when a flow is active
and report their end.  What was waited for and did not come is a failed check, never a guess.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from adon.api.alarms import AlarmView
from adon.api.decisions import DecisionView
from adon.api.flows import FlowView
from adon.api.measurements import MeasurementView
from adon.api.network import PathView
from adon.errors import AdonError, Unavailable
from adon.timestamps import format_time
from adon.units import format_rate, format_size
from measurement.scheduling import Task
from mininet_topos.demo import plan
from mininet_topos.demo.record import Check, Moment, Record, Transfer
from mininet_topos.demo.scenario import Expectation, Request, body, expectation, title

POLL_S = 0.3
FIRST_MEASUREMENTS_S = 90.0
TRANSFER_S = 600.0
LONGEST_DETAIL = 500
"""Characters that the API takes as the detail of a report."""
ADMISSION_S = 20.0

SETTLED = ("active", "queued", "rejected", "failed", "expired", "cancelled")
"""States in which a new flow's first decision is known."""


class Researcher(Protocol):
    """The REST calls of whoever has bytes to move."""

    def submit(self, request: Any) -> FlowView:
        """POST /flows."""

    def flow(self, flow: str) -> FlowView:
        """GET /flows/{id}."""

    def report(self, flow: str, status: str, size: int, detail: str) -> FlowView:
        """POST /flows/{id}/reports."""


class Api(plan.Api, Protocol):
    """The REST calls of whoever owns the network's policy and looks on."""

    def add_template(self, template: Any) -> Mapping[str, Any]:
        """POST /templates."""

    def decisions(self, flow: str) -> Sequence[DecisionView]:
        """GET /flows/{id}/decisions."""

    def measurements(self, **query: str) -> Sequence[MeasurementView]:
        """GET /measurements."""

    def alarms(self, *, open_only: bool, **query: str) -> Sequence[AlarmView]:
        """GET /alarms."""

    def paths(self) -> Sequence[PathView]:
        """GET /paths."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What a transfer's receiver counted: bytes in all, and per second."""

    received: int
    series: list[int]


Carry = Callable[[int, int, int], Delivered]
"""Moves so many bytes over so many streams to a port of the destination; returns the receiver's count."""


@dataclass(slots=True)
class Telling:
    """One telling of a scene.

    :param api: the performance engineer's.
    :param researcher: whose the flows are.
    :param carry: moves real bytes between the testbed's DTNs.
    :param tell: shows one line to whoever watches.
    :param tasks: the tests of the plan that ADON measures by.
    :param held: what is said of an expectation that held.
    """

    api: Api
    researcher: Researcher
    carry: Carry
    tell: Callable[[str], None]
    record: Record
    requests: dict[str, Request]
    tasks: Mapping[str, Task]
    held: str = "as it must be"
    _threads: list[threading.Thread] = field(default_factory=list)
    _ended: dict[str, float] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event)

    def end(self) -> None:
        """A transfer that still runs now is cut off with the testbed: nobody waits for its end."""
        self._over.set()

    # -- flows --------------------------------------------------------------------------------------------

    def ask(self, step: str, request: Request, state: str) -> FlowView:
        """Submit a flow and check what is decided about it first."""
        request = self.requests[request.name]
        self.mark(step, f"{title(request)} asks for a path", request.name)
        flow = self.researcher.submit(body(request, self.record.scale))
        self.record.names[flow.id] = request.name
        self.until(
            lambda: self.researcher.flow(flow.id).state in SETTLED,
            ADMISSION_S,
            f"{request.name} is decided",
        )
        flow = self.researcher.flow(flow.id)
        self.check(expectation(step, request, state), flow)
        self.tell(f"  {flow.id} is {flow.state}: {flow.reason}")
        return flow

    def check(self, expected: Expectation, flow: FlowView) -> None:
        """Compare what became of a flow with what must follow."""
        site = flow.compute_site if expected.site is not None else None
        found = (flow.state, flow.path, site)
        wanted = (expected.state, expected.path, expected.site)
        text = f"{expected.step}: {expected.flow} is {_words(wanted)}"
        self.note(text, found == wanted, _words(found))

    def note(self, text: str, held: bool, found: str) -> None:
        """Put a check into the record."""
        self.record.checks.append(Check(text, held, found))
        self.tell(f"  {self.held if held else 'NOT AS EXPECTED'}: {text}")

    def follow(self, step: str, request: Request, flow: FlowView) -> None:
        """Move the flow's bytes in a thread of its own, and report its end to ADON and to the record.

        :raises Unavailable: if the flow has no path to move them over.
        """
        request = self.requests[request.name]
        flow = self.researcher.flow(flow.id)
        if flow.state != "active":
            raise Unavailable(f"the story cannot go on: {request.name} is {flow.state}, not active")
        # A daemon: whatever it hangs in must not keep the program from ending.
        thread = threading.Thread(
            target=self._guarded, args=(step, request, flow), name=request.name, daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _guarded(self, step: str, request: Request, flow: FlowView) -> None:
        """The outermost guard of a transfer's thread: whatever goes wrong in it is a failed check."""
        try:
            self._transfer(step, request, flow)
        except Exception as error:  # noqa: BLE001 - nobody else would hear of it
            self._ended.setdefault(request.name, time.time())
            if not self._over.is_set():
                self._failed(f"{request.name} is carried and its end reported", error)

    def _failed(self, text: str, error: Exception) -> None:
        found = str(error) if isinstance(error, AdonError) else repr(error)
        self.record.checks.append(Check(text, False, found))
        self.tell(f"  FAILED: {text}: {found}")

    def _transfer(self, step: str, request: Request, flow: FlowView) -> None:
        size, began = flow.transfer_size_bytes, time.time()
        self.tell(f"  {request.name}: {format_size(size)} over {request.streams} stream(s) on {flow.path}")
        self.researcher.report(flow.id, "started", 0, "")
        moved, trouble = self._carried(size, request)
        ended = time.time()
        if self._over.is_set():
            return
        self._ended[request.name] = ended
        since = self.record.began_at
        whole = moved.received == size
        done = Transfer(
            request.name,
            flow.id,
            self._way(flow),
            size,
            request.streams,
            moved.received,
            began - since,
            ended - since,
            moved.series,
        )
        self.record.transfers.append(done)
        text = f"{request.name}: all {size} bytes counted at the receiver"
        self.record.checks.append(Check(text, whole, trouble or f"{moved.received} bytes"))
        self.researcher.report(flow.id, "finished" if whole else "failed", moved.received, trouble)
        what = f"{format_size(moved.received)}, {format_rate(done.rate)}"
        self.mark(step, f"{request.name}'s transfer ends: {what}", request.name)

    def _way(self, flow: FlowView) -> str:
        """The path it was carried on; both, if it was moved meanwhile."""
        last = self.researcher.flow(flow.id).path
        return str(flow.path) if last == flow.path else f"{flow.path}, then {last}"

    def _carried(self, size: int, request: Request) -> tuple[Delivered, str]:
        """What the receiver counted, and in words what is wrong with it."""
        try:
            moved = self.carry(size, request.streams, request.port)
        except Unavailable as error:
            return Delivered(0, []), str(error)[:LONGEST_DETAIL]
        return moved, "" if moved.received == size else f"{moved.received} of {size} bytes arrived"

    def wait_for_transfer(self, request: Request) -> float:
        """Wait until a transfer has ended; when it did, seconds since the epoch.

        :raises Unavailable: if it does not.
        """
        for thread in self._threads:
            if thread.name == request.name:
                thread.join(TRANSFER_S)
                if thread.is_alive():
                    raise Unavailable(f"{request.name}'s transfer does not end within {TRANSFER_S:g} s")
        return self._ended[request.name]

    # -- the network and the record -----------------------------------------------------------------------

    def await_first_measurements(self, metrics: set[str]) -> list[PathView]:
        """Wait until these are known of every path from MU; the paths."""
        self.tell("measuring the candidate paths for the first time")

        def forward() -> list[PathView]:
            return [path for path in self.api.paths() if path.source == "mu"]

        self.until(
            lambda: all(metrics <= set(path.metrics) for path in forward()),
            FIRST_MEASUREMENTS_S,
            "every path has been measured once",
        )
        return forward()

    def mark(self, step: str, text: str, flow: str) -> None:
        """Put a moment into the record."""
        at = time.time() - self.record.began_at
        self.record.moments.append(Moment(step, at, text, flow))
        self.tell(f"{step}: {text}")

    def collect(self, name: str, since: float) -> None:
        """Read what ADON has to say about all this, and hold the tests' runs against their plan.

        :param name: how checks call the plan.
        :param since: when this ADON was started, seconds since the epoch.
        """
        found = [d for flow in self.record.names for d in self.api.decisions(flow)]
        self.record.decisions = [one.body() for one in sorted(found, key=lambda decision: decision.at)]
        begin = format_time(since)
        self.record.measurements = [one.body() for one in self.api.measurements(since=begin, limit="10000")]
        self.record.alarms = [
            one.body() for one in self.api.alarms(open_only=False, since=begin, limit="1000")
        ]
        self.record.plan = plan.read(self.api, self.tasks, begin)
        self.note(*plan.checked(name, self.record.plan))

    def until(self, held: Callable[[], bool], within: float, what: str) -> None:
        """Wait for something.

        :raises Unavailable: if it does not come, naming it.
        """
        deadline = time.monotonic() + within
        while not held():
            if time.monotonic() > deadline:
                raise Unavailable(f"not within {within:g} s: {what}")
            time.sleep(POLL_S)


def _words(found: tuple[str, str | None, str | None]) -> str:
    state, path, site = found
    where = "" if path is None else f" on {path}"
    computed = "" if site is None else f", computed at {site}"
    return f"{state}{where}{computed}"
