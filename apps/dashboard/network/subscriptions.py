"""Who is told of which alarms: those there are, one more, one less."""

from __future__ import annotations

from typing import Any

import dash_bootstrap_components as dbc
from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.alarms import FilterBody, SubscriptionView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit, visit

CHANNEL, TARGET, PATH, METRIC, LEAST, MORE = (
    "sub-channel",
    "sub-target",
    "sub-path",
    "sub-metric",
    "sub-least",
    "sub-more",
)
ADD, SAID, TABLE, DELETE = "sub-add", "sub-said", "sub-table", "sub-delete"
ANY = "any"
CHANNELS = {"mail": "mail", "webhook": "webhook", "stream": "event stream"}


def section(here: Visit) -> Component:
    """The list and, for who may, the form."""
    parts: list[Any] = [
        html.P(
            "Deliver alarms by mail, by a signed request to a URL, or in the event stream.", className="muted"
        ),
        html.Div(_listed(here), id=TABLE),
        html.Div(id=SAID, role="status"),
    ]
    if here.may(Action.SUBSCRIPTION_ADD, here.actor.name):
        parts.append(ui.details("Subscribe to alarms", _form()))
    return ui.card("Subscriptions", *parts, id="subscriptions")


def _form() -> Component:
    fields = html.Div(
        [
            ui.field("Channel", ui.choice(CHANNEL, list(CHANNELS.items()), "mail")),
            ui.field("To", ui.text_input(TARGET, placeholder="ann@example.edu"), "a mail address, or a URL"),
            ui.field("Path", ui.text_input(PATH), "Empty: all paths."),
            ui.field("Metric", ui.choice(METRIC, [(ANY, "every metric"), *METRIC_NAMES.items()], ANY)),
            ui.field(
                "Lowest severity",
                ui.choice(LEAST, [("warning", "warning"), ("critical", "critical")], "warning"),
            ),
            html.Fieldset(
                [
                    html.Legend("Include"),
                    dbc.Checklist(
                        id=MORE,
                        options=[
                            {"value": "ends", "label": "end of alarms"},
                            {"value": "better", "label": "improvements"},
                        ],
                        value=["ends"],
                    ),
                ],
                className="field",
            ),
        ],
        className="grid",
    )
    return html.Div([fields, html.Button("Subscribe", id=ADD)], className="stack")


def _listed(here: Visit) -> Component:
    try:
        found = here.client.subscriptions()
    except AdonError as error:
        return ui.failure(error)

    def deeds(one: SubscriptionView) -> Component:
        button = html.Button(
            "Delete", className="danger small", **{"aria-label": f"Delete {one.target or one.channel}"}
        )
        return dcc.ConfirmDialogProvider(
            button,
            id={"type": DELETE, "id": one.id},
            message=f"Delete the subscription of {one.target or one.owner}?",
        )

    columns = [
        ui.Column("To", lambda one: one.target or "event stream"),
        ui.Column("Channel", lambda one: CHANNELS.get(one.channel, one.channel)),
        ui.Column("Filter", lambda one: words_of(one.filter)),
        ui.Column("Owner", lambda one: one.owner),
        ui.Column("", deeds),
    ]
    return ui.table(columns, found, "No subscriptions yet.", "Subscriptions")


def words_of(narrowed: FilterBody) -> str:
    """A filter in words."""
    where = filter(None, (narrowed.path, narrowed.source, narrowed.destination, narrowed.metric))
    parts = [
        ", ".join(where) or "everything",
        f"{narrowed.least} and worse" if narrowed.least == "warning" else "critical only",
    ]
    if narrowed.kinds:
        parts.append(", ".join(narrowed.kinds))
    if narrowed.changes_for_the_better:
        parts.append("with improvements")
    if not narrowed.ends:
        parts.append("without ends")
    return "; ".join(parts)


def asked(
    channel: str, target: str | None, path: str | None, metric: str, least: str, more: list[str] | None
) -> dict[str, Any]:
    """The subscription that the form describes, as the API takes it."""
    chosen = more or []
    narrowed: dict[str, Any] = {
        "least": least,
        "ends": "ends" in chosen,
        "changes_for_the_better": "better" in chosen,
    }
    if path and path.strip():
        narrowed["path"] = path.strip()
    if metric != ANY:
        narrowed["metric"] = metric
    return {"channel": channel, "target": (target or "").strip(), "filter": narrowed}


def callbacks(app: Dash) -> None:
    """One more, one less."""

    @app.callback(
        Output(SAID, "children", allow_duplicate=True),
        Output(f"{TARGET}-problem", "children"),
        Output(TABLE, "children", allow_duplicate=True),
        Input(ADD, "n_clicks"),
        State(CHANNEL, "value"),
        State(TARGET, "value"),
        State(PATH, "value"),
        State(METRIC, "value"),
        State(LEAST, "value"),
        State(MORE, "value"),
        prevent_initial_call=True,
        running=[(Output(ADD, "disabled"), True, False)],
    )
    def add(clicks: int | None, *typed: Any) -> tuple[Any, Any, Any]:
        if not clicks:
            return no_update, no_update, no_update
        here = visit()
        try:
            made = here.client.subscribe(asked(*typed))
        except AdonError as error:
            found = ui.problems_of(error)
            rest = "; ".join(f"{name} {cause}".strip() for name, cause in found.items() if name != "target")
            said = ui.notice(f"Not subscribed: {rest or 'see the marked field'}.", "bad")
            return said, found.get("target", ""), no_update
        return ui.notice(f"{made.target or made.owner} is subscribed.", "good"), "", _listed(here)

    @app.callback(
        Output(SAID, "children", allow_duplicate=True),
        Output(TABLE, "children", allow_duplicate=True),
        Input({"type": DELETE, "id": ALL}, "submit_n_clicks"),
        prevent_initial_call=True,
    )
    def delete(clicks: list[int | None]) -> tuple[Any, Any]:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return no_update, no_update
        here = visit()
        try:
            here.client.unsubscribe(str(ctx.triggered_id["id"]))
        except AdonError as error:
            return ui.failure(error), no_update
        return ui.notice("The subscription is deleted.", "good"), _listed(here)
