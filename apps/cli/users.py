"""``adon user``: who may come in, with which roles."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli import completing as offered
from apps.cli.common import JsonFlag, client, naming, print_json, print_table
from apps.cli.local import Data, Store, audited, is_local, opened
from apps.cli.roles import known

if TYPE_CHECKING:
    from adon.access.users import User
    from adon.api.access import UserView

app = typer.Typer(help="Users and their roles.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The user's name.", autocompletion=offered.users)]
IDENTITY = {
    "name": "NAME",
    "identity": "--signs-in-as",
    "identity.subject": "--signs-in-as",
    "identity.issuer": "--issuer",
}
"""The API's field -> the option that it comes from."""
Roles = Annotated[list[str], typer.Argument(help="Roles; see 'adon role list'.")]


@app.command("list")
def list_users(ctx: typer.Context, data: Data = None, store: Store = None, json_: JsonFlag = False) -> None:
    """List users with their roles."""
    from apps.cli.times import at

    if is_local(data, store):
        with opened(data, store) as access:
            found = [_document(one) for one in access.users.list()]
    else:
        found = client(ctx).users()
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.name,
            one.display or "-",
            " ".join(one.roles) or "-",
            one.issuer,
            f"disabled {at(one.disabled_since)}" if one.disabled_since else at(one.last_seen),
        )
        for one in found
    )
    print_table(("User", "Name", "Roles", "From", "Last seen"), rows, "no users")


@app.command("show")
def show_user(ctx: typer.Context, name: Name, json_: JsonFlag = False) -> None:
    """Show one user: roles with their origin, and groups."""
    from apps.cli.times import at

    one = client(ctx).user(name)
    if json_:
        print_json(one)
        return
    told = {
        "name": one.name,
        "is": one.display,
        "mail": one.mail,
        "from": f"{one.issuer} as {one.subject}",
        "roles": _words(one.roles),
        "by rules": _words(one.by_rules),
        "granted": _words(one.granted),
        "taken away": _words(one.removed),
        "groups": _words(one.groups),
        "disabled": at(one.disabled_since),
        "first seen": at(one.first_seen),
        "last seen": at(one.last_seen),
    }
    print_table(("Field", "Value"), ((key, value or "-") for key, value in told.items()), "")


@app.command()
def add(
    ctx: typer.Context,
    name: Name,
    roles: Roles,
    signs_in_as: Annotated[
        str | None,
        typer.Option(help="Sign-in name of the user: an eduPersonPrincipalName such as ann@mu.edu."),
    ] = None,
    issuer: Annotated[
        str | None,
        typer.Option(help="The identity provider whose identifier --signs-in-as is, if it is no such name."),
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Add a user before the first sign-in, or with tokens only."""
    if signs_in_as is None and issuer is not None:
        raise InvalidInput.of("--issuer", "requires --signs-in-as")
    identity: dict[str, str] | None = None
    if signs_in_as is not None:
        identity = {"subject": signs_in_as} if issuer is None else {"issuer": issuer, "subject": signs_in_as}
    with naming(IDENTITY):
        made = client(ctx).add_user(name, sorted(known(roles)), identity)
    if json_:
        print_json(made)
        return
    typer.echo(f"{made.name}: {_words(made.roles)}")
    if identity is None and "@" in name:
        typer.echo(f"who signs in as {name} gets another name, except with --signs-in-as", err=True)


@app.command()
def grant(
    ctx: typer.Context,
    name: Name,
    roles: Roles,
    data: Data = None,
    store: Store = None,
    json_: JsonFlag = False,
) -> None:
    """Grant roles to a user, in addition to the rules.

    With --data or --store the user is created if missing.
    """
    if is_local(data, store):
        _told(_change_here(data, store, name, give=roles, make=True), json_=json_)
    else:
        _told(client(ctx).change_roles(name, give=roles), json_=json_)


@app.command("revoke")
def revoke_roles(
    ctx: typer.Context,
    name: Name,
    roles: Roles,
    data: Data = None,
    store: Store = None,
    json_: JsonFlag = False,
) -> None:
    """Remove roles of a user, also those that the rules give."""
    if is_local(data, store):
        _told(_change_here(data, store, name, take=roles), json_=json_)
    else:
        _told(client(ctx).change_roles(name, take=roles), json_=json_)


@app.command()
def disable(
    ctx: typer.Context, name: Name, data: Data = None, store: Store = None, json_: JsonFlag = False
) -> None:
    """Disable a user: no sign-in, session or token is accepted."""
    _able(ctx, name, data, store, disabled=True, json_=json_)


@app.command()
def enable(
    ctx: typer.Context, name: Name, data: Data = None, store: Store = None, json_: JsonFlag = False
) -> None:
    """Enable a user; tokens are valid again, sessions are not."""
    _able(ctx, name, data, store, disabled=False, json_=json_)


def _able(
    ctx: typer.Context, name: str, data: Path | None, store: str | None, *, disabled: bool, json_: bool
) -> None:
    word = "disabled" if disabled else "enabled"
    if is_local(data, store):
        with opened(data, store) as access:
            now = time.time()

            def act() -> object:
                return access.users.change(name, now, disabled=disabled)

            audited(access, "user.change", f"/users/{name}", word, act)
    else:
        client(ctx).change_user(name, {"disabled": disabled})
    print_json({"name": name, "disabled": disabled}) if json_ else typer.echo(f"{name} is {word}")


def _change_here(
    data: Path | None,
    store: str | None,
    name: str,
    *,
    give: Sequence[str] = (),
    take: Sequence[str] = (),
    make: bool = False,
) -> UserView:
    given, taken = known(give), known(take)
    now = time.time()
    with opened(data, store) as access:

        def act() -> Any:
            user = access.users.ensure(name, given, now) if make else access.users.get(name)
            granted, removed = (user.granted | given) - taken, (user.removed | taken) - given
            return access.users.change(name, now, granted=granted, removed=removed)

        detail = "; ".join(
            f"{word}: {', '.join(sorted(which))}"
            for word, which in (("granted", given), ("removed", taken))
            if which
        )
        after = audited(access, "user.change", f"/users/{name}", detail, act)
    return _document(after)


def _document(user: User) -> UserView:
    from adon.access.users import user_values
    from adon.api.access import UserView

    return UserView(**user_values(user))


def _told(user: UserView, *, json_: bool) -> None:
    if json_:
        print_json(user)
        return
    typer.echo(f"{user.name}: {_words(user.roles) or 'no role'}")


def _words(names: Iterable[str]) -> str:
    return " ".join(names)
