"""Where the API is and which token to use: from the environment, or as ``adon login`` stored it.

The file is ``$XDG_CONFIG_HOME/adon/credentials.json`` (``~/.config`` without that variable; XDG Base
Directory Specification 0.8), for its owner's eyes only.  A token is kept by the address that it was made
for, and is never sent to another one.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from adon.errors import InvalidInput

URL = "http://127.0.0.1:8080"
"""Default address of the API."""
NOTHING_STORED = (
    "no access token: set ADON_TOKEN, or ADON_TOKEN_FILE to a file that holds it, or run: adon login "
    "(an administrator gives you one, or the page Your account; adon serve shows the first when it begins)"
)


@dataclass(frozen=True, slots=True)
class Stored:
    """What ``adon login`` has stored.

    :param current: the address of the last login.
    :param tokens: by address.
    """

    current: str | None = None
    tokens: Mapping[str, str] = field(default_factory=dict)

    def with_token(self, url: str, token: str) -> Stored:
        """After a login."""
        name = normal(url)
        return Stored(name, {**self.tokens, name: token})

    def without(self, url: str) -> Stored:
        """After a logout."""
        name = normal(url)
        kept = {other: token for other, token in self.tokens.items() if other != name}
        return replace(self, current=None if self.current == name else self.current, tokens=kept)


def normal(url: str) -> str:
    """An address as it is compared with others."""
    return url.strip().rstrip("/")


def url(environment: Mapping[str, str], given: str | None = None) -> str:
    """The API's address: the one given, ADON_URL, the last login's, or this machine's."""
    told = given or environment.get("ADON_URL", "").strip()
    return normal(told or stored(environment).current or URL)


def token(environment: Mapping[str, str], address: str) -> str | None:
    """The token for an address: ADON_TOKEN, what is in the file ADON_TOKEN_FILE, or the stored one.

    :raises InvalidInput: if a file cannot be read.
    """
    if text := environment.get("ADON_TOKEN", "").strip():
        return text
    if name := environment.get("ADON_TOKEN_FILE"):
        return _read(Path(name), "ADON_TOKEN_FILE").strip()
    return stored(environment).tokens.get(normal(address))


def origin(environment: Mapping[str, str]) -> str:
    """What :func:`token` took it from, in words."""
    told = next(
        (name for name in ("ADON_TOKEN", "ADON_TOKEN_FILE") if environment.get(name, "").strip()), None
    )
    return told or "adon login"


def file(environment: Mapping[str, str]) -> Path:
    """Where logins are stored."""
    told = environment.get("XDG_CONFIG_HOME", "")
    # The specification: a path that is not absolute is to be ignored.
    base = (
        Path(told) if Path(told).is_absolute() else Path(environment.get("HOME") or Path.home()) / ".config"
    )
    return base / "adon" / "credentials.json"


def stored(environment: Mapping[str, str]) -> Stored:
    """What was stored; nothing if there is no file.

    :raises InvalidInput: for a file that others may read, or that is not ours.
    """
    where = file(environment)
    try:
        mode = where.stat().st_mode
    except OSError:
        return Stored()
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidInput.of(str(where), f"others may read it; run: chmod 600 {where}")
    try:
        body = json.loads(_read(where, "credentials"))
        current, tokens = body["current"], body["tokens"]
        found = {str(name): str(text) for name, text in tokens.items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InvalidInput.of(
            str(where), "is not what adon login wrote; remove it and log in again"
        ) from None
    return Stored(None if current is None else str(current), found)


def store(environment: Mapping[str, str], what: Stored) -> Path:
    """Write it, whole or not at all, for its owner's eyes only; the file.

    :raises InvalidInput: if it cannot be written.
    """
    where = file(environment)
    try:
        where.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=where.parent, prefix=".credentials")  # made with mode 0600
        try:
            with os.fdopen(handle, "w") as written:
                json.dump({"current": what.current, "tokens": dict(what.tokens)}, written, indent=2)
            Path(name).replace(where)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InvalidInput.of(str(where), f"cannot be written: {error.strerror}") from error
    return where


def _read(path: Path, source: str) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "is not text"
        raise InvalidInput.of(source, f"{path}: {cause}") from error
