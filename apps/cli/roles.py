"""``adon role``: the roles, and what each may do."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import typer

from adon.errors import InvalidInput
from apps.cli.common import JsonFlag, client, print_json, print_table

app = typer.Typer(help="Roles and their permissions.", no_args_is_help=True)


def known(names: Iterable[str]) -> frozenset[str]:
    """Names of roles, if each is one.

    :raises InvalidInput: naming one that is none.
    """
    from adon.values import Role

    found = frozenset(names)
    unknown = sorted(found - set(Role))
    if unknown:
        raise InvalidInput.of("roles", f"{unknown[0]!r} is not a role; expected one of {', '.join(Role)}")
    return found


@app.command("list")
def list_roles(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """List roles with their permissions, and the scopes of tokens."""
    found = client(ctx).roles()
    if json_:
        print_json(found)
        return
    names = [one.name for one in found.items]
    held = {one.name: {g.action: g.scope for g in one.may} for one in found.items}
    actions = list(dict.fromkeys(action for may in held.values() for action in may))
    scopes: Callable[[str], str] = lambda action: " ".join(  # noqa: E731
        name for name, holds in found.scopes.items() if action in holds and name != "all"
    )
    rows = ((one, *(held[name].get(one, "-") for name in names), scopes(one) or "-") for one in actions)
    print_table(("Action", *names, "Scopes"), rows, "there are no roles")
