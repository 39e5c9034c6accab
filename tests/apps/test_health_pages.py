"""Pages of rounds: what they say, and that nothing in a round can become markup."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from apps.health.pages import diagnosis_page, map_page, report, selection
from measurement.health.datasets import of_rounds
from measurement.health.diagnostics import diagnose
from measurement.health.model import Found, Indicator, Pair
from measurement.health.profiles import mesh
from measurement.health.record import Failure, ProbeKind, RoundRecord
from measurement.health.round_judgement import judge_round
from tests.measurement.health.rounds import changed, found, instances
from tests.support.refusals import refused

NAMES = ("b1", "a1", "a2", "b2", "c1")
ZONES = {"a": "east-a", "b": "east-b", "c": ""}
DEAD = Pair("a1", "c1")


def a_round(hour: int = 1) -> RoundRecord:
    listed = tuple(replace(one, zone=ZONES[one.name[0]]) for one in instances(NAMES))
    chance = random.Random(hour)

    def times() -> tuple[float, ...]:
        return tuple(chance.uniform(0.001, 0.01) for _ in range(3))

    of = {
        pair: replace(
            found(0.001, chance.uniform(1e8, 1e9)), icmp={64: times()}, udp={64: times()}, tcp=times()
        )
        for pair in mesh(NAMES)
        if pair.source != "c1"
    }
    of[DEAD] = Found(silent=frozenset(Indicator))
    record = RoundRecord.of(3600.0 * hour, 3600.0 * hour + 9, listed, mesh(NAMES), of)
    return judge_round(record, []).record


@pytest.fixture(scope="module")
def whole() -> str:
    record = changed(
        a_round(),
        verified={Pair("a1", "a2"): (1.1e8, 1.1e8)},
        failures=(Failure(Pair("c1", "a1"), ProbeKind.LIGHT, "c1: <b>gone</b>"),),
        interrupted="it was stopped",
    )
    data = of_rounds([a_round(hour) for hour in (1, 2, 3)])
    return report(record, selection(record, "a1", 8), diagnose(data))


def test_a_report_says_it_all(whole: str) -> None:
    text = re.sub(r"\s+", " ", whole)
    for shown in ("1970-01-01T01:00:00Z", "20 pairs", "1 pairs", "sandwich", "healthiest 3", "Off by"):
        assert shown in text


def test_nothing_is_fetched_and_nothing_of_a_round_is_markup(whole: str) -> None:
    without_scripts = re.sub(r"<script.*?</script>", "", whole, flags=re.DOTALL)
    assert not re.findall(r"(?:src|href)\s*=", without_scripts)
    assert "&lt;b&gt;gone" in without_scripts
    assert "<b>gone" not in without_scripts


def test_a_map_and_a_diagnosis_are_pages_of_their_own() -> None:
    assert map_page(a_round()).startswith("<!doctype html>")
    data = of_rounds([a_round(hour) for hour in (1, 2, 3)])
    page = diagnosis_page(diagnose(data))
    assert page.startswith("<!doctype html>")
    assert "next_throughput" in page


def test_whom_to_take_where_fewer_are_known() -> None:
    chosen = selection(a_round(), "a1", 8)
    assert chosen is not None
    assert len(chosen.best.instances) == 3, "c1 told nothing"
    assert chosen.best.health >= chosen.worst.health
    nobody = changed(a_round(), found={}, scores={}, fired={})
    assert selection(nobody, "a1", 8) is None
    assert selection(nobody, None, 8) is None
    with refused(ValueError):
        selection(a_round(), "x", 8)
