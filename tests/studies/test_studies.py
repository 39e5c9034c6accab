"""Studies: what a document tells, how it travels, and a round in short."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.errors import InvalidInput
from adon.studies.model import Study, StudyKind, is_id
from adon.studies.packing import packed, unpacked, written
from adon.studies.reading import study_of, told_of
from measurement.model import from_json, to_json
from tests.studies.documents import AT, documents
from tests.support.refusals import refused

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
    with refused(ValueError):
        unpacked(bomb, 1000)


def _gzipped(text: bytes) -> str:
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()


@pytest.mark.parametrize(
    "text",
    [
        "%",
        "e30=",
        _gzipped(b"{}")[:-8],
        base64.b64encode(gzip.compress(b"{}", mtime=0) + b"more").decode(),
        _gzipped(b"[]"),
        _gzipped(b'{"a": NaN}'),
        _gzipped(b"{"),
        _gzipped(b"[" * 100_000),
    ],
)
def test_what_is_not_packed_like_this_is_refused(text: str) -> None:
    with refused(ValueError):
        unpacked(text)


@pytest.mark.parametrize("kind", StudyKind)
def test_a_document_of_one_kind_is_none_of_another(kind: StudyKind) -> None:
    for other, document in documents().items():
        if other is not kind:
            with pytest.raises(InvalidInput) as refusal:
                told_of(kind, document)
            assert all(one.field.startswith("document") for one in refusal.value.problems)


def test_the_field_that_is_wrong_is_named() -> None:
    document = documents()[StudyKind.PLACEMENT]
    with pytest.raises(InvalidInput) as refusal:
        told_of(StudyKind.PLACEMENT, {**document, "completion_time_s": -1.0})
    assert [one.field for one in refusal.value.problems] == ["document.completion_time_s"]


def test_the_same_study_is_one_whoever_hands_it_in_and_whatever_the_order_of_its_keys() -> None:
    document = documents()[StudyKind.SNAPSHOT]
    one = study_of(StudyKind.SNAPSHOT, document, "", "ann", AT)
    other = study_of(StudyKind.SNAPSHOT, dict(reversed(document.items())), "mine", "eve", AT + 9)
    assert one.id == other.id
    assert is_id(one.id)
    assert one.id == hashlib.sha256(b"snapshot\n" + written(document)).hexdigest()[:16]
    assert (one.title, other.title) == ("5 instances", "mine")
    assert one.size == len(written(document))
    assert from_json(Study, to_json(one)) == one
    assert study_of(StudyKind.SNAPSHOT, {**document, "at": AT + 1}, "", "ann", AT).id != one.id
