"""The task conflict graph: an edge joins two tasks that must not run at the same time.

It is built from an index of who uses which measurement point and link, so that its cost follows the
number of edges and not the number of pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from measurement.scheduling.task import Footprint


@dataclass(frozen=True, slots=True)
class ConflictGraph:
    """Tasks and their conflicts.

    :param neighbours: per task the tasks it conflicts with; symmetric, without loops.
    """

    neighbours: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, tests: Iterable[Footprint]) -> ConflictGraph:
        """The graph of these tests by :func:`~measurement.scheduling.task.conflicts`."""
        known = list(tests)
        users: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        disturbing: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for test in known:
            for resource in _used_resources(test):
                users[resource].add(test.id)
                if test.loads or test.exclusive:
                    disturbing[resource].add(test.id)
        return cls({test.id: _neighbours(test, users, disturbing) for test in known})

    def edges(self) -> Iterator[tuple[str, str]]:
        """Each conflict once, in order of names."""
        for one in sorted(self.neighbours):
            yield from ((one, other) for other in sorted(self.neighbours[one]) if one < other)


def _used_resources(test: Footprint) -> Iterator[tuple[str, str]]:
    yield from (("point", name) for name in test.points)
    yield from (("link", name) for name in test.links)


def _neighbours(
    test: Footprint,
    users: Mapping[tuple[str, str], set[str]],
    disturbing: Mapping[tuple[str, str], set[str]],
) -> frozenset[str]:
    concerned = users if test.loads or test.exclusive else disturbing
    found: set[str] = set()
    for resource in _used_resources(test):
        found |= concerned.get(resource, set())
    return frozenset(found - {test.id})
