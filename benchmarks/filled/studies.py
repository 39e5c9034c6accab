"""What was found out about instances: rounds of health, a snapshot, placements, runs of an evaluation."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adon.evaluation_file import BUILTIN
from adon.placement.model import DecidingLink, LinkKind, Method, Placement, placement_to_json
from adon.studies.model import StudyKind
from adon.studies.packing import packed
from adon.studies.reading import study_of
from adon.studies.rounds import in_short
from apps.collector.studies import Studies
from measurement.archive import Archive
from measurement.health.model import Found, Pair
from measurement.health.pair_scores import scores
from measurement.health.record import RoundRecord
from measurement.instances import Instance
from measurement.model import to_json
from measurement.snapshot.model import Snapshot

INSTANCES, ZONES, ROUNDS = 30, 5, 4
HOUR_S = 3600.0


def study(file: Path, at: float, seed: int) -> None:
    """Keep studies of the last hours before a time."""
    chance = random.Random(seed)
    with Archive(file) as archive:
        kept = Studies(archive)
        for kind, document in _documents(at, chance):
            kept.put(study_of(kind, document, "", "engineer1", at), packed(document), stays=True)


def _documents(at: float, chance: random.Random) -> Iterator[tuple[StudyKind, dict[str, Any]]]:
    for number in range(ROUNDS):
        record = _round(at - HOUR_S * number, chance)
        yield StudyKind.HEALTH_ROUND, to_json(in_short(record))
    names = [one.name for one in record.instances]
    rates = {pair: chance.uniform(50e6, 1e9) for pair in _pairs(names)}
    yield StudyKind.SNAPSHOT, to_json(Snapshot(at, tuple(names), rates))
    for method, seconds in zip(
        (Method.EXACT, Method.GREEDY, Method.RANDOM), (60.0, 75.0, 140.0), strict=True
    ):
        yield StudyKind.PLACEMENT, placement_to_json(_placed(at, method, seconds, names))
    yield StudyKind.EVALUATION, to_json(BUILTIN.reference("nectar"))


def _pairs(names: list[str]) -> list[Pair]:
    return [Pair(one, other) for one in names for other in names if one != other]


def _round(at: float, chance: random.Random) -> RoundRecord:
    instances = tuple(
        Instance(f"vm-{number:02}", f"10.9.0.{number}", zone=f"zone-{number % ZONES}")
        for number in range(1, INSTANCES + 1)
    )
    found = {}
    for pair in _pairs([one.name for one in instances]):
        rtt, rate = chance.uniform(0.0002, 0.02), chance.uniform(50e6, 1e9)
        found[pair] = Found(
            icmp={64: (rtt,), 512: (rtt * 1.1,), 4096: (rtt * 1.3,)},
            udp={64: (rtt,), 1024: (rtt * 1.2,)},
            connect=(rtt * 1.5,),
            tcp=(rtt,),
            throughput=(rate,),
        )
    return RoundRecord.of(at, at + 60.0, instances, tuple(found), found, scores=scores(found))


def _placed(at: float, method: Method, seconds: float, names: list[str]) -> Placement:
    limit = DecidingLink(LinkKind.PATH, (Pair(names[0], names[1]),), seconds * 1e7, 0.0, 8e7)
    machines = {f"task-{number:02}": names[number % 4] for number in range(12)}
    return Placement("sort", at, method, machines, seconds, limit, method is Method.EXACT, 60.0)
