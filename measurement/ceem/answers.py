"""Answers to the questions of a template from a run, with their numbers, and table V of [CEEM].

An answer states what was found, how many values it is based on, which differences are certain, and what is
missing ([CEEM] IV-J).  The better value is the larger bandwidth or the smaller delay.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from measurement.ceem.run import EvaluationRun, PathStatistics
from measurement.ceem.template import Analysis, AnalysisKind, AnswerRule, EvaluationTemplate, PlacePath
from measurement.statistics import effective_count, mean_interval

GROUP_GAP = 1.5
"""Minimum ratio between two neighbouring nodes that separates two groups."""
DISPLAY_UNITS = {"bit/s": (1e6, "Mbps"), "s": (1e-3, "ms")}
"""Unit of a value -> the size and the name of the unit that people read."""

ByPath = Mapping[PlacePath, PathStatistics]


@dataclass(frozen=True, slots=True)
class Number:
    """Number behind an answer.

    :param name: path or node.
    :param text: value with unit, and its confidence interval if the number of values is known.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a question.

    :param found: sentences.
    :param numbers: numbers behind them.
    :param doubts: limits of the answer that a reader must know.
    """

    question: str
    asks: str
    found: tuple[str, ...]
    numbers: tuple[Number, ...]
    doubts: tuple[str, ...] = ()


Finding = tuple[list[str], list[Number]]


def answer_questions(template: EvaluationTemplate, run: EvaluationRun) -> tuple[Answer, ...]:
    """Return an answer for each question, in the order of the template."""
    rules = {one.question: one for one in template.conclusions.answers}
    found = []
    for question in template.requirement.questions:
        if (rule := rules.get(question.id)) is None:
            continue
        view = _View(run, template.analysis, rule)
        sentences, numbers = _ANALYSES[rule.by](view)
        if not numbers:
            sentences = ["There are no measurements for an answer."]
        found.append(Answer(question.id, question.asks, tuple(sentences), tuple(numbers), view.list_doubts()))
    return tuple(found)


def list_answers(template: EvaluationTemplate, run: EvaluationRun) -> list[tuple[Answer, list[str]]]:
    """Return each answer with the doubts that no answer before it has."""
    known: set[str] = set()
    found = []
    for answer in answer_questions(template, run):
        found.append((answer, [doubt for doubt in answer.doubts if doubt not in known]))
        known |= {*answer.doubts}
    return found


def unit_name(unit: str) -> str:
    """Return the unit of :func:`format_amount`."""
    return DISPLAY_UNITS.get(unit, (1.0, unit))[1]


def format_amount(value: float, unit: str) -> str:
    """Return a value without its unit: at most two decimals (``19``, ``458.3``); three digits if small."""
    scaled = value / DISPLAY_UNITS.get(unit, (1.0, unit))[0]
    if 0 < abs(scaled) < 0.1:
        return f"{scaled:.3g}"
    return f"{scaled:.2f}".rstrip("0").rstrip(".")


def format_value(value: float, unit: str) -> str:
    """Return a value with its unit."""
    return f"{format_amount(value, unit)} {unit_name(unit)}"


def format_statistics(found: PathStatistics | None, unit: str) -> str:
    """Return mean (standard deviation) as in table V: ``19 (1.62)``; ``19 (-)`` for a single value."""
    if found is None:
        return ""
    deviation = "-" if found.count == 1 else format_amount(found.deviation, unit)
    return f"{format_amount(found.mean, unit)} ({deviation})"


def result_table(run: EvaluationRun) -> list[list[str]]:
    """Return table V: a row per client and node with its name and a cell per node; upper triangle."""
    found = run.path_statistics()

    def cell(one: str, other: str) -> str:
        path = PlacePath(one, other)
        return format_statistics(found.get(path) or found.get(path.reverse), run.unit)

    rows = [[client, *(cell(client, node) for node in run.nodes)] for client in run.clients]
    for number, one in enumerate(run.nodes):
        rows.append([one, *[""] * number, *(cell(one, other) for other in run.nodes[number:])])
    return rows


@dataclass(frozen=True)
class _View:
    """Run as an analysis reads it."""

    run: EvaluationRun
    analysis: Analysis
    rule: AnswerRule

    @cached_property
    def paths(self) -> ByPath:
        return self.run.path_statistics()

    @cached_property
    def inner(self) -> ByPath:
        return {path: its for path, its in self.paths.items() if path.is_within}

    @cached_property
    def between(self) -> ByPath:
        nodes = {*self.run.nodes}
        return {path: its for path, its in self.paths.items() if not path.is_within and {*path} <= nodes}

    @property
    def selected(self) -> ByPath:
        """Paths of the place that the rule names, or all paths."""
        return {path: its for path, its in self.paths.items() if self.rule.of in (None, *path)}

    def rank(self, mean: float) -> float:
        """Return a sort key: the best mean has the smallest one."""
        return -mean if self.run.more_is_better else mean

    def by_node(self, place: str) -> dict[str, PlacePath]:
        """Return the paths of a place by the node at the other end, the best first."""
        paths = [path for path in self.paths if place in path and not path.is_within]
        paths.sort(key=lambda path: self.rank(self.paths[path].mean))
        return {path.other if path.one == place else path.one: path for path in paths}

    def format(self, value: float) -> str:
        return format_value(value, self.run.unit)

    def format_range(self, paths: ByPath) -> str:
        means = [its.mean for its in paths.values()]
        low, high = self.format(min(means)), self.format(max(means))
        return low if low == high else f"{format_amount(min(means), self.run.unit)} to {high}"

    def number(self, path: PlacePath) -> Number:
        """Return the mean of a path with its confidence interval."""
        found = self.paths[path]
        values = self.run.values_by_path().get(path)
        confidence = self.analysis.confidence
        count = effective_count(values) if values else found.count
        text = f"{format_statistics(found, self.run.unit)} {unit_name(self.run.unit)}"
        interval = mean_interval(found.mean, found.deviation, count, confidence)
        if interval is not None:
            low, high = (format_amount(bound, self.run.unit) for bound in interval)
            text += f", mean in {low} to {high} at {100 * confidence:g} %, n = {found.count}"
        return Number(str(path), text)

    def is_uncertain(self, one: PathStatistics, other: PathStatistics) -> bool:
        """Return whether two means of several values do not differ significantly (Welch's test)."""
        if min(one.count, other.count) < 2:
            return False
        if one.deviation == other.deviation == 0:
            return one.mean == other.mean
        from scipy import stats  # its import takes half a second

        first, second = ((its.mean, its.deviation, its.count) for its in (one, other))
        p_value = stats.ttest_ind_from_stats(*first, *second, equal_var=False).pvalue
        return bool(p_value >= 1 - self.analysis.confidence)

    def list_doubts(self) -> tuple[str, ...]:
        doubts = []
        counts = [its.count for its in self.selected.values()]
        if 0 in counts:
            doubts.append("The report does not state the number of values, so there are no intervals.")
        elif 1 in counts:
            doubts.append("Some paths have one value only, so their variation is unknown.")
        if self.run.pilot:
            doubts.append("This is a pilot: its few short tests only show that the design can be run.")
        if not self.run.is_complete:
            doubts.append(f"{len(self.run.samples)} of {self.run.planned} tests were made.")
        failures = self.run.failures_by_path().items()
        failed = [f"{path} ({count})" for path, count in failures if self.rule.of in (None, *path)]
        if failed:
            doubts.append(f"Tests failed, and are in no mean: {', '.join(failed)}.")
        return tuple(doubts)


def _find_internal_speed(view: _View) -> Finding:
    inner, between = view.inner, view.between
    sentences = []
    if inner:
        sentences.append(f"Within a node it is {view.format_range(inner)}.")
    if between:
        sentences.append(f"Between two nodes it is {view.format_range(between)}.")
    if inner and between:
        worst = max(view.rank(its.mean) for its in inner.values())
        slower = sum(view.rank(its.mean) > worst for its in between.values())
        share = f"{slower} of {len(between)} paths between nodes"
        sentences.append(f"{share} are slower than the slowest node is within itself.")
    return sentences, [view.number(path) for path in (*inner, *between)]


def _find_nearest_node(view: _View) -> Finding:
    client = view.rule.of or ""
    paths = view.by_node(client)
    if not paths:
        return [], []
    nodes = {node: view.paths[path] for node, path in paths.items()}
    nearest, best = next(iter(nodes.items()))
    within = view.analysis.alike_within
    similar = [node for node, its in nodes.items() if abs(its.mean - best.mean) <= within * best.mean]
    farther = [f"{node} ({view.format(its.mean)})" for node, its in nodes.items() if node not in similar]
    uncertain = [node for node, its in nodes.items() if node != nearest and view.is_uncertain(best, its)]
    sentences = [f"The nearest node to {client} is {nearest} with {view.format(best.mean)}."]
    if len(similar) > 1:
        sentences.append(f"Within {100 * within:g} % of it are {_join(similar[1:])}.")
    if farther:
        sentences.append(f"Farther are {_join(farther)}.")
    if uncertain:
        sentences.append(f"That {nearest} is nearer than {_join(uncertain)} is not certain.")
    return sentences, [view.number(path) for path in paths.values()]


def _find_stability(view: _View) -> Finding:
    covs = {path: its.cov for path, its in view.selected.items() if its.cov is not None}
    if not covs:
        return [], []
    bound = view.analysis.varies_from
    ranked = sorted(covs, key=lambda path: -covs[path])
    variable = [str(path) for path in ranked if covs[path] >= bound]
    sentences = [f"No path varies much over time: COV is below {bound:g} on all {len(covs)}."]
    if variable:
        share = f"{len(variable)} of {len(covs)} paths"
        sentences = [f"{share} vary much over time (COV from {bound:g}): {_join(variable)}."]
    stable, unstable = min(covs, key=covs.__getitem__), ranked[0]
    sentences.append(f"The most stable is {stable} with COV {covs[stable]:.4f}.")
    if len(covs) > 1:
        sentences.append(f"The most variable is {unstable} with COV {covs[unstable]:.4f}.")
    for client in view.run.clients:
        of_client = [path for path in covs if client in path]
        if len(of_client) > 1:
            best = min(of_client, key=covs.__getitem__)
            sentences.append(f"From {client} the most stable is {best} with COV {covs[best]:.4f}.")
    return sentences, [Number(str(path), f"COV {cov:.4f}") for path, cov in covs.items()]


def _find_spread(view: _View) -> Finding:
    sentences = _compare_groups(view)
    if not view.run.more_is_better:  # equations 2 and 3 are of bandwidths
        return sentences, [view.number(path) for path in view.paths]
    ratio = view.analysis.ratio
    distances, diameters = view.run.distances(ratio), view.run.diameters(ratio)
    farthest = sorted(distances, key=lambda path: -distances[path])
    if len(farthest) == 1:
        mean = view.between[farthest[0]].mean
        sentences.append(f"There is one path between nodes, with {view.format(mean)}.")
    elif farthest:
        first, second, nearest = farthest[0], farthest[1], farthest[-1]
        sentence = f"The farthest two nodes are {first}, at {distances[first]:.1f} times the distance"
        sentence += f" of the nearest two, {nearest}"
        if second != nearest:
            sentence += f"; the next are {second}, at {distances[second]:.1f}"
        sentences.append(f"{sentence}.")
    for client in view.run.clients:
        nodes = [*view.by_node(client)]
        if len(nodes) > 1:
            sentences.append(f"The remotest node from {client} is {nodes[-1]}.")
    numbers = [Number(f"distance {path}", f"{distance:.4f}") for path, distance in distances.items()]
    numbers += [Number(f"diameter {node}", f"{diameter:.3f}") for node, diameter in diameters.items()]
    return sentences, numbers


def _compare_groups(view: _View) -> list[str]:
    """Return a sentence about two groups of nodes, split at the widest gap, if that is wide enough."""
    ranked = sorted(view.inner.items(), key=lambda item: view.rank(item[1].mean))
    means = [its.mean for _, its in ranked]
    gaps = [max(pair) / min(pair) if min(pair) else float("inf") for pair in pairwise(means)]
    if max(gaps, default=1.0) < GROUP_GAP:
        return []
    split = gaps.index(max(gaps)) + 1
    groups = means[:split], means[split:]
    averages = [statistics.fmean(group) for group in groups]
    times = max(averages) / min(averages) if min(averages) else float("inf")
    fast, slow = (_join([path.one for path, _ in group]) for group in (ranked[:split], ranked[split:]))
    better = "fast" if view.run.more_is_better else "short"
    return [f"Within themselves {fast} are {times:.2f} times as {better} as {slow}."]


_ANALYSES: Mapping[AnalysisKind, Callable[[_View], Finding]] = {
    "internal-speed": _find_internal_speed,
    "speed-to-client": _find_nearest_node,
    "stability": _find_stability,
    "spread-over-paths": _find_spread,
}


def _join(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
