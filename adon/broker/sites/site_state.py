"""How compute sites stand: what they reported last, and T_q of a request for the cost model.

:meth:`Standings.wait` is the one function that the cost asks.  It has three answers: None for a site without
adapter (the configured T_q applies), T_q with its spread, or infinity and why.  A site that does not answer,
has never answered, or would not start such a job costs infinity, never 0.

The spread has two parts, taken as independent.  One is how far a site's answers contradict each other: who
said T at one time should say max(0, T − Δt) a time Δt later, if its queue went as planned; the root mean
square of what is left over.  The other is what its word was worth before (:mod:`.honesty`).

Times are by the broker's own clock, so a site's clock that jumps changes nothing here but its own answers.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from adon.broker.sites.honesty import Honesty
from adon.broker.sites.jobs import SiteJob
from adon.broker.sites.rates import Rates
from adon.config.compute import ComputeSite
from adon.uncertain import Uncertain
from adon.units import format_count, format_duration
from measurement.sites.model import Shape, SiteReport, SiteState, Wait

KEPT = 20
"""Answers per shape that the spread looks back on."""
NEWS = 0.1
"""A T_q that differs by less than this share, or by less than a second, is no news to anybody who waits."""


@dataclass(frozen=True, slots=True)
class Found:
    """T_q of a request at a site; infinite with the reason where it cannot run there now."""

    wait: Uncertain
    why: str = ""


@dataclass(slots=True)
class _Known:
    """What is known of one site that is asked.

    :param state: its latest answer, and ``heard_at`` when that came.
    :param found: what was worked out of it, by nodes and cores: thousands of flows ask the same.
    :param silent_since: when it first did not answer; None while it does.
    """

    patience: float
    state: SiteState | None = None
    heard_at: float | None = None
    silent_since: float | None = None
    error: str = ""
    honesty: Honesty = field(default_factory=Honesty)
    answers: dict[Shape, deque[tuple[float, float]]] = field(default_factory=dict)
    found: dict[tuple[int, int], Found] = field(default_factory=dict)

    def silence(self, now: float) -> tuple[float | None, str] | None:
        """Since when it does not answer (None: ever), and why; None if it does."""
        if self.error:
            return self.silent_since, self.error
        if self.heard_at is None:
            return None, "it has not been polled yet"
        age = now - self.heard_at
        return (self.heard_at, f"no report for {format_duration(age)}") if age > self.patience else None


class Standings:
    """The sites that have an adapter, and what became of jobs at any.

    :param sites: all compute sites of the configuration.
    :param finished: jobs of earlier runs that started, the oldest first: what they taught is known again.
    """

    def __init__(self, sites: Mapping[str, ComputeSite], finished: Iterable[SiteJob] = ()) -> None:
        self._sites = sites
        self._known = {n: _Known(s.adapter.patience) for n, s in sites.items() if s.adapter is not None}
        self.rates = Rates()
        for job in finished:
            self.record_start(job)
            self.record_end(job)

    def record_report(self, report: SiteReport, now: float) -> bool:
        """Take a report; whether that may change something for who waits."""
        known = self._known.get(report.site)
        if known is None:
            return False
        silent = known.silence(now) is not None
        before = known.state
        if report.state is None:
            if not known.error:
                known.silent_since = now
            known.error = report.error if report.error else "it did not say why"
            return not silent
        known.state, known.heard_at, known.silent_since, known.error = report.state, now, None, ""
        known.found.clear()
        for wait in report.state.waits:
            if wait.seconds is not None:
                known.answers.setdefault(wait.shape, deque(maxlen=KEPT)).append((now, wait.seconds))
        return silent or _differs(before, report.state)

    def wait(self, site: str, nodes: int, now: float, cores: int = 1) -> Found | None:
        """T_q of so many worker nodes (and cores, in all) at a site; None without an adapter.

        The answer to the smallest shape that covers the request counts.
        """
        known = self._known.get(site)
        if known is None:
            return None
        silence = known.silence(now)
        if silence is not None or known.state is None:
            return _impossible("it does not answer" + ("" if silence is None else f": {silence[1]}"))
        found = known.found.get((nodes, cores))
        if found is None:
            found = known.found[nodes, cores] = _worked_out(known, known.state, nodes, cores)
        return found

    def node_rate(self, site: str, template: str) -> Uncertain | None:
        """Γ_c of a worker node as learnt there for a template, in bits/s; None where nothing was learnt."""
        place = self._sites.get(site)
        return None if place is None else self.rates.expected_rate(site, template, place.throughput_per_node)

    def record_start(self, job: SiteJob) -> None:
        """A job has started: what its site had said is held against how long it waited."""
        known, waited = self._known.get(job.site), job.waited
        if known is not None and job.predicted is not None and waited is not None:
            known.honesty = known.honesty.observe(job.predicted, waited)
            known.found.clear()

    def record_end(self, job: SiteJob) -> None:
        """A job has ended: what a node of its site processed is learnt."""
        if job.template is not None and job.node_rate is not None:
            self.rates = self.rates.with_job(job.site, job.template, job.node_rate)

    def silence(self, site: str, now: float) -> tuple[float | None, str] | None:
        """Since when a site does not answer (None: ever), and why; None if it does, or has no adapter."""
        known = self._known.get(site)
        return None if known is None else known.silence(now)

    def reading(self, now: float) -> list[dict[str, object]]:
        """Every compute site as plain JSON values; times since the epoch, seconds, bytes, bits/s."""
        return [self._read(name, site, now) for name, site in self._sites.items()]

    def _read(self, name: str, site: ComputeSite, now: float) -> dict[str, object]:
        known, silence = self._known.get(name), self.silence(name, now)
        honesty = Honesty() if known is None else known.honesty
        state = None if known is None else known.state
        return {
            "name": name,
            "site": site.site,
            "adapter": None if site.adapter is None else site.adapter.kind,
            "jobs": [] if site.adapter is None else sorted(site.adapter.jobs),
            "state": "configured" if known is None else "answers" if silence is None else "silent",
            "silent_since": None if silence is None else silence[0],
            "why": "" if silence is None else silence[1],
            "heard_at": None if known is None else known.heard_at,
            "worker_nodes": site.worker_nodes,
            "queue_wait": site.queue_wait,
            "capacity": None if state is None else _capacity(state),
            "waits": [] if known is None or state is None else [_wait(known, one) for one in state.waits],
            "honesty": {
                "jobs": honesty.count,
                "factor": honesty.factor,
                "spread": honesty.spread,
                "said": honesty.said,
                "waited": honesty.waited,
            },
            "rates": {
                template: _number(self.node_rate(name, template))
                for place, template in self.rates.seen
                if place == name
            },
        }


def _impossible(why: str) -> Found:
    return Found(Uncertain(math.inf), why)


def _worked_out(known: _Known, state: SiteState, nodes: int, cores: int) -> Found:
    covering = [one for one in state.waits if one.shape.covers(nodes, cores)]
    if not covering:
        return _impossible(f"its T_q for {format_count(nodes, 'worker node')} is not known yet")
    answer = min(covering, key=lambda one: one.shape)
    if answer.seconds is None:
        return _impossible(answer.why if answer.why else "it would not start such a job")
    return Found(_correct_wait(known, answer.shape, answer.seconds))


def _correct_wait(known: _Known, shape: Shape, seconds: float) -> Uncertain:
    corrected = known.honesty.correct(seconds)
    unsteady = contradiction(known.answers.get(shape, ()))
    return Uncertain(corrected.mean, math.hypot(corrected.deviation, unsteady))


def contradiction(answers: Iterable[tuple[float, float]]) -> float:
    """How far answers contradict each other, in seconds: see the module.

    :param answers: pairs of time and T_q, in order.
    """
    listed = list(answers)
    left = [later - max(0.0, said - max(0.0, then - at)) for (at, said), (then, later) in pairwise(listed)]
    return math.sqrt(sum(error**2 for error in left) / len(left)) if left else 0.0


def _differs(before: SiteState | None, after: SiteState) -> bool:
    if before is None or before.capacity.nodes_free != after.capacity.nodes_free:
        return True
    waits = {one.shape: one.seconds for one in before.waits}
    return any(one.shape not in waits or _news(waits[one.shape], one.seconds) for one in after.waits)


def _news(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is not after
    return abs(after - before) > max(1.0, NEWS * max(before, after))


def _capacity(state: SiteState) -> dict[str, object]:
    there = state.capacity
    return {
        "nodes": there.nodes,
        "nodes_free": there.nodes_free,
        "cores": there.cores,
        "cores_free": there.free,
        "memory": there.memory,
        "memory_free": there.memory_free,
        "gpus": there.gpus,
        "gpus_free": there.gpus_free,
        "jobs_running": there.running,
        "jobs_waiting": there.pending,
    }


def _wait(known: _Known, one: Wait) -> dict[str, object]:
    trusted = None if one.seconds is None else _correct_wait(known, one.shape, one.seconds)
    return {
        "nodes": one.shape.nodes,
        "cores": one.shape.cores,
        "memory": one.shape.memory,
        "time_limit": one.shape.seconds,
        "said": one.seconds,
        "counted": None if trusted is None else trusted.mean,
        "deviation": None if trusted is None else trusted.deviation,
        "why": one.why,
    }


def _number(rate: Uncertain | None) -> dict[str, object] | None:
    return None if rate is None else {"mean": rate.mean, "deviation": rate.deviation}
