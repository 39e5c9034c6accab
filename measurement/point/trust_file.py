"""The trust file: TOML that says whom a point knows (:mod:`measurement.point.trust`).

::

    reading = "known"               # "open", the default: anybody sees tasks and results

    [[known]]
    name = "controller"
    token_sha256 = "9f86d0..."      # or a list; sha256 of the token, never the token
    may = ["start", "read"]
    tests = ["rtt", "latency"]      # default: all
    towards = ["198.51.100.0/24", "dtn.example.org"]    # default: everywhere

    [[known]]
    name = "site-b"
    token_sha256 = "2c26b4..."      # what site-b's point shows here
    node = "ps.site-b.example.org:4443"     # or a list; its point, as tests name it
    token_file = "site-b.token"     # what this point shows there
    may = ["take-part"]

Files are named relative to it.  A file with a mistake in it is refused as a whole.
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from measurement.point.model import TESTS
from measurement.point.trust import Known, Network, Right, Trust
from measurement.pscheduler.connections import Credentials

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


def _digest(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", text.lower()):
        raise ValueError("must be 64 hexadecimal digits, the SHA-256 of the token")
    return text.lower()


def _place(text: str) -> Network | str:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        if "/" in text or not _HOST.fullmatch(text):
            raise ValueError(f"{text[:60]!r} is neither a network nor a host name: {error}") from None
    return text


def _named_place(text: str) -> str:
    _place(text)
    return text


def _test(text: str) -> str:
    if text not in TESTS:
        raise ValueError(f"{text[:40]!r} is none of {', '.join(TESTS)}")
    return text


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    token_sha256: Annotated[list[Annotated[str, AfterValidator(_digest)]], BeforeValidator(_several)] = []
    node: Annotated[list[Annotated[str, Field(min_length=1, max_length=300)]], BeforeValidator(_several)] = []
    token_file: str | None = None
    may: Annotated[list[Right], Field(min_length=1)]
    tests: list[Annotated[str, AfterValidator(_test)]] | None = None
    towards: list[Annotated[str, AfterValidator(_named_place)]] | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    reading: Literal["open", "known"] = "open"
    known: list[_Entry] = []


def read(path: Path) -> Trust:
    """The parties that a trust file names.

    :raises ValueError: for a file that cannot be read or says something wrong, naming file and field.
    """
    try:
        document = _File.model_validate(tomllib.loads(path.read_text("utf-8")))
        known = [_read_entry(entry, path.parent) for entry in document.known]
        _check_distinct(known)
    except ValidationError as error:
        raise ValueError(f"{path}: {_first(error)}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    return Trust(tuple(known), document.reading)


def _first(error: ValidationError) -> str:
    found = error.errors()[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"


def _read_entry(entry: _Entry, folder: Path) -> Known:
    where = f"known.{entry.name}"
    if (entry.token_file is None) != (not entry.node):
        raise ValueError(f"{where}.node: node and token_file belong together")
    if not (entry.token_sha256 or entry.token_file):
        raise ValueError(f"{where}.token_sha256: this or token_file is needed")
    return Known(
        entry.name,
        frozenset(entry.may),
        frozenset(entry.token_sha256),
        None if entry.tests is None else frozenset(entry.tests),
        None if entry.towards is None else tuple(map(_place, entry.towards)),
        frozenset(node.casefold() for node in entry.node),
        None if entry.token_file is None else _own_token(f"{where}.token_file", folder / entry.token_file),
    )


def _own_token(where: str, file: Path) -> str:
    try:
        token = file.read_text("ascii", errors="replace").strip()
    except OSError as error:
        raise ValueError(f"{where}: {error}") from error
    if not token:
        raise ValueError(f"{where}: {file} is empty")
    try:
        Credentials(token)
    except ValueError as error:
        raise ValueError(f"{where}: {file}: {error}") from None
    return token


def _check_distinct(known: list[Known]) -> None:
    names: set[str] = set()
    shown: dict[str, str] = {}
    for party in known:
        if party.name in names:
            raise ValueError(f"known.{party.name}.name: is there twice")
        names.add(party.name)
        for one in party.tokens | party.nodes:
            if one in shown:
                raise ValueError(f"known.{party.name}: has a token or node of {shown[one]}")
            shown[one] = party.name
