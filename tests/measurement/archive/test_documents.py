from __future__ import annotations

import math

import pytest

from measurement.archive import Archive
from measurement.errors import LeaseLost
from measurement.model import Series
from tests.measurement.archive.values import LOAD, measured
from tests.support.refusals import refused

OTHER = Series("a/b", "c", "d", "rtt")


def test_a_document_takes_the_place_of_the_last_one(archive):
    archive.put_document("alarm", "1", 10, LOAD, {"text": "down", "at": 0.1}, is_open=True)
    archive.put_document("alarm", "1", 11, LOAD, {"text": "up"})
    assert archive.document("alarm", "1") == {"text": "up"}
    assert archive.documents("alarm", open_only=True) == []
    assert archive.document("alarm", "2") is None
    assert archive.document("execution", "1") is None


def test_documents_by_kind_series_time_and_openness(archive):
    for n in range(6):
        series = (LOAD, OTHER, None)[n % 3]
        archive.put_document("alarm", str(n), float(n), series, {"n": n}, is_open=n > 3)
    archive.put_document("other", "9", 9.0, LOAD, {"n": 9})

    def found(**wanted):
        return [one["n"] for one in archive.documents("alarm", **wanted)]

    assert found() == [5, 4, 3, 2, 1, 0]
    assert found(series=LOAD) == [3, 0]
    assert found(series=OTHER, open_only=True) == [4]
    assert found(since=2, until=4) == [3, 2]
    assert found(limit=2) == [5, 4]


def test_a_document_can_be_forgotten(archive):
    archive.put_document("alarm", "1", 10, None, {})
    assert archive.delete_document("alarm", "1")
    assert not archive.delete_document("alarm", "1")
    assert archive.documents("alarm") == []


def test_what_is_no_json_is_no_document(archive):
    for wrong in ({"a": math.inf}, {"a": object()}):
        with refused(ValueError, "document"):
            archive.put_document("alarm", "1", 10, None, wrong)
    assert archive.document("alarm", "1") is None


def test_states_survive(where):
    with Archive(where) as archive:
        assert archive.state("watch") is None
        archive.put_state("watch", b"\0\xff one")
        archive.put_state("watch", b"two")
        archive.put_state("other", b"")
    with Archive(where, readonly=True) as archive:
        assert (archive.state("watch"), archive.state("other")) == (b"two", b"")


def test_a_lease_is_one_holders_until_it_ends(archive):
    steps = [
        ("a", 0, True),  # free
        ("b", 9.9, False),  # a's until 10
        ("a", 5, True),  # renewed: until 15
        ("b", 10, False),
        ("b", 15, True),  # over
        ("a", 16, False),
        ("b", 16, True),
        ("a", -100, False),  # a clock that steps back gets nothing
    ]
    assert [archive.lease("collector", holder, now, 10) for holder, now, _ in steps] == [e for *_, e in steps]
    assert archive.lease("another", "a", 16, 10)


def test_who_lost_the_lease_cannot_write_until_it_has_it_again(where):
    with Archive(where) as first, Archive(where) as second, Archive(where) as stranger:
        assert first.lease("collector", "first", 0, 10)
        assert not second.lease("collector", "second", 5, 10)
        with refused("lease-lost"):
            second.append([measured(1, 5)])
        first.append([measured(2, 6)])
        first.append([measured(3, 60)])  # it is over, but nobody else has taken it
        assert second.lease("collector", "second", 61, 10)
        second.append([measured(4, 61)])
        # The first was suspended and does not know: whatever it writes is refused.
        for write in (
            lambda: first.append([measured(5, 62)]),
            lambda: first.put_state("watch", b""),
            lambda: first.put_document("alarm", "1", 1, None, {}),
            lambda: first.delete_document("alarm", "1"),
            lambda: first._roll_up(),
        ):
            with pytest.raises(LeaseLost):
                write()
        stranger.append([measured(6, 63)])  # an import asks for no lease and needs none
        assert first.lease("collector", "first", 80, 10)
        first.append([measured(7, 80)])
        assert [m.value for m in stranger.query()] == [7, 6, 4, 3, 2]


def test_a_reader_takes_no_lease(where):
    Archive(where).close()
    with Archive(where, readonly=True) as archive, refused("read-only"):
        archive.lease("collector", "a", 0, 10)
