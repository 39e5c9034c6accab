"""The questions of a document, answered from the results, with the numbers that carry each answer.

An answer says what was found, never more: how many values are behind it, which differences are certain, and
what is missing ([CEEM] IV-J).  What is better depends on the metric: more throughput, less delay.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from measurement.evaluation.document import Analysing, Analysis, Answering, Document
from measurement.evaluation.intervals import interval, welch, worth
from measurement.evaluation.results import Measured, Path, Results
from measurement.evaluation.run import Run
from measurement.evaluation.wording import amount, cell, name, quantity, shown_unit

GAP = 1.5
"""Nodes fall into two groups where one is at least so many times as fast within as the next slower one."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number that carries an answer.

    :param name: what it is of: a path, or a node.
    :param text: with its unit; with an interval where the number of values is known.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """See the module's text.

    :param found: sentences.
    :param numbers: behind them.
    :param doubts: what a reader must know before they rely on it.
    """

    question: str
    asks: str
    found: tuple[str, ...]
    numbers: tuple[Number, ...]
    doubts: tuple[str, ...] = ()


def answers(document: Document, run: Run) -> tuple[Answer, ...]:
    """In the order of the document's questions."""
    asked = {one.id: one.asks for one in document.requirement.questions}
    given = {one.question: one for one in document.conclusions.answers}
    return tuple(
        _answer(given[id_], asks, document.analysis, run) for id_, asks in asked.items() if id_ in given
    )


def _answer(one: Answering, asks: str, analysing: Analysing, run: Run) -> Answer:
    view = _View(run, run.results(), run.series(), analysing, one.of)
    found, numbers = _BY[one.by](view)
    if not numbers:
        found = ("Nothing was measured that could answer it.",)
    return Answer(one.question, asks, found, numbers, view.doubts())


@dataclass(frozen=True, slots=True)
class _View:
    """A run as an answer looks at it.

    :param of: the client or node whose paths count; None: all.
    """

    run: Run
    results: Results
    series: Mapping[Path, tuple[float, ...]]
    analysing: Analysing
    of: str | None

    @property
    def sign(self) -> int:
        """1 where more is better."""
        return -1 if self.run.unit == "s" else 1

    @property
    def better(self) -> str:
        return "fast" if self.sign > 0 else "short"

    def text(self, value: float) -> str:
        return quantity(value, self.run.unit)

    def span(self, values: Sequence[float]) -> str:
        low, high = amount(min(values), self.run.unit), amount(max(values), self.run.unit)
        unit = shown_unit(self.run.unit)
        return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"

    def inner(self) -> dict[Path, Measured]:
        """Within nodes."""
        return {path: its for path, its in self.results.paths.items() if path.within}

    def between(self) -> dict[Path, Measured]:
        """Between nodes."""
        nodes = {*self.results.nodes}
        return {p: its for p, its in self.results.paths.items() if not p.within and {*p} <= nodes}

    def of_place(self, place: str) -> dict[str, Measured]:
        """By the node at the other end, the best first."""
        found = {
            (path.other if path.one == place else path.one): its
            for path, its in self.results.paths.items()
            if place in path and not path.within
        }
        return dict(sorted(found.items(), key=lambda item: -self.sign * item[1].mean))

    def chosen(self) -> dict[Path, Measured]:
        """The paths that count."""
        return {p: its for p, its in self.results.paths.items() if self.of is None or self.of in p}

    def number(self, path: Path, called: str | None = None) -> Number:
        measured = self.results.measured(*path)
        assert measured is not None, path  # noqa: S101 - asked for what the results list
        text = f"{cell(measured, self.run.unit)} {shown_unit(self.run.unit)}"
        values = self.series.get(path) or self.series.get(path.back)
        sure = interval(measured, self.analysing.confidence, worth(values) if values else None)
        if sure is not None:
            low, high = amount(sure.low, self.run.unit), amount(sure.high, self.run.unit)
            text += (
                f", mean in {low} to {high} at {100 * self.analysing.confidence:g} %, n = {measured.count}"
            )
        return Number(called or name(path), text)

    def apart(self, one: Measured, other: Measured) -> bool | None:
        """Whether two means are certainly apart; None if nobody can say."""
        if min(one.count, other.count) < 2:
            return None
        p, _ = welch(one, other, (float(one.count), float(other.count)), self.analysing.confidence)
        return p < 1 - self.analysing.confidence

    def doubts(self) -> tuple[str, ...]:
        found = []
        paths = self.chosen()
        if any(its.count == 0 for its in paths.values()):
            found.append(
                "The report does not say how many values are behind the means: no interval can be given."
            )
        elif any(its.count < 2 for its in paths.values()):
            found.append("Of some paths there is one value only: how much it varies is not known.")
        if self.run.pilot:
            found.append("This was a pilot: its few short tests show that the design can be run, no more.")
        if not self.run.complete:
            found.append(f"{len(self.run.samples)} of {self.run.planned} tests were made.")
        failed = {path: n for path, n in self.run.failures().items() if self.of is None or self.of in path}
        if failed:
            told = ", ".join(f"{name(path)} ({count})" for path, count in failed.items())
            found.append(f"Tests failed, and are in no mean: {told}.")
        return tuple(found)


Found = tuple[tuple[str, ...], tuple[Number, ...]]


