"""The plan of a trial's tests, and until every path has been measured once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from adon.api.network import Reading
from adon.client import Client
from adon.errors import InvalidInput, Problem, Unavailable
from adon.experiments.document import Measuring
from adon.experiments.reading import Source
from adon.experiments.sweeping import Place, at_point, points
from adon.experiments.validation import set_at
from mininet_topos.networks import Network
from mininet_topos.networks.configuration import (
    DEFAULT_SCHEDULE,
    LONGEST_ROUND,
    Schedule,
    fitting,
    refused,
)
from mininet_topos.serving import Adon
from mininet_topos.waiting import wait_until

FIRST_MEASUREMENTS_S = 180.0
"""The least that the first measurements may take; a long plan may take two of its rounds."""
LONGEST_TEST_S = 3.0
METRICS = {"throughput": {"throughput"}, "rtt": {"rtt"}, "latency": {"loss"}}
"""By test what of it must have come before a path counts as measured."""


def planned(measuring: Measuring) -> frozenset[str]:
    """The tests that are done."""
    said = measuring.said
    return frozenset(test for test in METRICS if test not in said or getattr(measuring, test) is not None)


def schedule(network: Network, measuring: Measuring) -> Schedule:
    """The plan of the tests: what the file says of them, and of the others the shortest round that fits.

    :raises InvalidInput: if there is none; its field is ``measuring``, or the test's in it.
    """
    said = {test: getattr(measuring, test) for test in METRICS if test in measuring.said}
    asked = _with(DEFAULT_SCHEDULE, said)
    if not planned(measuring):
        return asked
    try:
        if not any(said.values()):
            return fitting(network, asked)
        return _around(network, asked, [test for test in METRICS if test not in said])
    except InvalidInput as error:
        raise _in_the_words_of_a_file(error, network) from error


def _with(like: Schedule, periods: Mapping[str, float | None]) -> Schedule:
    return replace(
        like,
        throughput_period=periods.get("throughput", like.throughput_period),
        rtt_period=periods.get("rtt", like.rtt_period),
        latency_period=periods.get("latency", like.latency_period),
    )


def _around(network: Network, asked: Schedule, rest: list[str]) -> Schedule:
    """With the testbed's own round for the rest, made longer until all of it fits."""
    every = DEFAULT_SCHEDULE.throughput_period or LONGEST_ROUND
    while True:
        found = _with(asked, dict.fromkeys(rest, every))
        why = refused(network, found)
        if why is None:
            return found
        if not rest or every >= LONGEST_ROUND:
            raise why
        every = min(2 * every, LONGEST_ROUND)


def _in_the_words_of_a_file(error: InvalidInput, network: Network) -> InvalidInput:
    """ADON's configuration has a test for each direction of each path; a file has one of each kind."""
    told: dict[tuple[str, str], None] = {}
    for problem in error.problems:
        test = problem.field.rpartition(".")[2].removesuffix("_period")
        field = f"measuring.{test}" if test in METRICS else "measuring"
        told[field, f"does not fit on {network.name}: {problem.cause}"] = None
    return InvalidInput(Problem(field, cause) for field, cause in told)


def check(source: Source, network: Network) -> None:
    """Find out before anything is built that tests do not fit, at any combination of what is swept.

    :raises InvalidInput: with file, line and field.
    """
    seen: set[str] = set()
    for point in points(source.experiment):
        measuring = at_point(source.experiment, point).measuring
        if (said := measuring.model_dump_json()) in seen:
            continue
        seen.add(said)
        try:
            schedule(network, measuring)
        except InvalidInput as error:
            first = error.problems[0]
            place: Place = tuple(first.field.split("."))
            raise source.placed(error, set_at(source.experiment, point, place)) from error


def patience(tests: Schedule) -> float:
    """Seconds within which every path has been measured once: what began too early counts in no round."""
    periods = (getattr(tests, f"{test}_period") for test in METRICS)
    return max(FIRST_MEASUREMENTS_S, 2 * max((one for one in periods if one), default=0.0) + 60)


def await_first(client: Client, adon: Adon, tests: Schedule, network: Network) -> None:
    """Until every path has a result of every test that is done.

    :raises Unavailable: if that takes too long, or ADON ends.
    """
    wanted = {metric for test in METRICS if getattr(tests, f"{test}_period") for metric in METRICS[test]}
    within = patience(tests)
    forward = {(path.name, path.sites[0]) for path in network.paths if path.addresses}

    # What began before the switches had their rules, and so went another way, has ended by then.
    since = time.time() + LONGEST_TEST_S

    def measured() -> bool:
        adon.require_running()  # first: once it has ended, its socket takes questions that nobody answers
        paths = [one for one in client.paths() if (one.path, one.source) in forward]
        return all(wanted <= _known_since(one.metrics, since) for one in paths)

    if not wait_until(measured, within):
        raise Unavailable(f"not every path was measured within {within:g} s: {adon.last_words}")


def _known_since(metrics: Mapping[str, Reading], since: float) -> set[str]:
    return {name for name, one in metrics.items() if one.observed_at >= since}
