"""One compute site at work: it is asked, and its jobs are handed over and followed, by a thread of its own.

A job must not run twice.  Whenever it is not certain that it was *not* handed over (a command that timed out,
a controller or collector that began anew) the site is asked for the job's name first.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from adon.config.compute import Adapter
from apps.collector import adapters
from apps.collector.keeper import Tell
from measurement.custom.errors import BatchFailed
from measurement.errors import shorten
from measurement.model import to_json
from measurement.sites.model import ComputeSite, JobNews, JobOrder, Shape, SiteReport

LOG = logging.getLogger(__name__)
LOOK_EVERY = 1.0
"""Seconds between two looks whether this collector measures."""
ATTEMPTS = 5
"""A site that answers, and so often does not take a job, will not take it."""


@dataclass(slots=True)
class _Held:
    """An order and how far it has come.

    :param unsure: it may have been handed over already.
    :param news: what was told last.
    """

    order: JobOrder
    unsure: bool
    site_job: str | None = None
    predicted: float | None = None
    refusals: int = 0
    ending: bool = False
    over: bool = False
    news: JobNews | None = None


class Desk:
    """The thread of one site.

    :param build: makes its adapter, when it is first needed; may raise BatchFailed.
    :param tell: takes messages for the controller.
    :param leads: whether this collector is the one that measures.
    :param clock: seconds since the epoch.
    :param timer: seconds that never step back.
    """

    def __init__(
        self,
        name: str,
        adapter: Adapter,
        build: Callable[[], ComputeSite],
        tell: Tell,
        leads: Callable[[], bool],
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._adapter = adapter
        self._build = build
        self._tell = tell
        self._leads = leads
        self._clock = clock
        self._timer = timer
        self._site: ComputeSite | None = None
        self._shapes: tuple[Shape, ...] = (self._query_wait(Shape()),)
        self._held: dict[int, _Held] = {}
        self._done: dict[int, _Held] = {}
        self._report: SiteReport | None = None
        self._report_due = self._follow_due = float("-inf")
        self._messages: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"site {name}", daemon=True)

    # -- for other threads: each is done by the desk's own, in order ---------------------------------------

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, seconds: float = 2.0) -> None:
        """Begin nothing else, and wait a little; a command under way ends with this process."""
        self._stopping.set()
        self._messages.put(lambda: None)
        self._thread.join(seconds)

    def ask_for(self, shapes: tuple[Shape, ...]) -> None:
        """From now on T_q is asked for these sizes of request, at the site's own time limit."""
        self._messages.put(lambda: self._reshape(shapes))

    def take(self, order: JobOrder, *, again: bool) -> None:
        """Take an order.

        :param again: it is told again, and may have been carried out before.
        """
        self._messages.put(lambda: self._submit_job(order, again))

    def begin_anew(self) -> None:
        """The controller has come (again): it is told everything once more, and all orders follow."""
        self._messages.put(self._greet_controller)

    # -- the desk's thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.turn()
                self.hear(self._patience())
            except Exception:  # a thread's outermost guard: the next turn may go better, and others go on
                LOG.exception("event=fault site=%s", self._name)
                self._stopping.wait(LOOK_EVERY)

    def turn(self) -> None:
        """Do what is due, if this collector is the one that measures."""
        if not self._leads():
            return
        if self._timer() >= self._report_due:
            self._report_due = self._timer() + self._adapter.period
            self._poll()
        if self._timer() >= self._follow_due:
            self._follow_due = self._timer() + self._adapter.follow
            for held in tuple(self._held.values()):
                if not held.over and not self._stopping.is_set():
                    self._work_on(held)

    def _patience(self) -> float:
        if not self._leads():
            return LOOK_EVERY
        return max(0.0, min(self._report_due, self._follow_due) - self._timer())

    def hear(self, seconds: float) -> None:
        """Take what other threads have said, waiting so long for a first word."""
        try:
            self._messages.get(timeout=seconds)()
            while True:
                self._messages.get_nowait()()
        except Empty:
            return

    def _reshape(self, shapes: tuple[Shape, ...]) -> None:
        wanted = tuple(dict.fromkeys(self._query_wait(shape) for shape in shapes))
        if wanted and wanted != self._shapes:
            self._shapes, self._report_due = wanted, float("-inf")

    def _query_wait(self, shape: Shape) -> Shape:
        return replace(shape, seconds=self._adapter.time_limit)

    def _submit_job(self, order: JobOrder, again: bool) -> None:
        held = self._held.get(order.number, self._done.pop(order.number, None))
        if held is None:
            held = _Held(order, again, order.site_job)
        self._held[order.number], held.order = held, order
        if held.news is not None and again:
            self._send(held.news)
        self._follow_due = float("-inf")

    def _greet_controller(self) -> None:
        if self._report is not None:
            self._tell.send("site", to_json(self._report))
        # One that is over is named again only by a controller that has not heard of its end.
        self._done = {number: held for number, held in self._held.items() if held.over}
        self._held = {number: held for number, held in self._held.items() if not held.over}

    # -- asking ----------------------------------------------------------------------------------------------

    def _there(self) -> ComputeSite:
        if self._site is None:
            self._site = self._build()
        return self._site

    def _poll(self) -> None:
        at = self._clock()
        try:
            report = SiteReport(self._name, at, self._there().state(self._shapes))
        except BatchFailed as error:
            report = SiteReport(self._name, at, None, error.cause)
            if self._report is None or self._report.error != error.cause:
                LOG.warning(
                    'event=site_silent site=%s cause="%s" detail="%s"', self._name, error.cause, error.detail
                )
        else:
            if self._report is None or self._report.error:
                LOG.info("event=site_answers site=%s", self._name)
        self._report = report
        self._tell.send("site", to_json(report))

    @property
    def _answers(self) -> bool:
        return self._report is not None and self._report.state is not None

    # -- jobs ------------------------------------------------------------------------------------------------

    def _work_on(self, held: _Held) -> None:
        try:
            if held.site_job is None:
                self._hand_over(held)
            if held.site_job is not None:
                self._follow(held, held.site_job)
        except BatchFailed as error:
            self._not_done(held, error)

    def _hand_over(self, held: _Held) -> None:
        order, site = held.order, self._there()
        if held.unsure:
            held.site_job = site.find(order.name)
            held.unsure = False
        if held.site_job is not None:
            return
        if order.cancel:
            self._refuse(held, "was ended before the site had it")
            return
        try:
            wanted = adapters.job(order, self._adapter.jobs)
        except ValueError as error:
            self._refuse(held, str(error))
            return
        shape = Shape(wanted.nodes, wanted.cores, wanted.memory, wanted.duration)
        held.predicted = site.state((shape,)).waits[0].seconds
        held.unsure = True  # from here on it may have arrived, whatever we hear
        held.site_job = site.submit(wanted)
        held.unsure = False
        LOG.info("event=job_handed_over site=%s job=j-%d as=%s", self._name, order.number, held.site_job)

    def _follow(self, held: _Held, job_id: str) -> None:
        site = self._there()
        if held.order.cancel and not held.ending:
            site.cancel(job_id)
            held.ending = True
        status = site.follow(job_id)
        self._news(held, JobNews(held.order.number, self._clock(), status, held.predicted))
        if status.state.over:
            held.over = True
            self._let_go(job_id)

    def _let_go(self, job_id: str) -> None:
        # HTCondor keeps a job that it holds for its time.
        try:
            self._there().cancel(job_id)
        except BatchFailed as error:
            LOG.warning('event=job_left_behind site=%s job=%s cause="%s"', self._name, job_id, error.cause)

    def _not_done(self, held: _Held, error: BatchFailed) -> None:
        if held.site_job is None and self._answers:
            held.refusals += 1
            if held.refusals >= ATTEMPTS:
                self._refuse(held, f"the site does not take it: {error.cause}")
                return
        LOG.info('event=job_later site=%s job=j-%d cause="%s"', self._name, held.order.number, error)
        self._news(held, JobNews(held.order.number, self._clock(), None, held.predicted, error.cause))

    def _refuse(self, held: _Held, why: str) -> None:
        held.over = True
        self._news(
            held, JobNews(held.order.number, self._clock(), None, held.predicted, shorten(why), refused=True)
        )

    def _news(self, held: _Held, news: JobNews) -> None:
        if held.news is None or replace(held.news, at=news.at) != news:
            held.news = news
            self._send(news)

    def _send(self, news: JobNews) -> None:
        self._tell.send("job", to_json(news))
