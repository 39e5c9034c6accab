"""Tells the story to a running ADON over its REST API, as a researcher's tools would.

Nothing here decides: flows are submitted, their states are read, transfers start when a flow is active
and report their end.  What was waited for and did not come is a failed check, never a guess.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from adon.errors import AdonError, Unavailable
from adon.units import format_rate, format_size
from mininet_topos.demo.record import Check, Moment, Record, Transfer
from mininet_topos.demo.scenario import (
    L2,
    NEUROBLASTOMA,
    SOYKB_1,
    SOYKB_2,
    SOYKB_3,
    Expectation,
    Request,
    body,
    expectation,
    templates,
    title,
)

POLL_S = 0.3
FIRST_MEASUREMENTS_S = 90.0
NEXT_TEST_S = 90.0
TRANSFER_S = 600.0
LONGEST_DETAIL = 500
"""Characters that the API takes as the detail of a report."""
ADMISSION_S = 20.0

SETTLED = ("active", "queued", "rejected", "failed", "expired", "cancelled")
"""States in which a new flow's first decision is known."""


class Api(Protocol):
    """The REST calls that the story makes."""

    def add_template(self, template: dict[str, Any]) -> dict[str, Any]:
        """POST /templates."""

    def submit(self, request: dict[str, Any]) -> dict[str, Any]:
        """POST /flows."""

    def flow(self, flow: str) -> dict[str, Any]:
        """GET /flows/{id}."""

    def report(self, flow: str, status: str, size: int, detail: str) -> dict[str, Any]:
        """POST /flows/{id}/reports."""

    def decisions(self, flow: str) -> list[dict[str, Any]]:
        """GET /flows/{id}/decisions."""

    def measurements(self, **query: str) -> list[dict[str, Any]]:
        """GET /measurements."""

    def paths(self) -> list[dict[str, Any]]:
        """GET /paths."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What a transfer's receiver counted: bytes in all, and per second."""

    received: int
    series: list[int]


Carry = Callable[[int, int, int], Delivered]
"""Moves so many bytes over so many streams to a port of the destination; returns the receiver's count."""


