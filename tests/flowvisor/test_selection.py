"""Transit selection: equation 3, verdicts, reasons in words, and when a running flow moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.selection.assessment import CandidateRecord, Verdict, assess, path_quality
from adon.flowvisor.selection.selection import advise_reroute, select
from adon.flowvisor.topology.path import Basis, Knowledge, KnownValue, PathView, UnknownValue
from adon.reasons import Reason
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


DOWN = Reason("port-down", "its port is down")


def known(value: float, age: float = 4.0, basis: Basis = Basis.TEST) -> KnownValue:
    return KnownValue(value, NOW - age, "run/1", basis)


def assessed(
    metrics: Mapping[Metric, Knowledge],
    qspec: QSpec = QSPEC,
    weights: Mapping[Metric, float] = THROUGHPUT_ONLY,
    tables: Mapping[Metric, LookupTable] = TABLES,
    excluded: Reason | None = None,
) -> CandidateRecord:
    view = PathView(AL2S, dict(metrics), excluded)
    return assess(view, qspec, tables, weights, NOW)


def record(path: str, verdict: Verdict, q: float | None = None) -> CandidateRecord:
    return CandidateRecord(path, "l2", verdict, DOWN.code, DOWN.text, q)


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
        assert (found.verdict, found.code) == (Verdict.UNQUALIFIED, "bound-missed")
        assert found.q == pytest.approx(5.1)

    @pytest.mark.parametrize(
        ("metrics", "weights", "qspec", "tables", "code"),
        [
            ({}, THROUGHPUT_ONLY, QSPEC, TABLES, "metric-unknown"),
            ({}, THROUGHPUT_ONLY, QSpec(), TABLES, "metric-unknown"),
            (
                {Metric.RTT: known(0.01)},
                {Metric.RTT: 1.0},
                QSPEC,
                TABLES,
                "metric-unknown",
            ),
            (
                {Metric.THROUGHPUT: known(8e6)},
                THROUGHPUT_ONLY,
                QSPEC,
                {},
                "metric-unknown",
            ),
            (
                {Metric.THROUGHPUT: known(5e6)},
                {Metric.THROUGHPUT: 1.0, Metric.RTT: 1.0},
                QSPEC,
                TABLES,
                "bound-missed",
            ),
            (
                {Metric.THROUGHPUT: known(8e6)},
                {Metric.THROUGHPUT: 1.0, Metric.RTT: 0.0},
                QSPEC,
                TABLES,
                "bounds-kept",
            ),
            (
                {Metric.THROUGHPUT: known(7e6)},
                THROUGHPUT_ONLY,
                QSPEC,
                TABLES,
                "bounds-kept",
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
        code: str,
    ) -> None:
        found = assessed(metrics, qspec, weights, tables)
        verdicts = {Verdict.QUALIFIED: "bounds-kept", Verdict.UNQUALIFIED: "bound-missed"}
        assert found.code == code == verdicts.get(found.verdict, "metric-unknown")
        if found.verdict is Verdict.UNKNOWN:
            assert found.q is None

    def test_an_unusable_path_is_excluded_and_still_shown(self) -> None:
        found = assessed({Metric.THROUGHPUT: known(8e6)}, excluded=DOWN)
        assert (found.verdict, found.code, found.why) == (Verdict.EXCLUDED, *DOWN)
        assert found.q == pytest.approx(8.0)

    def test_the_record_keeps_what_was_seen(self) -> None:
        stale = UnknownValue("6 min old, older than max_age (5 min)")
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
        ("records", "path", "code"),
        [
            ([], None, "no-path"),
            ([record("a", Verdict.QUALIFIED, 3.0), record("b", Verdict.QUALIFIED, 7.4)], "b", "best-score"),
            (
                [record("a", Verdict.QUALIFIED, 3.0), record("b", Verdict.UNQUALIFIED, 9.0)],
                "a",
                "only-qualified",
            ),
            ([record("a", Verdict.QUALIFIED, 7.0), record("b", Verdict.QUALIFIED, 7.0)], "a", "tied-score"),
            ([record("a", Verdict.UNKNOWN), record("b", Verdict.QUALIFIED, 0.1)], "b", "only-qualified"),
            ([record("a", Verdict.UNQUALIFIED, 1.0)], None, "none-qualified"),
            ([record("a", Verdict.EXCLUDED), record("b", Verdict.EXCLUDED)], None, "none-qualified"),
            ([record("a", Verdict.UNKNOWN), record("b", Verdict.UNQUALIFIED, 1.0)], None, "none-qualified"),
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
    def test_the_outcome_and_its_code(
        self, records: list[CandidateRecord], path: str | None, code: str
    ) -> None:
        selection = select(records, "default_path", "a")
        assert (selection.path, selection.records) == (path, tuple(records))
        assert selection.reason.code == code

    @pytest.mark.parametrize(
        ("policy", "default", "path", "code"),
        [
            ("default_path", "b", "b", "default-path"),
            ("default_path", None, None, "no-default-path"),
            ("default_path", "c", None, "default-path-unusable"),
            ("default_path", "x", None, "default-path-unusable"),
            ("avoid", "b", None, "all-unknown"),
        ],
    )
    def test_when_nothing_is_known(
        self, policy: str, default: str | None, path: str | None, code: str
    ) -> None:
        unknown = assessed({Metric.THROUGHPUT: UnknownValue("never measured")})
        records = [
            replace(unknown, path="a"),
            record("b", Verdict.UNKNOWN),
            record("c", Verdict.EXCLUDED),
        ]
        selection = select(records, policy, default)  # type: ignore[arg-type]
        assert (selection.path, selection.reason.code) == (path, code)

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
        assert selection.reason.text == (
            "no candidate qualifies: al2s: throughput 5.1 Mbps is below 7 Mbps (active test, 4 s old); "
            "routed: throughput 6.5 Mbps is below 7 Mbps "
            "(fair share of the tested rate among flows admitted since the test, 2.167 min old)"
        )

    def test_a_bound_from_above_is_missed_above_it(self) -> None:
        qspec = QSpec.model_validate({"rtt": {"max": "20 ms"}, "loss": {"max": "0.01 %"}})
        found = assessed({Metric.RTT: known(0.025), Metric.LOSS: known(0.01)}, qspec, {Metric.RTT: 1.0})
        assert [(one.metric, one.bound_met) for one in found.metrics] == [("rtt", False), ("loss", False)]

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
        ("current", "best", "misses", "dwelt", "move", "code"),
        [
            (HERE, None, 9, 99, False, "no-alternative"),
            (HERE, MISSING, 9, 99, False, "no-alternative"),
            (HERE, GOOD, 0, 99, True, "better-score"),
            (HERE, GOOD, 0, 29, False, "min-dwell"),
            (HERE, record("al2s", Verdict.QUALIFIED, 7.0), 0, 99, False, "within-margin"),
            (HERE, record("routed", Verdict.QUALIFIED, 9.0), 0, 99, False, "keeps-path"),
            (MISSING, GOOD, 2, 99, False, "within-patience"),
            (MISSING, GOOD, 3, 99, True, "patience-exhausted"),
            (MISSING, GOOD, 3, 0, False, "min-dwell"),
            (record("routed", Verdict.UNQUALIFIED, 1.0), GOOD, 1, 99, True, "better-score"),
            (record("routed", Verdict.UNKNOWN), GOOD, 9, 99, False, "path-unknown"),
            (record("routed", Verdict.EXCLUDED), GOOD, 0, 0, True, "path-excluded"),
            (None, GOOD, 0, 0, True, "path-removed"),
        ],
    )
    def test_advice(
        self,
        current: CandidateRecord | None,
        best: CandidateRecord | None,
        misses: int,
        dwelt: float,
        move: bool,
        code: str,
    ) -> None:
        advice = advise_reroute(
            current, best, misses=misses, patience=3, margin=1.0, dwelt=dwelt, min_dwell=30.0
        )
        assert (advice.move, advice.reason.code) == (move, code)

    def test_two_paths_that_trade_places_do_not_make_a_flow_flap(self) -> None:
        """A move needs a gain above the margin, so the way back needs one too."""
        there = advise_reroute(
            self.HERE, self.GOOD, misses=0, patience=3, margin=1.0, dwelt=99, min_dwell=30.0
        )
        back = advise_reroute(
            self.GOOD, self.HERE, misses=0, patience=3, margin=1.0, dwelt=99, min_dwell=30.0
        )
        assert there.move
        assert (back.move, back.reason.code) == (False, "within-margin")


class TestQuality:
    @pytest.mark.parametrize(
        ("metrics", "excluded", "expected"),
        [
            ({Metric.THROUGHPUT: known(9e6)}, None, "met"),
            ({Metric.THROUGHPUT: known(8e6)}, None, "degraded"),
            ({Metric.THROUGHPUT: known(5e6)}, None, "violated"),
            ({}, None, "unknown"),
            ({Metric.THROUGHPUT: known(9e6)}, DOWN, "unknown"),
            ({Metric.THROUGHPUT: known(5e6)}, DOWN, "violated"),
        ],
    )
    def test_words(self, metrics: Mapping[Metric, Knowledge], excluded: Reason | None, expected: str) -> None:
        assert path_quality(assessed(metrics, excluded=excluded), QSPEC) == expected

    def test_a_target_from_above(self) -> None:
        qspec = QSpec.model_validate({"rtt": {"max": "20 ms", "target": "10 ms"}})
        for rtt, word in ((0.01, "met"), (0.011, "degraded"), (0.021, "violated")):
            assert path_quality(assessed({Metric.RTT: known(rtt)}, qspec, {Metric.RTT: 1.0}), qspec) == word

    def test_without_a_bound_there_is_nothing_to_violate(self) -> None:
        assert path_quality(assessed({}, QSpec()), QSpec()) == "met"
