"""Proposed tunings: what outcomes say about the scoring of templates, and learning now."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.errors import AdonError, Conflict
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import filters
from apps.dashboard.policy.words import PROPOSALS, Document, allowed, template_link
from apps.dashboard.router import URL
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit, visit

PREFIX = "proposals"
PATH = "/proposals"
LEARN, SAID, TEMPLATE = "proposals-learn", "proposals-said", "proposals-of"
STATES = (
    ("", "any"),
    ("open", "open"),
    ("accepted", "accepted"),
    ("refused", "refused"),
    ("superseded", "superseded"),
)
READ_AS = {"throughput": "throughput", "kept": "loss"}
"""Which metric's words a response is told in: a share is told as loss is."""


def response(value: Any, evidence: Document) -> str:
    """What outcomes are judged by, in words."""
    return ui.value(value, READ_AS[evidence["response"]])


def show(here: Visit) -> Component:
    """The heading, learning now, the filter."""
    lead = "New tables and weights, learnt from what flows met and then got. Nothing changes by itself."
    names = [one["name"] for one in here.client.templates()]
    fields = [
        filters.choice(PREFIX, "state", "State", here, STATES),
        filters.choice(PREFIX, "template", "Template", here, [("", "any"), *((one, one) for one in names)]),
    ]
    parts: list[Component] = [ui.head("Proposed tunings", lead)]
    if allowed(here, Action.PROPOSAL_LEARN) and names:
        parts.append(
            ui.card(
                "Learn now",
                html.Div(
                    [
                        ui.field("Template", ui.choice(TEMPLATE, [(one, one) for one in names], names[0])),
                        html.Button("Learn from its outcomes", id=LEARN, type="button"),
                    ],
                    className="filters",
                ),
                html.Div(id=SAID, **{"aria-live": "polite"}),
            )
        )
    return html.Div([*parts, filters.form(PREFIX, fields, PATH)])


def live(here: Visit) -> Component:
    """The proposals, the newest first."""
    found = here.client.proposals(here.query.get("template") or None, here.query.get("state") or None)
    columns = [
        Column("Proposal", lambda one: html.Strong(ui.link(one["id"], f"{PATH}/{one['id']}"))),
        Column("Template", lambda one: template_link(one["template"])),
        Column("State", lambda one: ui.badge(one["state"], PROPOSALS.get(one["state"], "plain"))),
        Column("Outcomes", lambda one: str(one["evidence"]["outcomes"]), numeric=True),
        Column(
            "Error today", lambda one: response(one["evidence"]["error_today"], one["evidence"]), numeric=True
        ),
        Column("Proposed", lambda one: response(one["evidence"]["error"], one["evidence"]), numeric=True),
        Column("Made", lambda one: html.Span([ui.when(one["at"], here), f" by {one['proposer']}"])),
        Column("Decided", _decided),
    ]
    nothing = ui.empty(
        "No proposal is like that."
        if here.query
        else "There is no proposal yet. One is made from at least 60 outcomes of a template's flows, where "
        "they say that its scoring could be better.",
        ui.link("Show all", PATH) if here.query else ui.link("How flows fared", "/outcomes"),
    )
    return ui.card(None, ui.table(columns, found, nothing, "Proposals, the newest first"))


def _decided(one: Document) -> Any:
    if not one["decided_by"]:
        return "not yet"
    became = (
        [": ", template_link(one["saved"])]
        if one["saved"]
        else [f": {one['reason']}"]
        if one["reason"]
        else []
    )
    return html.Span([one["decided_by"], *became])


def _callbacks(app: Dash) -> None:
    filters.install(app, PREFIX, ("state", "template"))

    @app.callback(
        Output(SAID, "children"),
        Output(URL, "href", allow_duplicate=True),
        Input(LEARN, "n_clicks"),
        State(TEMPLATE, "value"),
        prevent_initial_call=True,
        running=[
            (Output(LEARN, "disabled"), True, False),
            (Output(LEARN, "children"), "Learning …", "Learn from its outcomes"),
        ],
    )
    def learn(clicks: int | None, template: str) -> Any:
        if not clicks:
            return no_update, no_update
        try:
            return "", f"{PATH}/{visit().client.learn(template)['id']}"
        except Conflict as error:
            return ui.notice(f"There is nothing to propose: {error.cause}.", "plain"), no_update
        except AdonError as error:
            return ui.failure(error), no_update


PAGE = Page(
    PATH, "Proposals", Action.PROPOSAL_READ, show, live, 10.0, group=Group.POLICY, callbacks=_callbacks
)
