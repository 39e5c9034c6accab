"""Users: who has signed in, which roles they have and why; roles given, taken, and somebody shut out."""

from __future__ import annotations

from typing import Any

import dash_bootstrap_components as dbc
from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.access.users import LOCAL
from adon.api.access import UserView
from adon.errors import AdonError
from adon.values import Role
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit, visit

SHOWN = 200


def show_all(here: Visit) -> Component:
    """The heading, and the form to name somebody who has not been here yet."""
    parts = [ui.head("Users", "Users and their roles.")]
    if here.may(Action.USER_CHANGE):
        roles = [{"label": f" {_words(role)}", "value": role} for role in Role]
        fields = [
            ui.field(
                "Name",
                ui.text_input("users-name", "", "ann@mu.example"),
                "Shown with the flows of the user.",
            ),
            ui.field(
                "Identifier",
                ui.text_input("users-subject", "", "ann@mu.example"),
                "Identifier of the identity provider. Empty: the user has tokens only.",
            ),
            ui.field(
                "Provider",
                ui.text_input("users-issuer", "", "any (eduPersonPrincipalName)"),
                "Issuer or entity ID, if the identifier is specific to the provider.",
            ),
        ]
        form = [
            html.Div(fields, className="grid"),
            html.Fieldset(
                [
                    html.Legend("Roles"),
                    dbc.Checklist(id="users-roles", options=roles, value=["researcher"]),
                ],
                className="field",
            ),
            html.Button("Add", id="users-add", type="button"),
        ]
        parts.append(ui.card(None, ui.details("Add a user", *form)))
    return html.Div([*parts, html.Div(id="users-done")])


def live_all(here: Visit) -> Component:
    """Everybody whom one may see."""
    found = here.client.users()
    columns = [
        Column("User", lambda one: ui.link(one.name, f"/users/{one.name}")),
        Column("Display name", lambda one: one.display or "–"),
        Column(
            "Roles",
            lambda one: html.Span([ui.badge(_words(role)) for role in one.roles], className="badges"),
        ),
        Column("Access", lambda one: ui.badge("blocked", "bad") if one.disabled_since else "yes"),
        Column("Provider", _where),
        Column("Last seen", lambda one: ui.ago(one.last_seen, here)),
    ]
    more = html.Small(f"The first {SHOWN} of {len(found)}." if len(found) > SHOWN else "")
    return ui.card(None, ui.table(columns, found[:SHOWN], "No users yet.", "Users"), more)


def show_one(here: Visit) -> Component:
    """One user, with what an administrator may change."""
    user = here.client.user(here.parts["name"])
    facts = ui.facts(
        ("Display name", user.display),
        ("Mail", user.mail),
        ("Provider", _where(user)),
        ("Identifier", None if user.issuer == LOCAL else user.subject),
        ("First seen", ui.when(user.first_seen, here)),
        ("Last seen", ui.when(user.last_seen, here)),
        (
            "Groups",
            html.Ul([html.Li(group) for group in user.groups], className="plain") if user.groups else None,
        ),
    )
    parts = [ui.head(user.name, None), dcc.Store(id="user-name", data=user.name), ui.card(None, facts)]
    parts.append(ui.card("Roles", _roles(user)))
    if here.may(Action.USER_CHANGE, user.name):
        parts.append(ui.card("Actions", *_changes(user)))
    return html.Div([*parts, html.Div(id="user-done")])


def _where(user: UserView) -> str:
    return "tokens only" if user.issuer == LOCAL else str(user.issuer)


def _roles(user: UserView) -> Component:
    rows = [(role, _why(user, role)) for role in sorted({*user.roles, *user.removed})]
    columns = [Column("Role", lambda one: _words(one[0])), Column("Why", lambda one: one[1])]
    return ui.table(columns, rows, ui.empty("No roles: no permissions."), "Roles")


def _why(user: UserView, role: str) -> str:
    if role in user.removed:
        return "revoked by an administrator"
    return "granted by an administrator" if role in user.granted else "from the rules at the last sign-in"


def _changes(user: UserView) -> list[Component]:
    out = user.disabled_since is not None
    buttons = [
        html.Button(
            f"{'Revoke' if role in user.roles else 'Grant'}: {_words(role)}",
            id={"type": "user-role", "index": f"{'take' if role in user.roles else 'give'} {role}"},
            className="quiet small",
        )
        for role in Role
    ]
    shut = html.Button("Unblock" if out else "Block", id="user-shut", className="quiet" if out else "danger")
    note = "A blocked user is signed out, and all tokens of the user become invalid."
    return [html.Div(buttons, className="deeds"), html.P([shut, " ", html.Small(note)])]


def _words(role: str) -> str:
    return role.replace("_", " ")


def identity_of(subject: str | None, issuer: str | None) -> dict[str, str] | None:
    """Who somebody is elsewhere, from the form's two fields; None for nowhere."""
    name, party = (subject or "").strip(), (issuer or "").strip()
    if not name and not party:
        return None
    return {"issuer": party, "subject": name} if party else {"subject": name}


def callbacks_all(app: Dash) -> None:
    """Naming somebody."""

    @app.callback(
        Output("users-done", "children"),
        Output("users-name-problem", "children"),
        Output("users-subject-problem", "children"),
        Output("users-issuer-problem", "children"),
        Input("users-add", "n_clicks"),
        State("users-name", "value"),
        State("users-roles", "value"),
        State("users-subject", "value"),
        State("users-issuer", "value"),
        running=[(Output("users-add", "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def add(
        clicks: int | None, name: str | None, roles: list[str], subject: str | None, issuer: str | None
    ) -> Any:
        if not clicks:
            return (no_update,) * 4
        try:
            made = visit().client.add_user(name or "", roles, identity_of(subject, issuer))
        except AdonError as error:
            found = ui.problems_of(error)
            told = [found.get(field, "") for field in ("name", "identity.subject", "identity.issuer")]
            told[1] = told[1] or found.get("identity", "")
            return ("", *told) if any(told) else (ui.failure(error), *told)
        way = ui.link("create a token", f"/account?for={made.name}")
        return (ui.notice([f"{made.name} is added; ", way, "."], "good"), "", "", "")


def callbacks_one(app: Dash) -> None:
    """Giving and taking roles, shutting out and letting in."""

    @app.callback(
        Output("user-done", "children"),
        Input({"type": "user-role", "index": ALL}, "n_clicks"),
        Input("user-shut", "n_clicks"),
        State("user-name", "data"),
        prevent_initial_call=True,
    )
    def change(roles: list[int | None], shut: int | None, name: str) -> Any:
        if not (any(roles) or shut):
            return no_update
        client = visit().client
        try:
            if isinstance(ctx.triggered_id, dict):
                deed, _, role = str(ctx.triggered_id["index"]).partition(" ")
                client.change_roles(name, *(([role], ()) if deed == "give" else ((), [role])))
            else:
                client.change_user(name, {"disabled": client.user(name).disabled_since is None})
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(["Done. ", html.A("Show", href=f"/users/{name}")], "good")


ALL_PAGE = Page(
    "/users",
    "Users",
    Action.USER_CHANGE,
    show_all,
    live_all,
    refresh_s=15.0,
    group=Group.OPERATION,
    callbacks=callbacks_all,
)
ONE_PAGE = Page("/users/<name>", "User", Action.USER_READ, show_one, callbacks=callbacks_one)
