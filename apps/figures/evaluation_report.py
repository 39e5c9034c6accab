"""Report of a run: one self-contained HTML page with answers, tables, figures and the template."""

from __future__ import annotations

from apps import html_pages
from apps.figures.embedding import embedded
from apps.figures.evaluation_figures import draw_distance_map, draw_variation
from measurement.ceem.answers import list_answers, result_table, unit_name
from measurement.ceem.run import EvaluationRun
from measurement.ceem.template import EvaluationTemplate

MAP_HEIGHT = 520
"""Pixels."""


def render_report(template: EvaluationTemplate, text: str, run: EvaluationRun) -> str:
    """Return the page; the same run gives the same page.

    :param text: text of the template's file.
    """
    analysis, statistics = template.analysis, run.path_statistics()
    distances = run.distances(analysis.ratio, clients=True)
    height = 90 + 24 * max(1, len(statistics))
    variation = embedded(draw_variation(run, analysis.varies_from), "variation", height, first=True)
    distance_map, stress = "", 0.0
    if run.distances():
        figure, stress = draw_distance_map(run, analysis.ratio)
        distance_map = embedded(figure, "map", MAP_HEIGHT)
    values = {
        "template": template,
        "text": text,
        "catalogue": template.catalogue,
        "run": run,
        "is_same_template": run.document.digest in ("", template.digest()),
        "answers": list_answers(template, run),
        "table": result_table(run),
        "unit": unit_name(run.unit),
        "failures": run.failures_by_path(),
        "variation": variation,
        "distance_map": distance_map,
        "stress": stress,
        "distances": distances,
        "diameters": run.diameters(analysis.ratio),
        "covs": {path: its.cov for path, its in statistics.items() if its.cov is not None},
    }
    filters: html_pages.Filters = {"moment": html_pages.moment}
    return html_pages.render_page("apps.figures", "evaluation_report.html", filters, values)
