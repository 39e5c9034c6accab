"""``adon login``, ``whoami``, ``logout``: the token that this user's commands send."""

from __future__ import annotations

import os
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from adon.errors import InvalidInput
from apps.cli.common import JsonFlag, address, client, print_json

HERE = ("127.0.0.1", "::1", "localhost")


def login(
    ctx: typer.Context,
    json_: JsonFlag = False,
    check: Annotated[bool, typer.Option(help="Check the token before storing it.")] = True,
) -> None:
    """Store a token for this address.

    The command asks for the token, or reads it from standard input.  Only you can read the file.
    """
    from adon.client import Client, credentials

    url = address(ctx)
    host = urlsplit(url).hostname or ""
    if urlsplit(url).scheme not in ("http", "https") or not host:
        raise InvalidInput.of("--url", f"{url[:200]!r} is not an http:// or https:// address")
    if urlsplit(url).scheme == "http" and host not in HERE:
        typer.echo(f"warning: {url} is not encrypted; the network can read the token", err=True)
    token = _token(url)
    who = ""
    if check:
        who = Client.at(url, token, ca_file=os.environ.get("ADON_CA_FILE") or None).myself().name
    kept = credentials.stored(os.environ)
    file = credentials.store(os.environ, kept.with_token(url, token))
    if json_:
        print_json({"url": url, "name": who or None, "file": str(file)})
    else:
        typer.echo(f"logged in at {url}{f' as {who}' if who else ''}; the token is in {file}")
    for name in ("ADON_TOKEN", "ADON_TOKEN_FILE"):
        if os.environ.get(name):
            typer.echo(f"note: {name} is set and has precedence over the stored token", err=True)


def _token(url: str) -> str:
    """What is typed without being shown, or the first line of standard input."""
    if sys.stdin.isatty():
        text = str(typer.prompt(f"Token for {url}", hide_input=True, err=True))
    else:
        text = sys.stdin.readline()
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput.of("token", "is empty or has characters that are not allowed in a token")
    return token


def whoami(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Show your user name, roles and groups at this address."""
    found = client(ctx).myself()
    if json_:
        print_json(found)
        return
    typer.echo(f"{found.name} at {address(ctx)}: {' '.join(found.roles) or 'no role'}")
    if found.groups:
        typer.echo(f"groups: {' '.join(found.groups)}")


def logout(ctx: typer.Context, json_: JsonFlag = False) -> None:
    """Delete the stored token of this address.

    The token stays valid until it is revoked.
    """
    from adon.client import credentials

    url = address(ctx)
    kept = credentials.stored(os.environ)
    known = credentials.normal(url) in kept.tokens
    if known:
        credentials.store(os.environ, kept.without(url))
    if json_:
        print_json({"url": url, "forgotten": known})
    else:
        typer.echo(f"the token for {url} is deleted here" if known else f"no token is stored for {url}")
