"""Forms: reading of values and placement of problems."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from adon.errors import InvalidInput, NotFound, Problem
from apps.dashboard.entry_form import EntryForm, FormField, read_moment
from tests.dashboard.reading import text

FORM = EntryForm(
    "transfer",
    (
        FormField("size", "Size", "25 GB"),
        FormField("streams", "Streams", "4", kind="integer"),
        FormField("ports", "Ports", "5001 5002", kind="integers"),
        FormField("deadline", "Deadline", kind="time"),
    ),
)
ZONE = ZoneInfo("America/Chicago")


def test_empty_fields_are_left_out_and_others_are_read_by_kind() -> None:
    values = [" 25 GB ", "4", "5001, 5002", "2026-11-23 08:00"]
    assert FORM.read(values, ZONE) == {
        "size": "25 GB",
        "streams": 4,
        "ports": [5001, 5002],
        "deadline": "2026-11-23T08:00:00-06:00",
    }
    assert FORM.read(["", None, " ", ""], ZONE) == {}


@pytest.mark.parametrize("typed", ["many", "-1", "2.5", "²", "1" * 10])
def test_text_in_a_number_field_is_a_problem_of_the_field(typed: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        FORM.read(["", typed, f"5001 {typed}", ""], ZONE)
    assert [one.field for one in refused.value.problems] == ["streams", "ports"]


def test_duration_is_left_to_the_api() -> None:
    assert read_moment("8 h", ZONE) == "8 h"


def test_problem_is_placed_at_its_field_and_others_in_a_box() -> None:
    error = InvalidInput([Problem("path.size", "has no unit"), Problem("ports.0", "is taken")])
    box, problems = FORM.place_problems(error)
    assert (box, problems) == (None, ["has no unit", "", "is taken", ""])
    box, problems = FORM.place_problems(NotFound("flow", "f-9"))
    assert "f-9" in text(box)
    assert problems == [""] * 4
