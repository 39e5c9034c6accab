"""The measurement points as the collector tells of them."""

from __future__ import annotations

from typing import Any

from adon.config import MeasurementPoint
from apps.collector import contacts
from measurement.registry import Announcement, Directory

NOW = 1_760_000_000.0
CONFIGURED = {name: MeasurementPoint(url=f"https://{name}.example/pscheduler") for name in ("osu", "mu")}


def announced(*names: str) -> list[dict[str, Any]]:
    directory = Directory(dict.fromkeys(CONFIGURED), lambda: NOW)
    for name in names:
        said = Announcement(name, f"https://10.0.0.1/{name}", ("10.0.0.1",), None, ("rtt",), "1.0", NOW)
        directory.announce(name, said.to_json())
    return directory.listed()


def test_what_a_point_says_of_itself_stands_before_what_is_configured_of_it() -> None:
    found = contacts.listed(CONFIGURED, announced("mu", "new"))
    told = [(one["name"], one["standing"], one["url"]) for one in found]
    assert told == [
        ("mu", "known", "https://10.0.0.1/mu"),
        ("new", "unknown", "https://10.0.0.1/new"),
        ("osu", "configured", "https://osu.example/pscheduler"),
    ]


def test_every_point_has_the_same_fields() -> None:
    found = contacts.listed(CONFIGURED, announced("mu"))
    assert {frozenset(one) for one in found} == {frozenset(found[0])}
    assert contacts.listed({}, []) == []
