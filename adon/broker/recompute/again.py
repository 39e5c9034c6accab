"""From what a decision saw to the decision, by the functions that the broker decides with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from adon.broker import decision_rules
from adon.broker.choice import Choice, Need, Situation, choose, survey_of
from adon.broker.counters import FlowCounters
from adon.broker.decision import Decision
from adon.broker.decision_records import decision_of
from adon.broker.decision_rules import Ruling
from adon.broker.evacuation import options, to_its_place
from adon.broker.events import Tick
from adon.broker.ladder_grants import claim_of
from adon.broker.load import PathLoad
from adon.broker.optimisation.placement import NOWHERE, Placement
from adon.broker.optimisation.plan import with_plan
from adon.broker.queueing.window_search import honour_booking
from adon.broker.recompute.seen import (
    Displaced,
    Expelled,
    Known,
    Load,
    Looked,
    OwnRates,
    Placed,
    Seen,
    Snapshot,
)
from adon.broker.site_comparison import along, placement
from adon.flowvisor.rules.queue_ladder import GrantRecord
from adon.flowvisor.selection.performance import Counters, FlowLoad, MeasuredLoad, PerformanceView
from measurement.model import Metric, PathKey


def decided_again(snapshot: Snapshot) -> Decision:
    """The decision that this code makes from what was seen."""
    seen = snapshot.seen
    need = Need.of(seen.template, seen.flow.request)
    found = _rule(seen, need, _choose(seen, need))
    decision = decision_of(
        int(snapshot.decision.rpartition(".")[2]),
        seen.flow,
        need,
        found.choice,
        found.ruling.outcome,
        found.ruling.reason,
        Tick(seen.event, seen.at),
        found.ruling.path,
        found.sites,
        _grant(snapshot, need),
        snapshot.trigger,
    )
    return replace(decision, alarm=snapshot.alarm, cause_text=snapshot.cause_text)


@dataclass(frozen=True, slots=True)
class _Found:
    choice: Choice
    ruling: Ruling
    sites: Placement = NOWHERE


def _rule(seen: Seen, need: Need, choice: Choice) -> _Found:
    flow = seen.flow
    match seen.step:
        case Placed():
            return _rule_admission(seen, seen.step, need, choice)
        case Looked(waived=waived, dwell=dwell, urged=urged):
            return _Found(
                choice, decision_rules.rule_review(flow, need, choice, seen.at, waived, dwell, urged)
            )
        case Expelled():
            return _rule_evacuation(seen, seen.step, need, choice)
        case Displaced(why=why):
            return _Found(choice, decision_rules.rule_preemption(choice, why))


def _rule_admission(seen: Seen, step: Placed, need: Need, choice: Choice) -> _Found:
    flow, holder, choice = seen.flow, None, honour_booking(seen.flow, choice, seen.at)
    if choice.selection.path is None:
        holder = decision_rules.holder_to_go(flow, need, choice, step.rivals)
    planned = None if step.together is None else step.together.places().get(flow.number)
    choice = with_plan(decision_rules.in_the_place_of(holder, choice), planned)
    sites = placement(flow, need, choice, step.regarded, planned)
    choice = along(choice, sites)
    ruled = decision_rules.rule_admission(choice, sites, step.nowhere, step.apart)
    return _Found(choice, ruled, decision_rules.sites_of(ruled, choice, sites))


def _rule_evacuation(seen: Seen, step: Expelled, need: Need, choice: Choice) -> _Found:
    flow, topology = seen.flow, seen.topology
    ends = topology.site_of(flow.request.source), topology.site_of(flow.request.destination)
    mine = options(flow, ends, need, choice, step.loss)
    displaced = tuple(
        replace(one, options=mine) if one.number == flow.number else one for one in step.exodus.displaced
    )
    exodus = replace(step.exodus, displaced=displaced)
    fled = to_its_place(flow, need, choice, step.loss, exodus.places()[flow.number], exodus)
    return _Found(fled.choice, decision_rules.rule_evacuation(fled))


# -- what was seen, as the functions take it ----------------------------------------------------------------


def _choose(seen: Seen, need: Need) -> Choice:
    flow, configuration = seen.flow, seen.configuration
    situation = Situation(
        now=seen.at,
        topology=seen.topology,
        performance=_performance(seen),
        policy=configuration.policy,
        window=configuration.measurements.window,
        loads={name: _RememberedLoad(load) for name, load in seen.loads.items()},
        shunned=seen.shut,
        own=None if seen.own is None else _RememberedRates(seen.own),
    )
    candidates = seen.topology.candidates(flow.request.source, flow.request.destination)
    return choose(flow, need, situation, survey_of(need, candidates, seen.best))


def _performance(seen: Seen) -> PerformanceView:
    view = _RememberedPerformance(seen.paths)
    for known in seen.paths:
        for result in known.results:
            view.record(result)
        for metric, changed in known.changes:
            view.supersede(known.key, metric, changed)
    return view


def _grant(snapshot: Snapshot, need: Need) -> GrantRecord | None:
    if snapshot.gate is None:
        return None
    flow, ladder = snapshot.seen.flow, snapshot.seen.configuration.policy.ladder
    asked = claim_of(flow.number, flow.priority(need.template.priority), need.qspec)
    return snapshot.gate.grant(ladder, asked, lambda: snapshot.meter)


class _RememberedPerformance(PerformanceView):
    """What was known of paths, and of their past what a decision asked for."""

    def __init__(self, paths: Iterable[Known]) -> None:
        super().__init__()
        self._paths = {known.key: known for known in paths}

    def find_test_load(self, key: PathKey) -> MeasuredLoad | None:
        """As :meth:`PerformanceView.find_test_load`."""
        return self._paths[key].carried

    def beside(self, key: PathKey) -> float | None:
        """As :meth:`PerformanceView.beside`."""
        return self._paths[key].beside

    def best(self, keys: Iterable[PathKey], metric: Metric, since: float) -> float | None:  # noqa: ARG002
        """As :meth:`PerformanceView.best`, of one path's tests: more a decision does not ask again."""
        (key,) = keys
        return self._paths[key].best


class _RememberedLoad(PathLoad):
    """The load of a path as a decision saw it: the sums it asked for."""

    def __init__(self, load: Load) -> None:
        super().__init__(lambda _: None)
        self._seen = load

    def used_bandwidth(self) -> Counters | None:
        """As :meth:`PathLoad.used_bandwidth`."""
        return self._seen.used

    def without(self, own: tuple[float, int] | None, *times: float) -> list[FlowLoad]:  # noqa: ARG002
        """As :meth:`PathLoad.without`, of whom and between which times it was asked then."""
        return list(self._seen.others)


class _RememberedRates(FlowCounters):
    """A flow's own rates as a decision saw them."""

    def __init__(self, own: OwnRates) -> None:
        super().__init__()
        self._own = own

    def rate(self, start: float, end: float) -> float | None:  # noqa: ARG002
        """As :meth:`FlowCounters.rate`, while the last test ran."""
        return self._own.during

    def latest(self) -> tuple[float, float] | None:
        """As :meth:`FlowCounters.latest`."""
        return self._own.latest
