"""What the best path between two sites carries, for data that would go by a third campus.

Such a site is compared for every flow that has a path (:mod:`adon.broker.site_comparison`), and the best of
many paths is asked for, so it is kept as long as nothing it rests on changes: the topology, what is known of
these paths, the load on them, how far off estimates have been, and the hour that their history begins with.
"""

from __future__ import annotations

import math

from adon.broker.choice import Need, Situation, knowledge
from adon.broker.cost.terms import NO_NETWORK, NetworkTerms
from adon.broker.decision_records import situation
from adon.broker.memo import SLACK_S
from adon.broker.site_comparison import Observed, terms_of
from adon.broker.world import World
from adon.flowvisor.topology.path import CandidatePath, KnownValue
from measurement.model import Metric, PathKey

_HOUR_S = 3600.0


def best(world: World, need: Need, ends: tuple[str, str], now: float) -> NetworkTerms:
    """The terms of the path with the highest rate; those of no network at all without one."""
    key = (need.template.selection.max_age, need.streams, need.qspec.streams, ends)
    return world.legs.get(
        key, _rests_on(world, ends, now), now, lambda: compute_terms(world, need, ends, now)
    )


def compute_terms(world: World, need: Need, ends: tuple[str, str], now: float) -> tuple[NetworkTerms, float]:
    """The same worked out anew, and until when it stays if nothing changes."""
    seen, until, most = situation(world, ends, now), math.inf, NO_NETWORK
    for candidate in world.network.topology.between(*ends):
        if candidate.usable and candidate.path is not None:
            known = knowledge(Metric.THROUGHPUT, candidate.path, None, need, seen)
            if isinstance(known, KnownValue):
                terms = _terms(world, candidate.path, need, known, seen)
                most = terms if _rate(terms) > _rate(most) else most
                until = min(until, known.observed_at, _oldest(world, candidate.key))
    return most, until + need.template.selection.max_age - SLACK_S


def _terms(world: World, path: CandidatePath, need: Need, known: KnownValue, seen: Situation) -> NetworkTerms:
    errors = tuple(world.estimates.errors(path.key, known.basis))
    tests = world.performance.summarise_results(path.key, Metric.THROUGHPUT, seen.now - seen.window)
    return terms_of(need, path, known.value, Observed(errors, tests), world.performance, seen.now)


def _rate(terms: NetworkTerms) -> float:
    return -1.0 if terms.rate is None else terms.rate


def _oldest(world: World, key: PathKey) -> float:
    """When the older one of round trip and loss was measured, as far as they were."""
    latest = (world.performance.latest(key, metric) for metric in (Metric.RTT, Metric.LOSS))
    return min((one.observed_at for one in latest if one is not None), default=math.inf)


def _rests_on(world: World, ends: tuple[str, str], now: float) -> tuple[object, ...]:
    topology, loads, heard, loaded = world.network.topology, world.flows.loads(ends), 0, 0
    for candidate in topology.between(*ends):
        heard += world.performance.of(candidate.key)
        load = loads.get(candidate.key.path)
        loaded += 0 if load is None else load.version
    hour = math.floor((now - world.configuration.measurements.window) / _HOUR_S)
    return (world.performance, heard, loaded, world.estimates.scored, hour, topology)