@dataclass(slots=True)
class Play:
    """One telling of the story.

    :param carry: moves real bytes between the testbed's DTNs.
    :param rules: the rules in every edge switch, as ``ovs-ofctl`` prints them.
    :param tell: shows one line to whoever watches.
    """

    api: Api
    carry: Carry
    rules: Callable[[], dict[str, str]]
    tell: Callable[[str], None]
    record: Record
    requests: dict[str, Request]
    _threads: list[threading.Thread] = field(default_factory=list)
    _ended: dict[str, float] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Tell the whole story; what went wrong is in the record's checks.

        :raises Unavailable: if ADON or the testbed stops answering, or a flow that must move is not admitted.
        """
        try:
            self._tell_all()
        finally:
            # A transfer that still runs now is cut off with the testbed: nobody waits for its end.
            self._over.set()

    def _tell_all(self) -> None:
        for template in templates(self.record.scale):
            self.api.add_template(template.model_dump(mode="json", exclude={"version"}))
        self._await_first_measurements()

        first = self._ask("t1", SOYKB_1, "active")
        self._keep_rules("t1")
        self._follow("t2", SOYKB_1, first)
        self._wait_for_transfer(SOYKB_1)
        self._await_test(L2, self._ended[SOYKB_1.name])

        neuroblastoma = self._ask("t3", NEUROBLASTOMA, "active")
        began = time.time()
        self._follow("t7", NEUROBLASTOMA, neuroblastoma)
        self._await_test(L2, began)

        second = self._ask("t4", SOYKB_2, "active")
        self._keep_rules("t4")
        self._follow("t5", SOYKB_2, second)
        self._wait_for_transfer(SOYKB_2)

        third = self._ask("t6", SOYKB_3, "queued")
        self._wait_for_transfer(NEUROBLASTOMA)
        self._admitted_by_itself(third)
        self._follow("t9", SOYKB_3, third)
        self._wait_for_transfer(SOYKB_3)
        self._collect()

    # -- the network --------------------------------------------------------------------------------------

    def _await_first_measurements(self) -> None:
        self.tell("measuring the candidate paths for the first time")

        def known() -> bool:
            forward = [p for p in self.api.paths() if p["source"] == "mu"]
            return all({"throughput", "rtt", "loss"} <= set(path["metrics"]) for path in forward)

        self._until(known, FIRST_MEASUREMENTS_S, "every path has been measured once")
        for path in self.api.paths():
            if path["source"] == "mu":
                rate = path["metrics"]["throughput"]["value"]
                self.tell(f"  {path['path']} ({path['layer']}): {format_rate(rate)} single-stream TCP")

    def _await_test(self, path: str, since: float) -> None:
        """Wait for a throughput test that began after ``since``: what comes next must rest on it."""
        self.tell(f"waiting for a throughput test of {path} that began after this")

        def tested() -> bool:
            found = self.api.measurements(path=path, source="mu", metric="throughput", since=_text(since))
            fresh = [m for m in found if _seconds(m["started_at"]) >= since]
            if fresh:
                self.tell(f"  {path}: {format_rate(fresh[0]['value'])}")
            return bool(fresh)

        self._until(tested, NEXT_TEST_S, f"{path} is tested")

    def _keep_rules(self, step: str) -> None:
        for switch, text in self.rules().items():
            self.record.rules[f"{step} {switch}"] = text

    # -- flows --------------------------------------------------------------------------------------------

    def _ask(self, step: str, request: Request, state: str) -> dict[str, Any]:
        request = self.requests[request.name]
        self._mark(step, f"{title(request)} asks for a path", request.name)
        flow = self.api.submit(body(request, self.record.scale))
        self.record.names[flow["id"]] = request.name
        self._until(
            lambda: self.api.flow(flow["id"])["state"] in SETTLED,
            ADMISSION_S,
            f"{request.name} is decided",
        )
        flow = self.api.flow(flow["id"])
        self._check(expectation(step, request, state), flow)
        self.tell(f"  {flow['id']} is {flow['state']}: {flow['reason']}")
        return flow

    def _admitted_by_itself(self, flow: dict[str, Any]) -> None:
        self.tell(f"waiting for {flow['id']} to be admitted by itself")
        states = ("active", "failed", "expired")
        self._until(lambda: self.api.flow(flow["id"])["state"] in states, NEXT_TEST_S, "the queue is served")
        flow = self.api.flow(flow["id"])
        self._mark("t8", f"{SOYKB_3.name} leaves the queue", SOYKB_3.name)
        self._check(expectation("t8", SOYKB_3, "active"), flow)
        self.tell(f"  {flow['id']} is {flow['state']}: {flow['reason']}")

    def _check(self, expected: Expectation, flow: dict[str, Any]) -> None:
        site = flow["compute_site"] if expected.site is not None else None
        found = (flow["state"], flow["path"], site)
        wanted = (expected.state, expected.path, expected.site)
        text = f"{expected.step}: {expected.flow} is {_words(wanted)}"
        self.record.checks.append(Check(text, found == wanted, _words(found)))
        self.tell(f"  {'as in the thesis' if found == wanted else 'NOT AS EXPECTED'}: {text}")

    def _follow(self, step: str, request: Request, flow: dict[str, Any]) -> None:
        """Move the flow's bytes in a thread of its own, and report its end to ADON and to the record.

        :raises Unavailable: if the flow has no path to move them over.
        """
        request = self.requests[request.name]
        flow = self.api.flow(flow["id"])
        if flow["state"] != "active":
            raise Unavailable(f"the story cannot go on: {request.name} is {flow['state']}, not active")
        # A daemon: whatever it hangs in must not keep the program from ending.
        thread = threading.Thread(
            target=self._guarded, args=(step, request, flow), name=request.name, daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _guarded(self, step: str, request: Request, flow: dict[str, Any]) -> None:
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

    def _transfer(self, step: str, request: Request, flow: dict[str, Any]) -> None:
        size, began = flow["transfer_size_bytes"], time.time()
        self.tell(f"  {request.name}: {format_size(size)} over {request.streams} stream(s) on {flow['path']}")
        self.api.report(flow["id"], "started", 0, "")
        moved, trouble = self._carried(size, request)
        ended = time.time()
        if self._over.is_set():
            return
        self._ended[request.name] = ended
        since = self.record.began_at
        whole = moved.received == size
        done = Transfer(
            request.name,
            flow["id"],
            flow["path"],
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
        self.api.report(flow["id"], "finished" if whole else "failed", moved.received, trouble)
        what = f"{format_size(moved.received)}, {format_rate(done.rate)}"
        self._mark(step, f"{request.name}'s transfer ends: {what}", request.name)

    def _carried(self, size: int, request: Request) -> tuple[Delivered, str]:
        """What the receiver counted, and in words what is wrong with it."""
        try:
            moved = self.carry(size, request.streams, request.port)
        except Unavailable as error:
            return Delivered(0, []), str(error)[:LONGEST_DETAIL]
        return moved, "" if moved.received == size else f"{moved.received} of {size} bytes arrived"

    def _wait_for_transfer(self, request: Request) -> None:
        for thread in self._threads:
            if thread.name == request.name:
                thread.join(TRANSFER_S)
                if thread.is_alive():
                    raise Unavailable(f"{request.name}'s transfer does not end within {TRANSFER_S:g} s")

    # -- the record -----------------------------------------------------------------------------------------

    def _mark(self, step: str, text: str, flow: str) -> None:
        at = time.time() - self.record.began_at
        self.record.moments.append(Moment(step, at, text, flow))
        self.tell(f"{step}: {text}")

    def _collect(self) -> None:
        found = [d for flow in self.record.names for d in self.api.decisions(flow)]
        self.record.decisions = sorted(found, key=lambda decision: str(decision["at"]))
        since = _text(self.record.began_at - 120)
        self.record.measurements = self.api.measurements(since=since, limit="10000")

    def _until(self, held: Callable[[], bool], within: float, what: str) -> None:
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


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat()
