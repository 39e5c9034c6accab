from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.errors import BadAnswer, PointError, PointUnavailable, Rejected
from measurement.model import Measurement, Metric
from measurement.pscheduler.document import Document
from measurement.pscheduler.transport import Transport
from measurement.sources.opensearch import OpenSearchArchive, read_hit
from measurement.sources.pushed import read
from measurement.sources.query import Query
from measurement.sources.received import Received
from tests.measurement.sources import messages
from tests.measurement.sources.messages import LATENCY, NOW, POINT_A, RTT, TCP, A, B
from tests.measurement.standin_opensearch import OpenSearch, logged
from tests.measurement.standin_web import Raw, serving
from tests.support.refusals import refused

ALL = Query(A, B, NOW - 3600, NOW)


@pytest.fixture
def archive() -> OpenSearch:
    return OpenSearch([])


def asked(archive: OpenSearch, query: Query = ALL, page: int = 100) -> Received:
    found = Received()
    with serving(archive.answer) as url:
        client = OpenSearchArchive(Transport(f"{url}/opensearch", pause=lambda _: None), page=page)
        for received in client.pages(query, messages.resolve, NOW):
            found += received
    return found


def values(found: Received, metric: Metric) -> list[float]:
    return [each.value for each in found.kept if isinstance(each, Measurement) and each.metric is metric]


@pytest.mark.parametrize(
    ("kind", "result", "spec"),
    [
        ("rtt", RTT, {"interval": "PT0.2S", "count": 3}),
        ("latency", LATENCY, {"packet-count": 600}),
        ("latencybg", LATENCY, {"bucket-width": 0.0001}),
        ("throughput", TCP, {"duration": "PT20S", "parallel": 4}),
    ],
)
def test_an_archived_run_is_the_same_measurement_as_the_pushed_one(
    archive: OpenSearch, kind: str, result: dict[str, Any], spec: dict[str, Any]
) -> None:
    message = messages.message(kind, result, spec)
    archive.documents = [logged(message, A, B)]
    assert asked(archive).kept == read(message, POINT_A, messages.resolve, NOW).kept


def test_only_what_was_asked_for_is_given(archive: OpenSearch) -> None:
    wanted = messages.message(ended=NOW - 600)
    archive.documents = [
        logged(wanted, A, B),
        logged(messages.message(spec={"source": B, "dest": A}), B, A),  # the other direction
        logged(messages.message(ended=NOW - 7200), A, B),  # too old
        logged(messages.message(), "203.0.113.9", B),  # somebody else's
    ]
    found = asked(archive)
    assert {value.origin for value in found.kept} == {wanted["id"]}
    assert len(found.kept) == 2
    assert found.refused == ()


def test_a_host_is_found_by_name_too(archive: OpenSearch) -> None:
    archive.documents = [logged(messages.message(spec={"dest": "ps-b.example.net"}), A, B)]
    assert (
        len(asked(archive, replace(ALL, source="ps-a.example.net", destination="ps-b.example.net")).kept) == 2
    )
    assert asked(archive, replace(ALL, source="ps-c.example.net")).kept == ()


@pytest.mark.parametrize(("number", "page"), [(0, 3), (1, 3), (3, 3), (7, 3), (10, 1)])
def test_pages_neither_skip_nor_repeat(archive: OpenSearch, number: int, page: int) -> None:
    """All of them begun in the same second: the run's id decides."""
    archive.documents = [logged(messages.message(), A, B) for _ in range(number)]
    found = asked(archive, page=page)
    assert sorted({value.origin for value in found.kept}) == sorted(
        document["pscheduler"]["run_id"] for document in archive.documents
    )


def test_a_limit_is_kept_and_said(archive: OpenSearch) -> None:
    archive.documents = [logged(messages.message(ended=NOW - 10 * n), A, B) for n in range(1, 8)]
    found = asked(archive, replace(ALL, limit=5), 3)
    assert len(found.kept) == 10
    assert max(value.observed_at for value in found.kept) == NOW - 30  # the oldest are given
    assert "5 results" in str(found.refused[-1])


