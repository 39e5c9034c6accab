"""Requests that share places over time: the problem, and how a schedule is made of an order.

Every request may be served in one of several ways (an *option*: a site, a path, or both), each of which holds
some amounts of some resources for some time from its start on.  Wanted is, for every request, an option and
a start such that no resource is ever over-used, with the least

    Σ weight · (start + value)

where an option's value is how long it takes from its start to the results (or what that is worth, in the same
unit).  This is the multi-mode resource-constrained project scheduling problem without precedences and with a
regular objective: for some order of the requests, giving each in turn its earliest start is optimal (serial
schedule generation; Sprecher, Kolisch, Drexl, EJOR 80, 1995).  What is free may vary with time.

Times are whole milliseconds from now, amounts whole numbers: sums are exact, and the same problem always has
the same schedule.  Values and functions only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Steps = tuple[tuple[int, int], ...]
"""From each time on so much is free; the first is 0, the last holds for ever."""

Needs = tuple[tuple[int, int], ...]
"""Numbers of resources, and how much of each."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way to serve a request.

    :param value: from the start to the results.
    :param length: for how long it holds what it needs, above zero.
    """

    value: int
    length: int
    needs: Needs
    site: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One request; a larger weight is more urgent."""

    number: int
    weight: int
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Some requests, and what is free of each resource from when on."""

    requests: tuple[Request, ...]
    room: tuple[Steps, ...]

    def possible(self, option: Option) -> bool:
        """Whether an option can ever be had: in the end everything that is held is given back."""
        return all(self.room[resource][-1][1] >= amount for resource, amount in option.needs)


@dataclass(frozen=True, slots=True)
class Assigned:
    """What one request has in a schedule."""

    option: Option
    start: int

    @property
    def end(self) -> int:
        """When its results are there."""
        return self.start + self.option.value


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule.

    :param places: per number of a request; one that can never be served is not there.
    :param cost: what it comes to.
    :param bound: no schedule comes to less.
    :param exact: whether this one is known to be the best.
    """

    places: Mapping[int, Assigned]
    cost: int
    bound: int
    exact: bool

    @property
    def gap(self) -> float:
        """How much dearer than the bound it is, as a share of the bound."""
        return 0.0 if self.exact or not self.bound else (self.cost - self.bound) / self.bound


class Timeline:
    """What is free of every resource over time, while a schedule is made."""

    def __init__(self, room: Iterable[Steps]) -> None:
        self._times = [[at for at, _ in steps] for steps in room]
        self._free = [[free for _, free in steps] for steps in room]

    @classmethod
    def of(cls, problem: Problem) -> Timeline:
        """As it is before anything is scheduled."""
        return cls(problem.room)

    def copy(self) -> Timeline:
        """One that can be changed by itself."""
        twin = Timeline(())
        twin._times = [list(times) for times in self._times]
        twin._free = [list(free) for free in self._free]
        return twin

    def earliest(self, option: Option) -> int | None:
        """The first start at which everything is free as long as it is needed; None if there is none."""
        start = 0
        while True:
            later = self._next_try(option, start)
            if later is None or later == start:
                return later
            start = later

    def _next_try(self, option: Option, start: int) -> int | None:
        """``start`` if it will do, else the first time after it that may; None if none can."""
        for resource, amount in option.needs:
            times, free = self._times[resource], self._free[resource]
            at = bisect_right(times, start) - 1
            while at < len(times) and times[at] < start + option.length:
                if free[at] < amount:
                    return times[at + 1] if at + 1 < len(times) else None
                at += 1
        return start

    @property
    def room(self) -> tuple[Steps, ...]:
        """What is left."""
        pairs = zip(self._times, self._free, strict=True)
        return tuple(tuple(zip(times, free, strict=True)) for times, free in pairs)

    def take(self, option: Option, start: int) -> None:
        """Give an option what it needs from its start on."""
        for resource, amount in option.needs:
            first, last = self._split(resource, start), self._split(resource, start + option.length)
            for at in range(first, last):
                self._free[resource][at] -= amount

    def _split(self, resource: int, at: int) -> int:
        """The number of the step that begins at this time, made if it was not there."""
        times = self._times[resource]
        place = bisect_right(times, at) - 1
        if times[place] == at:
            return place
        times.insert(place + 1, at)
        self._free[resource].insert(place + 1, self._free[resource][place])
        return place + 1


def feasible(problem: Problem, places: Mapping[int, Assigned]) -> bool:
    """Whether a schedule uses no more of anything than there is, at any time."""
    timeline = Timeline.of(problem)
    for one in places.values():
        if one.start < 0:
            return False
        timeline.take(one.option, one.start)
    return all(free >= 0 for steps in timeline.room for _, free in steps)


def cost_of(requests: Sequence[Request], places: Mapping[int, Assigned]) -> int:
    """What a schedule comes to."""
    return sum(one.weight * places[one.number].end for one in requests if one.number in places)
