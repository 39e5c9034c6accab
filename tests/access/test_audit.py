from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.access import audit
from adon.access.audit import (
    COLUMNS,
    LONGEST,
    AuditEntry,
    ChainedEntry,
    Outcome,
    RepetitionCounter,
    Verification,
    chain_entries,
    clean_text,
    csv_rows,
    escape_formula,
    json_lines,
)

ENTRY = AuditEntry(
    1000.0, "ann", "token:1", "10.0.0.1", "flow.read", "GET", "/flows", Outcome.REFUSED, 403, "no"
)


def verify(lines: list[ChainedEntry], *more: Any) -> Verification:
    return audit.verify_chain((line.values for line in lines), *more)


def chain(count: int) -> list[ChainedEntry]:
    return chain_entries(None, [replace(ENTRY, at=1000.0 + number) for number in range(count)])


def end(lines: list[ChainedEntry]) -> tuple[int, str]:
    return (lines[-1].number, lines[-1].digest)


def test_a_log_that_is_whole() -> None:
    lines = chain(5)
    found = verify(lines, end(lines))
    assert (found.lines, found.head, found.problem) == (5, lines[-1].digest, None)
    assert verify([], (0, "")).problem is None


def test_it_is_chained_further() -> None:
    lines = chain(3)
    lines += chain_entries(lines[-1], [ENTRY, ENTRY])
    assert [line.number for line in lines] == [1, 2, 3, 4, 5]
    assert verify(lines, end(lines)).problem is None


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize(
    "change",
    [
        {"at": 1.0},
        {"actor": "bob"},
        {"via": "x"},
        {"address": "x"},
        {"action": "x"},
        {"method": "x"},
        {"object": "x"},
        {"outcome": Outcome.DONE},
        {"status": 200},
        {"detail": "x"},
        {"times": 2},
    ],
    ids=str,
)
def test_a_line_that_was_changed_is_found(place: int, change: dict[str, Any]) -> None:
    lines = chain(5)
    lines[place] = replace(lines[place], entry=replace(lines[place].entry, **change))
    found = verify(lines, end(lines))
    assert (found.lines, found.problem is None) == (place, False)


@pytest.mark.parametrize("place", range(5))
def test_a_line_that_was_removed_is_found(place: int) -> None:
    lines, kept = chain(5), end(chain(5))
    del lines[place]
    found = verify(lines, kept)
    assert (found.lines, found.problem is None) == (min(place, 4), False)


def test_a_line_removed_with_the_rest_renumbered_is_found() -> None:
    lines = chain(5)
    moved = [*lines[:2], *(replace(line, number=line.number - 1) for line in lines[3:])]
    assert verify(moved, end(moved)).problem is not None


def test_a_log_made_anew_is_found_by_what_was_noted() -> None:
    lines = chain(5)
    forged = chain_entries(None, [replace(line.entry, actor="bob") for line in lines])
    assert verify(forged, end(forged)).problem is None
    found = verify(forged, end(forged), {3: lines[2].digest})
    assert "line 3" in str(found.problem)
    shorter = chain(2)
    assert "line 3" in str(verify(shorter, end(shorter), {3: lines[2].digest}).problem)
    assert verify(lines, end(lines), {3: lines[2].digest}).problem is None


def test_a_log_whose_end_is_told_nowhere() -> None:
    assert verify(chain(2), None).problem


def test_what_is_kept_is_one_readable_line() -> None:
    entry = replace(ENTRY, object="/flows\n\u202ex\x00" + "y" * 1000, actor="z" * 500).sanitise()
    assert entry.object.startswith("/flows\\u000a\\u202ex\\u0000y")
    assert len(entry.object) <= LONGEST * 6
    assert (len(entry.actor), entry.actor[-1]) == (200, "…")


@given(st.text())
def test_a_cleaned_text_can_be_written_everywhere(text: str) -> None:
    assert clean_text(text).isprintable()
    clean_text(text).encode("utf-8")


# -- floods ---------------------------------------------------------------------------------------------


def test_the_first_is_written_and_the_rest_counted() -> None:
    flood = RepetitionCounter(window=60)
    assert flood.take(ENTRY, 0.0) == [ENTRY]
    assert [flood.take(replace(ENTRY, at=1000.0 + n), float(n)) for n in range(1, 50)] == [[]] * 49
    assert flood.due(59.9) == []
    assert flood.due(60.0) == [replace(ENTRY, at=1049.0, times=49)]
    assert flood.due(1e9) == []
    assert flood.take(ENTRY, 100.0) == [ENTRY]


def test_one_that_stays_alone_is_one_line() -> None:
    flood = RepetitionCounter()
    flood.take(ENTRY, 0.0)
    assert flood.due(0.0, everything=True) == []


def test_one_address_does_not_hide_another() -> None:
    flood = RepetitionCounter(per_address=10, total=100)
    written = [one for n in range(1000) for one in flood.take(replace(ENTRY, object=f"/{n}"), 0.0)]
    assert len(written) == 10
    other = replace(ENTRY, address="10.0.0.2")
    assert flood.take(other, 1.0) == [other]
    (rest,) = flood.due(60.0)
    assert (rest.times, rest.address, rest.action, rest.object) == (990, "10.0.0.1", "various", "")


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.floats(0, 30)), max_size=300))
def test_nothing_is_lost_and_the_memory_is_bounded(happened: list[tuple[int, int, float]]) -> None:
    flood, now, written = RepetitionCounter(window=20, per_address=3, total=8), 0.0, list[AuditEntry]()
    for address, obj, later in happened:
        now += later
        written += flood.take(replace(ENTRY, address=str(address), object=f"/{obj}"), now)
        assert len(flood._kinds) <= 8 + 8 + 1
    written += flood.due(now, everything=True)
    assert sum(one.times for one in written) == len(happened)
    assert not flood._kinds


# -- exports --------------------------------------------------------------------------------------------


@given(st.text(max_size=20))
def test_no_cell_is_a_formula(text: str) -> None:
    assert not escape_formula(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_csv_is_read_back() -> None:
    lines = chain_entries(None, [replace(ENTRY, object='a,"b"\nc', detail="=1")])
    header, row = csv.reader(io.StringIO("".join(csv_rows(line.values for line in lines))))
    assert tuple(header) == COLUMNS
    assert dict(zip(header, row, strict=True))["object"] == 'a,"b"\nc'
    assert dict(zip(header, row, strict=True))["detail"] == "'=1"
    assert row[1] == "1970-01-01T00:16:40+00:00"


def test_a_row_that_holds_what_no_line_can_was_changed() -> None:
    rows = [list(line.values) for line in chain(3)]
    rows[1][COLUMNS.index("outcome")] = "excused"
    rows[2][COLUMNS.index("times")] = None
    assert audit.verify_chain(rows, end(chain(3))).lines == 1
    assert audit.verify_chain(rows[:1], None).lines == 1


def test_json_lines_have_the_values_by_name() -> None:
    lines = chain_entries(None, [ENTRY])
    (text,) = json_lines(line.values for line in lines)
    body = json.loads(text)
    assert tuple(body) == COLUMNS
    assert (body["number"], body["outcome"], body["digest"]) == (1, "refused", lines[0].digest)
