"""Results out of a perfSONAR archive (version 5): OpenSearch, as logstash has filled it.

logstash stores a run's result in another layout: durations are seconds, names have changed, and some of it
is gone (the receiver's throughput, the order of packets).  A document is therefore turned back into the
result that pScheduler merged, as far as it is there, and read by the reader of results: one place knows what
a value means.  What is gone stays gone: throughput is the sender's, jitter is that of the histogram.

Pages follow each other by ``search_after`` on (start time, run's id), which neither skips nor repeats
when documents are added meanwhile.  An answer for a part of the shards is an error, not a short answer:
missing is never taken for absent.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from measurement.errors import BadAnswer, PointError, PointUnavailable, shorten
from measurement.model import origin_of
from measurement.pscheduler.document import Document
from measurement.pscheduler.iso8601 import format_duration, format_timestamp
from measurement.pscheduler.transport import Transport
from measurement.sources.query import Query
from measurement.sources.received import Received, Refusal, Report, Resolve, receive, refuse

PAGE = 500
ATTEMPTS = 2
_INDEXES = "pscheduler_throughput*,pscheduler_rtt*,pscheduler_latency*"
_TESTS = ["throughput", "rtt", "latency", "latencybg"]
_SENT = {"packets-sent": "sent", "packets-lost": "lost", "packets-received": "received"}


class OpenSearchArchive:
    """One archive.

    Every method raises :class:`~measurement.errors.PointError` when it cannot be asked or does not
    answer as OpenSearch does.

    :param transport: to ``https://ARCHIVE/opensearch``.
    :param page: documents per request.
    """

    def __init__(self, transport: Transport, *, page: int = PAGE) -> None:
        self._http = transport
        self._page = page

    def pages(self, query: Query, resolve: Resolve, now: float) -> Iterator[Received]:
        """The results, oldest first, a page at a time."""
        after: list[object] | None = None
        left = query.limit
        while left > 0:
            size = min(self._page, left)
            hits = self._search(search_body(query, size, after))
            if not hits:
                return
            if len(hits) > size:
                raise BadAnswer(self._http.host, f"hits: {len(hits)} documents, asked for {size}")
            received = Received()
            for hit in hits:
                received += read_hit(hit, resolve, now)
            yield received
            following = _sort_values(hits[-1])
            if following == after:
                raise BadAnswer(self._http.host, "hits: the same page again")
            after, left = following, left - len(hits)
        cause = f"more than {query.limit} results: the newest are left out"
        yield refuse(self._http.host, cause, "too-large")

    def _search(self, body: Mapping[str, object]) -> list[Document]:
        path = f"/{quote(_INDEXES, safe=',*')}/_search"
        params = {"ignore_unavailable": "true", "allow_no_indices": "true"}
        for _ in range(ATTEMPTS - 1):
            try:
                return self._hits(self._http.post(path, body, params).json())
            except PointError as error:
                if not error.temporary:
                    raise
        return self._hits(self._http.post(path, body, params).json())

    def _hits(self, answer: object) -> list[Document]:
        document = Document.of(self._http.host, "", answer)
        failed = document.child("_shards").count("failed") if document.has("_shards") else 0
        if failed or document.fields.get("timed_out") is True:
            raise PointUnavailable(self._http.host, "answers for a part of its shards only")
        return list(document.child("hits").children("hits"))


def search_body(query: Query, size: int, after: list[object] | None) -> dict[str, object]:
    """The body of a search for one page.

    :param after: the sort values of the last document of the page before.
    """
    begun = {
        "gte": format_timestamp(query.since, fraction=True),
        "lt": format_timestamp(query.until, fraction=True),
    }
    body: dict[str, object] = {
        "size": size,
        "track_total_hits": False,
        "sort": [
            {"pscheduler.start_time": {"order": "asc", "unmapped_type": "date"}},
            {"pscheduler.run_id.keyword": {"order": "asc", "unmapped_type": "keyword"}},
        ],
        "query": {
            "bool": {
                "filter": [
                    {"terms": {"test.type.keyword": _TESTS}},
                    _end("source", "source", query.source),
                    _end("destination", "dest", query.destination),
                    {"range": {"pscheduler.start_time": begun}},
                ]
            }
        },
    }
    return body if after is None else {**body, "search_after": after}


def _end(side: str, field: str, name: str) -> dict[str, object]:
    try:
        return {"term": {f"meta.{side}.ip": str(ipaddress.ip_address(name))}}
    except ValueError:
        # A name is found as the archive resolved it, or as the task gave it.
        named = [
            {"term": {f"meta.{side}.hostname.keyword": name}},
            {"term": {f"test.spec.{field}.keyword": name}},
        ]
        return {"bool": {"should": named, "minimum_should_match": 1}}


def read_hit(hit: Document, resolve: Resolve, now: float) -> Received:
    """The values of one document of a search's answer."""
    try:
        report = _report(hit.child("_source"))
    except BadAnswer as error:
        return refuse(f"{hit.host}: {shorten(str(hit.fields.get('_id')), 60)}", error.cause, "malformed")
    return receive(report, resolve, now)


