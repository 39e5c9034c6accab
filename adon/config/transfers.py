"""The tools that move data, and who may have them used: the section ``transfers`` (docs/transfers.md).

Passwords are in files or environment variables of the service, never here.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from adon.config.parts import Section, Span, Url, raise_all
from adon.frozenmap import Frozen, FrozenMap
from adon.templates_catalog.model import Name

Limit = Literal["granted", "estimated", "none"]


def _fs(text: str) -> str:
    if not text or not text.isprintable():
        raise ValueError("must be a folder such as /data, or a remote of rclone's such as osu:data")
    if not text.startswith("/") and ":" not in text:
        raise ValueError(f"{text!r} is a relative folder: whose?")
    return text


class Remote(Section):
    """A place that requests may name.

    :param at: the DTN whose data it is.
    :param fs: what rclone calls it: an absolute folder, or ``remote:folder`` of its own configuration.
    """

    at: Name
    fs: Annotated[str, Field(max_length=500), AfterValidator(_fs)]


class Rclone(Section):
    """The remote control of an rclone (``rclone rcd``) at a DTN.

    :param password_file: relative to the configuration's folder; or ``password_env``, a variable's name.
    :param ca_file: who signed the certificate of its URL; the system's authorities if absent.
    :param remotes: what it can read and write that requests may name.
    :param groups: whose flows it may carry; everybody's if empty.
    :param attach: whether jobs that somebody else started may be followed.
    :param limit: what its bandwidth is held to: what flows were granted, what was estimated for their path
        when it was chosen, or nothing.
    """

    url: Url
    user: str = Field(default="adon", min_length=1, max_length=100, pattern=r"^[^:\s]+$")
    password_file: str | None = None
    password_env: Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]*$")] | None = None
    ca_file: str | None = None
    remotes: Frozen[Name, Remote] = FrozenMap()
    groups: tuple[str, ...] = ()
    attach: bool = True
    limit: Limit = "granted"

    @model_validator(mode="after")
    def _sound(self) -> Self:
        raise_all(self._wrong())
        return self

    def _wrong(self) -> Iterator[str]:
        if (self.password_file is None) == (self.password_env is None):
            yield "password_file: name a file, or a variable (password_env), and not both"
        url = urlsplit(self.url)
        if url.scheme == "http" and not _loopback(str(url.hostname)):
            yield "url: http only to this machine: the password would be read on its way"


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Transfers(Section):
    """See the module.

    :param rclone: by the DTN it is at.
    :param period: between two looks at a transfer under way.
    :param timeout: of one question to a tool.
    :param tries: starts in all, before a transfer has failed for good.
    :param backoff, longest_backoff: the pause before the second start; it doubles up to the longest.
    """

    rclone: Frozen[Name, Rclone] = FrozenMap()
    period: Span = 2.0
    timeout: Annotated[Span, Field(le=600)] = 20.0
    tries: int = Field(default=5, ge=1, le=100)
    backoff: Span = 10.0
    longest_backoff: Span = 600.0

    @property
    def configured(self) -> bool:
        """Whether there is any tool."""
        return bool(self.rclone)
