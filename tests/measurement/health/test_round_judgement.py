"""Rounds after each other: what fires, what is probed again, what is carried over; and kept in a folder."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.history import History, read
from measurement.health.markers import Marker, Tolerance
from measurement.health.model import Found, Indicator, Pair, Round
from measurement.health.pair_scores import Part
from measurement.health.record import Failure, ProbeKind, RoundRecord
from measurement.health.round_judgement import carried_over, due, judge_round, together
from measurement.model import to_json
from tests.measurement.health.rounds import changed, found, instances, records
from tests.support.refusals import refused

A_B, B_A = Pair("a", "b"), Pair("b", "a")
HOUR = 3600.0
LIGHT = replace(found(), throughput=())
SLOW = replace(found(0.05), throughput=())
GONE = Found(silent=frozenset(Indicator))


def at(hour: float, of: Round, carried: frozenset[Pair] = frozenset()) -> RoundRecord:
    return RoundRecord.of(hour * HOUR, hour * HOUR, instances("ab"), (A_B, B_A), of, carried=carried)


BOTH = {A_B: replace(found(), icmp={64: (0.009, 0.010, 0.011)}), B_A: found()}


class TestJudged:
    def test_a_round_gets_scores_and_what_fires(self) -> None:
        now = at(2, {A_B: replace(BOTH[A_B], icmp={64: (0.02, 0.02, 0.02)}), B_A: found()})
        got = judge_round(now, [at(1, BOTH)])
        assert {pair: [one.marker for one in its] for pair, its in got.record.fired.items()} == {
            A_B: [Marker.ICMP]
        }
        assert got.record.scores[A_B].total == pytest.approx(0.8)
        assert got.tolerances[A_B][Marker.ICMP].fired == pytest.approx(0.1)

    def test_the_first_round_says_nothing_about_tolerance(self) -> None:
        assert judge_round(at(1, BOTH), []).tolerances == {}

    def test_what_fires_all_the_time_widens_its_tolerance(self) -> None:
        tolerances: Mapping[Pair, Mapping[Marker, Tolerance]] = {}
        for hour in range(2, 8):
            now = at(hour, {A_B: replace(BOTH[A_B], icmp={64: (0.02, 0.02, 0.02)})})
            tolerances = judge_round(now, [at(1, BOTH)], tolerances).tolerances
        assert tolerances[A_B][Marker.ICMP].factor > 1
        assert tolerances[A_B][Marker.TCP].factor == 1

    def test_what_was_carried_over_was_usual_then(self) -> None:
        fast, slow = ({A_B: replace(found(), throughput=(rate,))} for rate in (9e8, 1e8))
        before = [at(1, fast), *(at(hour, fast, frozenset({A_B})) for hour in (2, 3))]
        assert [one.marker for one in judge_round(at(4, slow), before).record.fired[A_B]] == [
            Marker.THROUGHPUT
        ]

    def test_a_marker_does_not_fire_again_for_what_is_carried_over(self) -> None:
        fast, slow = ({A_B: replace(found(), throughput=(rate,))} for rate in (9e8, 1e8))
        before = [*(at(hour, fast) for hour in (1, 2, 3)), at(4, slow)]
        carried = carried_over(at(5, {A_B: LIGHT}), before)
        assert carried.found[A_B].throughput == (1e8,)
        got = judge_round(carried, before).record
        assert got.fired == {}
        assert got.scores[A_B].parts[Part.THROUGHPUT] == 1


class TestProbedAgain:
    @pytest.mark.parametrize(
        ("light", "before", "pairs"),
        [
            ({A_B: LIGHT, B_A: LIGHT}, [at(1, BOTH)], ()),
            ({A_B: SLOW, B_A: LIGHT}, [at(1, BOTH)], (A_B,)),  # a marker fires
            ({A_B: LIGHT, B_A: LIGHT}, [], (A_B, B_A)),  # nothing is known
            ({A_B: LIGHT, B_A: LIGHT}, [at(-9, BOTH)], (A_B, B_A)),  # too old
            ({A_B: LIGHT}, [at(-9, BOTH), at(1, BOTH, frozenset({A_B}))], (A_B,)),  # only carried since
            ({A_B: GONE, B_A: LIGHT}, [], (B_A,)),  # who has timed out is not loaded
        ],
    )
    def test_markers_and_age_decide(
        self, light: Round, before: list[RoundRecord], pairs: tuple[Pair, ...]
    ) -> None:
        steady = [at(1, {pair: replace(one, throughput=()) for pair, one in BOTH.items()})]
        got = judge_round(at(2, light), steady).record
        assert due(got, before, max_age=10 * HOUR) == pairs

    @pytest.mark.parametrize(("max_age", "pairs"), [(HOUR, ()), (0.999 * HOUR, (A_B, B_A))])
    def test_what_is_just_as_old_as_it_may_be_is_not(self, max_age: float, pairs: tuple[Pair, ...]) -> None:
        assert due(at(2, {A_B: LIGHT, B_A: LIGHT}), [at(1, BOTH)], max_age) == pairs

    def test_how_a_throughput_was_found_is_carried_over_with_it(self) -> None:
        before = [changed(at(1, BOTH), by_transfer=frozenset({B_A}))]
        got = carried_over(at(2, {A_B: LIGHT, B_A: LIGHT}), before)
        assert (got.carried, got.by_transfer) == ({A_B, B_A}, {B_A})

    def test_the_rest_is_carried_over_and_marked(self) -> None:
        before = [at(1, BOTH), at(2, {A_B: LIGHT})]
        got = carried_over(at(3, {A_B: LIGHT, B_A: replace(found(), throughput=(5.0,))}), before)
        assert got.carried == {A_B}
        assert got.found[A_B].throughput == found().throughput
        assert got.found[B_A].throughput == (5.0,)

    def test_of_who_is_gone_nothing_is_carried_over(self) -> None:
        assert carried_over(at(3, {A_B: GONE}), [at(1, BOTH)]).found[A_B] == GONE

    def test_two_runs_are_one_round(self) -> None:
        failure = Failure(B_A, ProbeKind.TRAIN, "busy")
        loading = changed(at(2.5, {A_B: Found(throughput=(7.0,))}), failures=(failure,), planned=(A_B,))
        got = together(at(2, {A_B: LIGHT, B_A: LIGHT}), loading)
        assert (got.began, got.ended) == (2 * HOUR, 2.5 * HOUR)
        assert got.found[A_B] == replace(LIGHT, throughput=(7.0,))
        assert got.found[B_A] == LIGHT
        assert got.failures == (failure,)
        assert got.planned == (A_B, B_A)

    def test_all_that_the_second_run_says_is_kept(self) -> None:
        ab, ba = frozenset({A_B}), frozenset({B_A})
        light = changed(at(2, BOTH), translated=ab, from_other_side=ab)
        loading = changed(
            at(2.5, BOTH),
            translated=ba,
            from_other_side=ba,
            by_transfer=ba,
            verified={A_B: (7.0,)},
            interrupted="stopped",
        )
        got = together(light, loading)
        assert got.translated == got.from_other_side == {A_B, B_A}
        assert (got.by_transfer, got.verified, got.interrupted) == (ba, {A_B: (7.0,)}, "stopped")
        assert together(loading, light).interrupted == "stopped"


class TestHistory:
    def test_rounds_are_read_as_they_were_kept_the_newest_last(self, tmp_path: Path) -> None:
        history = History(tmp_path / "rounds")
        assert (history.files(), history.latest(3), history.tolerances()) == ([], [], {})
        kept = [judge_round(at(hour, BOTH), []).record for hour in (3, 1, 2)]
        files = [history.keep(one) for one in kept]
        assert files[0].name == "19700101T030000000Z.json.gz"
        assert history.latest(2) == [kept[2], kept[0]]
        assert history.latest(0) == []
        assert [file.name for file in history.folder.iterdir() if file.name.startswith(".")] == []

    @given(records())
    def test_a_round_is_what_it_was(
        self, tmp_path_factory: pytest.TempPathFactory, record: RoundRecord
    ) -> None:
        history = History(tmp_path_factory.mktemp("rounds"))
        assert read(history.keep(record)) == record

    def test_one_of_that_time_is_not_replaced(self, tmp_path: Path) -> None:
        History(tmp_path).keep(at(1, BOTH))
        with refused(ValueError, "began"):
            History(tmp_path).keep(at(1, {}))
        assert History(tmp_path).latest(1) == [at(1, BOTH)]

    @pytest.mark.parametrize(
        "content",
        [b"", b"{}", b"\x1f\x8b\x08", gzip.compress(b"{", mtime=0), gzip.compress(b"x" * 99, mtime=0)[:30]],
    )
    def test_a_file_that_is_none_is_named(self, tmp_path: Path, content: bytes) -> None:
        file = tmp_path / "19700101T030000000Z.json.gz"
        file.write_bytes(content)
        with pytest.raises(ValueError, match=file.name):
            History(tmp_path).latest(1)

    def test_a_plain_file_is_read_too(self, tmp_path: Path) -> None:
        file = tmp_path / "round.json"
        file.write_text(json.dumps(to_json(at(1, BOTH))))
        assert read(file) == at(1, BOTH)

    tolerance = st.builds(Tolerance, st.floats(1, 8), st.floats(0, 1))

    @given(
        of=st.dictionaries(st.sampled_from([A_B, B_A]), st.dictionaries(st.sampled_from(Marker), tolerance))
    )
    def test_tolerances_are_kept(self, tmp_path_factory: pytest.TempPathFactory, of) -> None:
        history = History(tmp_path_factory.mktemp("rounds"))
        history.keep_tolerances(of)
        read_back = history.tolerances()
        for pair, its in of.items():
            for marker, one in its.items():
                assert read_back.get(pair, {}).get(marker, Tolerance()) == one

    @pytest.mark.parametrize(
        "text", ["[]", '{"format": "x"}', "{", '{"format": "adon-health-tolerances", "version": 1}']
    )
    def test_tolerances_that_are_none_are_told(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "tolerances.json.gz").write_text(text)
        with pytest.raises(ValueError, match=r"tolerances\.json\.gz"):
            History(tmp_path).tolerances()

    @pytest.mark.parametrize(
        ("pair", "field"),
        [
            ({"source": "a"}, "pairs.0.destination"),
            ({"source": "a", "destination": "b", "icmp": ["NaN", 0.1]}, "factor"),
            ({"source": "a", "destination": "b", "icmp": [0.5, 0.1]}, "factor"),
            ({"source": "a", "destination": "b", "icmp": [2, 1.5]}, "fired"),
            ({"source": "a", "destination": "b", "icmp": [2, 0.5, 1]}, "pairs.0"),
            ({"source": "a", "destination": "b", "icmp": "wide"}, "pairs.0"),
            ("a > b", "pairs.0"),
        ],
    )
    def test_a_tolerance_that_is_none_is_told(self, tmp_path: Path, pair: object, field: str) -> None:
        body = {"format": "adon-health-tolerances", "version": 1, "pairs": [pair]}
        (tmp_path / "tolerances.json.gz").write_text(json.dumps(body))
        with refused(ValueError, field):
            History(tmp_path).tolerances()
