"""Messages as pScheduler's archivers send them, for tests."""

from __future__ import annotations

import uuid
from typing import Any

from measurement.model import PathKey
from measurement.pscheduler.iso8601 import format_timestamp
from measurement.sources.pushed import Reporter

NOW = 1_900_000_000.0
KEY = PathKey("l2", "campus", "remote")
BACK = PathKey("l2", "remote", "campus")
A, B = "192.0.2.10", "198.51.100.7"
POINT_A = Reporter("campus", frozenset({"ps-a.example.net", A}))
POINT_B = Reporter("remote", frozenset({"ps-b.example.net", B}))
STRANGER = Reporter("elsewhere", frozenset({"ps-c.example.net"}))

RTT: dict[str, Any] = {
    "schema": 1, "succeeded": True, "sent": 3, "received": 3, "lost": 0, "loss": 0.0,
    "min": "PT0.0021S", "max": "PT0.0034S", "mean": "PT0.0026S", "stddev": "P0D", "roundtrips": [],
}  # fmt: skip
LATENCY: dict[str, Any] = {
    "schema": 1, "succeeded": True, "packets-sent": 600, "packets-received": 598, "packets-lost": 2,
    "max-clock-error": 0.35, "histogram-latency": {"12.30": 401, "12.31": 150, "13.00": 47},
}  # fmt: skip
TCP: dict[str, Any] = {
    "succeeded": True,
    "summary": {"summary": {"throughput-bits": 941e6, "retransmits": 12}, "streams": []},
}


def resolve(source: str, destination: str) -> PathKey | None:
    """The one path of these tests, by address or name."""
    ends = {A: "campus", "ps-a.example.net": "campus", B: "remote", "ps-b.example.net": "remote"}
    if source in ends and destination in ends:
        return PathKey("l2", ends[source], ends[destination])
    return None


def message(
    kind: str = "rtt",
    result: dict[str, Any] | None = None,
    spec: dict[str, Any] | None = None,
    *,
    ended: float = NOW - 5,
    name: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """What the ``http`` archiver sends for a run that lasted ten seconds; a field of None is left out."""
    name = str(uuid.uuid4()) if name is None else name
    task = "https://ps-a.example.net/pscheduler/tasks/11111111-1111-4111-8111-111111111111"
    merged = RTT if result is None else result
    began = format_timestamp(ended - 10)
    whole = {
        "id": name,
        "schedule": {"start": began, "duration": "PT21S"},
        "test": {"type": kind, "spec": {"source": A, "dest": B, "count": 3, **(spec or {})}},
        "tool": {"name": "ping", "version": "1.0"},
        "participants": ["ps-a.example.net"],
        "result": merged,
        "reference": {"id": "x"},
        "run": {
            "href": f"{task}/runs/{name}", "task-href": task, "state": "finished", "start-time": began,
            "end-time": format_timestamp(ended), "result-full": [], "result-merged": merged,
        },
        "task": {"href": task, "_key": "secret-key"},
        **fields,
    }  # fmt: skip
    return {field: value for field, value in whole.items() if value is not None}
