"""A round, and a diagnosis, as one HTML page each that needs no other file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adon.timestamps import format_time
from adon.units import format_duration, format_rate
from apps import html_pages
from apps.figures import diagnosis as figures_of_diagnosis
from apps.figures import health as figures
from apps.figures.embedding import embedded
from measurement.health.diagnostics import Diagnosis, Step
from measurement.health.instance_selection import Chosen, candidates, mutually, towards
from measurement.health.model import Pair
from measurement.health.pair_scores import around
from measurement.health.record import RoundRecord
from measurement.health.train_verification import verified_pairs

GRAPH, DIAGNOSIS, ROW = 560, 360, 22
"""Pixels of figures in height, and of a row."""
MOST_ROWS = 30
"""Of a table of markers or failures; what is beyond is counted."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Whom one would take.

    :param place: towards whom; None for among each other.
    :param best, worst: and the others, to compare with.
    """

    place: str | None
    best: Chosen
    worst: Chosen


def selection(record: RoundRecord, place: str | None, most: int) -> Selection | None:
    """The healthiest and the unhealthiest so many, or fewer where fewer are known; None where too few are.

    :raises ValueError: if the place is none of the instances.
    """
    if place is None:
        count = min(most, len({name for pair in record.scores for name in pair}))
        if count < 2:
            return None
        best, worst = (mutually(record.scores, count, worst=turned) for turned in (False, True))
        return Selection(None, best, worst)
    if place not in {one.name for one in record.instances}:
        raise ValueError(f"towards: {place} is none of the round's instances")
    health = around(place, record.found)
    count = min(most, len(candidates(place, health)))
    if count < 1:
        return None
    best, worst = (towards(place, health, count, worst=turned) for turned in (False, True))
    return Selection(place, best, worst)


def map_page(record: RoundRecord) -> str:
    """The heat map alone."""
    return _rendered("map.html", record=record, heat_map=_map(record), **_said(record))


def report(record: RoundRecord, chosen: Selection | None = None, diagnosis: Diagnosis | None = None) -> str:
    """All about a round: map, graph, markers, whom to take; and which metrics predict what was observed."""
    place = None if chosen is None else chosen.place
    graph, stress = figures.graph(
        record,
        None if place is None else around(place, record.found),
        () if chosen is None else chosen.best.instances,
        place,
    )
    return _rendered(
        "report.html",
        record=record,
        heat_map=_map(record),
        graph=embedded(graph, "graph", GRAPH),
        stress=stress,
        chosen=chosen,
        fired=_first([(pair, one) for pair, its in sorted(record.fired.items()) for one in its]),
        fired_count=sum(map(len, record.fired.values())),
        failures=_first(record.failures),
        verified=verified_pairs(record),
        diagnosis=_diagnosis(diagnosis),
        **_said(record),
    )


def diagnosis_page(diagnosis: Diagnosis) -> str:
    """The diagnosis alone."""
    return _rendered("diagnosis.html", diagnosis=_diagnosis(diagnosis, first=True))


def _said(record: RoundRecord) -> dict[str, Any]:
    return {"began": format_time(round(record.began)), "lasted": format_duration(record.ended - record.began)}


def _first(rows: Sequence[Any]) -> dict[str, Any]:
    return {"rows": rows[:MOST_ROWS], "more": max(0, len(rows) - MOST_ROWS)}


def _diagnosis(diagnosis: Diagnosis | None, *, first: bool = False) -> Mapping[str, Any] | None:
    if diagnosis is None:
        return None
    return {
        "of": diagnosis,
        "forward": _steps(diagnosis.forward),
        "backward": _steps(diagnosis.backward),
        "subsets": embedded(
            figures_of_diagnosis.subset_map(diagnosis),
            "subsets",
            120 + ROW * len(diagnosis.subsets),
            first=first,
        ),
        "residuals": embedded(figures_of_diagnosis.residuals(diagnosis), "residuals", DIAGNOSIS),
        "q_q": embedded(figures_of_diagnosis.q_q(diagnosis), "q-q", DIAGNOSIS),
    }


def _steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    least = min((one.aic for one in steps), default=None)
    return [{"number": n, "step": one, "lowest": one.aic == least} for n, one in enumerate(steps, 1)]


def _map(record: RoundRecord) -> str:
    return embedded(figures.heat_map(record), "heat-map", figures.tall(record), first=True)


def _pair(pair: Pair) -> str:
    return f"{pair.source} > {pair.destination}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(names)


def p_text(value: float) -> str:
    """A p-value as the paper's table has it."""
    return f"{value:.5f}" if value >= 1e-5 else "< 0.00001"


def _rendered(name: str, **values: Any) -> str:
    filters: html_pages.Filters = {"rate": format_rate, "pair": _pair, "names": _names, "p": p_text}
    return html_pages.render_page("apps.health", name, filters, values)
