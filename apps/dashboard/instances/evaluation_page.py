"""``/evaluations``: what a run of an evaluation found, and what became of it since another ([CEEM])."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.evaluations import builtins
from adon.studies.model import StudyKind
from apps.dashboard import ui
from apps.dashboard.instances.opened import Opened, opened, options
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import filters
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit
from apps.figures import evaluation as figures
from measurement.evaluation.answers import Answer, answers
from measurement.evaluation.comparison import Change, Comparison, Verdict, compare
from measurement.evaluation.document import Analysing, Document
from measurement.evaluation.run import Run
from measurement.evaluation.run_json import from_json
from measurement.evaluation.wording import change_columns, change_row, name, shown_unit, table

PATH = "/evaluations"
PREFIX = "evaluations"
WITH = "with"
TONES: Mapping[Verdict, Tone] = {
    Verdict.HIGHER: "good",
    Verdict.LOWER: "bad",
    Verdict.ALIKE: "plain",
    Verdict.NOT_SHOWN: "plain",
    Verdict.NOT_TESTED: "wait",
}


def show(here: Visit) -> Component:
    """The heading, which run, and which to compare it with."""
    lead = "Repeatable evaluations of a network: what was measured between places, and how steady it was."
    head = ui.head("Evaluations", lead, ui.link("Health of instances", "/instances"))
    known = options(here, StudyKind.EVALUATION, "the latest, as it comes")
    if len(known) == 1:
        return html.Div([head])
    fields = [
        filters.choice(PREFIX, "study", "Run", here, known),
        filters.choice(PREFIX, WITH, "Since the run", here, [("", "none"), *known[1:]]),
    ]
    return html.Div([head, filters.form(PREFIX, fields, PATH)])


def live(here: Visit) -> Component:
    """The run."""
    found = opened(here, StudyKind.EVALUATION, from_json)
    if found is None:
        says = (
            "No evaluation is kept. Run one with `adon evaluate run`, and hand it in: "
            "`adon study submit evaluation FILE`."
        )
        return ui.card(None, ui.empty(says))
    run = found.value
    document = document_of(run)
    analysing = Analysing() if document is None else document.analysis
    return html.Div(
        [
            _summary(found, here),
            *_since(run, analysing, here),
            ui.card(f"Mean (standard deviation) in {shown_unit(run.unit)}", _table(run)),
            ui.columns(_steadiness(run, analysing), _distances(run, analysing)),
            _answers(run, document),
            ui.card("All runs", _listed(found, here)),
        ]
    )


def document_of(run: Run) -> Document | None:
    """The document that was run, if it is one that ADON brings, and still says the same."""
    asked = run.document
    if asked.name not in builtins.names():
        return None
    known = builtins.document(asked.name)
    return known.value() if asked.digest in ("", known.digest()) else None


def _summary(found: Opened[Run], here: Visit) -> Component:
    run = found.value
    failed = sum(run.failures().values())
    marks = [ui.notice("A pilot: it only tried the design.", "wait")] if run.pilot else []
    if not run.complete:
        marks.append(ui.notice(f"{len(run.samples)} of {run.planned} tests were made.", "wait"))
    return ui.card(
        f"{run.document.name}: {run.name}",
        *marks,
        ui.facts(
            ("Metric", run.metric),
            ("Run", ui.when(found.study["at"], here) if run.began is not None else "nobody says when"),
            ("Took", None if run.began is None or run.ended is None else ui.span(run.ended - run.began)),
            ("Tests", f"{len(run.samples)} of {run.planned}" if run.planned else "only what a report states"),
            ("Failed", str(failed) if failed else None),
            ("Order drawn by seed", None if run.seed is None else str(run.seed)),
            *((one, value) for one, value in run.conditions.items()),
            ("Study", found.study["id"]),
        ),
    )


def _table(run: Run) -> Component:
    """Table V: upper triangle with its diagonal."""
    results = run.results()
    columns = [Column("", lambda row: html.Strong(row[0]), whole=True)]
    columns += [_column(node, number) for number, node in enumerate(results.nodes, 1)]
    return ui.table(columns, table(results, run.unit), "Nothing was measured.", "Mean (standard deviation)")


def _column(node: str, number: int) -> Column:
    return Column(node, lambda row: row[number], numeric=True)


def _steadiness(run: Run, analysing: Analysing) -> Component:
    results = run.results()
    says = (
        f"Coefficient of variation by path; from {analysing.varies_from:g} on a path is called variable. "
        "Its numbers follow from the table above."
    )
    height = 120 + 22 * len(results.paths)
    return ui.card(
        "How steady",
        ui.chart("evaluation-covs", figures.variation(results, analysing.varies_from), says, height),
    )


def _distances(run: Run, analysing: Analysing) -> Component:
    if run.unit != "bit/s":
        return ui.card("How far apart", html.P("Distances are of bandwidths only.", className="muted"))
    results = run.results()
    drawn, stress = figures.distance_map(results, analysing.ratio)
    says = (
        "Places as far apart as 1 + log10 of their distance, which each line says; a plane shows that with "
        f"an error of {stress:.0%}. A dotted line is more than a fifth too long or short. Circles are as "
        "wide as the diameters."
    )
    rows = [*results.distances(analysing.ratio, clients=True).items()]
    columns = [
        Column("Path", lambda one: name(one[0])),
        Column("Distance", lambda one: f"{one[1]:.3f}", numeric=True),
    ]
    nodes = [
        Column("Node", lambda one: one[0]),
        Column("Diameter", lambda one: f"{one[1]:.3f}", numeric=True),
    ]
    diameters = [*results.diameters(analysing.ratio).items()]
    return ui.card(
        "How far apart",
        ui.chart("evaluation-distances", drawn, says, 420),
        ui.details(
            "As numbers",
            ui.table(columns, rows, "There is no path between nodes.", "Distances"),
            ui.table(nodes, diameters, "No node was measured within.", "Diameters"),
        ),
    )


def _answers(run: Run, document: Document | None) -> Component:
    if document is None:
        says = "The questions are in the document that was run, which is not here: `adon evaluate report`."
        return ui.card("Answers", ui.empty(says))
    return ui.card("Answers", *(_answer(one) for one in answers(document, run)))


def _answer(one: Answer) -> Component:
    numbers = [Column("Of", lambda each: each.name), Column("", lambda each: each.text, numeric=True)]
    return html.Div(
        [
            html.H3(one.asks),
            html.P(" ".join(one.found)),
            *(html.P(doubt, className="muted") for doubt in one.doubts),
            ui.details("The numbers", ui.table(numbers, one.numbers, "There are none.", one.asks)),
        ]
    )


def _since(run: Run, analysing: Analysing, here: Visit) -> list[Component]:
    asked = here.query.get(WITH, "")
    if not asked:
        return []
    other = here.client.study(asked)
    if other["kind"] != StudyKind.EVALUATION.value:
        return [ui.notice("That study is no run of an evaluation.", "wait")]
    before = from_json(other["document"])
    try:
        found = compare(before, run, analysing)
    except ValueError as error:
        return [ui.notice(f"The two cannot be compared: {error}", "wait")]
    return [_compared(before, run, found)]


def _compared(before: Run, run: Run, found: Comparison) -> Component:
    marks = [html.Li(one) for one in found.marks]
    marks += [html.Li(f"{name(path)}: only in {whose}") for path, whose in found.only.items()]
    says = (
        "The mean of this run over that of the other, with the confidence interval of their difference; 1 is "
        "no change."
    )
    height = 140 + 26 * len(found.changes)
    return ui.card(
        f"Since {before.name}",
        html.P(html.Strong(f"{found.verdict[:1].upper()}{found.verdict[1:]}.")),
        *(
            []
            if found.overall is None
            else [html.P(f"Means are {found.overall:.3f} times those before, on (geometric) average.")]
        ),
        *([html.Ul(marks)] if marks else []),
        ui.chart("evaluation-changes", figures.changes(found), says, height),
        ui.chart(
            "evaluation-means",
            figures.means(found, before.name, run.name, run.unit),
            "Means of both runs, with their standard deviations; the scale is logarithmic.",
            height,
        ),
        ui.table(_changed(before, run), found.changes, "", f"Changes since {before.name}"),
    )


def _changed(before: Run, run: Run) -> Sequence[Column]:
    """As `adon evaluate compare` has them; the verdict first, as a narrow window cuts the last."""
    names = change_columns(before, run)

    def cell_of(place: int) -> Callable[[Change], str]:
        return lambda one: change_row(one, run.unit)[place]

    def verdict(one: Change) -> Component:
        badge = ui.badge(one.verdict.value, TONES[one.verdict])
        return html.Span([badge, html.Small(f" {one.why}")]) if one.why else badge

    return [
        Column(names[0], cell_of(0)),
        Column(names[-1], verdict),
        *(Column(names[place], cell_of(place), numeric=True) for place in range(1, len(names) - 1)),
    ]


def _listed(found: Opened[Run], here: Visit) -> Component:
    def way(one: Mapping[str, Any]) -> Component:
        return ui.link(one["title"], filters.address(PATH, {}, study=one["id"]))

    columns = [
        Column("Run", way),
        Column("Found", lambda one: one["summary"]),
        Column("When", lambda one: ui.when(one["at"], here)),
        Column("By", lambda one: one["submitted_by"]),
    ]
    mine = found.study["id"]
    return ui.table(columns, found.listed, "", "Runs", marked=lambda one: one["id"] == mine)


def callbacks(app: Dash) -> None:
    """The choices into the address."""
    filters.install(app, PREFIX, ("study", WITH))


PAGE = Page(
    PATH, "Evaluations", Action.STUDY_READ, show, live, 60.0, group=Group.INSTANCES, callbacks=callbacks
)
