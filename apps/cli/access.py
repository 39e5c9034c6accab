"""``adon token``, ``adon user``, ``adon role``: who may come in, and what each may do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli import completing as offered
from apps.cli.common import JsonFlag, client, naming, option, print_json, print_table
from apps.cli.local import Data, Store, audited, is_local, opened, timed

tokens = typer.Typer(help="Tokens, by which programs prove for whom they ask.", no_args_is_help=True)
users = typer.Typer(help="Who has been here, and which roles they have.", no_args_is_help=True)
roles = typer.Typer(help="The roles, and what each may do.", no_args_is_help=True)

NEVER = "never"
Name = Annotated[str, typer.Argument(help="The user's name.", autocompletion=offered.users)]
TokenId = Annotated[
    str, typer.Argument(help="Its id, as 'adon token list' shows it.", autocompletion=offered.tokens)
]
Roles = Annotated[list[str], typer.Argument(help="Roles; see 'adon role list'.")]


OPTIONS = {
    "owner": "--user",
    "label": "--label",
    "scope": "--scope",
    "roles": "--role",
    "expires": "--lifetime",
}
"""The API's field -> the option that it comes from."""


# -- tokens ---------------------------------------------------------------------------------------------


@tokens.command()
def create(
    ctx: typer.Context,
    user: Annotated[str | None, typer.Option(help="Whose it is; yours without one.")] = None,
    label: Annotated[str, typer.Option(help="What you call it.")] = "",
    scope: Annotated[
        list[str] | None,
        typer.Option(help="read, submit, report, metrics, all, or an action; may be repeated."),
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option(help="Limits it to this role of its owner; may be repeated.")
    ] = None,
    lifetime: Annotated[
        str | None, typer.Option(help="As in '30 d'; on the machine itself also 'never'.")
    ] = None,
    data: Data = None,
    store: Store = None,
    json_: JsonFlag = False,
) -> None:
    """Make a token; it is shown now and never again."""
    from adon.units import parse_duration

    if lifetime != NEVER:
        option(lifetime, parse_duration, "--lifetime")
    wish = {"owner": user, "label": label, "scope": scope or ["all"], "roles": role, "expires": lifetime}
    made: Mapping[str, Any]
    if is_local(data, store):
        made = _create_here(data, store, wish)
    else:
        with naming(OPTIONS):
            made = client(ctx).add_token({name: value for name, value in wish.items() if value is not None})
    if json_:
        print_json(made)
        return
    typer.echo(f"token {made['id']} of {made['owner']}, until {_until(made['expires'])}", err=True)
    typer.echo(made["secret"])


def _create_here(data: Path | None, store: str | None, wish: Mapping[str, Any]) -> dict[str, Any]:
    from adon.access.identity import create_token
    from adon.access.scopes import checked_scope
    from adon.access.shown import token_values
    from adon.config.credentials import Credentials
    from adon.units import parse_duration

    if wish["owner"] is None:
        raise InvalidInput.of("user", "say whose token it is: --user NAME")
    limited = None if wish["roles"] is None else _known(wish["roles"])
    asked = wish["expires"]
    usual = Credentials().token_lifetime
    lifetime = usual if asked is None else None if asked == NEVER else parse_duration(asked)
    text, token = create_token(
        wish["owner"],
        time.time(),
        lifetime,
        label=wish["label"],
        scope=checked_scope(wish["scope"]),
        roles=limited,
    )
    with opened(data, store) as access:
        detail = f"token {token.id} for {token.owner}, scope {' '.join(token.scope)}"
        audited(access, "token.create", f"/tokens/{token.id}", detail, lambda: access.tokens.save(token))
    return timed({**token_values(token), "secret": text})


