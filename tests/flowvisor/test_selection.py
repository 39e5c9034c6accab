"""Transit selection: equation 3, verdicts, reasons in words, and when a running flow moves."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.assessment import CandidateRecord, Verdict
from adon.flowvisor.path import Basis, Knowledge, Known, PathView, Unknown
from adon.flowvisor.selection import MoveAdvice, assess, explain, hysteresis, quality, select
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import QSpec
from measurement.model import Metric
from tests.flowvisor.network import AL2S, ROUTED

NOW = 1_000.0
TABLES = {
    Metric.THROUGHPUT: LookupTable(points=((0.0, 0.0), (10e6, 10.0))),
    Metric.RTT: LookupTable(points=((0.0, 10.0), (0.1, 0.0))),
}
QSPEC = QSpec.model_validate({"throughput": {"min": "7 Mbps", "target": "9 Mbps"}})
THROUGHPUT_ONLY = {Metric.THROUGHPUT: 5.0}


def known(value: float, age: float = 4.0, basis: Basis = Basis.TEST) -> Known:
    return Known(value, NOW - age, "run/1", basis)


def assessed(
    metrics: Mapping[Metric, Knowledge],
    qspec: QSpec = QSPEC,
    weights: Mapping[Metric, float] = THROUGHPUT_ONLY,
    tables: Mapping[Metric, LookupTable] = TABLES,
    excluded: str = "",
) -> CandidateRecord:
    view = PathView(AL2S, dict(metrics), usable=not excluded, unusable_reason=excluded)
    return assess(view, qspec, tables, weights, NOW)


def record(path: str, verdict: Verdict, q: float | None = None) -> CandidateRecord:
    return CandidateRecord(path, "l2", verdict, "its port is down", q)


class TestAssess:
    def test_equation_3_with_normalised_weights(self) -> None:
        found = assessed(
            {Metric.THROUGHPUT: known(8e6), Metric.RTT: known(0.05)},
            weights={Metric.THROUGHPUT: 3.0, Metric.RTT: 1.0},
        )
        assert found.q == pytest.approx(0.75 * 8 + 0.25 * 5)
        assert found.verdict is Verdict.QUALIFIED
        assert [(m.metric, m.score, m.weight) for m in found.metrics] == [
            ("throughput", pytest.approx(8.0), 0.75),
            ("rtt", pytest.approx(5.0), 0.25),
        ]

    def test_a_missed_bound_is_shown_with_its_q(self) -> None:
        """[ADON] 5.2, t4: 500 Mbps are not taken for 600 Mbps."""
        found = assessed({Metric.THROUGHPUT: known(5.1e6)})
        assert (found.verdict, found.why) == (Verdict.UNQUALIFIED, "misses throughput >= 7 Mbps")
        assert found.q == pytest.approx(5.1)
        assert explain(found) == "al2s: throughput 5.1 Mbps is below 7 Mbps (active test, 4 s old)"

    @pytest.mark.parametrize(
        ("metrics", "weights", "qspec", "tables", "verdict", "why"),
        [
            ({}, THROUGHPUT_ONLY, QSPEC, TABLES, Verdict.UNKNOWN, "unknown: throughput"),
            ({}, THROUGHPUT_ONLY, QSpec(), TABLES, Verdict.UNKNOWN, "unknown: throughput"),
            (
                {Metric.RTT: known(0.01)},
                {Metric.RTT: 1.0},
                QSPEC,
                TABLES,
                Verdict.UNKNOWN,
                "unknown: throughput",
            ),
            (
                {Metric.THROUGHPUT: known(8e6)},
                THROUGHPUT_ONLY,
                QSPEC,
                {},
                Verdict.UNKNOWN,
                "unknown: throughput",
            ),
            (
                {Metric.THROUGHPUT: known(5e6)},
                {Metric.THROUGHPUT: 1.0, Metric.RTT: 1.0},
                QSPEC,
                TABLES,
                Verdict.UNQUALIFIED,
                "misses throughput >= 7 Mbps",
            ),
            (
                {Metric.THROUGHPUT: known(8e6)},
                {Metric.THROUGHPUT: 1.0, Metric.RTT: 0.0},
                QSPEC,
                TABLES,
                Verdict.QUALIFIED,
                "keeps every bound",
            ),
            (
                {Metric.THROUGHPUT: known(7e6)},
                THROUGHPUT_ONLY,
                QSPEC,
                TABLES,
                Verdict.QUALIFIED,
                "keeps every bound",
            ),
        ],
        ids=[
            "never measured",
            "weighted only",
            "bounded only",
            "no table",
            "a known miss says more than an unknown",
            "weight zero plays no part",
            "the bound itself",
        ],
    )
    def test_verdicts(
        self,
        metrics: Mapping[Metric, Knowledge],
        weights: Mapping[Metric, float],
        qspec: QSpec,
        tables: Mapping[Metric, LookupTable],
        verdict: Verdict,
        why: str,
    ) -> None:
        found = assessed(metrics, qspec, weights, tables)
        assert (found.verdict, found.why) == (verdict, why)
        if verdict is Verdict.UNKNOWN:
            assert found.q is None

    def test_an_unusable_path_is_excluded_and_still_shown(self) -> None:
        found = assessed({Metric.THROUGHPUT: known(8e6)}, excluded="its port is down")
        assert (found.verdict, found.why) == (Verdict.EXCLUDED, "its port is down")
        assert found.q == pytest.approx(8.0)
        assert explain(found) == "al2s: its port is down"

    def test_the_record_keeps_what_was_seen(self) -> None:
        stale = Unknown("6 min old, older than max_age (5 min)")
        qspec = QSpec.model_validate({"throughput": {"min": "7 Mbps"}, "loss": {"max": "1 %"}})
        throughput, loss = assessed(
            {Metric.THROUGHPUT: known(8e6, 4.0, Basis.COUNTERS), Metric.LOSS: stale}, qspec
        ).metrics
        assert (throughput.value, throughput.age, throughput.source) == (8e6, 4.0, "run/1")
        assert (throughput.basis, throughput.bound, throughput.bound_met) == (Basis.COUNTERS.value, 7e6, True)
        assert (loss.metric, loss.value, loss.bound, loss.bound_met) == ("loss", None, 0.01, None)
        assert (loss.unknown, loss.weight) == (stale.reason, 0.0)

    def test_an_unchanged_verdict_reads_the_same_later(self) -> None:
        """Decisions are told apart by these words; ages and values are in the metrics."""
        first = assessed({Metric.THROUGHPUT: known(5.1e6, 4.0)})
        later = assessed({Metric.THROUGHPUT: known(5.2e6, 9.0)})
        assert first.why == later.why

    @given(
        st.floats(0, 20e6),
        st.floats(0, 20e6),
        st.floats(0, 0.2),
        st.floats(0, 10),
        st.floats(0.001, 10),
    )
    def test_more_throughput_never_scores_less_and_q_stays_in_the_range_of_scores(
        self, one: float, other: float, rtt: float, rtt_weight: float, weight: float
    ) -> None:
        weights = {Metric.THROUGHPUT: weight, Metric.RTT: rtt_weight}
        low, high = (
            assessed({Metric.THROUGHPUT: known(value), Metric.RTT: known(rtt)}, weights=weights).q
            for value in sorted((one, other))
        )
        assert low is not None
        assert high is not None
        assert -1e-9 <= low <= high + 1e-9 <= 10 + 2e-9


class TestSelect:
    @pytest.mark.parametrize(
        ("records", "path", "reason"),
        [
            ([], None, "there is no candidate path"),
            (
                [record("a", Verdict.QUALIFIED, 3.0), record("b", Verdict.QUALIFIED, 7.4)],
                "b",
                "b: Q 7.4, the highest of 2; a: Q 3",
            ),
            (
                [record("a", Verdict.QUALIFIED, 3.0), record("b", Verdict.UNQUALIFIED, 9.0)],
                "a",
                "a: Q 3, the only candidate that qualifies; b: ",
            ),
            (
                [record("a", Verdict.QUALIFIED, 7.0), record("b", Verdict.QUALIFIED, 7.0)],
                "a",
                "a: Q 7, the highest of 2 (tied with b; the configuration names a first); b: Q 7",
            ),
            (
                [record("a", Verdict.UNKNOWN), record("b", Verdict.QUALIFIED, 0.1)],
                "b",
                "b: Q 0.1, the only candidate that qualifies; a: ",
            ),
            ([record("a", Verdict.UNQUALIFIED, 1.0)], None, "no candidate qualifies: a: "),
            (
                [record("a", Verdict.EXCLUDED), record("b", Verdict.EXCLUDED)],
                None,
                "no candidate qualifies: a: its port is down; b: its port is down",
            ),
            (
                [record("a", Verdict.UNKNOWN), record("b", Verdict.UNQUALIFIED, 1.0)],
                None,
                "no candidate qualifies: a: ; b: ",
            ),
        ],
        ids=[
            "nobody",
            "the highest",
            "unqualified",
            "tie",
            "unknown loses",
            "no one qualifies",
            "all excluded",
            "one known to fail",
        ],
    )
    def test_the_outcome_and_its_words(
        self, records: list[CandidateRecord], path: str | None, reason: str
    ) -> None:
        selection = select(records, "default_path", "a")
        assert (selection.path, selection.records) == (path, tuple(records))
        assert selection.reason == reason

    @pytest.mark.parametrize(
        ("policy", "default", "path", "says"),
        [
            ("default_path", "b", "b", "b: the template's default path, because nothing is known"),
            ("default_path", None, None, "the template names no default path"),
            ("default_path", "c", None, "the default path c cannot be used"),
            ("default_path", "x", None, "the default path x cannot be used"),
            ("avoid", "b", None, "nothing is known of any candidate: a: throughput is unknown"),
        ],
    )
    def test_when_nothing_is_known(
        self, policy: str, default: str | None, path: str | None, says: str
    ) -> None:
        unknown = assessed({Metric.THROUGHPUT: Unknown("never measured")})
        records = [
            CandidateRecord("a", "l2", unknown.verdict, unknown.why, None, unknown.metrics),
            record("b", Verdict.UNKNOWN),
            record("c", Verdict.EXCLUDED),
        ]
        selection = select(records, policy, default)  # type: ignore[arg-type]
        assert selection.path == path
        assert says in selection.reason
        assert "throughput is unknown (never measured)" in selection.reason

    def test_the_reason_names_bound_and_value_of_each_candidate(self) -> None:
        """[ADON] 5.2, t6: nobody qualifies."""
        other = assess(
            PathView(ROUTED, {Metric.THROUGHPUT: known(6.5e6, 130, Basis.FAIR_SHARE)}),
            QSPEC,
            TABLES,
            THROUGHPUT_ONLY,
            NOW,
        )
        selection = select([assessed({Metric.THROUGHPUT: known(5.1e6)}), other], "avoid", None)
        assert selection.path is None
        assert selection.reason == (
            "no candidate qualifies: al2s: throughput 5.1 Mbps is below 7 Mbps (active test, 4 s old); "
            "routed: throughput 6.5 Mbps is below 7 Mbps "
            "(fair share of the tested rate among flows admitted since the test, 2.167 min old)"
        )

    def test_a_bound_from_above_reads_from_above(self) -> None:
        qspec = QSpec.model_validate({"rtt": {"max": "20 ms"}, "loss": {"max": "0.01 %"}})
        found = assessed({Metric.RTT: known(0.025), Metric.LOSS: known(0.01)}, qspec, {Metric.RTT: 1.0})
        assert found.why == "misses rtt <= 20 ms and loss <= 0.01 %"
        assert "rtt 25 ms is above 20 ms" in explain(found)
        assert "loss 1 % is above 0.01 %" in explain(found)

    @given(
        st.lists(
            st.builds(
                lambda verdict, q: (verdict, q if verdict is not Verdict.UNKNOWN else None),
                st.sampled_from(Verdict),
                st.sampled_from([0.0, 1.0, 1.0 + 1e-12, 5.0]),
            ),
            max_size=5,
        )
    )
    def test_nobody_unqualified_is_selected_and_nobody_better_is_passed_over(
        self, drawn: list[tuple[Verdict, float | None]]
    ) -> None:
        records = [record(f"p{i}", verdict, q) for i, (verdict, q) in enumerate(drawn)]
        chosen = select(records, "avoid", None).path
        qualified = [r for r in records if r.verdict is Verdict.QUALIFIED]
        assert (chosen is None) == (not qualified)
        if chosen is not None:
            winner = next(r for r in records if r.path == chosen)
            assert winner.verdict is Verdict.QUALIFIED
            assert winner.q is not None
            assert all(r.q is not None and r.q <= winner.q + 1e-9 for r in qualified)


class TestHysteresis:
    GOOD = record("al2s", Verdict.QUALIFIED, 8.0)
    HERE = record("routed", Verdict.QUALIFIED, 6.0)
    MISSING = record("routed", Verdict.UNQUALIFIED, 7.5)

    @pytest.mark.parametrize(
        ("current", "best", "misses", "dwelt", "move", "says"),
        [
            (HERE, None, 9, 99, False, "no qualified alternative"),
            (HERE, MISSING, 9, 99, False, "no qualified alternative"),
            (HERE, GOOD, 0, 99, True, "exceeds the switch margin of 1"),
            (HERE, GOOD, 0, 29, False, "min_dwell keeps it where it is for another 1 s"),
            (HERE, record("al2s", Verdict.QUALIFIED, 7.0), 0, 99, False, "does not exceed the switch margin"),
            (HERE, record("routed", Verdict.QUALIFIED, 9.0), 0, 99, False, "the best candidate already"),
            (MISSING, GOOD, 2, 99, False, "missed the QSpec 2 times, patience is 3"),
            (MISSING, GOOD, 3, 99, True, "missed the QSpec 3 times in a row"),
            (MISSING, GOOD, 3, 0, False, "min_dwell"),
            (record("routed", Verdict.UNQUALIFIED, 1.0), GOOD, 1, 99, True, "exceeds the switch margin"),
            (record("routed", Verdict.UNKNOWN), GOOD, 9, 99, False, "no reason to leave it"),
            (record("routed", Verdict.EXCLUDED), GOOD, 0, 0, True, "routed: its port is down"),
            (None, GOOD, 0, 0, True, "no candidate any more"),
        ],
    )
    def test_advice(
        self,
        current: CandidateRecord | None,
        best: CandidateRecord | None,
        misses: int,
        dwelt: float,
        move: bool,
        says: str,
    ) -> None:
        advice = hysteresis(current, best, misses=misses, patience=3, margin=1.0, dwelt=dwelt, min_dwell=30.0)
        assert advice.move is move
        assert says in advice.reason

    def test_two_paths_that_trade_places_do_not_make_a_flow_flap(self) -> None:
        """A move needs a gain above the margin, so the way back needs one too."""
        there = hysteresis(self.HERE, self.GOOD, misses=0, patience=3, margin=1.0, dwelt=99, min_dwell=30.0)
        back = hysteresis(self.GOOD, self.HERE, misses=0, patience=3, margin=1.0, dwelt=99, min_dwell=30.0)
        assert there.move
        assert back == MoveAdvice(
            False, "Q 6 on routed against 8 on al2s does not exceed the switch margin of 1"
        )


class TestQuality:
    @pytest.mark.parametrize(
        ("metrics", "excluded", "expected"),
        [
            ({Metric.THROUGHPUT: known(9e6)}, "", "met"),
            ({Metric.THROUGHPUT: known(8e6)}, "", "degraded"),
            ({Metric.THROUGHPUT: known(5e6)}, "", "violated"),
            ({}, "", "unknown"),
            ({Metric.THROUGHPUT: known(9e6)}, "its port is down", "unknown"),
            ({Metric.THROUGHPUT: known(5e6)}, "its port is down", "violated"),
        ],
    )
    def test_words(self, metrics: Mapping[Metric, Knowledge], excluded: str, expected: str) -> None:
        assert quality(assessed(metrics, excluded=excluded), QSPEC) == expected

    def test_a_target_from_above(self) -> None:
        qspec = QSpec.model_validate({"rtt": {"max": "20 ms", "target": "10 ms"}})
        for rtt, word in ((0.01, "met"), (0.011, "degraded"), (0.021, "violated")):
            assert quality(assessed({Metric.RTT: known(rtt)}, qspec, {Metric.RTT: 1.0}), qspec) == word

    def test_without_a_bound_there_is_nothing_to_violate(self) -> None:
        assert quality(assessed({}, QSpec()), QSpec()) == "met"
