"""Who may have ADON move data with which tools: the section ``transfers`` (docs/transfers.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from adon.config.parts import Section, Span
from adon.config.transfer_tools import Globus, GlobusPlace, Irods, IrodsPlace, Limit, Rclone, Remote
from adon.frozenmap import Frozen, FrozenMap
from adon.templates_catalog.model import Name

__all__ = [
    "Globus",
    "GlobusPlace",
    "Irods",
    "IrodsPlace",
    "Kind",
    "Limit",
    "MailWhen",
    "Rclone",
    "Remote",
    "Transfers",
    "key_of",
]

MailAddress = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$", max_length=320)]
Kind = Literal["rclone", "globus", "irods"]


class MailWhen(Section):
    """When owners are written to; the mail server is that of ``measurements.notify.mail``.

    :param settle: news waits so long for more of the same owner's.
    :param gather: least time between two mails to one owner; what comes up meanwhile goes into one.
    :param addresses: of users whose identity provider does not say one, or where another is wanted.
    :param slow: in trouble below this share of the rate that was promised ...
    :param slow_for: ... for so long.
    """

    settle: Span = 10.0
    gather: Span = 600.0
    slow: Annotated[float, Field(ge=0, le=1)] = 0.5
    slow_for: Span = 300.0
    addresses: Frozen[str, MailAddress] = FrozenMap()


class Transfers(Section):
    """See the module.

    :param rclone: by the DTN it is at.
    :param globus, irods: by a name for the credentials, which requests may say.
    :param period: between two looks at a transfer under way.
    :param timeout: of one question to a tool.
    :param tries: starts in all, before a transfer has failed for good.
    :param backoff, longest_backoff: the pause before the second start; it doubles up to the longest.
    """

    rclone: Frozen[Name, Rclone] = FrozenMap()
    globus: Frozen[Name, Globus] = FrozenMap()
    irods: Frozen[Name, Irods] = FrozenMap()
    period: Span = 2.0
    timeout: Annotated[Span, Field(le=600)] = 20.0
    tries: int = Field(default=5, ge=1, le=100)
    backoff: Span = 10.0
    longest_backoff: Span = 600.0
    mail: MailWhen = MailWhen()

    @property
    def configured(self) -> bool:
        """Whether there is any tool."""
        return any(True for _ in self.tools())

    def tools(self) -> Iterator[tuple[Kind, str, Rclone | Globus | Irods]]:
        """All tools: kind, name within its kind, and what is configured."""
        for at, rclone in self.rclone.items():
            yield "rclone", at, rclone
        for name, globus in self.globus.items():
            yield "globus", name, globus
        for name, irods in self.irods.items():
            yield "irods", name, irods


def key_of(kind: Kind, name: str) -> str:
    """What a tool is called among all: an rclone by its DTN, another by its kind and its credentials."""
    return name if kind == "rclone" else f"{kind}:{name}"
