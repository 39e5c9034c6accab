"""What a round of health costs beside its probes: the plan, the shell, scores, documents, choosing.

A hundred instances in three zones of 35, 33 and 32, as in [HEALTH] 4.2.  The yardsticks, in the same run: for
plans the least number of rounds that there could be, and first fit (each pair into the first round that has
room for it, what one would write first); for choosing, the k that stand best towards all others.  Agents that
answer at once take the place of real ones: what is left is what the shell itself takes of a processor.

Times are processor times of this process.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.summary import Summary, table
from measurement.health.instance_selection import mutually
from measurement.health.model import Pair
from measurement.health.pair_scores import Score, scores
from measurement.health.profiles import mesh, star
from measurement.health.record import RoundRecord
from measurement.health.round_runner import Running
from measurement.health.round_runner import run as run_round
from measurement.health.round_schedule import Limits, least, plan, rounds
from measurement.instances import Instance
from measurement.model import from_json, to_json
from measurement.probes.findings import ProbeReport, RoundTrips, SandwichDelays, TrainResult
from measurement.probes.probe_types import ProbeOrder, Sandwich, Train

ROUNDS = 3
ZONES = {"a": 35, "b": 33, "c": 32}
CHOSEN = 8
MOST_OVER = 1.05
"""Times the least number of rounds: no plan here may have more."""
CONTROL_S = 12.0
"""Of a round's two minutes the shell may take a tenth."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A set of pairs to be planned."""

    name: str
    pairs: Sequence[Pair]
    limits: Limits


def instances() -> tuple[Instance, ...]:
    """The testbed's."""
    names = [(f"{zone}{number:02}", zone) for zone, count in ZONES.items() for number in range(count)]
    return tuple(Instance(name, f"192.0.2.{place}", zone=zone) for place, (name, zone) in enumerate(names, 1))


