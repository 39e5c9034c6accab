"""Documents as people write them: what they mean, and each mistake with its line."""

from __future__ import annotations

import pytest
import yaml

from adon.errors import InvalidInput
from adon.evaluations import reading
from measurement.evaluation.document import Analysing, Design, Measure, Pilot
from tests.evaluations.documents import TEXT
from tests.support.refusals import refused

STEPS = [
    "requirement",
    "features",
    "metrics_listed",
    "metrics_selected",
    "factors_listed",
    "factors_selected",
    "design",
    "implementation",
    "analysis",
    "conclusions",
]
"""In the order of [CEEM] figure 1."""


def problems(text: str) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        reading.parse(text, "f")
    return [str(one) for one in caught.value.problems]


def test_a_document_is_read_with_its_units() -> None:
    found = reading.parse(TEXT).value()
    assert found.design == Design(("a", "b"), 2, 1.0, clients=("u",), pilot=Pilot(1, 0.5))
    assert found.analysis == Analysing()
    assert found.implementation.measure == Measure(("printf", "7000000"))


@pytest.mark.parametrize("step", STEPS)
def test_a_missing_step_is_named(step: str) -> None:
    data = yaml.safe_load(TEXT)
    del data[step]
    (found,) = problems(yaml.safe_dump(data))
    assert found.startswith(f"f:1: {step}:")


@pytest.mark.parametrize(
    ("old", "new", "code", "field", "line"),
    [
        (
            "metric: tcp-transfer-bit-speed, benchmark:",
            "metric: tcp-transfer-bit-sped, benchmark:",
            "invalid",
            "metrics_selected.0.metric",
            16,
        ),
        (
            "metrics_listed:\n  - {metric: tcp-transfer-bit-speed",
            "metrics_listed:\n  - {metric: speed",
            "invalid",
            "metrics_listed.0.metric",
            14,
        ),
        ("benchmarks: [iperf3,", "benchmarks: [ping, iperf3,", "invalid", "metrics_listed.0.benchmarks", 14),
        ("benchmark: iperf3", "benchmark: iperf", "invalid", "metrics_selected.0.benchmark", 16),
        (", benchmark: iperf3", "", "invalid", "metrics_selected", 15),
        ("because: It is there.", "because: ' '", "invalid", "metrics_selected.0.because", 16),
        (
            "feature: communication-data-throughput",
            "feature: memory",
            "invalid",
            "features.identified.0.feature",
            12,
        ),
        ("questions: [speed]", "questions: []", "invalid", "features.identified", 11),
        (
            "factors_listed: [activity-frequency, vm-type]",
            "factors_listed: [activity-frequency]",
            "invalid",
            "factors_selected.0.factor",
            19,
        ),
        ("levels: [none]", "levels: [small, large]", "invalid", "factors_selected.0.levels", 19),
        (
            "benchmarks: [iperf3, packet-train]}",
            "benchmarks: [iperf3, packet-train]}\n  - {metric: round-trip-time, benchmarks: [ping]}",
            "invalid",
            "metrics_listed.1.metric",
            15,
        ),
        (
            "benchmark: iperf3, because: It is there.}",
            "benchmark: iperf3, because: It is there.}\n  - {metric: x, benchmark: iperf3, because: why}",
            "invalid",
            "metrics_selected",
            15,
        ),
        ("duration: 1 s", "duration: 1", "no-unit", "design.duration", 24),
        ("duration: 1 s", "duration: 0 s", "invalid", "design.duration", 24),
        ("nodes: [a, b]", "nodes: [a, a]", "invalid", "design.nodes", 21),
        ("runs: 2", "runs: 0", "invalid", "design.runs", 23),
        ("runs: 2", "runs: 2\n  pauses: 1 s", "unknown-key", "design.pauses", 24),
        ("7000000", "{host}", "invalid", "implementation.measure.command", 28),
        ("of: u", "of: v", "invalid", "conclusions.answers.0.of", 32),
        (", of: u", "", "invalid", "conclusions.answers.0.of", 32),
        ("by: speed-to-client", "by: magic", "unknown-value", "conclusions.answers.0.by", 32),
        ("question: speed, by", "question: pace, by", "invalid", "conclusions.answers.0.question", 32),
        ("name: small", "name: Small one", "invalid", "name", 1),
        ("analysis: {}", "analysis: {varies_from: 100 %}", "invalid", "analysis.varies_from", 29),
    ],
)
def test_a_mistake_is_told_with_its_line(old: str, new: str, code: str, field: str, line: int) -> None:
    assert TEXT.count(old) == 1
    with refused(code, field, line):
        reading.parse(TEXT.replace(old, new), "f")


def test_a_document_may_add_to_the_catalogue() -> None:
    more = """\
supplement:
  metrics: [{id: goodput, title: Goodput, features: [communication-data-throughput], unit: bit/s, source: us}]
  benchmarks: [{id: mine, title: Mine, metrics: [goodput], source: us}]
"""
    text = (TEXT + more).replace("metric: tcp-transfer-bit-speed", "metric: goodput")
    text = text.replace("[iperf3, packet-train]", "[mine]").replace("benchmark: iperf3", "benchmark: mine")
    assert reading.parse(text).value().metrics_selected[0].metric == "goodput"
    (found,) = problems(text.replace("id: goodput", "id: round-trip-time"))
    assert found.startswith("f:34: supplement.metrics:")


def test_the_digest_is_of_what_it_says_and_not_of_how() -> None:
    first = reading.parse(TEXT)
    spread = yaml.safe_dump(yaml.safe_load(TEXT), sort_keys=False)
    assert reading.parse("# a remark\n" + spread).digest() == first.digest()
    assert reading.parse(TEXT.replace("duration: 1 s", "duration: 1000 ms")).digest() == first.digest()
    assert reading.parse(TEXT.replace("duration: 1 s", "duration: 2 s")).digest() != first.digest()


PROBE = TEXT.replace(
    'measure:\n    command: [printf, "7000000"]', "probe: {kind: throughput, connections: 4}"
)


def test_a_test_may_be_made_by_probe_agents() -> None:
    found = reading.parse(PROBE).value()
    assert "4 connections" in found.implementation.how
