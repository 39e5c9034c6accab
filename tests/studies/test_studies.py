"""Studies: what a document tells, how it travels, and a round in short."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.errors import InvalidInput
from adon.studies.model import MOST_TITLE, StudyKind, from_json, is_id, to_json
from adon.studies.packing import packed, unpacked, written
from adon.studies.reading import study_of, told_of
from adon.studies.rounds import in_short
from measurement.health.documents import from_json as round_from_json
from measurement.health.documents import to_json as round_to_json
from measurement.health.markers import Marker
from measurement.health.model import Found, Indicator, Pair
from measurement.health.record import RoundRecord
from measurement.health.scoring import around, scores
from measurement.instances import Instance
from tests.studies.documents import AT, a_round, documents

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON))
def test_what_is_packed_comes_back(document: dict[str, Any]) -> None:
    assert unpacked(packed(document)) == document
    assert packed(json.loads(json.dumps(document))) == packed(document)
    assert base64.b64decode(packed(document))[4:8] == bytes(4), (
        "no time, or it were other bytes a second later"
    )


def test_what_would_grow_too_large_is_refused_before_it_does() -> None:
    bomb = base64.b64encode(gzip.compress(b'{"a":"' + b"0" * 10_000_000 + b'"}')).decode()
    assert len(bomb) < 20_000
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        unpacked(bomb, 1000)


def _gzipped(text: bytes) -> str:
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("%", "not base64"),
        ("e30=", "not gzip"),
        (_gzipped(b"{}")[:-8], "base64|whole"),
        (base64.b64encode(gzip.compress(b"{}", mtime=0) + b"more").decode(), "one whole"),
        (_gzipped(b"[]"), "no JSON object"),
        (_gzipped(b'{"a": NaN}'), "not a JSON number"),
        (_gzipped(b"{"), "no JSON"),
        (_gzipped(b"[" * 100_000), "nested too deeply"),
    ],
)
def test_what_is_not_packed_like_this_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        unpacked(text)


@pytest.mark.parametrize(
    ("kind", "title", "words"),
    [
        (StudyKind.HEALTH_ROUND, "5 instances, mesh", ["19 of 20 pairs", "median health", "1 marker fired"]),
        (StudyKind.SNAPSHOT, "5 instances", ["20 of 20 rates", "1 shared bottleneck", "2 racks"]),
        (StudyKind.PLACEMENT, "sort", ["greedy: 40 s (bound 20 s)", "3 tasks on 2 machines"]),
        (StudyKind.EVALUATION, "two nodes: first", ["3 paths among 2 nodes", "1 failed", "30 of 30 tests"]),
    ],
)
def test_each_kind_tells_what_it_found(kind: StudyKind, title: str, words: list[str]) -> None:
    told = told_of(kind, documents()[kind])
    assert (told.at, told.title) == (AT, title)
    assert [word for word in words if word not in told.summary] == []


def test_every_marker_counts_and_a_long_title_is_cut() -> None:
    record = a_round()
    pair, (fired,) = next(iter(record.fired.items()))
    twice = replace(record, fired={pair: (fired, replace(fired, marker=Marker.THROUGHPUT))})
    assert "2 markers fired" in told_of(StudyKind.HEALTH_ROUND, round_to_json(twice)).summary
    named = study_of(StudyKind.SNAPSHOT, documents()[StudyKind.SNAPSHOT], "x" * 999, "ann", AT)
    assert len(named.title) == MOST_TITLE


@pytest.mark.parametrize("kind", StudyKind)
def test_a_document_of_one_kind_is_none_of_another(kind: StudyKind) -> None:
    for other, document in documents().items():
        if other is not kind:
            with pytest.raises(InvalidInput) as refused:
                told_of(kind, document)
            assert all(one.field.startswith("document") for one in refused.value.problems)


def test_the_field_that_is_wrong_is_named() -> None:
    document = documents()[StudyKind.PLACEMENT]
    with pytest.raises(InvalidInput) as refused:
        told_of(StudyKind.PLACEMENT, {**document, "completion_time_s": -1.0})
    assert [one.field for one in refused.value.problems] == ["document.completion_time_s"]


def test_what_no_json_can_hold_is_refused_where_nobody_reads_it_too() -> None:
    document = documents()[StudyKind.PLACEMENT]
    wrong = {**document, "limit": {**document["limit"], "seconds": float("inf")}}
    with pytest.raises(InvalidInput) as refused:
        study_of(StudyKind.PLACEMENT, wrong, "", "ann", AT)
    assert [one.field for one in refused.value.problems] == ["document"]


def test_the_same_study_is_one_whoever_hands_it_in_and_whatever_the_order_of_its_keys() -> None:
    document = documents()[StudyKind.SNAPSHOT]
    one = study_of(StudyKind.SNAPSHOT, document, "", "ann", AT)
    other = study_of(StudyKind.SNAPSHOT, dict(reversed(document.items())), "mine", "eve", AT + 9)
    assert one.id == other.id
    assert is_id(one.id)
    assert one.id == hashlib.sha256(b"snapshot\n" + written(document)).hexdigest()[:16]
    assert (one.title, other.title) == ("5 instances", "mine")
    assert one.size == len(written(document))
    assert from_json(to_json(one)) == one
    assert study_of(StudyKind.SNAPSHOT, {**document, "at": AT + 1}, "", "ann", AT).id != one.id


def test_a_round_in_short_keeps_scores_and_markers_and_is_a_round() -> None:
    whole = a_round()
    short = in_short(whole)
    assert in_short(short) == short
    assert round_from_json(round_to_json(short)) == short
    assert short.fired == whole.fired
    assert short.failures == whole.failures
    for pair, score in whole.scores.items():
        assert short.scores[pair].total == pytest.approx(score.total, abs=1e-4)
    for one in short.found.values():
        kept = (one.tcp, one.connect, one.sandwich, *one.icmp.values(), *one.udp.values())
        assert max(map(len, kept), default=0) <= 1
    assert len(packed(round_to_json(short))) < len(packed(round_to_json(whole)))


def _sampled(chance: random.Random, count: int) -> dict[Pair, Found]:
    """Pairs with skewed samples, whose medians are not their means; some lack a measurement or are silent."""

    def times(usual: float) -> tuple[float, ...]:
        return tuple(usual * chance.lognormvariate(0, 0.6) for _ in range(chance.choice((0, 1, 2, 9))))

    names = [f"i{number}" for number in range(count)]
    found = {}
    for pair in (Pair(one, other) for one in names for other in names if one != other):
        usual = chance.uniform(0.001, 0.02)
        rates = tuple(chance.uniform(1e8, 1e9) for _ in range(chance.choice((0, 1, 10))))
        icmp, udp = {64: times(usual), 512: times(usual)}, {64: times(usual), 1024: times(usual)}
        silent = frozenset(Indicator) if chance.random() < 0.1 else frozenset()
        found[pair] = Found(icmp, udp, times(0.001), times(usual), times(usual), rates, silent)
    return found


@given(st.integers(0, 2**32), st.integers(3, 7))
def test_around_a_place_a_round_in_short_says_what_its_samples_say(seed: int, count: int) -> None:
    found = _sampled(random.Random(seed), count)
    names = sorted({pair.source for pair in found})
    instances = tuple(Instance(name, f"10.0.0.{number}") for number, name in enumerate(names, 1))
    whole = RoundRecord(AT, AT + 1, instances, tuple(found), found, scores=scores(found))
    short = in_short(whole)
    kept, known = around("i0", short.found), around("i0", whole.found)
    assert kept.keys() == known.keys()
    for pair, score in known.items():
        assert (kept[pair].missing, kept[pair].timed_out) == (score.missing, score.timed_out)
        assert kept[pair].total == (None if score.total is None else pytest.approx(score.total, abs=1e-3))
        assert kept[pair].parts == pytest.approx(score.parts, abs=1e-3)