def _internal_speed(view: _View) -> Found:
    inner, between = view.inner(), view.between()
    found, numbers = [], [view.number(path) for path in (*inner, *between)]
    if inner:
        found.append(f"Within a node it is {view.span([its.mean for its in inner.values()])}.")
    if between:
        found.append(f"Between two nodes it is {view.span([its.mean for its in between.values()])}.")
    if inner and between:
        worst = min(view.sign * its.mean for its in inner.values())
        slower = sum(1 for its in between.values() if view.sign * its.mean < worst)
        of = f"{slower} of {len(between)} paths between nodes"
        found.append(f"{of} are slower than the slowest node is within itself.")
    return tuple(found), tuple(numbers)


def _speed_to_client(view: _View) -> Found:
    place = view.of or ""
    nodes = view.of_place(place)
    if not nodes:
        return (), ()
    first, best = next(iter(nodes.items()))
    near = [node for node, its in nodes.items() if _alike(its, best, view.analysing.alike_within)]
    found = [f"The nearest node to {place} is {first} with {view.text(best.mean)}."]
    if len(near) > 1:
        within = f"{100 * view.analysing.alike_within:g} %"
        found.append(f"Within {within} of it are {_listed(near[1:])}.")
    rest = [node for node in nodes if node not in near]
    if rest:
        found.append(f"Farther are {_listed([f'{node} ({view.text(nodes[node].mean)})' for node in rest])}.")
    certain = {node: view.apart(best, its) for node, its in nodes.items() if node != first}
    same = [node for node, apart in certain.items() if apart is False]
    if same:
        found.append(f"That {first} is nearer than {_listed(same)} is not certain.")
    return tuple(found), tuple(view.number(Path(place, node)) for node in nodes)


def _stability(view: _View) -> Found:
    paths = view.chosen()
    known = {path: its.cov for path, its in paths.items() if its.cov is not None}
    if not known:
        return (), ()
    bound = view.analysing.varies_from
    varied = [path for path in sorted(known, key=lambda path: -known[path]) if known[path] >= bound]
    found = [
        f"{len(varied)} of {len(known)} paths vary much over time (COV from {bound:g}): "
        f"{_listed([name(path) for path in varied])}."
        if varied
        else f"No path varies much over time: COV is below {bound:g} on all {len(known)}."
    ]
    calm, wild = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    found.append(f"The most stable is {name(calm)} with COV {known[calm]:.4f}.")
    if len(known) > 1:
        found.append(f"The most variable is {name(wild)} with COV {known[wild]:.4f}.")
    for client in view.results.clients:
        its = {path: cov for path, cov in known.items() if client in path}
        if len(its) > 1:
            best = min(its, key=its.__getitem__)
            found.append(f"From {client} the most stable is {name(best)} with COV {its[best]:.4f}.")
    return tuple(found), tuple(Number(name(path), f"COV {cov:.4f}") for path, cov in known.items())


def _spread(view: _View) -> Found:
    found = []
    numbers = []
    inner = dict(sorted(view.inner().items(), key=lambda item: -view.sign * item[1].mean))
    groups = _groups(list(inner.items()))
    if len(groups) == 2:
        fast, slow = groups
        means = [statistics.fmean(its.mean for _, its in group) for group in groups]
        times = max(means) / min(means)
        found.append(
            f"Within themselves {_listed([path.one for path, _ in fast])} are {times:.2f} times as "
            f"{view.better} as {_listed([path.one for path, _ in slow])}."
        )
    if view.sign > 0:  # equations 2 and 3 are of bandwidths
        distances = view.results.distances(view.analysing.ratio)
        far = sorted(distances, key=lambda path: -distances[path])
        if len(far) > 1:
            told = f"The farthest two nodes are {name(far[0])}, at {distances[far[0]]:.1f} times the distance"
            second = f"; the next are {name(far[1])}, at {distances[far[1]]:.1f}" if len(far) > 2 else ""
            found.append(f"{told} of the nearest two, {name(far[-1])}{second}.")
        elif far:
            found.append(f"There is one path between nodes, with {view.text(view.between()[far[0]].mean)}.")
        numbers += [Number(f"distance {name(path)}", f"{its:.4f}") for path, its in distances.items()]
        for client in view.results.clients:
            nodes = list(view.of_place(client))
            if len(nodes) > 1:
                found.append(f"The remotest node from {client} is {nodes[-1]}.")
        diameters = view.results.diameters(view.analysing.ratio)
        numbers += [Number(f"diameter {node}", f"{its:.3f}") for node, its in diameters.items()]
    else:
        numbers += [view.number(path) for path in view.results.paths]
    return tuple(found), tuple(numbers)


def _groups(ranked: Sequence[tuple[Path, Measured]]) -> list[Sequence[tuple[Path, Measured]]]:
    """In two where the widest gap between neighbours is wide enough, else in one."""
    gaps = []
    for number, (one, other) in enumerate(pairwise(its.mean for _, its in ranked), start=1):
        low, high = sorted((one, other))
        gaps.append((high / low if low else float("inf"), number))
    widest, place = max(gaps, default=(1.0, 0))
    return [ranked[:place], ranked[place:]] if widest >= GAP else [ranked]


_BY: Mapping[Analysis, Callable[[_View], Found]] = {
    Analysis.INTERNAL_SPEED: _internal_speed,
    Analysis.SPEED_TO_CLIENT: _speed_to_client,
    Analysis.STABILITY: _stability,
    Analysis.SPREAD_OVER_PATHS: _spread,
}


def _alike(one: Measured, other: Measured, within: float) -> bool:
    return abs(one.mean - other.mean) <= within * other.mean


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
