"""Series: what is joined, what is drawn, what is saved; addresses of charts."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from adon.api.measurements import BucketView
from apps.dashboard.network.series_data import Direction, harmless, split_runs

UTC = ZoneInfo("UTC")
T = 1_760_000_000.0


def bucket(at: float, mean: float, seconds: float = 60.0, count: int = 5) -> BucketView:
    shares = {"0.05": 0.9, "0.25": 0.95, "0.5": 1.0, "0.75": 1.05, "0.95": 1.1}
    return BucketView(
        start=T + at,
        seconds=seconds,
        count=count,
        minimum=mean * 0.8,
        mean=mean,
        maximum=mean * 1.2,
        quantiles={name: mean * share for name, share in shares.items()},
    )


HOUR = [bucket(60.0 * minute, 58e6) for minute in (0, 1, 2, 30, 31, 32)]


@pytest.mark.parametrize("text", ["", "al2s", "[]", '["a", "b"]', '["a", 1, "b"]', "null", '{"a": 1}'])
def test_what_is_no_direction_is_none(text: str) -> None:
    assert Direction.read(text) is None


def test_a_gap_stays_a_gap() -> None:
    assert split_runs(HOUR) == [HOUR[:3], HOUR[3:]]
    assert split_runs(HOUR[:1]) == [HOUR[:1]]
    assert split_runs([]) == []


# -- as text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(cell: str) -> None:
    assert harmless(cell) == f"'{cell}"


# -- addresses -----------------------------------------------------------------------------------------
