"""One proposed tuning: the evidence, today's scoring beside it, and the decision on it."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, ctx, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.page import Page
from apps.dashboard.policy import filters, proposed
from apps.dashboard.policy.proposals import response
from apps.dashboard.policy.words import PROPOSALS, Document, allowed, metric, template_link
from apps.dashboard.router import URL
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit, visit

ACCEPT, REFUSE, REASON, DECISION = (
    "proposal-accept",
    "proposal-refuse",
    "proposal-reason",
    "proposal-decision",
)
MOST_REASON = 500


def show(here: Visit) -> Component:
    """The proposal with everything that it rests on."""
    found: Document = here.client.proposal(here.parts["id"])
    evidence = found["evidence"]
    drawn = (proposed.picture(each, lambda value: response(value, evidence)) for each in evidence["metrics"])
    pictures = [one for one in drawn if one is not None]
    return html.Div(
        [
            ui.head(
                html.Span(
                    [
                        f"Proposal {found['id']} ",
                        ui.badge(found["state"], PROPOSALS.get(found["state"], "plain")),
                    ]
                ),
                _told(found, here),
            ),
            ui.card("How well both foretell what flows get", _evidence(evidence, here)),
            ui.card("Weights", _weights(evidence)),
            ui.card("Tables, today and proposed", html.Div(pictures, className="tables"))
            if pictures
            else None,
            html.Div(_decide(here, found), id=DECISION),
        ]
    )


def _told(found: Document, here: Visit) -> Component:
    parts: list[Any] = ["For ", template_link(found["template"]), f"; made by {found['proposer']}, "]
    parts.append(ui.when(found["at"], here))
    if found["decided_by"]:
        parts += [
            f". {found['state'].capitalize()} by {found['decided_by']}, ",
            ui.when(found["decided_at"], here),
        ]
        parts += [f": {found['reason']}"] if found["reason"] else []
    if found["saved"]:
        parts += [". It became ", template_link(found["saved"])]
    return html.Span([*parts, "."])


def _evidence(evidence: Document, here: Visit) -> Component:
    judged = {"throughput": "throughput achieved", "kept": "share of time with every bound kept"}
    margin = f"{evidence['gain'] / evidence['margin']:.1f}" if evidence["margin"] else "many"
    left = ", ".join(f"{number} ({why})" for why, number in evidence["left_out"].items())
    return html.Div(
        [
            ui.facts(
                ("Judged by", judged[evidence["response"]]),
                ("Error with today's scoring", response(evidence["error_today"], evidence)),
                (
                    "Error with the proposed one",
                    f"{response(evidence['error'], evidence)} ({proposed.change(evidence)})",
                ),
                ("Outcomes", str(evidence["outcomes"])),
                ("From", ui.when(evidence["since"], here)),
                ("To", ui.when(evidence["until"], here)),
            ),
            html.P(
                f"Root mean square over {evidence['folds']} stretches of time, each from the others. "
                f"The gain is {margin} times its own uncertainty (99 %)."
                + (f" Left out: {left}." if left else ""),
                className="muted",
            ),
        ]
    )


def _weights(evidence: Document) -> Component:
    columns = [
        Column("Metric", lambda one: metric(one["metric"])),
        Column("Today", lambda one: ui.bar(one["weight_today"], ui.share(one["weight_today"]))),
        Column("Proposed", lambda one: ui.bar(one["weight"], ui.share(one["weight"]), "good")),
        Column("Explains by itself", lambda one: f"{max(100 * one['explained'], 0):.0f} %", numeric=True),
        Column("Table", proposed.rests_on),
    ]
    return ui.table(columns, evidence["metrics"], "", "Weights today and proposed")


def _decide(here: Visit, found: Document, problem: Any = "", reason: str = "") -> Any:
    if found["state"] != "open" or not allowed(here, Action.PROPOSAL_DECIDE):
        return None
    told = "A refusal needs one: whoever learns next will want to know." if not problem else ""
    words = filters.line(REASON, reason, "why", maxLength=MOST_REASON)
    return ui.card(
        "Decide",
        ui.field("Reason", words, told, problem),
        html.Div(
            [
                html.Button("Accept: save as the next version", id=ACCEPT, type="button"),
                html.Button("Refuse", id=REFUSE, type="button", className="danger"),
            ],
            className="deeds",
        ),
    )


def _callbacks(app: Dash) -> None:
    @app.callback(
        Output(f"{REASON}-problem", "children"),
        Output(URL, "search", allow_duplicate=True),
        Input(ACCEPT, "n_clicks"),
        Input(REFUSE, "n_clicks"),
        State(REASON, "value"),
        State(URL, "pathname"),
        prevent_initial_call=True,
        running=[(Output(ACCEPT, "disabled"), True, False), (Output(REFUSE, "disabled"), True, False)],
    )
    def decide(accept: int | None, refuse: int | None, reason: str | None, pathname: str) -> Any:
        if not accept and not refuse:
            return no_update, no_update
        accepting = ctx.triggered_id == ACCEPT
        if not accepting and not (reason or "").strip():
            return "Say why it is refused.", no_update
        try:
            found = visit().client.decide_proposal(
                pathname.rpartition("/")[2], accept=accepting, reason=(reason or "").strip()
            )
        except AdonError as error:
            return "; ".join(ui.problems_of(error).values()), no_update
        return "", f"?now={found['state']}"  # shown again, as it is now


PAGE = Page("/proposals/<id>", "Proposal", Action.PROPOSAL_READ, show, callbacks=_callbacks)
