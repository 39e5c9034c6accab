"""Times in the viewer's zone, in UTC where that is asked for."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from adon.errors import InvalidInput
from apps.cli.times import since, span

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def in_new_york(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_new_york")
def test_times_are_the_viewers_unless_utc_is_asked_for(adon, world):
    world.fill(world.submit())
    step = json.loads(adon("flow", "show", "f-1", "--json").stdout)["history"][0]["at"]
    at = datetime.fromisoformat(step)
    assert at.utcoffset().total_seconds() == 0  # JSON stays as it came
    shown = adon("flow", "show", "f-1").stdout
    assert f"{at.astimezone():%Y-%m-%d %H:%M:%S %Z}" in shown
    assert "EST" in shown or "EDT" in shown
    for arguments in (("--utc", "flow", "show", "f-1"), ("flow", "show", "f-1", "--utc")):
        assert f"{at:%Y-%m-%d %H:%M:%S} UTC" in adon(*arguments).stdout
    assert "UTC" not in adon("flow", "show", "f-1").stdout.replace(step, "")


@pytest.mark.usefixtures("in_new_york")
@pytest.mark.parametrize(
    ("begins", "ends", "told"),
    [
        ("2026-01-05T15:00:00Z", "2026-01-05T16:30:00Z", "2026-01-05 10:00 to 11:30 EST"),
        ("2026-01-06T04:00:00Z", "2026-01-06T06:00:00Z", "2026-01-05 23:00 to 2026-01-06 01:00 EST"),
    ],
)
def test_a_span_has_its_second_day_where_that_is_another(begins, ends, told):
    assert span(begins, ends) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2 h", "2026-11-21T10:00:00+00:00"),
        ("7 d", "2026-11-14T12:00:00+00:00"),
        ("2026-11-20T00:00:00Z", "2026-11-20T00:00:00+00:00"),
        ("2026-11-20T00:00:00-05:00", "2026-11-20T00:00:00-05:00"),
    ],
)
def test_since_when_is_a_time_or_how_long_ago(text, told):
    assert since(text, NOW, "--since") == told


@pytest.mark.parametrize("text", ["", "yesterday", "2", "2026-11-20T00:00:00", "99999999 d", "-2 h"])
def test_another_text_is_refused_by_option(text):
    with pytest.raises(InvalidInput) as refused:
        since(text, NOW, "--since")
    assert refused.value.problems[0].field == "--since"
