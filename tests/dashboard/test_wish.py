"""From the form to the request."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.errors import InvalidInput
from apps.dashboard.transfers.wish import MOST, Typed, again, moment, sliders_of, wish

CHICAGO = ZoneInfo("America/Chicago")
TEXTS = {"template": "soykb", "source": "mu-dtn", "destination": "osu-dtn", "size": "25 GB"}


def asked(**more: Any) -> dict[str, Any]:
    return wish(Typed({**TEXTS, **more}), CHICAGO)


def test_what_is_empty_is_left_out() -> None:
    assert asked(label=" ", ports="", deadline=None) == TEXTS


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("8 h", "8 h"),
        ("2026-11-23 08:00", "2026-11-23T08:00:00-06:00"),
        ("2026-07-23T08:00", "2026-07-23T08:00:00-05:00"),
        ("2026-11-23T08:00:00Z", "2026-11-23T08:00:00+00:00"),
        ("soon", "soon"),
    ],
)
def test_a_time_without_an_offset_is_meant_where_it_was_typed(text: str, meant: str) -> None:
    assert moment(text, CHICAGO) == meant
    assert asked(deadline=text)["deadline"] == meant


def test_numbers_are_numbers() -> None:
    found = asked(priority="700", streams=" 4 ", ports="5001, 5002")
    assert (found["priority"], found["streams"], found["ports"]) == (700, 4, [5001, 5002])


@pytest.mark.parametrize(("field", "text"), [("priority", "7.5"), ("streams", "٣"), ("ports", "5001 x")])
def test_what_is_no_whole_number_names_its_field(field: str, text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        asked(**{field: text})
    assert [problem.field for problem in refused.value.problems] == [field]


def test_sliders_count_only_once_moved() -> None:
    usual = {"throughput": 10.0, "loss": 2.0}
    assert "weights" not in wish(Typed(TEXTS, usual, usual), CHICAGO)
    moved = wish(Typed(TEXTS, {"throughput": 3.0, "loss": 0.0}, usual), CHICAGO)
    assert moved["weights"] == {"throughput": 3.0}


def test_something_must_matter() -> None:
    with pytest.raises(InvalidInput) as refused:
        wish(Typed(TEXTS, {"throughput": 0.0}, {"throughput": 10.0}), CHICAGO)
    assert refused.value.problems[0].field == "weights"


@given(st.dictionaries(st.sampled_from(["throughput", "rtt", "loss"]), st.floats(1e-9, 1e9), min_size=1))
def test_the_greatest_weight_stands_at_the_end(weights: dict[str, float]) -> None:
    sliders = sliders_of(weights)
    assert max(sliders.values()) == MOST
    assert all(0 <= one <= MOST for one in sliders.values())


def test_once_more_is_the_same_without_its_times() -> None:
    request = {
        **TEXTS,
        "size": "80000000 B",
        "ports": [5001],
        "deadline": "2026-11-21T06:00:00Z",
        "streams": 4,
    }
    assert again(request) == {**TEXTS, "size": "80 MB", "ports": "5001", "streams": "4"}


def test_a_size_that_has_no_short_form_stays_exact() -> None:
    assert again({**TEXTS, "size": "80000001 B"})["size"] == "80000001 B"