@tokens.command("list")
def list_tokens(
    ctx: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only this user's.")] = None,
    data: Data = None,
    store: Store = None,
    json_: JsonFlag = False,
) -> None:
    """Your tokens; an administrator's or auditor's: everybody's."""
    from adon.access.shown import token_values
    from apps.cli.times import at

    found: Sequence[Mapping[str, Any]]
    if is_local(data, store):
        with opened(data, store) as access:
            found = [timed(token_values(one)) for one in access.tokens.list(user)]
    else:
        found = client(ctx).tokens(user)
    if json_:
        print_json(found)
        return
    rows = (
        (
            one["id"],
            one["owner"],
            one["label"] or "-",
            " ".join(one["scope"]) + (f" ({' '.join(one['roles'])})" if one["roles"] is not None else ""),
            f"revoked {at(one['revoked'])}" if one["revoked"] else _until(one["expires"]),
            at(one["last_used"]),
        )
        for one in found
    )
    print_table(("Token", "Owner", "Label", "Scope", "Until", "Last used"), rows, "there is no token")


def _until(expires: str | None) -> str:
    from apps.cli.times import at

    return NEVER if expires is None else at(expires)


@tokens.command()
def show(ctx: typer.Context, token: TokenId, json_: JsonFlag = False) -> None:
    """One token: whose it is, what it may do, until when, when it was used last; never its secret."""
    from apps.cli.times import at

    one = client(ctx).token(token)
    if json_:
        print_json(one)
        return
    state = f"revoked {at(one['revoked'])}" if one["revoked"] else f"until {_until(one['expires'])}"
    typer.echo(f"{one['id']} of {one['owner']}, {state}; last used {at(one['last_used'])}")
    limited = "" if one["roles"] is None else f", as {_words(one['roles'])} only"
    typer.echo(f"{one['label'] or 'no label'}: {_words(one['scope'])}{limited}")


@tokens.command()
def revoke(
    ctx: typer.Context, token: TokenId, data: Data = None, store: Store = None, json_: JsonFlag = False
) -> None:
    """Make a token worthless at once."""
    if is_local(data, store):
        with opened(data, store) as access:
            now = time.time()
            address = f"/tokens/{token}"
            audited(access, "token.revoke", address, "", lambda: access.tokens.revoke(token, now))
    else:
        client(ctx).revoke_token(token)
    print_json({"id": token, "revoked": True}) if json_ else typer.echo(f"{token} is revoked")


# -- users ----------------------------------------------------------------------------------------------


@users.command("list")
def list_users(ctx: typer.Context, data: Data = None, store: Store = None, json_: JsonFlag = False) -> None:
    """Everybody who has been here, or whom an administrator named."""
    from adon.access.shown import user_values
    from apps.cli.times import at

    found: Sequence[Mapping[str, Any]]
    if is_local(data, store):
        with opened(data, store) as access:
            found = [timed(user_values(one)) for one in access.users.list()]
    else:
        found = client(ctx).users()
    if json_:
        print_json(found)
        return
    rows = (
        (
            one["name"],
            one["display"] or "-",
            " ".join(one["roles"]) or "-",
            one["issuer"],
            f"disabled {at(one['disabled_since'])}" if one["disabled_since"] else at(one["last_seen"]),
        )
        for one in found
    )
    print_table(("User", "Name", "Roles", "From", "Last signed in"), rows, "nobody has been here")


@users.command("show")
def show_user(ctx: typer.Context, name: Name, json_: JsonFlag = False) -> None:
    """One user: roles in force and where they come from, groups."""
    from apps.cli.times import at

    one = client(ctx).user(name)
    if json_:
        print_json(one)
        return
    told = {
        "name": one["name"],
        "is": one["display"],
        "mail": one["mail"],
        "from": f"{one['issuer']} as {one['subject']}",
        "roles": _words(one["roles"]),
        "by rules": _words(one["by_rules"]),
        "granted": _words(one["granted"]),
        "taken away": _words(one["removed"]),
        "groups": _words(one["groups"]),
        "disabled": at(one["disabled_since"]),
        "first seen": at(one["first_seen"]),
        "last signed in": at(one["last_seen"]),
    }
    print_table(("What", "Is"), ((key, value or "-") for key, value in told.items()), "")


