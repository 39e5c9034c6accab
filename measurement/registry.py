"""The points that have announced themselves: what an announcement says, and which of them is believed.

A point tells at boot, and again from time to time, who and where it is; whoever keeps a registry decides
what that is worth.  An announcement is *known* when its point is expected here and shows the certificate
expected, or the one it showed first (trust on first use, where none was given); *unknown* when nobody
expects it: listed for the operator, used by nobody.  One whose certificate has changed is refused until the
operator says otherwise, and the old entry stays.

:func:`register` is pure; :class:`Directory` adds a lock and durability.  Stations of a measurement network
announcing themselves and being looked up are perfSONAR's *lookup service*.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

CLOCK_TOLERANCE = 300.0
SILENT_AFTER = 3600.0
MOST_UNKNOWN = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST = 64


class Refused(ValueError):
    """An announcement that is not taken; its text says why."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """What a point says of itself.

    :param url: base URL of its REST API.
    :param addresses: the addresses it has, to measure from.
    :param certificate: SHA-256 of its certificate (DER), 64 hexadecimal digits; None without TLS.
    :param tests: the tests it offers.
    :param at: its clock when it said so, seconds since the epoch.
    """

    name: str
    url: str
    addresses: tuple[str, ...]
    certificate: str | None
    tests: tuple[str, ...]
    version: str
    at: float

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "name": self.name,
            "url": self.url,
            "addresses": list(self.addresses),
            "certificate_sha256": self.certificate,
            "tests": list(self.tests),
            "version": self.version,
            "at": self.at,
        }

    @classmethod
    def from_json(cls, document: object) -> Announcement:
        """An announcement from outside.

        :raises Refused: naming the field that is wrong.
        """
        fields = _Fields(document)
        found = cls(
            fields.matching("name", _NAME),
            fields.url(),
            tuple(fields.addresses()),
            fields.certificate(),
            tuple(fields.words("tests")),
            fields.matching("version", _WORD),
            fields.time(),
        )
        fields.check_no_more()
        return found


class _Fields:
    def __init__(self, document: object) -> None:
        if not isinstance(document, Mapping):
            raise Refused("an announcement is a JSON object")
        self._left = dict(document)

    def matching(self, name: str, pattern: re.Pattern[str]) -> str:
        value = self._take(name)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise Refused(f"{name}: {str(value)[:60]!r} is no {name}")
        return value

    def url(self) -> str:
        value = self._take("url")
        if not isinstance(value, str) or len(value) > 500 or not value.isascii() or not value.isprintable():
            raise Refused("url: is no URL")
        try:
            parts = urlsplit(value)
            sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            raise Refused("url: is no URL") from None
        if parts.scheme not in ("http", "https") or not sound or "@" in parts.netloc or parts.query:
            raise Refused("url: must be such as https://point.example.org/pscheduler")
        return value

    def addresses(self) -> list[str]:
        found = self._texts("addresses")
        try:
            return [str(ip_address(text)) for text in found]
        except ValueError as error:
            raise Refused(f"addresses: {error}") from None

    def words(self, name: str) -> list[str]:
        found = self._texts(name)
        for text in found:
            if not _WORD.fullmatch(text):
                raise Refused(f"{name}: {text[:60]!r} is none")
        return found

    def certificate(self) -> str | None:
        value = self._left.pop("certificate_sha256", None)
        if value is not None and (not isinstance(value, str) or not _DIGEST.fullmatch(value)):
            raise Refused("certificate_sha256: must be 64 hexadecimal digits, or null")
        return value

    def time(self) -> float:
        value = self._take("at")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise Refused("at: is no time")
        return float(value)

    def check_no_more(self) -> None:
        if self._left:
            raise Refused(f"{str(next(iter(self._left)))[:60]!r} is unknown")

    def _texts(self, name: str) -> list[str]:
        value = self._take(name)
        if not isinstance(value, list) or len(value) > _MOST or not all(isinstance(t, str) for t in value):
            raise Refused(f"{name}: must be a list of at most {_MOST} texts")
        return value

    def _take(self, name: str) -> object:
        if name not in self._left:
            raise Refused(f"{name}: is missing")
        return self._left.pop(name)


class Standing(StrEnum):
    """What an announcement is worth here."""

    KNOWN = "known"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Entry:
    """A point as it was last announced.

    :param first_seen: by our clock, like ``last_seen``.
    """

    announcement: Announcement
    standing: Standing
    first_seen: float
    last_seen: float

    def silent(self, now: float) -> bool:
        """True when it has not announced itself for long."""
        return now - self.last_seen > SILENT_AFTER

    def to_json(self) -> dict[str, Any]:
        """As a JSON object: the announcement and what was made of it."""
        seen = {"first_seen": self.first_seen, "last_seen": self.last_seen}
        return {**self.announcement.to_json(), "standing": self.standing.value, **seen}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Entry:
        """The reverse of :meth:`to_json`.

        :raises ValueError: for anything else.
        """
        fields = dict(document)
        try:
            standing = Standing(fields.pop("standing"))
            first, last = float(fields.pop("first_seen")), float(fields.pop("last_seen"))
        except (KeyError, TypeError) as error:
            raise Refused(f"no entry of a registry: {error}") from None
        return cls(Announcement.from_json(fields), standing, first, last)


Entries = Mapping[str, Entry]
"""Points by name."""

Expected = Mapping[str, str | None]
"""The points that are expected, with the SHA-256 of their certificates where it is given."""


def register(known: Entries, expected: Expected, sender: str, said: Announcement, now: float) -> Entry:
    """The entry that an announcement makes.

    :param sender: as whom the speaker was authenticated.
    :raises Refused: when it is not believed, with the reason.
    """
    if said.name != sender:
        raise Refused(f"{sender} may not announce {said.name}")
    if said.at > now + CLOCK_TOLERANCE:
        raise Refused(f"{said.name}: announced {said.at - now:.0f} s in the future: its clock is wrong")
    before = known.get(said.name)
    if before is not None and said.at < before.announcement.at:
        raise Refused(f"{said.name}: an older announcement than the last")
    _check_certificate(said, expected.get(said.name), before)
    standing = Standing.KNOWN if said.name in expected else Standing.UNKNOWN
    if before is None and standing is Standing.UNKNOWN and _unknown(known) >= MOST_UNKNOWN:
        raise Refused(f"{said.name}: too many unknown points have announced themselves")
    return Entry(said, standing, now if before is None else before.first_seen, now)


def _check_certificate(said: Announcement, wanted: str | None, before: Entry | None) -> None:
    if wanted is not None:
        if said.certificate != wanted:
            raise Refused(f"{said.name}: shows another certificate than the one configured")
    elif before is not None and said.certificate != before.announcement.certificate:
        raise Refused(f"{said.name}: its certificate has changed; forget the point if that is right")


def _unknown(known: Entries) -> int:
    return sum(entry.standing is Standing.UNKNOWN for entry in known.values())


class Directory:
    """A registry that threads share and that outlives a restart.

    :param expected: the points that are expected.
    :param held: what :paramref:`keep` was last given; None at the first start.
    :param keep: stores the registry durably; called before an announcement is acknowledged.
    :param clock: our time, seconds since the epoch.
    :raises ValueError: when ``held`` is not a registry.
    """

    def __init__(
        self,
        expected: Expected,
        clock: Callable[[], float],
        held: bytes | None = None,
        keep: Callable[[bytes], None] = lambda _data: None,
    ) -> None:
        self._expected = dict(expected)
        self._clock = clock
        self._keep = keep
        self._lock = threading.Lock()
        self._entries = {} if held is None else _decoded(held, self._expected)

    def announce(self, sender: str, document: Mapping[str, Any]) -> None:
        """Take an announcement; durable when this returns.

        :raises Refused: (a ``ValueError``) with the reason.
        """
        said = Announcement.from_json(document)
        with self._lock:
            entry = register(self._entries, self._expected, sender, said, self._clock())
            self._replace({**self._entries, said.name: entry})

    def forget(self, name: str) -> bool:
        """Forget a point, so that it may come with a new certificate; False if there is none."""
        with self._lock:
            if name not in self._entries:
                return False
            self._replace({other: entry for other, entry in self._entries.items() if other != name})
            return True

    def entries(self) -> dict[str, Entry]:
        """The points by name."""
        with self._lock:
            return dict(self._entries)

    def listed(self) -> list[dict[str, Any]]:
        """The points as JSON, by name, each with whether it has been silent for long."""
        now, entries = self._clock(), self.entries()
        return [{**entries[name].to_json(), "silent": entries[name].silent(now)} for name in sorted(entries)]

    def _replace(self, entries: dict[str, Entry]) -> None:
        self._keep(json.dumps([entry.to_json() for entry in entries.values()]).encode("ascii"))
        self._entries = entries


def _decoded(held: bytes, expected: Expected) -> dict[str, Entry]:
    documents = json.loads(held)
    if not isinstance(documents, list) or not all(isinstance(item, Mapping) for item in documents):
        raise Refused("no registry: expected a list of entries")
    entries = {}
    for document in documents:
        entry = Entry.from_json(document)
        name = entry.announcement.name
        # Who is expected is configured, and may be so otherwise than at the last start.
        standing = Standing.KNOWN if name in expected else Standing.UNKNOWN
        entries[name] = replace(entry, standing=standing)
    return entries
