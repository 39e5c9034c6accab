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
from typing import Any

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
    Prepared,
    Report,
    RetryAsked,
    Ticked,
    Transfer,
    Unanswered,
    step,
    todo,
    told,
)
from adon.transfers.news import heard
from adon.transfers.post import Box
from apps.movers.book import Book, is_open
from apps.movers.carrying import Carrier
from apps.movers.limits import Limits
from apps.movers.messages import Asked, Asker, Came, Limited, Message, Told
from apps.movers.post import Handed, Post
from apps.movers.reporting import Controller, tell
from apps.movers.seeing import Flows

log = logging.getLogger("apps.movers")

SOCKET = "movers.sock"
"""In the data folder: where the web side asks for a retry."""
WORKERS = 16


class Mover:
    """See the module.

    :param carrier: has the tools.
    :param clock: seconds since the epoch.
    :param chance: from 0 to 1.
    """

    def __init__(
        self,
        configured: Transfers,
        carrier: Carrier,
        flows: Flows,
        book: Book,
        post: Post,
        controller: Controller,
        clock: Callable[[], float],
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._period = configured.period
        self._carrier = carrier
        self._flows = flows
        self._book = book
        self._post = post
        self._slow_for = configured.mail.slow_for
        self._controller = controller
        self._clock = clock
        self._chance = chance
        self._patience = Patience(
            configured.tries, configured.backoff, configured.longest_backoff, configured.mail.slow
        )
        self._inbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="tool")
        self._transfers = {one.flow: one for one in book.open_ones()}
        self._seen: dict[int, Flow] = {}
        self._busy: set[int] = set()
        self._telling: set[int] = set()
        self._limits = Limits(carrier.limited)
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
            if now >= due or due - now > self._period:  # also when the clock was set back
                self._round()
                due = self._clock() + self._period
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
            self._inbox.put(Asked(flow, peer, str(payload.get("command"))))
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
                rate = self._carrier.rate(self._transfers[number], flow, self._flows)
                promised = flow.diary.promised
                event = FlowStands(flow.state is FlowState.ACTIVE, flow.state.final, rate, promised)
            self._happened(number, event)
        self._hold()
        for number in tuple(self._transfers):
            self._do(number)
            self._tell(number)
        self._send()

    def _look_for_new_ones(self) -> None:
        for flow in self._flows.since(self._book.cursor):
            if flow.request.transfer is not None and not self._book.knows(flow.number):
                pausable = self._flows.pausable(flow)
                self._keep(self._carrier.taken_up(flow, pausable=pausable, now=self._clock()))
            self._book.cursor = flow.number

    # -- tools -----------------------------------------------------------------------------------------

    def _do(self, number: int) -> None:
        transfer, flow = self._transfers.get(number), self._seen.get(number)
        if transfer is None or flow is None or number in self._busy:
            return
        deed = todo(transfer)
        if deed is None:
            return
        # What starts is held back from its first byte on.
        if deed is Deed.START and not (self.active and self._limits.held(transfer.at, self._of(transfer.at))):
            return
        self._busy.add(number)
        self._pool.submit(self._ask, deed, transfer, flow)

    def _ask(self, deed: Deed, transfer: Transfer, flow: Flow) -> None:
        self._inbox.put(Came(transfer.flow, self._carrier.done(deed, transfer, flow)))

    def _of(self, at: str) -> list[Transfer]:
        return [one for one in self._transfers.values() if one.at == at]

    def _hold(self) -> None:
        """Have each tool keep to its limit."""
        for at, rate in self._limits.due({at: self._of(at) for at in self._carrier.limited}):
            self._pool.submit(self._limit, at, rate)

    def _limit(self, at: str, rate: float | None) -> None:
        self._inbox.put(Limited(at, rate, self._carrier.limit(at, rate)))

    # -- what comes ------------------------------------------------------------------------------------

    def _take(self, message: Message) -> None:
        match message:
            case Came(number, event):
                self._busy.discard(number)
                self._happened(number, event)
                self._unlimited(number, event)
                self._tell(number)
                if isinstance(event, Prepared):
                    self._do(number)  # its mark is in the book now
            case Told(number, report, error):
                self._telling.discard(number)
                self._answered(number, report, error)
            case Limited(at, rate, heard):
                self._limited(at, rate, heard=heard)
            case Asked(number, peer, command):
                peer.answer(command, self._retry(number))
            case Handed():
                self._post.handed(message, self._clock())

    def _limited(self, at: str, rate: float | None, *, heard: bool) -> None:
        if self._limits.heard(at, rate, heard=heard):
            log.info("event=limited at=%s bps=%s", at, "none" if rate is None else f"{rate:.0f}")
        for number in tuple(self._transfers):
            self._do(number)

    def _unlimited(self, number: int, event: Event) -> None:
        transfer = self._transfers.get(number)
        if transfer is not None and isinstance(event, Broke | Unanswered):
            self._limits.doubted(transfer.at)

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
        after = self._with_news(after)
        if after != before:
            self._keep(after)

    def _keep(self, transfer: Transfer) -> None:
        self._book.save(transfer)
        if not is_open(transfer):
            self._transfers.pop(transfer.flow, None)
            self._seen.pop(transfer.flow, None)
        else:
            self._transfers[transfer.flow] = transfer

    # -- the owner ------------------------------------------------------------------------------------------

    def _with_news(self, transfer: Transfer) -> Transfer:
        """Take what its owner is to hear of a transfer to the post; the transfer that knows it was told."""
        flow = self._seen.get(transfer.flow)
        # Who stands by does not know how the flow is, and does not write for who leads.
        if flow is None or not self.active:
            return transfer
        now = self._clock()
        after, item = heard(transfer, flow, now, self._slow_for)
        if item is not None:
            self._post.give(flow.requester, item, now)
        return after

    def _send(self) -> None:
        now = self._clock()
        for letter in self._post.due(now):
            self._pool.submit(self._hand_in, letter, now)

    def _hand_in(self, letter: Box, now: float) -> None:
        self._inbox.put(self._post.hand_in(letter, now))

    # -- the controller ----------------------------------------------------------------------------------

    def _tell(self, number: int) -> None:
        transfer = self._transfers.get(number)
        if transfer is None or transfer.report is None or number in self._telling or not self.active:
            return
        self._telling.add(number)
        self._pool.submit(self._report, number, transfer.report)

    def _report(self, flow: int, report: Report) -> None:
        self._inbox.put(Told(flow, report, tell(self._controller, flow, report)))

    def _answered(self, number: int, report: Report, error: AdonError | None) -> None:
        transfer = self._transfers.get(number)
        if transfer is None:
            return
        if error is None:
            self._keep(told(transfer, report))
            return
        # Said again later: the flow may be active again by then, or have ended, which is seen then.
        log.info("event=report.waits flow=f-%d cause=%r", number, str(error))