def cases(seed: int) -> list[Asked]:
    """Meshes, with and without limits, a part of one, and a star."""
    listed = instances()
    names = [one.name for one in listed]
    zones = {one.name: one.zone for one in listed}
    some = random.Random(seed).sample(mesh(names), 6000)
    return [
        Asked("mesh", mesh(names), Limits()),
        Asked("mesh, duplex", mesh(names), Limits(duplex=True)),
        Asked("mesh, 4 between zones", mesh(names), Limits(between_zones=4, zones=zones)),
        Asked("mesh, 1 between zones", mesh(names), Limits(between_zones=1, zones=zones)),
        Asked("6 000 of its pairs", some, Limits()),
        Asked("6 000 of its pairs, duplex", some, Limits(duplex=True)),
        Asked("star", star(names[0], names), Limits()),
    ]


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Plans, and what the rest takes."""
    return {"seed": seed, "rounds": ROUNDS, "plans": [_planned(one) for one in cases(seed)], **_round(seed)}


def passed(results: Mapping[str, Any]) -> bool:
    """Whether plans are near the least, and the shell takes its tenth at most."""
    near = all(one["rounds"] <= MOST_OVER * one["least"] for one in results["plans"])
    control = sum(results["seconds"][name]["median"] for name in ("plan", "shell", "scores"))
    return near and control <= CONTROL_S


def _planned(asked: Asked) -> dict[str, Any]:
    times, found = _timed(lambda: rounds(asked.pairs, asked.limits))
    return {
        "name": asked.name,
        "pairs": len(asked.pairs),
        "rounds": len(found),
        "least": least(asked.pairs, asked.limits),
        "first_fit": first_fit(asked.pairs, asked.limits),
        "seconds": Summary.of([times]).median,
        "spread": Summary.of([times]).spread,
    }


def first_fit(pairs: Sequence[Pair], limits: Limits) -> int:
    """The rounds of the simplest plan."""
    taken: list[tuple[set[Any], dict[Any, int]]] = []
    for pair in pairs:
        ends, link = {*limits.ends(pair)}, limits.link(pair)
        for busy, links in taken:
            if busy.isdisjoint(ends) and (link is None or links.get(link, 0) < (limits.between_zones or 0)):
                break
        else:
            busy, links = set[Any](), dict[Any, int]()
            taken.append((busy, links))
        busy |= ends
        links[link] = links.get(link, 0) + 1
    return len(taken)


def _round(seed: int) -> dict[str, Any]:
    listed = instances()
    pairs = mesh([one.name for one in listed])
    planning, whole = _timed(lambda: plan(pairs))
    how = Running(trains_at_once=8)
    shell, record = _timed(lambda: asyncio.run(run_round(whole, listed, _at_once(random.Random(seed)), how)))
    scoring, health = _timed(lambda: scores(record.found))
    scored = (replace(one, score=health.get(one.pair)) for one in record.pairs)
    record = replace(record, pairs=tuple(scored))
    writing, text = _timed(lambda: json.dumps(to_json(record)))
    reading, again = _timed(lambda: from_json(RoundRecord, json.loads(text)))
    assert again == record
    choosing, chosen = _timed(lambda: mutually(record.scores, CHOSEN))
    times = {
        "plan": planning,
        "shell": shell,
        "scores": scoring,
        "document written": writing,
        "document read": reading,
        "choosing": choosing,
    }
    return {
        "pairs": len(pairs),
        "bytes": len(text),
        "seconds": {
            name: {"median": Summary.of([its]).median, "spread": Summary.of([its]).spread}
            for name, its in times.items()
        },
        "chosen": {
            "health": chosen.health,
            "bound": chosen.bound,
            "best_on_average": _best_on_average(record),
        },
    }


def _best_on_average(record: RoundRecord) -> float:
    """The mean health among the k that stand best towards all others."""
    names = [one.name for one in record.instances]

    def both(one: str, other: str) -> float:
        there, back = (
            record.scores.get(pair, Score(None)).total for pair in (Pair(one, other), Pair(other, one))
        )
        return ((there or 0.0) + (back or 0.0)) / 2

    best = sorted(names, key=lambda one: -sum(both(one, other) for other in names if other != one))[:CHOSEN]
    among = [both(one, other) for place, one in enumerate(best) for other in best[place + 1 :]]
    return sum(among) / len(among)


def _timed(work: Callable[[], Any]) -> tuple[list[float], Any]:
    times, found = [], None
    for _ in range(ROUNDS):
        began = time.process_time()
        found = work()
        times.append(time.process_time() - began)
    return times, found


def _at_once(chance: random.Random) -> Callable[[Instance], Any]:
    """Agents that find, at once, paths that differ by zone and by chance."""
    good = {one.name: chance.lognormvariate(0, 0.3) for one in instances()}

    async def connect(instance: Instance) -> _Prompt:
        return _Prompt(instance, good, chance)

    return connect


@dataclass(frozen=True, slots=True)
class _Prompt:
    instance: Instance
    good: Mapping[str, float]
    chance: random.Random

    async def probe(self, order: ProbeOrder) -> ProbeReport:
        """What it would find."""
        far = 1.0 if order.target.zone == self.instance.zone else 2.0
        base = far * self.good[order.target.name] * self.good[self.instance.name]
        times = tuple(0.001 * base * self.chance.lognormvariate(0, 0.1) for _ in range(5))
        found: list[Any] = []
        for one in order.probes:
            match one:
                case Train(shape=shape):
                    rate = 1e9 / base
                    found.append(TrainResult(rate, rate, 0.0, False, "", shape, None, 0.1, 0, ()))
                case Sandwich():
                    found.append(SandwichDelays((1e-4 * base,) * 5, 1472))
                case _:
                    found.append(RoundTrips(times))
        return ProbeReport(tuple(found), 0.0, 1.0)

    async def close(self) -> None:
        """Nothing is open."""


def report(results: Mapping[str, Any]) -> str:
    """Two tables."""
    plans = [("pairs", "of", "rounds", "least", "first fit", "s", "spread")]
    plans += [
        (
            str(one["pairs"]),
            one["name"],
            str(one["rounds"]),
            str(one["least"]),
            str(one["first_fit"]),
            f"{one['seconds']:.3f}",
            f"{one['spread']:.3f}",
        )
        for one in results["plans"]
    ]
    costs = [(f"{results['pairs']} pairs", "s", "spread")]
    costs += [
        (name, f"{its['median']:.3f}", f"{its['spread']:.3f}") for name, its in results["seconds"].items()
    ]
    chosen = results["chosen"]
    return "\n".join(
        [
            table(plans),
            "",
            table(costs),
            "",
            f"document: {results['bytes'] / 1e6:.2f} MB",
            f"{CHOSEN} among each other: mean health {chosen['health']:.4f}, bound {chosen['bound']:.4f}",
            f"{CHOSEN} best on average: {chosen['best_on_average']:.4f}",
            f"bounds: rounds within {MOST_OVER:g} of the least; plan, shell, scores {CONTROL_S:g} s",
        ]
    )
