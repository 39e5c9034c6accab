"""Who wants to hear of which alarms, and how.  Pure.

"Smart notifications to the users about the network trends and anomalies based on their custom filters"
(Narada Metrics, in [ADON] 2.2.1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from pydantic import ConfigDict, PlainSerializer, StrictBool, StringConstraints

from measurement.anomaly.alarm import Alarm, Kind
from measurement.anomaly.model import Severity

_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,199}")
_LONGEST = 2000
Text = Annotated[str, StringConstraints(max_length=_LONGEST)]
Kinds = Annotated[frozenset[Kind], PlainSerializer(sorted)]


class Channel(StrEnum):
    """By which way."""

    MAIL = "mail"
    WEBHOOK = "webhook"
    STREAM = "stream"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which alarms; None does not narrow.

    :param least: the lowest severity.
    :param changes_for_the_better: whether to hear of those too.
    :param ends: whether to hear when an alarm is over.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    path: Text | None = None
    source: Text | None = None
    destination: Text | None = None
    metric: Text | None = None
    kinds: Kinds | None = None
    least: Severity = Severity.WARNING
    changes_for_the_better: StrictBool = False
    ends: StrictBool = True


EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Subscription:
    """One wish of one user.

    :param owner: the user's name; whether that user may read a series is asked where alarms are handed over.
    :param target: a mail address, a URL, or empty for the event stream.
    :raises ValueError: naming the field that cannot be used.
    """

    id: Text
    owner: Text
    channel: Channel
    target: Text = ""
    filter: Filter = EVERYTHING

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.id):
            raise ValueError(f"id: {self.id[:60]!r} is not a name")
        if not self.owner.strip() or not self.owner.isprintable() or len(self.owner) > 200:
            raise ValueError("owner: not the name of a user")
        wrong = _wrong_target(self.channel, self.target)
        if wrong:
            raise ValueError(f"target: {wrong}")


def _wrong_target(channel: Channel, target: str) -> str:
    match channel:
        case Channel.MAIL:
            good = len(target) <= 320 and _ADDRESS.fullmatch(target) and ".." not in target
            return "" if good else "is not a mail address; for example ann@example.edu"
        case Channel.WEBHOOK:
            return _wrong_url(target)
        case Channel.STREAM:
            return "the event stream has no target; expected no value" if target else ""


_NO_URL = "is not a URL such as https://hooks.example.edu/alarms"


def _wrong_url(text: str) -> str:
    if len(text) > _LONGEST or not text.isascii() or not text.isprintable() or " " in text:
        return _NO_URL
    try:
        url = urlsplit(text)
        host, port = url.hostname, url.port
    except ValueError:
        return _NO_URL
    if url.scheme not in ("http", "https") or not host or port == 0:
        return _NO_URL
    if url.username is not None or url.password is not None:
        return "must hold no user name or password; expected for example https://hooks.example.edu/alarms"
    return ""


def matches(subscription: Subscription, alarm: Alarm) -> bool:
    """Whether a subscription is about an alarm."""
    wanted, series = subscription.filter, alarm.series
    return (
        wanted.path in (None, series.path)
        and wanted.source in (None, series.source)
        and wanted.destination in (None, series.destination)
        and wanted.metric in (None, series.metric)
        and (wanted.kinds is None or alarm.kind in wanted.kinds)
        and _RANK[alarm.severity] >= _RANK[wanted.least]
        and (alarm.bad or wanted.changes_for_the_better)
        and (alarm.open or not alarm.bad or wanted.ends)
    )


_RANK: Mapping[Severity, int] = {Severity.WARNING: 0, Severity.CRITICAL: 1}
