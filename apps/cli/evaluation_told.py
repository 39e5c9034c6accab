"""Documents, plans and results of ``adon evaluate``, as lines for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adon.units import format_count, format_duration
from apps.cli.tables import laid_out
from measurement.evaluation.answers import answers
from measurement.evaluation.blueprint import Blueprint
from measurement.evaluation.consistency import catalogue_of
from measurement.evaluation.document import AtOnce, Design, Document
from measurement.evaluation.run import Run
from measurement.evaluation.wording import name, shown_unit, table
from measurement.model import to_json

SHOWN_TURNS = 3


def steps(document: Document) -> Iterator[str]:
    """A document in its ten steps."""
    known = catalogue_of(document)
    yield f"{document.title} ({document.name}, version {document.version})"
    yield f" 1 requirement: {document.requirement.recipient}: {document.requirement.purpose}"
    yield from (f"      {one.id}: {one.asks}" for one in document.requirement.questions)
    features = (known.features[one.feature].title for one in document.features.identified)
    yield f" 2 features of {document.features.service}: {', '.join(features)}"
    listed = (known.metrics[one.metric].title for one in document.metrics_listed)
    yield f" 3 metrics listed: {', '.join(listed)}"
    yield " 4 metrics selected:"
    for one in document.metrics_selected:
        by = "" if one.benchmark is None else f" by {known.benchmarks[one.benchmark].title}"
        yield f"      {known.metrics[one.metric].title}{by}: {one.because}"
    factors = (known.factors[one].title for one in document.factors_listed)
    yield f" 5 factors listed: {', '.join(factors)}"
    yield " 6 factors selected:"
    for each in document.factors_selected:
        levels = f" ({', '.join(each.levels)})" if each.levels else ""
        yield f"      {known.factors[each.factor].title}, {each.role.value}{levels}: {each.because}"
    design = document.design
    order = f"{design.order.value} from seed {design.seed}, at once: {design.at_once.value}"
    yield f" 7 design: {_size(design)}, {order}"
    yield f" 8 implementation: {document.implementation.how}"
    yield from (f"      {one}" for one in document.implementation.environment)
    alike = f"alike within {100 * document.analysis.alike_within:g} %"
    yield f" 9 analysis: variable from a COV of {document.analysis.varies_from:g}, {alike}"
    yield "10 conclusions:"
    yield from (f"      {one.question}: by {one.by.value}" for one in document.conclusions.answers)
    yield from (f"      {one}" for one in document.conclusions.remarks)
    yield from (f"note: {one}" for one in document.notes)


def _size(design: Design) -> str:
    runs = f"{format_count(design.runs, 'run')} of {format_duration(design.duration)}"
    pauses = f" with {format_duration(design.pause)} between" if design.pause else ""
    return f"{format_count(len(design.tested), 'path')}, {runs}{pauses}"


# -- a plan ---------------------------------------------------------------------------------------------


def plan_lines(design: Design, plan: Blueprint) -> Iterator[str]:
    """The blueprint: its size, how long it takes, its first turns."""
    kind = "pilot" if plan.pilot else "run"
    size = f"{format_count(plan.tests, 'test')} of {format_count(len(design.tested), 'path')}"
    yield f"{kind}: {size} in {format_count(len(plan.turns), 'turn')}"
    pauses = f" and {format_duration(plan.pause)} of pause" if plan.pause else ""
    yield f"each {format_duration(plan.duration)}{pauses}: {format_duration(plan.lasts)} in all"
    if design.at_once is AtOnce.ALL and plan.widest > 1:
        yield f"{plan.widest} tests at once: those that share a place disturb each other"
    for number, turn in enumerate(plan.turns[:SHOWN_TURNS], start=1):
        yield f"turn {number}: {'; '.join(name(test.path) for test in turn)}"
    more = len(plan.turns) - SHOWN_TURNS
    if more > 0:
        yield f"... {format_count(more, 'more turn')}, orders drawn from seed {design.seed}"


def plan_json(design: Design, plan: Blueprint) -> dict[str, Any]:
    """The same with all turns."""
    return {
        "pilot": plan.pilot,
        "paths": len(design.tested),
        "tests": plan.tests,
        "duration_s": plan.duration,
        "pause_s": plan.pause,
        "lasts_s": plan.lasts,
        "seed": design.seed,
        "turns": [[[*test.path] for test in turn] for turn in plan.turns],
    }


# -- results --------------------------------------------------------------------------------------------


def findings(document: Document, run: Run) -> Iterator[str]:
    """Table V, equations 1 to 3, and the answers."""
    results = run.results()
    yield f"mean (standard deviation) in {shown_unit(run.unit)}"
    yield from laid_out(("", *results.nodes), table(results, run.unit), None)
    distances = results.distances(document.analysis.ratio, clients=True) if run.unit == "bit/s" else {}
    rows = [
        [
            name(path),
            "-" if cov is None else f"{cov:.4f}",
            f"{distances[path]:.4f}" if path in distances else "-",
        ]
        for path, cov in results.covs().items()
    ]
    if rows:
        yield ""
        yield from laid_out(("Path", "COV (1)", "Distance (2)"), rows, None)
    diameters = results.diameters(document.analysis.ratio) if run.unit == "bit/s" else {}
    if diameters:
        yield ""
        yield "diameters (3): " + ", ".join(f"{node} {its:.3f}" for node, its in diameters.items())
    told: set[str] = set()
    for answer in answers(document, run):
        yield ""
        yield answer.asks
        yield from (f"  {sentence}" for sentence in answer.found)
        yield from (f"  ! {doubt}" for doubt in answer.doubts if doubt not in told)
        told |= {*answer.doubts}


def findings_json(document: Document, run: Run) -> dict[str, Any]:
    """The run with what was computed from it."""
    results = run.results()
    throughput = run.unit == "bit/s"
    distances = results.distances(document.analysis.ratio, clients=True) if throughput else {}
    return {
        "run": to_json(run),
        "covs": [{"one": path.one, "other": path.other, "cov": cov} for path, cov in results.covs().items()],
        "distances": [
            {"one": path.one, "other": path.other, "distance": _finite(its)}
            for path, its in distances.items()
        ],
        "diameters": dict(results.diameters(document.analysis.ratio)) if throughput else {},
        "answers": [
            {
                "question": one.question,
                "asks": one.asks,
                "found": one.found,
                "numbers": {number.name: number.text for number in one.numbers},
                "doubts": one.doubts,
            }
            for one in answers(document, run)
        ],
    }


def _finite(value: float) -> float | None:
    # JSON has no infinity: nothing came through.
    return None if value == float("inf") else value
