"""Identity and access: ``adon login``, ``whoami``, ``logout``, ``user``, ``token``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from adon.errors import InvalidInput
from apps.cli.api_completion import complete
from apps.cli.common import api_address, client, drop_missing, naming, parse_option
from apps.cli.document_printer import CommandGroup, print_document
from apps.cli.local_databases import DataOption, StoreOption, change_access, is_local, open_access
from apps.cli.value_format import format_time

if TYPE_CHECKING:
    from adon.api.access import NewTokenView, UserView

users = CommandGroup("Users and their roles.")
tokens = CommandGroup("Access tokens.")

LOOPBACK = ("127.0.0.1", "::1", "localhost")
NEVER = "never"
USER_OPTIONS = {
    "name": "NAME",
    "identity": "--signs-in-as",
    "identity.subject": "--signs-in-as",
    "identity.issuer": "--issuer",
}
TOKEN_OPTIONS = {
    "owner": "--user",
    "label": "--label",
    "scope": "--scope",
    "roles": "--role",
    "expires": "--lifetime",
}

Name = Annotated[str, typer.Argument(help="Name of the user.", autocompletion=complete("user"))]
Roles = Annotated[list[str], typer.Argument(help="Roles; see 'adon role list'.")]


# -- login -----------------------------------------------------------------------------------------------


def login(
    ctx: typer.Context,
    check: Annotated[bool, typer.Option(help="Check the token before storing it.")] = True,
) -> None:
    """Store a token for this address.

    The command asks for the token, or reads it from standard input.  Only you can read the file.
    """
    from adon.client import Client, credentials

    url = api_address(ctx)
    _check_address(url)
    token = _read_token(url)
    user = ""
    if check:
        user = Client.at(url, token, ca_file=os.environ.get("ADON_CA_FILE") or None).myself().name
    file = credentials.store(os.environ, credentials.stored(os.environ).with_token(url, token))
    if not print_document({"url": url, "name": user or None, "file": str(file)}):
        typer.echo(f"logged in at {url}{f' as {user}' if user else ''}; the token is in {file}")
    for name in ("ADON_TOKEN", "ADON_TOKEN_FILE"):
        if os.environ.get(name):
            typer.echo(f"note: {name} is set and has precedence over the stored token", err=True)


def _check_address(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput.of("--url", f"{url[:200]!r} is not an http:// or https:// address")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        typer.echo(f"warning: {url} is not encrypted; the network can read the token", err=True)


def _read_token(url: str) -> str:
    """Return what is typed at a hidden prompt, or the first line of standard input."""
    if sys.stdin.isatty():
        text = str(typer.prompt(f"Token for {url}", hide_input=True, err=True))
    else:
        text = sys.stdin.readline()
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput.of("token", "is empty or has characters that are not allowed in a token")
    return token


def whoami(ctx: typer.Context) -> None:
    """Show your user name, roles and groups at this address."""
    found = client(ctx).myself()
    if print_document(found):
        return
    typer.echo(f"{found.name} at {api_address(ctx)}: {' '.join(found.roles) or 'no role'}")
    if found.groups:
        typer.echo(f"groups: {' '.join(found.groups)}")


def logout(ctx: typer.Context) -> None:
    """Delete the stored token of this address.

    The token stays valid until it is revoked.
    """
    from adon.client import credentials

    url = api_address(ctx)
    stored = credentials.stored(os.environ)
    is_known = credentials.normal(url) in stored.tokens
    if is_known:
        credentials.store(os.environ, stored.without(url))
    if not print_document({"url": url, "forgotten": is_known}):
        typer.echo(f"the token for {url} is deleted here" if is_known else f"no token is stored for {url}")


# -- users -----------------------------------------------------------------------------------------------


def check_roles(names: Iterable[str]) -> frozenset[str]:
    """Return the roles with these names.

    :raises InvalidInput: for an unknown name.
    """
    from adon.values import Role

    found = frozenset(names)
    unknown = sorted(found - set(Role))
    if unknown:
        raise InvalidInput.of("roles", f"{unknown[0]!r} is not a role; expected one of {', '.join(Role)}")
    return found


@users.command()
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
) -> None:
    """Add a user before the first sign-in, or with tokens only."""
    if signs_in_as is None and issuer is not None:
        raise InvalidInput.of("--issuer", "requires --signs-in-as; for example --signs-in-as ann@mu.edu")
    identity: dict[str, str] | None = None
    if signs_in_as is not None:
        identity = {"subject": signs_in_as} if issuer is None else {"issuer": issuer, "subject": signs_in_as}
    with naming(USER_OPTIONS):
        _print_user(client(ctx).add_user(name, sorted(check_roles(roles)), identity))
    if identity is None and "@" in name:
        typer.echo(f"who signs in as {name} gets another name, except with --signs-in-as", err=True)


@users.command()
def grant(
    ctx: typer.Context, name: Name, roles: Roles, data: DataOption = None, store: StoreOption = None
) -> None:
    """Grant roles to a user, in addition to the rules.

    With --data or --store the user is created if missing.
    """
    if is_local(data, store):
        _print_user(_grant_locally(data, store, name, check_roles(roles)))
    else:
        _print_user(client(ctx).change_roles(name, give=roles))


def _grant_locally(data: Path | None, store: str | None, name: str, roles: frozenset[str]) -> UserView:
    from adon.access.users import user_values
    from adon.api.access import UserView

    now = time.time()
    with open_access(data, store) as access:

        def change() -> Any:
            user = access.users.ensure(name, roles, now)
            return access.users.change(name, now, granted=user.granted | roles, removed=user.removed - roles)

        detail = f"granted: {', '.join(sorted(roles))}"
        return UserView(**user_values(change_access(access, "user.change", f"/users/{name}", detail, change)))


@users.command()
def revoke(ctx: typer.Context, name: Name, roles: Roles) -> None:
    """Remove roles of a user, also those that the rules give."""
    _print_user(client(ctx).change_roles(name, take=roles))


@users.command()
def disable(ctx: typer.Context, name: Name) -> None:
    """Disable a user: no sign-in, session or token is accepted."""
    _set_disabled(ctx, name, disabled=True)


@users.command()
def enable(ctx: typer.Context, name: Name) -> None:
    """Enable a user; tokens are valid again, sessions are not."""
    _set_disabled(ctx, name, disabled=False)


def _set_disabled(ctx: typer.Context, name: str, *, disabled: bool) -> None:
    client(ctx).change_user(name, {"disabled": disabled})
    if not print_document({"name": name, "disabled": disabled}):
        typer.echo(f"{name} is {'disabled' if disabled else 'enabled'}")


def _print_user(user: UserView) -> None:
    if not print_document(user):
        typer.echo(f"{user.name}: {' '.join(user.roles) or 'no role'}")


# -- tokens ----------------------------------------------------------------------------------------------


@tokens.command()
def create(
    ctx: typer.Context,
    user: Annotated[str | None, typer.Option(help="Owner; default: you.")] = None,
    label: Annotated[str, typer.Option(help="Label of the token.")] = "",
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
    data: DataOption = None,
    store: StoreOption = None,
) -> None:
    """Create a token and print its secret once."""
    from adon.units import parse_duration

    if lifetime not in (None, NEVER):
        parse_option(str(lifetime), parse_duration, "--lifetime")
    request = {"owner": user, "label": label, "scope": scope or ["all"], "roles": role, "expires": lifetime}
    if is_local(data, store):
        created = _create_locally(data, store, request)
    else:
        with naming(TOKEN_OPTIONS):
            created = client(ctx).add_token(drop_missing(request))
    if print_document(created):
        return
    until = NEVER if created.expires is None else format_time(created.expires)
    typer.echo(f"token {created.id} of {created.owner}, until {until}", err=True)
    typer.echo(created.secret)


def _create_locally(data: Path | None, store: str | None, request: Mapping[str, Any]) -> NewTokenView:
    from adon.access.identity import create_token, token_values
    from adon.access.scopes import check_scope
    from adon.api.access import NewTokenView

    if request["owner"] is None:
        raise InvalidInput.of("user", "is required; for example --user ann")
    roles = None if request["roles"] is None else check_roles(request["roles"])
    text, token = create_token(
        request["owner"],
        time.time(),
        _lifetime(request["expires"]),
        label=request["label"],
        scope=check_scope(request["scope"]),
        roles=roles,
    )
    with open_access(data, store) as access:
        detail = f"token {token.id} for {token.owner}, scope {' '.join(token.scope)}"
        change_access(
            access, "token.create", f"/tokens/{token.id}", detail, lambda: access.tokens.save(token)
        )
    return NewTokenView(**token_values(token), secret=text)


def _lifetime(text: str | None) -> float | None:
    """Return seconds; None for ever."""
    from adon.config.controller import Credentials
    from adon.units import parse_duration

    if text is None:
        return Credentials().token_lifetime
    return None if text == NEVER else parse_duration(text)
