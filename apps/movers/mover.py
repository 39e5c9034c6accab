"""The loop: reads where flows stand, has tools do what is to be done, tells the controller what came of it.

One thread changes transfers and their book; tools are asked by a few workers, for each transfer one thing
at a time, so that one that hangs delays no other.  While the controller is away, or stands by, nothing is
started; what runs goes on, and what there is to tell waits.
"""

from __future__ import annotations

import logging
import queue
import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from adon.broker.flow import Flow, FlowState
from adon.config.transfers import Transfers
from adon.errors import AdonError, Conflict, InvalidInput, NotFound, Unavailable
from adon.transfers.machine import (
    Broke,
    Deed,
    Event,
    FlowStands,
    Patience,
    Phase,
    Report,
    RetryAsked,
    Ticked,
    Transfer,
    Unanswered,
    step,
    todo,
    told,
)
from adon.transfers.plan import Plan, planned
from adon.transfers.wish import TransferOptions
from apps.movers.book import Book, is_open
from apps.movers.rclone import RemoteControl
from apps.movers.seeing import Flows, rate_of

log = logging.getLogger("apps.movers")

SOCKET = "movers.sock"
"""In the data folder: where the web side asks for a retry."""
WORKERS = 16
TELL_WITHIN_S = 5.0


class Controller(Protocol):
    """The link, as far as it is used here."""

    @property
    def connected(self) -> bool:
        """Whether the controller is there now."""

    def call(self, kind: str, payload: dict[str, Any], timeout: float = ...) -> dict[str, Any]:
        """Send a command and wait for its answer."""


class Asker(Protocol):
    """Who asked something over our own link (:class:`apps.link.Peer`)."""

    def answer(self, command: str, value: Mapping[str, Any] | AdonError) -> None:
        """Answer it."""


@dataclass(frozen=True, slots=True)
class _Came:
    """A worker is done."""

    flow: int
    event: Event


@dataclass(frozen=True, slots=True)
class _Told:
    """The controller has answered a report."""

    flow: int
    report: Report
    error: AdonError | None


@dataclass(frozen=True, slots=True)
class _Limited:
    at: str
    rate: float | None
    heard: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    flow: int
    peer: Asker
    command: str


