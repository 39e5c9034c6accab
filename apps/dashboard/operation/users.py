"""``/users`` and ``/users/<name>``: users with their roles, changes of roles, and the block of a user."""

from __future__ import annotations

from typing import Any

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.access.users import LOCAL
from adon.api.access import UserView
from adon.values import Role
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

FORM = ui.Form("users", ("name", "roles", "identity.subject", "identity.issuer"))
GIVE, TAKE, BLOCK, UNBLOCK = "user-give", "user-take", "user-block", "user-unblock"
ANSWER = "user-answer"
SHOWN = 200


def show_all(here: Visit) -> Component:
    """Return the heading, and the form that adds a user before the first sign-in."""
    form = ui.card(None, ui.details("Add a user", *_add_form())) if here.may(Action.USER_CHANGE) else None
    return html.Div([ui.head("Users", "Users and their roles."), form])


def _add_form() -> list[Component]:
    fields = [
        ui.field(
            "Name",
            ui.text_input(FORM.id_of("name"), "", "ann@mu.example"),
            "Shown with the flows of the user.",
        ),
        ui.field(
            "Identifier",
            ui.text_input(FORM.id_of("identity.subject"), "", "ann@mu.example"),
            "Identifier of the identity provider. Empty: the user has tokens only.",
        ),
        ui.field(
            "Provider",
            ui.text_input(FORM.id_of("identity.issuer"), "", "any (eduPersonPrincipalName)"),
            "Issuer or entity ID, if the identifier is specific to the provider.",
        ),
    ]
    roles = [(role.value, _words(role)) for role in Role]
    checks = ui.several("Roles", FORM.id_of("roles"), roles, ["researcher"])
    return [html.Div(fields, className="grid"), checks, FORM.submit("Add")]


def live_all(here: Visit) -> Component:
    """Return the users that the reader may see."""
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
    return ui.card(None, ui.table(columns, found, "No users yet.", "Users", most=SHOWN))


def show_one(here: Visit) -> Component:
    """Return the heading."""
    user = here.client.user(here.parts["name"])
    return html.Div([ui.head(user.name), html.Div(id=ANSWER, role="status")])


def live_one(here: Visit) -> Component:
    """Return one user, with what an administrator may change."""
    user = here.client.user(here.parts["name"])
    groups = html.Ul([html.Li(group) for group in user.groups], className="plain")
    facts = ui.facts(
        ("Display name", user.display),
        ("Mail", user.mail),
        ("Provider", _where(user)),
        ("Identifier", None if user.issuer == LOCAL else user.subject),
        ("First seen", ui.when(user.first_seen, here)),
        ("Last seen", ui.when(user.last_seen, here)),
        ("Groups", groups if user.groups else None),
    )
    changing = here.may(Action.USER_CHANGE, user.name)
    actions = ui.card("Actions", *_actions(user)) if changing else None
    return html.Div([ui.card(None, facts), ui.card("Roles", _roles(user)), actions])


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


def _actions(user: UserView) -> list[Component]:
    roles = [
        ui.button(TAKE, f"{role} {user.name}", f"Revoke: {_words(role)}", danger=False)
        if role in user.roles
        else ui.button(GIVE, f"{role} {user.name}", f"Grant: {_words(role)}", danger=False)
        for role in Role
    ]
    block = ui.button(BLOCK, user.name, "Block")
    if user.disabled_since is not None:
        block = ui.button(UNBLOCK, user.name, "Unblock", danger=False)
    note = html.Small("A blocked user is signed out, and all tokens of the user become invalid.")
    return [html.Div(roles, className="deeds"), html.P([block, " ", note])]


def _words(role: str) -> str:
    return role.replace("_", " ")


def identity_of(subject: str | None, issuer: str | None) -> dict[str, str] | None:
    """Return the identity of the two fields of the form; None if both are empty."""
    name, party = (subject or "").strip(), (issuer or "").strip()
    if not name and not party:
        return None
    return {"issuer": party, "subject": name} if party else {"subject": name}


def _add(here: Visit, typed: dict[str, Any]) -> Component:
    identity = identity_of(typed["identity.subject"], typed["identity.issuer"])
    made = here.client.add_user(typed["name"] or "", typed["roles"], identity)
    token = ui.link("create a token", f"/account?for={made.name}")
    return ui.notice([f"{made.name} is added; ", token, "."], "good")


def _give(here: Visit, index: str) -> str:
    role, _, name = index.partition(" ")
    here.client.change_roles(name, [role], ())
    return f"The role {_words(role)} is granted."


def _take(here: Visit, index: str) -> str:
    role, _, name = index.partition(" ")
    here.client.change_roles(name, (), [role])
    return f"The role {_words(role)} is revoked."


def _block(here: Visit, name: str) -> str:
    here.client.change_user(name, {"disabled": True})
    return "The user is blocked."


def _unblock(here: Visit, name: str) -> str:
    here.client.change_user(name, {"disabled": False})
    return "The user is unblocked."


def callbacks_all(app: Dash) -> None:
    """Add the form."""
    FORM.install(app, _add)


def callbacks_one(app: Dash) -> None:
    """Add the grant and revocation of roles and the block."""
    ui.install_buttons(app, GIVE, ANSWER, _give)
    ui.install_buttons(app, TAKE, ANSWER, _take)
    ui.install_buttons(app, BLOCK, ANSWER, _block)
    ui.install_buttons(app, UNBLOCK, ANSWER, _unblock)


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
ONE_PAGE = Page(
    "/users/<name>", "User", Action.USER_READ, show_one, live_one, refresh_s=15.0, callbacks=callbacks_one
)
