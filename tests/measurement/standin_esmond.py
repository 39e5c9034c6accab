"""An esmond-style archive: metadata and series, with the time ranges, limits and offsets of the real one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.measurement.standin_web import Asked, Raw

BASE = "/esmond/perfsonar/archive"


@dataclass
class Test:
    """One test: its metadata and, per event type, pairs of a time and a value."""

    key: str
    source: str
    destination: str
    series: dict[str, list[tuple[float, Any]]]
    fields: dict[str, Any] = field(default_factory=dict)
    __test__ = False

    def metadata(self) -> dict[str, Any]:
        """As the archive lists it."""
        return {
            "metadata-key": self.key, "source": self.source, "destination": self.destination,
            "tool-name": "pscheduler/iperf3", "url": f"https://elsewhere.example.net{BASE}/{self.key}/",
            "event-types": [
                {"event-type": event, "base-uri": f"{BASE}/{self.key}/{event}/base", "summaries": []}
                for event in self.series
            ],
            **self.fields,
        }  # fmt: skip


class Esmond:
    """Tests, and what is done with a request; ``most`` is the server's own limit per answer."""

    def __init__(self, tests: list[Test], most: int = 1000) -> None:
        self.tests = tests
        self.most = most
        self.asked: list[Asked] = []
        self.instead: list[Any] = []

    def answer(self, asked: Asked) -> Any:
        """One request."""
        self.asked.append(asked)
        if self.instead:
            return self.instead.pop(0)
        limit = min(self.most, int(asked.query.get("limit", "1000")))
        path = asked.path.removeprefix(BASE)
        if path == "/":
            offset = int(asked.query.get("offset", "0"))
            found = [test for test in self.tests if _wanted(test, asked.query)]
            return [test.metadata() for test in found[offset : offset + limit]]
        for test in self.tests:
            for event, series in test.series.items():
                if path == f"/{test.key}/{event}/base":
                    rows = sorted(row for row in series if _within(row[0], asked.query))
                    return [{"ts": at, "val": value} for at, value in rows[:limit]]
        return Raw(404, b"not found")


def _wanted(test: Test, query: dict[str, str]) -> bool:
    ends = test.source == query["source"] and test.destination == query["destination"]
    return ends and any(_within(at, query) for series in test.series.values() for at, _ in series)


def _within(at: float, query: dict[str, str]) -> bool:
    return int(query["time-start"]) <= at <= int(query["time-end"])
