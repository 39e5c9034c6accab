"""One's own account: who one is here and what one may do, the tokens of one's programs, one's browsers."""

from __future__ import annotations

from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.access.users import LOCAL
from adon.api.access import TokenView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.operation import sessions
from apps.dashboard.page import Page
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit, visit

REVOKE = "token-revoke"


def show(here: Visit) -> Component:
    """Who one is, and the form for a new token."""
    me, roles = here.client.myself(), here.client.roles()
    owner = here.query.get("for")
    facts = ui.facts(
        ("Name", me.name),
        ("Display name", me.display),
        ("Mail", me.mail),
        ("Roles", ", ".join(role.replace("_", " ") for role in me.roles) or "none"),
        ("Provider", "token" if me.issuer in (None, LOCAL) else me.issuer),
    )
    scopes = [(name, name) for name in roles.scopes]
    whose = f" for {owner}" if owner else ""
    form = html.Div(
        [
            dcc.Store(id="token-owner", data=owner),
            ui.field(
                "Purpose",
                ui.text_input("token-label", "", "nightly sync on mu-dtn"),
                "Shown in the list of tokens.",
            ),
            ui.field(
                "Permissions",
                ui.choice("token-scope", scopes, "read"),
                "Limited to the permissions of its owner.",
            ),
            ui.field(
                "Lifetime",
                ui.text_input("token-expires", "90 d", "90 d"),
                "The token expires after this time.",
            ),
        ],
        className="grid",
    )
    button = html.Button(f"Create a token{whose}", id="token-add", type="button")
    made = html.Div(id="token-made")
    return html.Div(
        [
            ui.head("Your account", None),
            ui.card(None, facts),
            ui.card(f"A new token{whose}", form, button, made),
            html.Div(id=sessions.SAID),
        ]
    )


def live(here: Visit) -> Component:
    """Tokens and sessions of the user, or of the user that the address names."""
    owner = here.query.get("for", here.actor.name)
    columns = [
        Column("Token", lambda one: html.Span([html.Code(one.id), html.Small(one.label)])),
        Column("Permissions", lambda one: ", ".join(one.scope)),
        Column("Created", lambda one: ui.when(one.created, here)),
        Column("Last used", lambda one: ui.ago(one.last_used, here)),
        Column("Expires", lambda one: _until(one, here)),
        Column("", _revoke),
    ]
    nothing = ui.empty("No tokens yet. Programs and the command line need a token.")
    tokens = ui.card("Tokens", ui.table(columns, here.client.tokens(owner), nothing, "Tokens"))
    return html.Div([tokens, sessions.panel(here, owner)])


def _until(token: TokenView, here: Visit) -> Any:
    if token.revoked is not None:
        return ui.badge("revoked", "bad")
    return "never" if token.expires is None else ui.when(token.expires, here)


def _revoke(token: TokenView) -> Any:
    if token.revoked is not None:
        return ""
    return html.Button("Revoke", id={"type": REVOKE, "index": token.id}, className="danger small")


def callbacks(app: Dash) -> None:
    """Making a token, which is shown once, and revoking one; signing out elsewhere."""
    sessions.callbacks(app)

    @app.callback(
        Output("token-made", "children"),
        Output("token-expires-problem", "children"),
        Input("token-add", "n_clicks"),
        State("token-label", "value"),
        State("token-scope", "value"),
        State("token-expires", "value"),
        State("token-owner", "data"),
        running=[(Output("token-add", "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def add(clicks: int | None, label: str | None, scope: str, expires: str | None, owner: str | None) -> Any:
        if not clicks:
            return no_update, no_update
        wish: dict[str, Any] = {"label": label or "", "scope": [scope]}
        wish |= {"expires": expires} if expires else {}
        wish |= {"owner": owner} if owner else {}
        try:
            made = visit().client.add_token(wish)
        except AdonError as error:
            found = ui.problems_of(error)
            return ("", found["expires"]) if set(found) == {"expires"} else (ui.failure(error), "")
        copy = dcc.Clipboard(target_id="token-secret", title="Copy", className="copy")
        said = "Copy the token now. ADON does not show it again."
        return ui.notice([html.P(said), html.Code(made.secret, id="token-secret"), copy], "good"), ""

    @app.callback(
        Output("token-made", "children", allow_duplicate=True),
        Input({"type": REVOKE, "index": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )
    def revoke(clicks: list[int | None]) -> Any:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return no_update
        try:
            gone = visit().client.revoke_token(str(ctx.triggered_id["index"]))
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(f"{gone.id} is revoked.", "good")


PAGE = Page("/account", "Your account", Action.TOKEN_READ, show, live, refresh_s=15.0, callbacks=callbacks)
