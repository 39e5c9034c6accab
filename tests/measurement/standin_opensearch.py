"""An OpenSearch that has perfSONAR's documents, and evaluates the part of its query language that is used.

Strict where the real one silently finds nothing: exact match on text needs the ``.keyword`` twin.
"""

from __future__ import annotations

import fnmatch
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from measurement.pscheduler.iso8601 import parse_duration
from tests.measurement.standin_web import Asked, Raw

_IP = ("meta.source.ip", "meta.destination.ip")
_DATES = ("pscheduler.start_time",)


class OpenSearch:
    """Documents and what is done with a search."""

    def __init__(self, documents: list[dict[str, Any]]) -> None:
        self.documents = documents
        self.asked: list[Asked] = []
        self.instead: list[Any] = []

    def answer(self, asked: Asked) -> Any:
        """One request; ``instead`` holds answers to give first."""
        self.asked.append(asked)
        if self.instead:
            return self.instead.pop(0)
        parts = asked.path.split("/")
        if asked.method != "POST" or parts[-1] != "_search":
            return Raw(405, b"{}")
        patterns = unquote(parts[-2]).split(",")
        try:
            return self._search(patterns, asked.body)
        except ValueError as error:
            return Raw(400, str(error).encode())

    def _search(self, patterns: list[str], body: dict[str, Any]) -> dict[str, Any]:
        unknown = set(body) - {"size", "sort", "query", "search_after", "track_total_hits"}
        if unknown or body["size"] > 10_000:
            raise ValueError(f"illegal: {unknown or 'size'}")
        names = [next(iter(item)) for item in body["sort"]]
        found = [
            (tuple(_sort_value(document, name) for name in names), document)
            for document in self.documents
            if any(fnmatch.fnmatch(f"pscheduler_{document['test']['type']}", p) for p in patterns)
            and _matches(document, body["query"])
        ]
        found.sort(key=lambda item: item[0])
        if "search_after" in body:
            found = [item for item in found if item[0] > tuple(body["search_after"])]
        hits = [
            {"_index": "pscheduler", "_id": str(number), "_source": document, "sort": list(values)}
            for number, (values, document) in enumerate(found[: body["size"]])
        ]
        return {"timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": hits}}


def _matches(document: dict[str, Any], query: dict[str, Any]) -> bool:
    [(kind, what)] = query.items()
    if kind == "bool":
        should = what.get("should", [])
        return all(_matches(document, each) for each in what.get("filter", [])) and (
            sum(_matches(document, each) for each in should) >= what.get("minimum_should_match", 0)
        )
    [(field, wanted)] = what.items()
    if kind in ("term", "terms"):
        return _exact(document, field) in (wanted if kind == "terms" else [wanted])
    if kind == "range":
        at = _sort_value(document, field)
        return _milliseconds(wanted["gte"]) <= at < _milliseconds(wanted["lt"])
    raise ValueError(f"unknown query {kind}")


def _exact(document: dict[str, Any], field: str) -> Any:
    if field in _IP:
        return _at(document, field)
    if not field.endswith(".keyword"):
        raise ValueError(f"{field} is analysed text")
    return _at(document, field.removesuffix(".keyword"))


def _sort_value(document: dict[str, Any], field: str) -> Any:
    if field in _DATES:
        return _milliseconds(_at(document, field))
    return _exact(document, field)


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def _at(document: Any, field: str) -> Any:
    for name in field.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def logged(message: dict[str, Any], source: str, destination: str) -> dict[str, Any]:
    """The document that perfSONAR's logstash makes of an archiver's message."""
    test, run = message["test"], message["run"]
    spec = dict(test["spec"])
    for name in ("duration", "interval"):
        if name in spec:
            spec[name] = parse_duration(spec[name])
    return {
        "@timestamp": run["end-time"],
        "pscheduler": {
            "start_time": run["start-time"], "end_time": run["end-time"], "run_href": run["href"],
            "run_id": message["id"], "task_href": run["task-href"], "tool": message["tool"]["name"],
        },
        "test": {"type": test["type"], "spec": spec},
        "meta": {
            "source": {"ip": source, "hostname": "ps-a.example.net"}, "destination": {"ip": destination},
        },
        "result": _result(test["type"], message["result"]),
    }  # fmt: skip


def _result(test: str, merged: dict[str, Any]) -> dict[str, Any]:
    if not merged["succeeded"]:
        return {"succeeded": False, "error": merged.get("error")}
    if test == "throughput":
        overall = merged["summary"]
        streams = overall["streams"] if len(overall["streams"]) > 1 else None
        return {
            "succeeded": True, "throughput": overall["summary"]["throughput-bits"],
            "retransmits": overall["summary"].get("retransmits"), "packets_lost": 0,
            **({} if streams is None else {"streams": {"json": streams}}),
        }  # fmt: skip
    if test == "rtt":
        packets = {name: merged[name] for name in ("sent", "received", "lost", "loss")}
        times = {
            name: parse_duration(merged[name]) for name in ("min", "max", "mean", "stddev") if name in merged
        }
        return {"succeeded": True, "rtt": times, "packets": {**packets, "json": merged["roundtrips"]}}
    histogram = merged["histogram-latency"]
    values = {"values": [float(key) for key in histogram], "counts": list(histogram.values())}
    packets = {name: merged[f"packets-{name}"] for name in ("sent", "received", "lost")}
    found = {"succeeded": True, "latency": {"histogram": values}, "packets": packets}
    return {**found, "max_clock_error": merged["max-clock-error"]} if "max-clock-error" in merged else found
