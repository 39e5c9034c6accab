"""``/evaluations``: results of runs of an evaluation ([CEEM])."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.evaluation_file import BUILTIN
from adon.studies.model import StudyKind
from apps.dashboard import ui
from apps.dashboard.filter_form import Filter, FilterForm
from apps.dashboard.instances.studies import OpenStudy, open_study, study_options, study_table
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit
from apps.figures.evaluation_figures import draw_distance_map, draw_variation
from measurement.ceem.answers import Answer, answer_questions, result_table, unit_name
from measurement.ceem.run import EvaluationRun
from measurement.ceem.template import Analysis, EvaluationTemplate
from measurement.model import from_json

PATH = "/evaluations"
FILTERS = FilterForm(PATH, (Filter("study", "Run"),))


def show(here: Visit) -> Component:
    """Heading and choice of a run."""
    lead = "Repeatable measurements of a network and their variance."
    head = ui.head("Evaluations", lead, ui.link("Health of instances", "/instances"))
    known = study_options(here, StudyKind.EVALUATION)
    return html.Div([head, FILTERS.draw(here, {"study": known}) if len(known) > 1 else None])


def live(here: Visit) -> Component:
    """The run."""
    found = open_study(here, StudyKind.EVALUATION, partial(from_json, EvaluationRun))
    if found is None:
        says = "No evaluations yet. Submit one with `adon study submit evaluation FILE`."
        return ui.card(None, ui.empty(says))
    run = found.value
    document = document_of(run)
    analysis = Analysis() if document is None else document.analysis
    return html.Div(
        [
            _summary(found, here),
            ui.card(f"Mean (standard deviation) in {unit_name(run.unit)}", _table(run)),
            ui.columns(_variance(run, analysis), _distances(run, analysis, here)),
            _answers(run, document, here),
            ui.card("All runs", study_table(here, PATH, found, "Runs")),
        ]
    )


def document_of(run: EvaluationRun) -> EvaluationTemplate | None:
    """Return the document of a run if it is a built-in one of the same content."""
    asked = run.document
    if asked.name not in BUILTIN.names():
        return None
    known = BUILTIN.load(asked.name)
    return known if asked.digest in ("", known.digest()) else None


def _summary(found: OpenStudy[EvaluationRun], here: Visit) -> Component:
    run = found.value
    failed = sum(run.failures_by_path().values())
    marks = [ui.notice("Pilot run: no results.", "wait")] if run.pilot else []
    if not run.is_complete:
        marks.append(ui.notice(f"{len(run.samples)} of {run.planned} tests were made.", "wait"))
    return ui.card(
        f"{run.document.name}: {run.name}",
        *marks,
        ui.facts(
            ("Metric", run.metric),
            ("Run", ui.when(found.study.at, here) if run.began is not None else "unknown"),
            ("Duration", None if run.began is None or run.ended is None else ui.span(run.ended - run.began)),
            ("Tests", f"{len(run.samples)} of {run.planned}" if run.planned else "only what a report states"),
            ("Failed", str(failed) if failed else None),
            ("Order drawn by seed", None if run.seed is None else str(run.seed)),
            *((one, value) for one, value in run.conditions.items()),
            ("Study", found.study.id),
        ),
    )


def _table(run: EvaluationRun) -> Component:
    """Table V: upper triangle with its diagonal."""
    columns = [Column("", lambda row: html.Strong(row[0]), whole=True)]
    columns += [_column(node, number) for number, node in enumerate(run.nodes, 1)]
    return ui.table(columns, result_table(run), "No measurements.", "Mean (standard deviation)")


def _column(node: str, number: int) -> Column:
    return Column(node, lambda row: row[number], numeric=True)


def _variance(run: EvaluationRun, analysis: Analysis) -> Component:
    caption = f"Coefficient of variation by path. A path is called variable from {analysis.varies_from:g} on."
    height = 120 + 22 * len(run.path_statistics())
    return ui.card(
        "Variance",
        ui.chart("evaluation-covs", draw_variation(run, analysis.varies_from), caption, height),
    )


def _distances(run: EvaluationRun, analysis: Analysis, here: Visit) -> Component:
    if not run.more_is_better:
        return ui.card("Distances", html.P("Distances are of bandwidths only.", className="muted"))
    drawn, stress = draw_distance_map(run, analysis.ratio)
    caption = (
        "The length of a line is 1 + log10 of the distance in its label. "
        f"Error of the projection: {stress:.0%}. Dotted: error above a fifth. Circle: diameter of the node."
    )
    distances: Columns = {"Path": lambda one: str(one[0]), "Distance": lambda one: f"{one[1]:.3f}"}
    diameters: Columns = {"Node": lambda one: one[0], "Diameter": lambda one: f"{one[1]:.3f}"}
    between = run.distances(analysis.ratio, clients=True).items()
    within = run.diameters(analysis.ratio).items()
    return ui.card(
        "Distances",
        ui.chart("evaluation-distances", drawn, caption, 420),
        ui.details(
            "Table",
            _number_table(here, distances, between, "No paths between nodes.", "Distances"),
            _number_table(here, diameters, within, "No measurements within nodes.", "Diameters"),
        ),
    )


def _number_table(
    here: Visit, columns: Columns, rows: Iterable[Any], nothing: str, caption: str
) -> Component:
    """Table whose second column has numbers."""
    return document_table(here, columns, rows, nothing, caption, numeric=[*columns][1:])


def _answers(run: EvaluationRun, document: EvaluationTemplate | None, here: Visit) -> Component:
    if document is None:
        text = "The document of this run is not stored. Show the answers with `adon evaluate report`."
        return ui.card("Answers", ui.empty(text))
    return ui.card("Answers", *(_answer(one, here) for one in answer_questions(document, run)))


def _answer(one: Answer, here: Visit) -> Component:
    numbers: Columns = {"Quantity": lambda each: each.name, "Value": lambda each: each.text}
    return html.Div(
        [
            html.H3(one.asks),
            html.P(" ".join(one.found)),
            *(html.P(doubt, className="muted") for doubt in one.doubts),
            ui.details("Numbers", _number_table(here, numbers, one.numbers, "None.", one.asks)),
        ]
    )


PAGE = Page(
    PATH,
    "Evaluations",
    Action.STUDY_READ,
    show,
    live,
    60.0,
    group=Group.INSTANCES,
    callbacks=FILTERS.register,
)
