"""The tools that move data, each with the places that requests may name (docs/transfers.md).

Passwords and tokens are in files or environment variables of the service, never here.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator

from adon.config.parts import Port, Section, Url, raise_all
from adon.frozenmap import Frozen, FrozenMap
from adon.templates_catalog.model import Name

Limit = Literal["granted", "estimated", "none"]
Variable = Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]*$")]


def _fs(text: str) -> str:
    if not text or not text.isprintable():
        raise ValueError("must be a folder such as /data, or a remote of rclone's such as osu:data")
    if not text.startswith("/") and ":" not in text:
        raise ValueError(f"{text!r} is a relative folder: whose?")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/") or not text.isprintable() or "\\" in text:
        raise ValueError(f"{text[:80]!r} is not an absolute path such as /data/science")
    if posixpath.normpath(text) != (text.rstrip("/") or "/"):
        raise ValueError(f"{text[:80]!r} has //, . or .. in it")
    return text


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a UUID, as Globus names its things by") from None


Folder = Annotated[str, Field(max_length=500), AfterValidator(_absolute)]
GlobusId = Annotated[str, AfterValidator(_uuid)]


class Remote(Section):
    """A place that requests may name.

    :param at: the DTN whose data it is.
    :param fs: what rclone calls it: an absolute folder, or ``remote:folder`` of its own configuration.
    """

    at: Name
    fs: Annotated[str, Field(max_length=500), AfterValidator(_fs)]


class GlobusPlace(Section):
    """A folder of a Globus collection.

    :param at: the DTN whose data it is.
    :param collection: its id.
    :param data_access: whether its data wants a consent of its own, as that of most mapped collections does.
    """

    at: Name
    collection: GlobusId
    folder: Folder = "/"
    data_access: bool = False


class IrodsPlace(Section):
    """A collection of the zone, or a folder that this machine has.

    :param at: the DTN whose data it is.
    """

    at: Name
    collection: Folder | None = None
    folder: Folder | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.collection is None) == (self.folder is None):
            raise ValueError("name a collection of iRODS (collection), or a folder here (folder), not both")
        return self


class Tool(Section):
    """What every tool has.

    :param groups: whose flows it may carry; everybody's if empty.
    """

    groups: tuple[str, ...] = ()


class Rclone(Tool):
    """The remote control of an rclone (``rclone rcd``) at a DTN.

    :param password_file: relative to the configuration's folder; or ``password_env``, a variable's name.
    :param ca_file: who signed the certificate of its URL; the system's authorities if absent.
    :param remotes: what it can read and write that requests may name.
    :param attach: whether jobs that somebody else started may be followed.
    :param limit: what its bandwidth is held to: what flows were granted, what was estimated for their path
        when it was chosen, or nothing.
    """

    url: Url
    user: str = Field(default="adon", min_length=1, max_length=100, pattern=r"^[^:\s]+$")
    password_file: str | None = None
    password_env: Variable | None = None
    ca_file: str | None = None
    remotes: Frozen[Name, Remote] = FrozenMap()
    attach: bool = True
    limit: Limit = "granted"

    @model_validator(mode="after")
    def _sound(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        yield from one_secret(password=(self.password_file, self.password_env))
        yield from private_url("url", self.url)


class Globus(Tool):
    """An identity at Globus: an application of its own, or somebody's consent to us.

    :param client_id: of the application that is registered at Globus.
    :param client_secret_file, client_secret_env: it acts for itself (client credentials).
    :param refresh_token_file, refresh_token_env: it acts for who consented.
    :param transfer_url, auth_url: another Globus than the public one.
    :param remotes: the places that requests may name.
    :param attach: whether tasks that it did not start may be followed.
    """

    client_id: GlobusId
    client_secret_file: str | None = None
    client_secret_env: Variable | None = None
    refresh_token_file: str | None = None
    refresh_token_env: Variable | None = None
    transfer_url: Url | None = None
    auth_url: Url | None = None
    remotes: Frozen[Name, GlobusPlace] = FrozenMap()
    attach: bool = True

    @model_validator(mode="after")
    def _sound(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        yield from one_secret(
            client_secret=(self.client_secret_file, self.client_secret_env),
            refresh_token=(self.refresh_token_file, self.refresh_token_env),
        )
        for name, url in (("transfer_url", self.transfer_url), ("auth_url", self.auth_url)):
            if url is not None:
                yield from private_url(name, url)


class Irods(Tool):
    """An account in an iRODS zone; the data goes through this machine.

    :param tls: whether the connection is encrypted; without it only to this machine.
    :param ca_file: who signed the server's certificate; the system's authorities if absent.
    :param limit: as of :class:`Rclone`.
    """

    host: Annotated[str, Field(pattern=r"^[A-Za-z0-9.:-]{1,253}$")]
    port: Port = 1247
    zone: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,63}$")]
    user: str = Field(min_length=1, max_length=100, pattern=r"^[^#\s]+$")
    password_file: str | None = None
    password_env: Variable | None = None
    tls: bool = True
    ca_file: str | None = None
    remotes: Frozen[Name, IrodsPlace] = FrozenMap()
    limit: Limit = "granted"

    @model_validator(mode="after")
    def _sound(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        yield from one_secret(password=(self.password_file, self.password_env))
        if not self.tls and not loopback(self.host):
            yield "tls: only to this machine without it: the data would be read on its way"
        for name, place in self.remotes.items():
            if place.collection is not None and not re.match(
                f"/{re.escape(self.zone)}(/|$)", place.collection
            ):
                yield f"remotes.{name}.collection: is not in the zone {self.zone}"


def one_secret(**given: tuple[str | None, str | None]) -> Iterator[str]:
    """What is wrong unless exactly one file or variable is named.

    :param given: by the field's name without ``_file`` and ``_env``.
    """
    if sum(one is not None for pair in given.values() for one in pair) == 1:
        return
    first = next(iter(given))
    ways = " or ".join(f"{name}_env" if name == first else f"{name}_file, {name}_env" for name in given)
    yield f"{first}_file: name a file, or a variable ({ways}), and not both"


def private_url(field: str, url: str) -> Iterator[str]:
    """What is wrong with where a secret would be sent."""
    found = urlsplit(url)
    if found.scheme == "http" and not loopback(str(found.hostname)):
        yield f"{field}: http only to this machine: the password would be read on its way"


def loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
