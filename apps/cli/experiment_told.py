"""Experiments and verdicts of ``adon experiment``, as lines for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from adon.experiments.cells import cells
from adon.experiments.document import Experiment
from adon.experiments.full_scale import at_full_scale
from adon.experiments.measures import Observed
from adon.experiments.reading import Source
from adon.experiments.results import Run, State
from adon.experiments.standing import standing
from adon.experiments.summary import summary
from adon.experiments.sweeping import count
from adon.experiments.verdicts import Outcome, Verdict
from adon.units import format_count, format_duration, format_size


def trials(experiment: Experiment) -> int:
    """How many trials it makes."""
    return count(experiment) * len(experiment.policies) * experiment.repetitions


def told(source: Source) -> Iterator[str]:
    """An experiment in words."""
    its = source.experiment
    yield f"{its.name}: {its.title}"
    if its.about:
        yield its.about
    origin = f"{its.source}; " if its.source else ""
    yield f"{origin}follows {'no paper' if its.follows == 'own' else f'the {its.follows}'}"
    yield f"network    {its.network}" + (f", scale {its.scale:g}" if its.scale is not None else "")
    yield f"policies   {', '.join(its.policies)}"
    yield f"templates  {', '.join(source.templates)}"
    for entry in its.workload:
        yield f"flow       {_entry(entry)}"
    for event in its.events:
        yield f"event      {event.name}: {event.kind}, {_when(event.at, event.after)}"
    if its.cases:
        yield f"cases      {', '.join(its.cases)}"
    for key, values in its.sweep.items():
        yield f"sweep      {key}: {', '.join(map(str, values))}"
    for check in its.checks:
        paper = getattr(check, "paper", None)
        yield f"check      {check.check}" + (f" (paper: {paper})" if paper is not None else "")
    most = format_duration(its.limit)
    yield f"trials     {trials(its)} ({format_count(its.repetitions, 'repetition')}), each {most} at most"


def _entry(entry: Any) -> str:
    size = format_size(entry.size) if entry.size is not None else _lasting(entry)
    ends = f"{entry.origin} to {entry.destination}"
    return f"{entry.name}: {entry.template}, {ends}, {size}, {_when(entry.at, entry.after)}"


def _lasting(entry: Any) -> str:
    return f"until {entry.until}" if entry.until is not None else f"for {format_duration(entry.lasts)}"


def _when(at: float | None, after: Any) -> str:
    return f"after {after}" if after is not None else f"at {at or 0:g} s"


def told_json(source: Source) -> dict[str, Any]:
    """The same as JSON: the file, with its defaults."""
    whole = source.whole().model_dump(mode="json", by_alias=True)
    return {**whole, "trials": trials(source.experiment), "digest": source.digest()}


def findings(run: Run, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What became of a run, in words: what was not met first."""
    about = run.about
    ended = f" ({about.why})" if about.why else ""
    yield f"{about.experiment}/{about.run}: {about.state.value}{ended}"
    order = [Outcome.NOT_HELD, Outcome.CANNOT_SAY, Outcome.HELD]
    for one in sorted(verdicts, key=lambda verdict: order.index(verdict.outcome)):
        paper = f"; paper {one.paper}" if one.paper else ""
        doubt = f" ({one.doubt})" if one.doubt else ""
        yield f"{one.outcome.value:10} {one.claim}: {one.found}{paper}{doubt}"
    if not verdicts:
        yield "the file has no checks"


def findings_json(experiment: Experiment, run: Run, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The same as JSON, with every figure."""
    return {
        "experiment": run.about.experiment,
        "run": run.about.run,
        "state": run.about.state.value,
        "why": run.about.why,
        "complete": run.about.state is State.COMPLETE,
        "standing": standing(run.about, verdicts).value,
        "checks": [asdict(one) for one in verdicts],
        "figures": list(_figures(experiment, run)),
    }


def _figures(experiment: Experiment, run: Run) -> Iterator[dict[str, Any]]:
    """Every figure at every combination, as it is on the testbed; ``full_scale`` is its median there."""
    observed = Observed.of(run)
    for name, figure in experiment.figures.items():
        factor = at_full_scale(figure, experiment, run.about)
        for where, values in cells(observed, figure).items():
            its = summary(values)
            yield {
                "figure": name,
                "unit": figure.unit.value,
                "where": dict(where),
                "count": len(values),
                "median": None if its is None else its.median,
                "mean": None if its is None else its.mean,
                "interval": None if its is None or its.interval is None else asdict(its.interval),
                "full_scale": None if its is None or factor is None else its.median * factor,
                "paper": figure.paper,
            }
