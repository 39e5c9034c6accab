"""Templates, blueprints and results of ``adon evaluate`` as lines and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from adon.units import format_count, format_duration
from apps.cli.tables import laid_out
from measurement.ceem.answers import answer_questions, list_answers, result_table, unit_name
from measurement.ceem.blueprint import Blueprint
from measurement.ceem.run import EvaluationRun
from measurement.ceem.template import Design, EvaluationTemplate
from measurement.model import to_json

SHOWN_TURNS = 3
INDENT = "      "


def step_lines(template: EvaluationTemplate) -> Iterator[str]:
    """Yield the ten steps of a template."""
    known = template.catalogue
    yield f"{template.title} ({template.name}, version {template.version})"
    yield f" 1 requirement: {template.requirement.recipient}: {template.requirement.purpose}"
    yield from (f"{INDENT}{one.id}: {one.asks}" for one in template.requirement.questions)
    features = (known.features[one.feature].title for one in template.features.identified)
    yield f" 2 features of {template.features.service}: {', '.join(features)}"
    metrics = (known.metrics[one.metric].title for one in template.metrics_listed)
    yield f" 3 metrics listed: {', '.join(metrics)}"
    yield " 4 metrics selected:"
    for metric in template.metrics_selected:
        by = f" by {known.benchmarks[metric.benchmark].title}" if metric.benchmark else ""
        yield f"{INDENT}{known.metrics[metric.metric].title}{by}: {metric.because}"
    factors = (known.factors[one].title for one in template.factors_listed)
    yield f" 5 factors listed: {', '.join(factors)}"
    yield " 6 factors selected:"
    for factor in template.factors_selected:
        levels = f" ({', '.join(factor.levels)})" if factor.levels else ""
        yield f"{INDENT}{known.factors[factor.factor].title}, {factor.role}{levels}: {factor.because}"
    yield f" 7 design: {_design_line(template.design)}"
    yield f" 8 implementation: {template.implementation.summary}"
    yield from (f"{INDENT}{one}" for one in template.implementation.environment)
    analysis = template.analysis
    alike = f"alike within {100 * analysis.alike_within:g} %"
    yield f" 9 analysis: variable from a COV of {analysis.varies_from:g}, {alike}"
    yield "10 conclusions:"
    yield from (f"{INDENT}{one.question}: by {one.by}" for one in template.conclusions.answers)
    yield from (f"{INDENT}{one}" for one in template.conclusions.remarks)
    yield from (f"note: {one}" for one in template.notes)


def _design_line(design: Design) -> str:
    runs = f"{format_count(design.runs, 'run')} of {format_duration(design.duration)}"
    pauses = f" with {format_duration(design.pause)} between" if design.pause else ""
    order = f"{design.order} from seed {design.seed}, at once: {design.at_once}"
    return f"{format_count(len(design.tested_paths), 'path')}, {runs}{pauses}, {order}"


def blueprint_lines(design: Design, blueprint: Blueprint) -> Iterator[str]:
    """Yield the size of a blueprint, its duration and its first turns."""
    kind = "pilot" if blueprint.pilot else "run"
    size = f"{format_count(blueprint.size, 'test')} of {format_count(len(design.tested_paths), 'path')}"
    yield f"{kind}: {size} in {format_count(len(blueprint.turns), 'turn')}"
    pauses = f" and {format_duration(blueprint.pause)} of pause" if blueprint.pause else ""
    total = format_duration(blueprint.total_seconds)
    yield f"each {format_duration(blueprint.duration)}{pauses}: {total} in all"
    if design.at_once == "all" and blueprint.concurrency > 1:
        yield f"{blueprint.concurrency} tests at once: those that share a place disturb each other"
    for number, turn in enumerate(blueprint.turns[:SHOWN_TURNS], start=1):
        yield f"turn {number}: {'; '.join(str(test.path) for test in turn)}"
    remaining = len(blueprint.turns) - SHOWN_TURNS
    if remaining > 0:
        yield f"... {format_count(remaining, 'more turn')}, orders drawn from seed {design.seed}"


def blueprint_to_json(design: Design, blueprint: Blueprint) -> dict[str, Any]:
    """Return a blueprint with all turns."""
    return {
        "pilot": blueprint.pilot,
        "paths": len(design.tested_paths),
        "tests": blueprint.size,
        "duration_s": blueprint.duration,
        "pause_s": blueprint.pause,
        "lasts_s": blueprint.total_seconds,
        "seed": design.seed,
        "turns": [[[*test.path] for test in turn] for turn in blueprint.turns],
    }


def result_lines(template: EvaluationTemplate, run: EvaluationRun) -> Iterator[str]:
    """Yield table V, equations 1 to 3, and the answers."""
    yield f"mean (standard deviation) in {unit_name(run.unit)}"
    yield from laid_out(("", *run.nodes), result_table(run), None)
    distances = run.distances(template.analysis.ratio, clients=True)
    rows = []
    for path, its in run.path_statistics().items():
        cov = "-" if its.cov is None else f"{its.cov:.4f}"
        rows.append([str(path), cov, f"{distances[path]:.4f}" if path in distances else "-"])
    if rows:
        yield ""
        yield from laid_out(("Path", "COV (1)", "Distance (2)"), rows, None)
    diameters = run.diameters(template.analysis.ratio)
    if diameters:
        yield ""
        yield "diameters (3): " + ", ".join(f"{node} {its:.3f}" for node, its in diameters.items())
    for answer, doubts in list_answers(template, run):
        yield ""
        yield answer.asks
        yield from (f"  {sentence}" for sentence in answer.found)
        yield from (f"  ! {doubt}" for doubt in doubts)


def results_to_json(template: EvaluationTemplate, run: EvaluationRun) -> dict[str, Any]:
    """Return a run with everything computed from it; an infinite distance is null."""
    ratio = template.analysis.ratio
    distances = {
        path: its if math.isfinite(its) else None for path, its in run.distances(ratio, clients=True).items()
    }
    return {
        "run": to_json(run),
        "covs": [{**path._asdict(), "cov": its.cov} for path, its in run.path_statistics().items()],
        "distances": [{**path._asdict(), "distance": its} for path, its in distances.items()],
        "diameters": dict(run.diameters(ratio)),
        "answers": [
            {**to_json(answer), "numbers": {number.name: number.text for number in answer.numbers}}
            for answer in answer_questions(template, run)
        ],
    }
