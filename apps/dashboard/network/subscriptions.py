"""Subscriptions to alarms: the list, the form of a new one, the deletion."""

from __future__ import annotations

from typing import Any

from dash import Dash, html, set_props
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.alarms import FilterBody, SubscriptionView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit

FORM = ui.Form("sub", ("channel", "target", "path", "metric", "least", "more"))
DELETE, TABLE = "sub-delete", "sub-table"
CHANNELS = {"mail": "mail", "webhook": "webhook", "stream": "event stream"}
SEVERITIES = [("warning", "warning"), ("critical", "critical")]
MORE = [("ends", "end of alarms"), ("better", "improvements")]


def section(here: Visit) -> Component:
    """Return the list and, for users who may subscribe, the form."""
    text = "Deliver alarms by mail, by a signed request to a URL, or in the event stream."
    parts = [html.P(text, className="muted"), html.Div(_list(here), id=TABLE)]
    if here.may(Action.SUBSCRIPTION_ADD, here.actor.name):
        parts.append(ui.details("Subscribe to alarms", _form()))
    return ui.card("Subscriptions", *parts, id="subscriptions")


def _form() -> Component:
    target = ui.text_input(FORM.id_of("target"), placeholder="ann@example.edu")
    metrics = [("", "every metric"), *METRIC_NAMES.items()]
    fields = [
        ui.field("Channel", ui.choice(FORM.id_of("channel"), list(CHANNELS.items()), "mail")),
        ui.field("To", target, "a mail address, or a URL"),
        ui.field("Path", ui.text_input(FORM.id_of("path")), "Empty: all paths."),
        ui.field("Metric", ui.choice(FORM.id_of("metric"), metrics)),
        ui.field("Lowest severity", ui.choice(FORM.id_of("least"), SEVERITIES, "warning")),
        ui.several("Include", FORM.id_of("more"), MORE, ["ends"]),
    ]
    return html.Div([html.Div(fields, className="grid"), FORM.submit("Subscribe")], className="stack")


def _list(here: Visit) -> Component:
    try:
        found = here.client.subscriptions()
    except AdonError as error:
        return ui.failure(error)

    def delete(one: SubscriptionView) -> Component:
        label = f"Delete {one.target or one.channel}"
        question = f"Delete the subscription of {one.target or one.owner}?"
        return ui.button(DELETE, one.id, "Delete", label=label, confirm=question)

    columns = [
        ui.Column("To", lambda one: one.target or "event stream"),
        ui.Column("Channel", lambda one: CHANNELS.get(one.channel, one.channel)),
        ui.Column("Filter", lambda one: words_of(one.filter)),
        ui.Column("Owner", lambda one: one.owner),
        ui.Column("", delete),
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


def read_subscription(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the subscription that the form describes, as the API takes it."""
    more = typed["more"] or []
    narrowed = {"least": typed["least"], "ends": "ends" in more, "changes_for_the_better": "better" in more}
    chosen = {name: (typed[name] or "").strip() for name in ("path", "metric")}
    narrowed |= {name: value for name, value in chosen.items() if value}
    return {"channel": typed["channel"], "target": (typed["target"] or "").strip(), "filter": narrowed}


def _subscribe(here: Visit, typed: dict[str, Any]) -> Component:
    made = here.client.subscribe(read_subscription(typed))
    set_props(TABLE, {"children": _list(here)})
    return ui.notice(f"{made.target or made.owner} is subscribed.", "good")


def _delete(here: Visit, subscription: str) -> Component:
    here.client.unsubscribe(subscription)
    return _list(here)


def callbacks(app: Dash) -> None:
    """Add the subscription and its deletion."""
    FORM.install(app, _subscribe)
    ui.install_buttons(app, DELETE, TABLE, _delete, confirmed=True)
