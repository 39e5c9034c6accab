"""Documents as people write them: what they mean, and each mistake with its line."""

from __future__ import annotations

import pytest
import yaml

from adon.errors import InvalidInput
from adon.evaluations import reading
from measurement.evaluation.document import Analysing, Design, Measure, Pilot
from tests.evaluations.documents import TEXT

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
    ("old", "new", "says"),
    [
        (
            "metric: tcp-transfer-bit-speed, benchmark:",
            "metric: tcp-transfer-bit-sped, benchmark:",
            "'tcp-transfer-bit-sped' is no metric listed in step 3; was 'tcp-transfer-bit-speed' meant?",
        ),
        (
            "metrics_listed:\n  - {metric: tcp-transfer-bit-speed",
            "metrics_listed:\n  - {metric: speed",
            "f:14: metrics_listed.0.metric: 'speed' is no metric",
        ),
        (
            "benchmarks: [iperf3,",
            "benchmarks: [ping, iperf3,",
            "f:14: metrics_listed.0.benchmarks: 'ping' does not measure 'tcp-transfer-bit-speed'",
        ),
        (
            "benchmark: iperf3",
            "benchmark: iperf",
            "f:16: metrics_selected.0.benchmark: 'iperf' is no benchmark listed for it; was 'iperf3' meant?",
        ),
        (
            ", benchmark: iperf3",
            "",
            "f:15: metrics_selected: one metric must have a benchmark and be measured; here it is none",
        ),
        (
            "because: It is there.",
            "because: ' '",
            "f:16: metrics_selected.0.because: a reason is required",
        ),
        (
            "feature: communication-data-throughput",
            "feature: memory",
            "f:12: features.identified.0.feature: 'memory' is no feature",
        ),
        (
            "questions: [speed]",
            "questions: []",
            "f:11: features.identified: no feature is identified for the question 'speed'",
        ),
        (
            "factors_listed: [activity-frequency, vm-type]",
            "factors_listed: [activity-frequency]",
            "f:19: factors_selected.0.factor: 'vm-type' is no factor listed in step 5",
        ),
        (
            "levels: [none]",
            "levels: [small, large]",
            "f:19: factors_selected.0.levels: a factor of the environment is held at one level",
        ),
        (
            "benchmarks: [iperf3, packet-train]}",
            "benchmarks: [iperf3, packet-train]}\n  - {metric: round-trip-time, benchmarks: [ping]}",
            "f:15: metrics_listed.1.metric: 'round-trip-time' says nothing about a feature of step 2",
        ),
        (
            "benchmark: iperf3, because: It is there.}",
            "benchmark: iperf3, because: It is there.}\n  - {metric: x, benchmark: iperf3, because: why}",
            "metrics_selected: one metric must have a benchmark and be measured; here it is tcp-transfer-",
        ),
        ("duration: 1 s", "duration: 1", "f:24: design.duration: '1' has no unit"),
        ("duration: 1 s", "duration: 0 s", "f:24: design.duration: 0.0 s is too short"),
        ("nodes: [a, b]", "nodes: [a, a]", "f:21: design.nodes: a place is there twice"),
        ("runs: 2", "runs: 0", "f:23: design.runs: 0 is not 1 or more"),
        ("runs: 2", "runs: 2\n  pauses: 1 s", "f:24: design.pauses: is not a known key here"),
        ("7000000", "{host}", "f:28: implementation.measure.command: {host} is not one of one, other,"),
        ("of: u", "of: v", "f:32: conclusions.answers.0.of: 'v' is no place of step 7"),
        (", of: u", "", "f:32: conclusions.answers.0.of: which client?"),
        ("by: speed-to-client", "by: magic", "f:32: conclusions.answers.0.by: Input should be"),
        ("question: speed, by", "question: pace, by", "f:32: conclusions.answers.0.question: 'pace' is no"),
        ("name: small", "name: Small one", "f:1: name: 'Small one' is no word"),
        (
            "analysis: {}",
            "analysis: {varies_from: 100 %}",
            "f:29: analysis.varies_from: 1.0 is not between 0 and 1",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(old: str, new: str, says: str) -> None:
    assert TEXT.count(old) == 1
    assert any(says in one for one in problems(TEXT.replace(old, new))), problems(TEXT.replace(old, new))


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
