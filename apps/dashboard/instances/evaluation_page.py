"""``/evaluations``: what a run of an evaluation found ([CEEM])."""

from __future__ import annotations

from functools import partial

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.studies import StudyView
from adon.evaluation_file import BUILTIN
from adon.studies.model import StudyKind
from apps.dashboard import ui
from apps.dashboard.instances.opened import Opened, opened, options
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import filters
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit
from apps.figures.evaluation_figures import draw_distance_map, draw_variation
from measurement.ceem.answers import Answer, answer_questions, result_table, unit_name
from measurement.ceem.run import EvaluationRun
from measurement.ceem.template import Analysis, EvaluationTemplate
from measurement.model import from_json

PATH = "/evaluations"
PREFIX = "evaluations"


def show(here: Visit) -> Component:
    """The heading, and which run."""
    lead = "Repeatable measurements of a network and their variance."
    head = ui.head("Evaluations", lead, ui.link("Health of instances", "/instances"))
    known = options(here, StudyKind.EVALUATION, "latest")
    if len(known) == 1:
        return html.Div([head])
    fields = [filters.choice(PREFIX, "study", "Run", here, known)]
    return html.Div([head, filters.form(PREFIX, fields, PATH)])


def live(here: Visit) -> Component:
    """The run."""
    found = opened(here, StudyKind.EVALUATION, partial(from_json, EvaluationRun))
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
            ui.columns(_steadiness(run, analysis), _distances(run, analysis)),
            _answers(run, document),
            ui.card("All runs", _listed(found, here)),
        ]
    )


def document_of(run: EvaluationRun) -> EvaluationTemplate | None:
    """The document that was run, if it is one that ADON brings, and still says the same."""
    asked = run.document
    if asked.name not in BUILTIN.names():
        return None
    known = BUILTIN.load(asked.name)
    return known if asked.digest in ("", known.digest()) else None


def _summary(found: Opened[EvaluationRun], here: Visit) -> Component:
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


def _steadiness(run: EvaluationRun, analysis: Analysis) -> Component:
    says = (
        f"Coefficient of variation by path; from {analysis.varies_from:g} on a path is called variable. "
        "Its numbers follow from the table above."
    )
    height = 120 + 22 * len(run.path_statistics())
    return ui.card(
        "Variance",
        ui.chart("evaluation-covs", draw_variation(run, analysis.varies_from), says, height),
    )


def _distances(run: EvaluationRun, analysis: Analysis) -> Component:
    if not run.more_is_better:
        return ui.card("Distances", html.P("Distances are of bandwidths only.", className="muted"))
    drawn, stress = draw_distance_map(run, analysis.ratio)
    says = (
        "Places as far apart as 1 + log10 of their distance, which each line says; a plane shows that with "
        f"an error of {stress:.0%}. A dotted line is more than a fifth too long or short. Circles are as "
        "wide as the diameters."
    )
    rows = [*run.distances(analysis.ratio, clients=True).items()]
    columns = [
        Column("Path", lambda one: str(one[0])),
        Column("Distance", lambda one: f"{one[1]:.3f}", numeric=True),
    ]
    nodes = [
        Column("Node", lambda one: one[0]),
        Column("Diameter", lambda one: f"{one[1]:.3f}", numeric=True),
    ]
    diameters = [*run.diameters(analysis.ratio).items()]
    return ui.card(
        "Distances",
        ui.chart("evaluation-distances", drawn, says, 420),
        ui.details(
            "Table",
            ui.table(columns, rows, "There is no path between nodes.", "Distances"),
            ui.table(nodes, diameters, "No node was measured within.", "Diameters"),
        ),
    )


def _answers(run: EvaluationRun, document: EvaluationTemplate | None) -> Component:
    if document is None:
        says = "The questions are in the document that was run, which is not here: `adon evaluate report`."
        return ui.card("Answers", ui.empty(says))
    return ui.card("Answers", *(_answer(one) for one in answer_questions(document, run)))


def _answer(one: Answer) -> Component:
    numbers = [Column("Of", lambda each: each.name), Column("", lambda each: each.text, numeric=True)]
    return html.Div(
        [
            html.H3(one.asks),
            html.P(" ".join(one.found)),
            *(html.P(doubt, className="muted") for doubt in one.doubts),
            ui.details("The numbers", ui.table(numbers, one.numbers, "None.", one.asks)),
        ]
    )


def _listed(found: Opened[EvaluationRun], here: Visit) -> Component:
    def way(one: StudyView) -> Component:
        return ui.link(one.title, filters.address(PATH, {}, study=one.id))

    columns = [
        Column("Run", way),
        Column("Result", lambda one: one.summary),
        Column("When", lambda one: ui.when(one.at, here)),
        Column("By", lambda one: one.submitted_by),
    ]
    mine = found.study.id
    return ui.table(columns, found.listed, "", "Runs", marked=lambda one: one.id == mine)


def callbacks(app: Dash) -> None:
    """The choices into the address."""
    filters.install(app, PREFIX, ("study",))


PAGE = Page(
    PATH, "Evaluations", Action.STUDY_READ, show, live, 60.0, group=Group.INSTANCES, callbacks=callbacks
)