def test_a_document_that_is_broken_costs_only_itself(archive: OpenSearch) -> None:
    archive.documents = [logged(messages.message(), A, B) for _ in range(4)]
    del archive.documents[1]["result"]
    archive.documents[2]["result"]["packets"]["loss"] = "none"
    found = asked(archive)
    assert len(found.kept) == 4
    causes = [refusal.cause.partition("_source.")[2] for refusal in found.refused]
    assert {cause.partition(":")[0] for cause in causes} == {"result.packets.loss", "result"}


def test_udp_loss_that_the_archive_does_not_know_stays_unknown(archive: OpenSearch) -> None:
    udp = {"succeeded": True, "summary": {"summary": {"throughput-bits": 1e7, "lost": 0}, "streams": []}}
    archive.documents = [logged(messages.message("throughput", udp, {"udp": True}), A, B)]
    found = asked(archive)
    assert values(found, Metric.LOSS) == []
    assert values(found, Metric.THROUGHPUT) == [1e7]
    assert any(refusal.cause.startswith("loss:") for refusal in found.refused)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Raw(200, b'{"hits": {"hi'), BadAnswer),
        (Raw(200, b"<html>login</html>"), BadAnswer),
        ({"hits": {"hits": "none"}}, BadAnswer),
        ({"hits": {"hits": [{"_source": {}}]}}, BadAnswer),  # without sort values there is no next page
        (Raw(403, b'{"error": "security_exception"}'), Rejected),
        (Raw(302, b"", (("Location", "https://elsewhere.example.net/"),)), BadAnswer),
        (Raw(200, b'{"a": "' + b"x" * 9 * 2**20 + b'"}'), PointError),
    ],
)
def test_an_answer_that_is_none_is_an_error_not_an_empty_page(
    archive: OpenSearch, answer: Any, error: type[Exception]
) -> None:
    archive.instead = [answer]
    with pytest.raises(error) as caught:
        asked(archive)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "partial",
    [
        {"_shards": {"failed": 1}, "hits": {"hits": []}},
        {"timed_out": True, "hits": {"hits": []}},
        Raw(503, b"busy"),
    ],
)
def test_a_part_of_an_answer_is_asked_for_again_and_then_an_error(archive: OpenSearch, partial: Any) -> None:
    archive.documents = [logged(messages.message(), A, B)]
    archive.instead = [partial]
    assert len(asked(archive).kept) == 2
    archive.instead = [partial] * 2
    with pytest.raises(PointUnavailable):
        asked(archive)


def test_an_archive_that_gives_the_same_page_for_ever_is_left(archive: OpenSearch) -> None:
    same = {"_source": logged(messages.message(), A, B), "sort": [1, "x"]}
    archive.instead = [{"hits": {"hits": [same]}}] * 5
    with refused("bad-answer", "hits"):
        asked(archive, page=1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from([("rtt", RTT), ("latency", LATENCY), ("throughput", TCP)]),
    st.sampled_from(["pscheduler", "test", "meta", "result"]),
    st.data(),
)
def test_no_document_raises(kind: tuple[str, dict[str, Any]], section: str, data: st.DataObject) -> None:
    document = logged(messages.message(*kind, name=str(uuid.UUID(int=1))), A, B)
    inside = data.draw(st.sampled_from([None, *sorted(document[section])]))
    junk = data.draw(JSON)
    document[section] = junk if inside is None else {**document[section], inside: junk}
    found = read_hit(Document("archive", "hit", {"_source": document}), messages.resolve, NOW)
    assert found.kept or found.refused


@pytest.mark.parametrize("fields", [{"since": NOW}, {"since": -1.0}, {"limit": 0}])
def test_a_query_for_nothing_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"since|limit"):
        replace(ALL, **fields)
