"""A run as one page that needs no other file: answers, tables, pictures, the document, how to do it again.

A function from values to text: the same run gives the same page.
"""

from __future__ import annotations

import plotly.graph_objects as go

from apps.evaluation.rendering import rendered
from apps.evaluation.source import Source
from apps.figures import evaluation as figures
from apps.figures.embedding import embedded
from measurement.evaluation.answers import Answer, answers
from measurement.evaluation.consistency import catalogue_of
from measurement.evaluation.document import Document
from measurement.evaluation.layout import drawn
from measurement.evaluation.results import Results
from measurement.evaluation.run import Run
from measurement.evaluation.wording import shown_unit, table

MAP = 520
"""Pixels of the map in height."""


def page(source: Source, run: Run) -> str:
    """The page (HTML)."""
    results = run.results()
    document = source.document
    maps = run.unit == "bit/s" and bool(results.distances())
    drawing, stress = figures.distance_map(results, document.analysis.ratio) if maps else (go.Figure(), 0.0)
    return rendered(
        "report.html",
        document=document,
        catalogue=catalogue_of(document),
        source=source,
        run=run,
        same_document=not run.document.digest or run.document.digest == source.digest,
        results=results,
        answers=_answers(document, run),
        table=table(results, run.unit),
        unit=shown_unit(run.unit),
        failures=run.failures(),
        variation=embedded(
            figures.variation(results, document.analysis.varies_from),
            "variation",
            90 + 24 * max(1, len(results.paths)),
            first=True,
        ),
        distance_map=embedded(drawing, "map", MAP) if maps else "",
        stress=(stress, _plain_stress(results, document.analysis.ratio)) if maps else (0.0, 0.0),
        distances=results.distances(document.analysis.ratio, clients=True) if maps else {},
        diameters=results.diameters(document.analysis.ratio) if maps else {},
        covs={path: cov for path, cov in results.covs().items() if cov is not None},
    )


def _answers(document: Document, run: Run) -> list[tuple[Answer, tuple[str, ...]]]:
    """Each answer with the doubts that the ones before it have not told."""
    told: set[str] = set()
    found = []
    for one in answers(document, run):
        found.append((one, tuple(doubt for doubt in one.doubts if doubt not in told)))
        told |= {*one.doubts}
    return found


def _plain_stress(results: Results, ratio: float) -> float:
    """What were left over of a map that is drawn to the scale of equation 2."""
    return drawn((*results.nodes, *results.clients), results.distances(ratio, clients=True)).stress
