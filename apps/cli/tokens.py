"""``adon token``: by which programs prove for whom they ask."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli import completing as offered
from apps.cli.common import JsonFlag, client, naming, option, print_json, print_table
from apps.cli.local import Data, Store, audited, is_local, opened
from apps.cli.roles import known

if TYPE_CHECKING:
    from adon.api.access import NewTokenView

app = typer.Typer(help="Access tokens.", no_args_is_help=True)

NEVER = "never"
TokenId = Annotated[
    str, typer.Argument(help="Its id, as 'adon token list' shows it.", autocompletion=offered.tokens)
]

OPTIONS = {
    "owner": "--user",
    "label": "--label",
    "scope": "--scope",
    "roles": "--role",
    "expires": "--lifetime",
}
"""The API's field -> the option that it comes from."""


@app.command()
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
    data: Data = None,
    store: Store = None,
    json_: JsonFlag = False,
) -> None:
    """Create a token and print its secret once."""
    from adon.units import parse_duration

    if lifetime != NEVER:
        option(lifetime, parse_duration, "--lifetime")
    wish = {"owner": user, "label": label, "scope": scope or ["all"], "roles": role, "expires": lifetime}
    if is_local(data, store):
        made = _create_here(data, store, wish)
    else:
        with naming(OPTIONS):
            made = client(ctx).add_token({name: value for name, value in wish.items() if value is not None})
    if json_:
        print_json(made)
        return
    typer.echo(f"token {made.id} of {made.owner}, until {_until(made.expires)}", err=True)
    typer.echo(made.secret)


def _create_here(data: Path | None, store: str | None, wish: Mapping[str, Any]) -> NewTokenView:
    from adon.access.identity import create_token, token_values
    from adon.access.scopes import check_scope
    from adon.api.access import NewTokenView
    from adon.config.controller import Credentials
    from adon.units import parse_duration

    if wish["owner"] is None:
        raise InvalidInput.of("user", "is required; for example --user ann")
    limited = None if wish["roles"] is None else known(wish["roles"])
    asked = wish["expires"]
    usual = Credentials().token_lifetime
    lifetime = usual if asked is None else None if asked == NEVER else parse_duration(asked)
    text, token = create_token(
        wish["owner"],
        time.time(),
        lifetime,
        label=wish["label"],
        scope=check_scope(wish["scope"]),
        roles=limited,
    )
    with opened(data, store) as access:
        detail = f"token {token.id} for {token.owner}, scope {' '.join(token.scope)}"
        audited(access, "token.create", f"/tokens/{token.id}", detail, lambda: access.tokens.save(token))
    return NewTokenView(**token_values(token), secret=text)


@app.command("list")
def list_tokens(
    ctx: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only this user's.")] = None,
    data: Data = None,
    store: Store = None,
    json_: JsonFlag = False,
) -> None:
    """List tokens; of all users for administrators and auditors."""
    from adon.access.identity import token_values
    from adon.api.access import TokenView
    from apps.cli.times import at

    if is_local(data, store):
        with opened(data, store) as access:
            found = [TokenView(**token_values(one)) for one in access.tokens.list(user)]
    else:
        found = client(ctx).tokens(user)
    if json_:
        print_json(found)
        return
    rows = (
        (
            one.id,
            one.owner,
            one.label or "-",
            " ".join(one.scope) + (f" ({' '.join(one.roles)})" if one.roles is not None else ""),
            f"revoked {at(one.revoked)}" if one.revoked else _until(one.expires),
            at(one.last_used),
        )
        for one in found
    )
    print_table(("Token", "Owner", "Label", "Scope", "Until", "Last used"), rows, "there is no token")


def _until(expires: float | None) -> str:
    from apps.cli.times import at

    return NEVER if expires is None else at(expires)


@app.command()
def show(ctx: typer.Context, token: TokenId, json_: JsonFlag = False) -> None:
    """Show one token without its secret."""
    from apps.cli.times import at

    one = client(ctx).token(token)
    if json_:
        print_json(one)
        return
    state = f"revoked {at(one.revoked)}" if one.revoked else f"until {_until(one.expires)}"
    typer.echo(f"{one.id} of {one.owner}, {state}; last used {at(one.last_used)}")
    limited = "" if one.roles is None else f", as {' '.join(one.roles)} only"
    typer.echo(f"{one.label or 'no label'}: {' '.join(one.scope)}{limited}")


@app.command()
def revoke(
    ctx: typer.Context, token: TokenId, data: Data = None, store: Store = None, json_: JsonFlag = False
) -> None:
    """Revoke a token."""
    if is_local(data, store):
        with opened(data, store) as access:
            now = time.time()
            address = f"/tokens/{token}"
            audited(access, "token.revoke", address, "", lambda: access.tokens.revoke(token, now))
    else:
        client(ctx).revoke_token(token)
    print_json({"id": token, "revoked": True}) if json_ else typer.echo(f"{token} is revoked")