@users.command()
def add(ctx: typer.Context, name: Name, roles: Roles, json_: JsonFlag = False) -> None:
    """Name somebody who comes with a token only; who signs in elsewhere needs no such line."""
    made = client(ctx).add_user(name, roles)
    print_json(made) if json_ else typer.echo(f"{made['name']}: {_words(made['roles'])}")


@users.command()
def grant(
    ctx: typer.Context,
    name: Name,
    roles: Roles,
    data: Data = None,
    store: Store = None,
    json_: JsonFlag = False,
) -> None:
    """Give somebody roles, whatever the rules say; on the machine itself the user is made if need be."""
    if is_local(data, store):
        _told(_change_here(data, store, name, give=roles, make=True), json_=json_)
    else:
        _told(client(ctx).change_roles(name, give=roles), json_=json_)


@users.command("revoke")
def revoke_roles(
    ctx: typer.Context,
    name: Name,
    roles: Roles,
    data: Data = None,
    store: Store = None,
    json_: JsonFlag = False,
) -> None:
    """Take roles away from somebody, whatever the rules say."""
    if is_local(data, store):
        _told(_change_here(data, store, name, take=roles), json_=json_)
    else:
        _told(client(ctx).change_roles(name, take=roles), json_=json_)


@users.command()
def disable(
    ctx: typer.Context, name: Name, data: Data = None, store: Store = None, json_: JsonFlag = False
) -> None:
    """Shut somebody out at once: no sign-in, no session, no token."""
    _able(ctx, name, data, store, disabled=True, json_=json_)


@users.command()
def enable(
    ctx: typer.Context, name: Name, data: Data = None, store: Store = None, json_: JsonFlag = False
) -> None:
    """Let somebody in again; their tokens are good again, sessions are not."""
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
) -> dict[str, Any]:
    from adon.access.shown import user_values

    given, taken = _known(give), _known(take)
    now = time.time()
    with opened(data, store) as access:

        def act() -> Any:
            user = access.users.named(name, given, now) if make else access.users.get(name)
            granted, removed = (user.granted | given) - taken, (user.removed | taken) - given
            return access.users.change(name, now, granted=granted, removed=removed)

        detail = "; ".join(
            f"{word}: {', '.join(sorted(which))}"
            for word, which in (("granted", given), ("removed", taken))
            if which
        )
        after = audited(access, "user.change", f"/users/{name}", detail, act)
    return timed(user_values(after))


def _known(names: Iterable[str]) -> frozenset[str]:
    from adon.access.policy import Role

    found = frozenset(names)
    unknown = sorted(found - set(Role))
    if unknown:
        raise InvalidInput.of("roles", f"{unknown[0]!r} is no role: {', '.join(Role)}")
    return found


def _told(user: Mapping[str, Any], *, json_: bool) -> None:
    if json_:
        print_json(user)
        return
    typer.echo(f"{user['name']}: {_words(user['roles']) or 'no role'}")


def _words(names: Iterable[str]) -> str:
    return " ".join(names)


# -- roles ----------------------------------------------------------------------------------------------


@roles.command("list")
def list_roles(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """What each role may do, and what the ready-made scopes of tokens hold."""
    found = client(ctx).roles()
    if json_:
        print_json(found)
        return
    names = [one["name"] for one in found["items"]]
    held = {one["name"]: {g["action"]: g["scope"] for g in one["may"]} for one in found["items"]}
    actions = list(dict.fromkeys(action for may in held.values() for action in may))
    scopes: Callable[[str], str] = lambda action: " ".join(  # noqa: E731
        name for name, holds in found["scopes"].items() if action in holds and name != "all"
    )
    rows = ((one, *(held[name].get(one, "-") for name in names), scopes(one) or "-") for one in actions)
    print_table(("Action", *names, "Scopes"), rows, "there are no roles")
