"""Runner of a blueprint: places, turns of tests, signals."""

from __future__ import annotations

import shlex
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

from measurement.ceem.blueprint import Blueprint, PlannedTest
from measurement.ceem.run import Sample
from measurement.ceem.template import PLACEHOLDER, Design
from measurement.errors import InvalidValue
from measurement.instances import Instance

REACH_PLACEHOLDERS = ("name", "address")
"""Placeholders of ``--reach``."""


@dataclass(frozen=True, slots=True)
class Place:
    """Machine of a place of the design.

    :param reach: prefix of a command that runs on the machine; empty for this machine.
    """

    name: str
    instance: Instance
    reach: tuple[str, ...] = ()


class Bench(Protocol):
    """Method of a test."""

    def measure(self, test: PlannedTest) -> float:
        """Return the value of a test.

        :raises ValueError: if the test fails, with the cause.
        """


def fill_placeholders(words: Iterable[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return words with ``{name}`` replaced by its value; other names stay."""
    return tuple(PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), word) for word in words)


def find_places(
    design: Design,
    instances: Iterable[Instance],
    named: Mapping[str, str],
    reach: str = "",
    here: Collection[str] = (),
) -> dict[str, Place]:
    """Return the places of a design by name.

    :param named: instance of each place that has another name.
    :param reach: prefix of commands with ``{name}`` and ``{address}`` of the instance, such as
        ``ssh ubuntu@{address}``; empty if all addresses are on this machine.
    :param here: places that are this machine.
    :raises InvalidValue: a line ``option: cause`` per problem: an unknown place, instance or placeholder, and
        two places of one instance.
    """
    wanted = (*design.nodes, *design.clients)
    problems = [
        f"{option}: {name!r} is no place of the design; places are {', '.join(wanted)}"
        for option, names in (("--place", named), ("--here", here))
        for name in names
        if name not in wanted
    ]
    words = _split_reach(reach, problems)
    known = {one.name: one for one in instances}
    places: dict[str, Place] = {}
    for name in wanted:
        instance = known.get(named.get(name, name))
        if instance is None:
            cause = f"no instance {named.get(name, name)!r} for the place {name!r}"
            problems.append(f"--instances: {cause}; for example --place {shlex.quote(name)}=INSTANCE")
            continue
        # A path between two places of one instance would be a path within it.
        problems += [
            f"--place: {other.name!r} and {name!r} are both the instance {instance.name!r}"
            for other in places.values()
            if other.instance == instance
        ]
        values = {"name": instance.name, "address": instance.address}
        places[name] = Place(name, instance, () if name in here else fill_placeholders(words, values))
    if problems:
        raise InvalidValue("\n".join(problems))
    return places


def _split_reach(reach: str, problems: list[str]) -> list[str]:
    try:
        words = shlex.split(reach)
    except ValueError as error:
        problems.append(f"--reach: is no command: {error}")
        return []
    unknown = sorted({*PLACEHOLDER.findall(reach)} - {*REACH_PLACEHOLDERS})
    problems += [f"--reach: {{{name}}} is not one of {', '.join(REACH_PLACEHOLDERS)}" for name in unknown]
    return words


def run_blueprint(
    blueprint: Blueprint,
    bench: Bench,
    record: Callable[[Sample], None],
    done: Collection[int],
    stop: threading.Event,
) -> bool:
    """Run the tests that have no result yet.

    :param record: is called with each result, in one thread.
    :param done: numbers of the tests with a result.
    :param stop: when set, running tests end and no other test starts.
    :return: whether all tests have a result.
    """
    # The kernel kills a program when its parent thread ends: the threads live until the end of the run.
    with ThreadPoolExecutor(blueprint.concurrency, thread_name_prefix="test") as pool:
        for number, turn in enumerate(blueprint.turns, start=1):
            remaining = [test for test in turn if test.number not in done]
            if not remaining:
                continue
            if stop.is_set():
                return False
            for finished in as_completed([pool.submit(take_sample, bench, test) for test in remaining]):
                record(finished.result())
            if number < len(blueprint.turns):
                stop.wait(blueprint.pause)
    return True


def take_sample(bench: Bench, test: PlannedTest) -> Sample:
    """Run a test; a failure is its result."""
    at = time.time()
    try:
        value = bench.measure(test)
    except ValueError as error:
        failure = " ".join(str(error).split())
        return Sample(test.number, *test.path, at, None, failure, test.iteration)
    return Sample(test.number, *test.path, at, value, iteration=test.iteration)


@contextmanager
def stop_on_signals(stop: threading.Event, report: Callable[[], None]) -> Iterator[None]:
    """Set an event on the first SIGINT or SIGTERM, and raise KeyboardInterrupt on the second.

    :param report: is called after the event is set.
    """

    def handle(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        report()

    previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