class Mover:
    """See the module.

    :param tools: the rclone at each DTN.
    :param clock: seconds since the epoch.
    :param chance: from 0 to 1.
    """

    def __init__(
        self,
        configured: Transfers,
        tools: Mapping[str, RemoteControl],
        flows: Flows,
        book: Book,
        controller: Controller,
        clock: Callable[[], float],
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._configured = configured
        self._tools = tools
        self._flows = flows
        self._book = book
        self._controller = controller
        self._clock = clock
        self._chance = chance
        self._patience = Patience(configured.tries, configured.backoff, configured.longest_backoff)
        self._inbox: queue.SimpleQueue[_Came | _Told | _Limited | _Asked | None] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="tool")
        self._transfers = {one.flow: one for one in book.open_ones()}
        self._seen: dict[int, Flow] = {}
        self._busy: set[int] = set()
        self._telling: set[int] = set()
        self._limits: dict[str, float | None] = {}
        self._tried: dict[str, float | None] = {}
        self._limiting: set[str] = set()
        self._stale: set[str] = set()
        self.told_active = False
        """Whether the controller said that it leads; set by the link's thread."""

    @property
    def active(self) -> bool:
        """Whether there is a controller, and it leads."""
        return self.told_active and self._controller.connected

    def run(self) -> None:
        """Work until :meth:`stop`."""
        due = 0.0
        while True:
            now = self._clock()
            if now >= due or due - now > self._configured.period:  # also when the clock was set back
                self._round()
                due = self._clock() + self._configured.period
            try:
                message = self._inbox.get(timeout=max(0.01, due - self._clock()))
            except queue.Empty:
                continue
            if message is None:
                break
            self._take(message)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def stop(self) -> None:
        """Let :meth:`run` end; the tools go on, and are found again.  Any thread."""
        self._inbox.put(None)

    def handle(self, peer: Asker, kind: str, payload: dict[str, Any]) -> None:
        """Take a message of the web side.  Any thread."""
        if kind == "transfer.retry":
            flow = payload.get("flow")
            if not isinstance(flow, int) or isinstance(flow, bool):
                raise InvalidInput.of("flow", "is no number of a flow")
            self._inbox.put(_Asked(flow, peer, str(payload.get("command"))))
        elif kind != "hello":
            raise InvalidInput.of("kind", f"{kind[:40]!r} is not a command")

    # -- a round -------------------------------------------------------------------------------------

    def _round(self) -> None:
        try:
            if self.active:
                self._look_for_new_ones()
            for number in tuple(self._transfers):
                self._seen[number] = self._flows.flow(number)
        except (Unavailable, NotFound) as error:
            log.warning("event=state.unreadable cause=%r", str(error))
        for number in tuple(self._transfers):
            flow = self._seen.get(number)
            event: Event = Ticked()
            if flow is not None and self.active:
                event = FlowStands(flow.state is FlowState.ACTIVE, flow.state.final, self._rate(flow))
            self._happened(number, event)
        self._hold()
        for number in tuple(self._transfers):
            self._do(number)
            self._tell(number)

    def _look_for_new_ones(self) -> None:
        for flow in self._flows.since(self._book.cursor):
            if flow.request.transfer is not None and not self._book.knows(flow.number):
                self._keep(self._new(flow))
            self._book.cursor = flow.number

    def _new(self, flow: Flow) -> Transfer:
        at, attached = "", flow.request.transfer is not None and flow.request.transfer.attach is not None
        try:
            at = self._plan(flow).at
        except AdonError as error:  # the configuration has changed since it was taken in
            log.warning("event=transfer.unplanned flow=%s cause=%r", flow.id, str(error))
        key = f"adon/{flow.id}/{flow.submitted_at:.3f}"
        return Transfer(flow.number, key, at, attached, self._flows.pausable(flow), since=self._clock())

    def _plan(self, flow: Flow) -> Plan:
        wish = flow.request.transfer
        if wish is None:
            raise NotFound("transfer", flow.id)
        return planned(wish, flow.hosts, flow.groups, self._configured)

    def _rate(self, flow: Flow) -> float | None:
        transfer = self._transfers[flow.number]
        tool = self._configured.rclone.get(transfer.at)
        return None if tool is None else rate_of(flow, tool.limit, self._flows)

    # -- tools -----------------------------------------------------------------------------------------

    def _do(self, number: int) -> None:
        transfer, flow = self._transfers.get(number), self._seen.get(number)
        if transfer is None or flow is None or number in self._busy:
            return
        deed = todo(transfer)
        if deed is None:
            return
        # What starts is held back from its first byte on.
        if deed is Deed.START and not (
            self.active and (transfer.at not in self._tools or self._held(transfer.at))
        ):
            return
        self._busy.add(number)
        self._pool.submit(self._ask, deed, transfer, flow)

    def _ask(self, deed: Deed, transfer: Transfer, flow: Flow) -> None:
        """Worker: have the tool do something, and tell what came of it."""
        try:
            event = self._carried_out(deed, transfer, flow)
        except AdonError as error:
            event = Broke(str(error), again=False) if deed is Deed.START else Unanswered(str(error))
        except Exception as error:  # a fault with one transfer must not end the others
            log.exception("event=transfer.fault flow=%s deed=%s", flow.id, deed)
            event = Unanswered(f"a fault of ours: {type(error).__name__}")
        self._inbox.put(_Came(transfer.flow, event))

    def _carried_out(self, deed: Deed, transfer: Transfer, flow: Flow) -> Event:
        plan = self._plan(flow)
        tool = self._tools[plan.at]
        match deed:
            case Deed.START:
                wish = flow.request.transfer
                options = TransferOptions() if wish is None else wish.options
                return tool.begin(transfer, plan, options, flow.request.streams)
            case Deed.LOOK:
                return tool.look(transfer, plan)
            case Deed.STOP:
                return tool.stop(transfer)

    def _wanted(self, at: str) -> float | None:
        """What a tool is to be held to by the rates of what it moves, in bits/s."""
        if self._configured.rclone[at].limit == "none":
            return None
        rates = [one.rate for one in self._transfers.values() if one.at == at and one.phase.may_run]
        known = [rate for rate in rates if rate is not None]
        # One that nothing is known of must not be held by what others have.
        return sum(known) if known and len(known) == len(rates) else None

    def _hold(self) -> None:
        """Have each tool keep to its limit.  One that we never limited is left as it is."""
        for at, tool in self._tools.items():
            wanted = self._wanted(at)
            if at in self._limiting or (wanted == self._limits.get(at) and at not in self._stale):
                continue
            self._limiting.add(at)
            self._stale.discard(at)
            self._tried[at] = wanted
            self._pool.submit(self._limit, at, tool, wanted)

    def _held(self, at: str) -> bool:
        """Whether a tool has been told what it is to keep to, or could not be."""
        return at not in self._limiting and self._tried.get(at) == self._wanted(at)

    def _limit(self, at: str, tool: RemoteControl, rate: float | None) -> None:
        self._inbox.put(_Limited(at, rate, tool.limit(rate)))

    # -- what comes ------------------------------------------------------------------------------------

    def _take(self, message: _Came | _Told | _Limited | _Asked) -> None:
        match message:
            case _Came(number, event):
                self._busy.discard(number)
                self._happened(number, event)
                self._unlimited(number, event)
                self._tell(number)
            case _Told(number, report, error):
                self._telling.discard(number)
                self._answered(number, report, error)
            case _Limited(at, rate, heard):
                self._limiting.discard(at)
                self._limited(at, rate, heard=heard)
            case _Asked(number, peer, command):
                peer.answer(command, self._retry(number))

    def _limited(self, at: str, rate: float | None, *, heard: bool) -> None:
        if heard:
            if self._limits.get(at) != rate:
                log.info("event=limited at=%s bps=%s", at, "none" if rate is None else f"{rate:.0f}")
            self._limits[at] = rate
        else:
            self._stale.add(at)
        for number in tuple(self._transfers):
            self._do(number)

    def _unlimited(self, number: int, event: Event) -> None:
        # A tool that was away may have been started anew: it does not know its limit any more.
        transfer = self._transfers.get(number)
        if transfer is not None and transfer.at in self._limits and isinstance(event, Broke | Unanswered):
            self._stale.add(transfer.at)

    def _retry(self, number: int) -> Mapping[str, Any] | AdonError:
        transfer = self._transfers.get(number)
        if transfer is None:
            return NotFound("transfer", f"f-{number}")
        if transfer.phase is not Phase.RETRYING:
            return Conflict("state", f"the transfer of f-{number} is {transfer.phase}; it waits for no retry")
        self._happened(number, RetryAsked())
        self._hold()
        self._do(number)
        return {"flow": number}

    def _happened(self, number: int, event: Event) -> None:
        before = self._transfers.get(number)
        if before is None:
            return
        after = step(before, event, self._clock(), self._patience, self._chance())
        if after.phase is not before.phase:
            words = (after.flow, before.phase, after.phase, after.tries, after.error)
            log.info("event=transfer flow=f-%d was=%s is=%s tries=%d error=%r", *words)
        if after != before:
            self._keep(after)

    def _keep(self, transfer: Transfer) -> None:
        self._book.save(transfer)
        if not is_open(transfer):
            self._transfers.pop(transfer.flow, None)
            self._seen.pop(transfer.flow, None)
        else:
            self._transfers[transfer.flow] = transfer

    # -- the controller ----------------------------------------------------------------------------------

    def _tell(self, number: int) -> None:
        transfer = self._transfers.get(number)
        if transfer is None or transfer.report is None or number in self._telling or not self.active:
            return
        self._telling.add(number)
        self._pool.submit(self._report, transfer)

    def _report(self, transfer: Transfer) -> None:
        report = transfer.report
        if report is None:
            return
        body = {"flow": transfer.flow, "status": report.status, "bytes": report.bytes}
        try:
            self._controller.call("flow.report", {**body, "detail": report.detail}, timeout=TELL_WITHIN_S)
        except AdonError as error:
            self._inbox.put(_Told(transfer.flow, report, error))
            return
        self._inbox.put(_Told(transfer.flow, report, None))

    def _answered(self, number: int, report: Report, error: AdonError | None) -> None:
        transfer = self._transfers.get(number)
        if transfer is None:
            return
        if error is None:
            self._keep(told(transfer, report))
            return
        # Said again later: the flow may be active again by then, or have ended, which is seen then.
        log.info("event=report.waits flow=f-%d cause=%r", number, str(error))
