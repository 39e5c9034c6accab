"""A document of each kind of study, as its own package writes it."""

from __future__ import annotations

import math
from typing import Any

from adon.evaluation_file import BUILTIN
from adon.placement.model import DecidingLink, LinkKind, Method, Placement, placement_to_json
from adon.studies.model import StudyKind
from adon.studies.reading import study_of
from measurement.ceem.run import EvaluationRun, Reference, Sample
from measurement.ceem.template import PlacePath
from measurement.health.markers import Fired, Marker
from measurement.health.model import Found, Indicator, Pair
from measurement.health.pair_scores import scores
from measurement.health.record import Failure, ProbeKind, RoundRecord
from measurement.instances import Instance
from measurement.model import to_json
from measurement.snapshot.model import Bottleneck, Snapshot

AT = 1_760_000_000.0
ZONES = {"a1": "north", "a2": "north", "b1": "south", "b2": "south", "c1": "east"}
NAMES = tuple(ZONES)


def found(pair: Pair, worse: float = 1.0) -> Found:
    """What a pair might find: farther and slower between zones."""
    far = 1.0 if ZONES[pair.source] == ZONES[pair.destination] else 4.0 + NAMES.index(pair.destination)
    rtt = 0.0004 * far * worse
    return Found(
        icmp=dict.fromkeys((64, 512, 4096), (rtt, rtt * 1.1, rtt * 1.3)),
        udp=dict.fromkeys((64, 1024), (rtt * 1.2, rtt * 1.4)),
        sandwich=(0.0001 * far,),
        connect=(rtt * 2,),
        tcp=(rtt * 1.05, rtt * 1.2),
        throughput=tuple(1e9 / far / worse * (1 + 0.01 * number) for number in range(10)),
    )


def a_round(at: float = AT, worse: float = 1.0) -> RoundRecord:
    """A round in which one pair was silent, one was not reached and a marker fired."""
    pairs = [Pair(one, other) for one in NAMES for other in NAMES if one != other]
    silent, lost = Pair("c1", "a1"), Pair("c1", "a2")
    known = {pair: found(pair, worse) for pair in pairs if pair not in (silent, lost)}
    known[silent] = Found(silent=frozenset({Indicator.ICMP, Indicator.UDP}))
    return RoundRecord.of(
        at,
        at + 42.0,
        tuple(Instance(name, f"10.0.0.{number}", zone=ZONES[name]) for number, name in enumerate(NAMES, 1)),
        tuple(pairs),
        known,
        failures=(Failure(lost, ProbeKind.LIGHT, "the instance does not answer"),),
        scores=scores(known),
        fired={Pair("a1", "b1"): (Fired(Marker.TIMEOUT, "no answer to icmp and udp"),)},
    )


def a_snapshot(at: float = AT) -> Snapshot:
    """Rates as in the round, a hose and a shared bottleneck."""
    rates = {
        Pair(one, other): 1e9 / (1 if ZONES[one] == ZONES[other] else 5)
        for one in NAMES
        for other in NAMES
        if one != other
    }
    shared = frozenset({Pair("a1", "b1"), Pair("a2", "b1")})
    return Snapshot(
        at,
        NAMES,
        rates,
        hoses={"a1": 1e9},
        bottlenecks=(Bottleneck(shared, 2e8),),
        racks=(frozenset({"a1", "a2"}), frozenset({"b1", "b2"})),
    )


def a_placement(method: Method = Method.GREEDY, seconds: float = 40.0) -> Placement:
    """Three tasks on two machines."""
    limit = DecidingLink(LinkKind.PATH, (Pair("a1", "b1"),), seconds * 2e8 / 8, 0.0, 2e8)
    machines = {"map-1": "a1", "map-2": "a1", "reduce": "b1"}
    proven = method is Method.EXACT
    return Placement("sort", AT, method, machines, seconds, limit, proven, seconds if proven else 20.0)


def an_evaluation(name: str = "first", factor: float = 1.0) -> EvaluationRun:
    """Three paths of two nodes and a client, ten tests each, one of which failed."""
    mean = {PlacePath("mel", "mel"): 900e6, PlacePath("mel", "tas"): 300e6, PlacePath("home", "mel"): 20e6}
    samples = [
        Sample(
            number * 3 + place,
            *path,
            AT + number * 60 + place,
            value * factor * (1 + 0.05 * math.sin(number)) if (number, place) != (3, 1) else None,
            None if (number, place) != (3, 1) else "connection refused",
            number,
        )
        for number in range(10)
        for place, (path, value) in enumerate(mean.items())
    ]
    return EvaluationRun(
        name,
        Reference("two nodes", 1),
        "throughput",
        "bit/s",
        ("mel", "tas"),
        ("home",),
        AT,
        AT + 700,
        7,
        30,
        samples=tuple(samples),
    )


def documents() -> dict[StudyKind, dict[str, Any]]:
    """One of each kind."""
    return {
        StudyKind.HEALTH_ROUND: to_json(a_round()),
        StudyKind.SNAPSHOT: to_json(a_snapshot()),
        StudyKind.PLACEMENT: placement_to_json(a_placement()),
        StudyKind.EVALUATION: to_json(an_evaluation()),
    }


def several() -> list[tuple[StudyKind, dict[str, Any]]]:
    """For the pages: rounds of three hours, placements by several methods, runs to be compared."""
    rounds = [a_round(AT - 3600.0 * hour, 1.0 + 0.2 * hour) for hour in range(3)]
    times = {Method.EXACT: 25.0, Method.GREEDY: 40.0, Method.RANDOM: 61.0, Method.ROUND_ROBIN: 55.0}
    runs = [an_evaluation(), an_evaluation("second", 0.7), BUILTIN.reference("nectar")]
    return [
        *((StudyKind.HEALTH_ROUND, to_json(one)) for one in rounds),
        (StudyKind.SNAPSHOT, to_json(a_snapshot())),
        *((StudyKind.PLACEMENT, placement_to_json(a_placement(*one))) for one in times.items()),
        *((StudyKind.EVALUATION, to_json(one)) for one in runs),
    ]


def id_of(kind: StudyKind, document: dict[str, Any]) -> str:
    """The id under which it is kept."""
    return study_of(kind, document, "", "", AT).id
