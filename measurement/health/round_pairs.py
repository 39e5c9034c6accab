"""One round of an application's pairs: all of it, or only what the markers ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from measurement.health.model import Pair
from measurement.health.record import RoundRecord
from measurement.health.round_judgement import AllTolerances, Judged, carried_over, due, judge_round, together
from measurement.health.round_runner import Progress, Running, run
from measurement.health.round_schedule import plan
from measurement.instances import Instance
from measurement.probes.agent_client import ConnectAgent


@dataclass(frozen=True, slots=True)
class Asking:
    """What a round is to find out.

    :param pairs: that matter.
    :param profile: the same, in words.
    :param verified: of them, whose throughput is found by a transfer, too.
    :param exhaustive: a transfer for each pair, and no trains.
    :param max_age: seconds; with it only pairs whose markers fire, or whose throughput is older, are loaded.
        None loads all.
    """

    pairs: tuple[Pair, ...]
    profile: str = "mesh"
    verified: tuple[Pair, ...] = ()
    exhaustive: bool = False
    max_age: float | None = None


async def health_round(
    asking: Asking,
    instances: Sequence[Instance],
    connect: ConnectAgent,
    how: Running,
    before: Sequence[RoundRecord] = (),
    tolerances: AllTolerances | None = None,
    *,
    stop: asyncio.Event | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Judged:
    """Probe, and judge what was found after the rounds before.

    :raises ValueError: for pairs that are none of the instances.
    """
    whole = plan(asking.pairs, asking.verified, how.limits, exhaustive=asking.exhaustive)
    if asking.max_age is None:
        record = await run(
            whole, instances, connect, how, profile=asking.profile, stop=stop, progress=progress
        )
        return judge_round(record, before, tolerances)
    first = replace(whole, trains=(), transfers=())
    light = await run(first, instances, connect, how, profile=asking.profile, stop=stop, progress=progress)
    pairs = due(judge_round(light, before, tolerances).record, before, asking.max_age)
    verified = tuple(pair for pair in asking.verified if pair in {*pairs})
    second = replace(plan(pairs, verified, how.limits, exhaustive=asking.exhaustive), light=())
    loading = await run(second, instances, connect, how, profile=asking.profile, stop=stop, progress=progress)
    return judge_round(carried_over(together(light, loading), before), before, tolerances)
