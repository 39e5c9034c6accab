"""``/account``: a user's name and roles, tokens of programs, and signed-in browsers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Dash, dcc, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.access.users import LOCAL
from adon.api.access import SessionView, TokenView
from apps.dashboard import ui
from apps.dashboard.page import Page
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

FORM = ui.Form("token", ("label", "scope", "expires", "owner"))
REVOKE, END, END_OTHERS, ANSWER = "token-revoke", "session-end", "session-end-others", "account-answer"
BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""By a part of the User-Agent; the first that fits, because most of them name others, too."""
SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def show(here: Visit) -> Component:
    """Return the user's name and roles, and the form of a new token."""
    me = here.client.myself()
    facts = ui.facts(
        ("Name", me.name),
        ("Display name", me.display),
        ("Mail", me.mail),
        ("Roles", ", ".join(role.replace("_", " ") for role in me.roles) or "none"),
        ("Provider", "token" if me.issuer in (None, LOCAL) else me.issuer),
    )
    whose = f" for {here.query['for']}" if "for" in here.query else ""
    form = ui.card(f"A new token{whose}", _token_fields(here), FORM.submit(f"Create a token{whose}"))
    answer = html.Div(id=ANSWER, role="status")
    return html.Div([ui.head("Your account"), ui.card(None, facts), form, answer])


def _token_fields(here: Visit) -> Component:
    label = ui.text_input(FORM.id_of("label"), "", "nightly sync on mu-dtn")
    scopes = [(name, name) for name in here.client.roles().scopes]
    scope = ui.choice(FORM.id_of("scope"), scopes, "read")
    expires = ui.text_input(FORM.id_of("expires"), "90 d", "90 d")
    owner = dcc.Input(id=FORM.id_of("owner"), type="hidden", value=here.query.get("for", ""))
    return html.Div(
        [
            ui.field("Purpose", label, "Shown in the list of tokens."),
            ui.field("Permissions", scope, "Limited to the permissions of its owner."),
            ui.field("Lifetime", expires, "The token expires after this time."),
            html.Div([owner, html.Span(id=f"{FORM.id_of('owner')}-problem")], hidden=True),
        ],
        className="grid",
    )


def live(here: Visit) -> Component:
    """Return the tokens and sessions of the user, or of the user that the address names."""
    owner = here.query.get("for", here.actor.name)
    return html.Div([_tokens(here, owner), _sessions(here, owner)])


def _tokens(here: Visit, owner: str) -> Component:
    def expiry(one: TokenView) -> Any:
        if one.revoked is not None:
            return ui.badge("revoked", "bad")
        return "never" if one.expires is None else ui.when(one.expires, here)

    columns = [
        Column("Token", lambda one: html.Span([html.Code(one.id), html.Small(one.label)])),
        Column("Permissions", lambda one: ", ".join(one.scope)),
        Column("Created", lambda one: ui.when(one.created, here)),
        Column("Last used", lambda one: ui.ago(one.last_used, here)),
        Column("Expires", expiry),
        Column("", lambda one: "" if one.revoked is not None else ui.button(REVOKE, one.id, "Revoke")),
    ]
    nothing = ui.empty("No tokens yet. Programs and the command line need a token.")
    return ui.card("Tokens", ui.table(columns, here.client.tokens(owner), nothing, "Tokens"))


def _sessions(here: Visit, owner: str) -> Component:
    def browser(one: SessionView) -> Component:
        mark = [html.Br(), ui.badge("this session", "good")] if one.asking else []
        return html.Span([browser_of(one.browser), *mark], title=one.browser)

    columns = [
        Column("Browser", browser),
        Column("From", lambda one: one.address or ui.words.NONE),
        Column("Signed in by", lambda one: one.how),
        Column("Since", lambda one: ui.when(one.began, here)),
        Column("Last used", lambda one: ui.ago(one.last_seen, here)),
        # The frame has the button for this session.
        Column("", lambda one: "" if one.asking else ui.button(END, one.id, "Sign out")),
    ]
    found = here.client.sessions(owner)
    table = ui.table(columns, found, ui.empty("No sessions."), "Browsers")
    return ui.card("Browsers", table, _end_others(found, owner))


def browser_of(agent: str) -> str:
    """Return ``Firefox on Linux`` for a User-Agent; the start of an unknown one."""
    browser = next((name for mark, name in BROWSERS if mark in agent), agent[:30])
    system = next((name for mark, name in SYSTEMS if mark in agent), "")
    return f"{browser} on {system}" if browser and system else browser or "unknown"


def _end_others(found: Sequence[SessionView], owner: str) -> Component | None:
    others = [one for one in found if not one.asking]
    if len(others) < 2:
        return None
    whose = "other " if len(others) < len(found) else ""
    return html.P(ui.button(END_OTHERS, owner, f"Sign out all {whose}sessions"))


def _create(here: Visit, typed: dict[str, Any]) -> Component:
    wish = {"label": typed["label"] or "", "scope": [typed["scope"]]}
    wish |= {name: typed[name] for name in ("expires", "owner") if typed[name]}
    made = here.client.add_token(wish)
    copy = dcc.Clipboard(target_id="token-secret", title="Copy", className="copy")
    text = html.P("Copy the token now. ADON does not show it again.")
    return ui.notice([text, html.Code(made.secret, id="token-secret"), copy], "good")


def _revoke(here: Visit, token: str) -> str:
    return f"{here.client.revoke_token(token).id} is revoked."


def _end(here: Visit, session: str) -> str:
    here.client.end_session(session)
    return "The session is signed out."


def _end_all(here: Visit, owner: str) -> str:
    named = None if owner == here.actor.name else owner
    return f"Sessions signed out: {here.client.end_sessions(named).ended}."


def callbacks(app: Dash) -> None:
    """Add the creation and revocation of tokens, and the end of sessions."""
    FORM.install(app, _create)
    ui.install_buttons(app, REVOKE, ANSWER, _revoke)
    ui.install_buttons(app, END, ANSWER, _end)
    ui.install_buttons(app, END_OTHERS, ANSWER, _end_all)


PAGE = Page("/account", "Your account", Action.TOKEN_READ, show, live, refresh_s=15.0, callbacks=callbacks)