def _sort_values(hit: Document) -> list[object]:
    values = hit.fields.get("sort")
    if not isinstance(values, list) or not values:
        hit.refuse("sort", "is missing: the next page cannot be asked for")
    return values


def _report(source: Document) -> Report:
    run, test = source.child("pscheduler"), source.child("test")
    name = test.text("type")
    url = run.text("run_href") if run.has("run_href") else f"pscheduler:/runs/{run.text('run_id')}"
    if origin_of(url) == url:
        run.refuse("run_href", "names no run")
    return Report(
        source.host,
        name,
        _spec(test.child("spec"), source),
        _result(name, source.child("result")),
        url,
        run.time("start_time"),
        run.time("end_time"),
        run.text("tool") if run.has("tool") else "",
    )


def _spec(spec: Document, source: Document) -> dict[str, object]:
    """The specification, with both ends named; its durations are seconds here, which is read as well."""
    fields = dict(spec.fields)
    meta = source.child("meta") if source.has("meta") else Document(source.host, "meta", {})
    for side, field in (("source", "source"), ("destination", "dest")):
        if field not in fields and meta.has(side) and meta.child(side).has("ip"):
            fields[field] = meta.child(side).text("ip")
    return fields


def _result(test: str, found: Document) -> dict[str, Any]:
    """The merged result that logstash made ``result`` of, as far as it can be made again."""
    whole: dict[str, Any] = {name: found.fields[name] for name in ("succeeded", "error") if found.has(name)}
    if whole.get("succeeded") is not True:
        return whole
    if test == "throughput":
        return {**whole, "summary": _throughput(found)}
    if test == "rtt":
        return {**whole, **_rtt(found)}
    return {**whole, **_latency(found)}


def _throughput(found: Document) -> dict[str, Any]:
    summary: dict[str, Any] = {"throughput-bits": found.number("throughput")}
    if found.has("retransmits"):
        summary["retransmits"] = found.count("retransmits")
    # Without streams UDP loss stays unknown: what the summary says of it is 0 at any loss.
    streams = found.child("streams").fields.get("json") if found.has("streams") else None
    return {"summary": summary, "streams": streams if isinstance(streams, list) else []}


def _rtt(found: Document) -> dict[str, Any]:
    packets = found.child("packets")
    times = found.child("rtt") if found.has("rtt") else Document(found.host, "rtt", {})
    trips = packets.fields.get("json")
    return {
        **{name: packets.count(name) for name in ("sent", "lost", "received") if packets.has(name)},
        **{
            name: format_duration(times.amount(name))
            for name in ("min", "max", "mean", "stddev")
            if times.has(name)
        },
        "loss": packets.amount("loss"),
        "roundtrips": trips if isinstance(trips, list) else [],
    }


def _latency(found: Document) -> dict[str, Any]:
    packets = found.child("packets")
    result: dict[str, Any] = {
        name: packets.count(field) for name, field in _SENT.items() if packets.has(field)
    }
    if found.has("max_clock_error"):
        result["max-clock-error"] = found.amount("max_clock_error")
    return {**result, "histogram-latency": _histogram(found)}


def _histogram(found: Document) -> dict[str, object]:
    if not found.has("latency") or not found.child("latency").has("histogram"):
        return {}
    histogram = found.child("latency").child("histogram")
    values, counts = histogram.fields.get("values"), histogram.fields.get("counts")
    if not isinstance(values, list) or not isinstance(counts, list) or len(values) != len(counts):
        histogram.refuse("values", "must be a list as long as counts")
    return {
        f"{value:.2f}" if isinstance(value, float) else str(value): count
        for value, count in zip(values, counts, strict=True)
    }


__all__ = ["OpenSearchArchive", "Query", "Refusal", "read_hit", "search_body"]
