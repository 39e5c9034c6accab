"""The survey: questions in a person's own words, and the template that their answers lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.errors import AdonError, InvalidInput
from adon.templates_catalog.questionnaire.asking import QUESTIONS, typed
from apps.dashboard import ui
from apps.dashboard.page import Page
from apps.dashboard.policy import editor
from apps.dashboard.policy.words import Document
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit, visit

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("The application", "", ("application", "title", "purpose", "kind", "transport", "parallel")),
    ("Fast enough", "", ("amount", "within", "rate", "fastest", "sessions")),
    ("Quality", "", ("loss", "response", "steadiness", "counts")),
    ("Its place among others", "", ("urgency", "moves", "waits")),
    ("How it is recognised", "", ("ports", "dscp")),
    (
        "Where its data goes",
        "Worker nodes, cores, memory and what follows are read only if jobs work on the data.",
        (
            "sites",
            "storage",
            "software",
            "analysed",
            "nodes",
            "cores",
            "memory",
            "saves",
            "result_share",
            "result_home",
        ),
    ),
)
"""The questions as the form groups them: heading, a word on it, keys."""
KEYS = tuple(question.key for question in QUESTIONS)
RANKED = frozenset(question.key for question in QUESTIONS if question.shape == "ranking")
FIGURES = tuple(question.key for question in QUESTIONS if question.figure)
PREFIX = "draft"
DO, SAID, RESULT = "draft-do", "draft-said", "draft-result"


def show(here: Visit) -> Component:
    """The questions; below them the draft once it is made."""
    known = {one["key"]: one for one in here.client.questions()}
    places = list(dict.fromkeys(one["site"] for one in here.client.hosts()))
    cards = [
        _group(title, note, [known[key] for key in keys if key in known], places)
        for title, note, keys in GROUPS
    ]
    lead = "Answer what you know; what is left empty was not asked for. Nothing is saved by it."
    return html.Div(
        [
            ui.head("Draft a template", lead, ui.link("The catalog", "/templates")),
            *cards,
            html.Div([html.Button("Draft the template", id=DO, type="button")], className="deeds"),
            html.Div(id=SAID, **{"aria-live": "polite"}),
            html.Div(id=RESULT),
        ]
    )


def _group(title: str, note: str, questions: Sequence[Document], places: Sequence[str]) -> Component:
    words = [html.P(note, className="muted")] if note else []
    asked = [part for one in questions for part in _asked(one, places)]
    return ui.card(title, *words, html.Div(asked, className="grid survey"))


def _asked(one: Document, places: Sequence[str]) -> list[Component]:
    """A question: a list where its answers are known, a line for what only the asked one knows.

    What counts is an order, and a figure has no list: both are typed, the figure beside the list of words.
    """
    name = f"{PREFIX}-{one['key']}"
    label = one["text"] + (" *" if one["required"] else "")
    if one["key"] == "sites" and places:
        return [_places(name, label, places)]
    if not one["choices"] or one["key"] in RANKED:
        required = {"required": True} if one["required"] else {}
        control = dcc.Input(
            id=name, type="text", value=one["default"], placeholder=one["example"], **required
        )
        hint = f"of: {', '.join(one['choices'])}" if one["choices"] else ""
        return [ui.field(label, control, hint)]
    options = [(word, word) for word in one["choices"]]
    if not one["default"]:
        options = [("", "not said"), *options]
    found = [ui.field(label, ui.choice(name, options, one["default"]))]
    if one["figure"]:
        figure = ui.text_input(_figure(one["key"]), "", one["figure"])
        found.append(ui.field(f"… or as a figure ({one['key']})", figure))
    return found


def _figure(key: str) -> str:
    return f"{PREFIX}-{key}-figure"


def _places(name: str, label: str, places: Sequence[str]) -> Component:
    """The network's sites, any of them."""
    boxes = dbc.Checklist(id=name, options=[{"value": one, "label": one} for one in places], value=[])
    problem = html.Span(className="problem", id=f"{name}-problem", **{"aria-live": "polite"})
    return html.Fieldset([html.Legend(label), boxes, problem], className="field")


def answers(said: Mapping[str, Any], figures: Mapping[str, str | None]) -> dict[str, str]:
    """The form as texts: several that were chosen as a list; a figure says it more exactly than a word."""
    found = {key: ", ".join(one) if isinstance(one, list) else one or "" for key, one in said.items()}
    return found | {key: figure for key, figure in figures.items() if figure}


def drafted(here: Visit, said: Mapping[str, str]) -> Document:
    """The draft that answers lead to, as they were typed.

    :raises InvalidInput: naming every answer that cannot be understood.
    :raises AdonError: what else the API says.
    """
    answers: Any = typed(said).model_dump(mode="json", exclude_unset=True)
    found: Document = here.client.draft(answers)
    return found


def result(here: Visit, found: Document) -> Component:
    """The draft with its reasons, and the editor to look through and save it."""
    columns = [
        Column("Field", lambda one: html.Code(one["field"])),
        Column("Why it has its value", lambda one: one["because"]),
    ]
    return html.Div(
        [
            html.H2("The draft"),
            editor.panel(here, found["yaml"], None),
            ui.card(
                "Why the draft is as it is", ui.table(columns, found["reasons"], "", "Reasons of the draft")
            ),
        ]
    )


def _callbacks(app: Dash) -> None:
    @app.callback(
        Output(SAID, "children"),
        Output(RESULT, "children"),
        *(Output(f"{PREFIX}-{key}-problem", "children") for key in KEYS),
        Input(DO, "n_clicks"),
        *(State(f"{PREFIX}-{key}", "value") for key in KEYS),
        *(State(_figure(key), "value") for key in FIGURES),
        prevent_initial_call=True,
        running=[(Output(DO, "disabled"), True, False)],
    )
    def draft(clicks: int | None, *said: Any) -> Any:
        if not clicks:
            return (no_update,) * (2 + len(KEYS))
        here = visit()
        try:
            words, figures = said[: len(KEYS)], said[len(KEYS) :]
            told = answers(dict(zip(KEYS, words, strict=True)), dict(zip(FIGURES, figures, strict=True)))
            found = drafted(here, told)
            return (ui.notice("Drafted: see below.", "good"), result(here, found), *[""] * len(KEYS))
        except InvalidInput as error:
            return (_wrong(error), [], *_problems(error))
        except AdonError as error:
            return (ui.failure(error), [], *[""] * len(KEYS))


def _problems(error: InvalidInput) -> list[str]:
    found: dict[str, str] = {}
    for one in error.problems:
        found.setdefault(one.field.partition(".")[0], one.cause)
    return [found.get(key, "") for key in KEYS]


def _wrong(error: InvalidInput) -> Component:
    """What is said above the fields: how many are wrong, and what belongs to none of them."""
    others = [str(one) for one in error.problems if one.field.partition(".")[0] not in KEYS]
    count = len(error.problems) - len(others)
    told = (
        [f"{count} answer{'s' if count > 1 else ''} cannot be understood: see beside the fields."]
        if count
        else []
    )
    return ui.notice(" ".join([*told, *others]), "bad")


PAGE = Page("/templates/draft", "Draft a template", Action.TEMPLATE_DRAFT, show, callbacks=_callbacks)
