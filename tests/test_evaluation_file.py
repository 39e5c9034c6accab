"""Evaluation files: their meaning, each mistake with its line, and the built-in evaluations."""

from __future__ import annotations

import pytest
import yaml

from adon.errors import InvalidInput, NotFound
from adon.evaluation_file import BUILTIN, parse_evaluation
from measurement.ceem.catalogue import Catalogue, CatalogueEntries
from measurement.ceem.template import PlacePath
from tests.measurement.ceem.nectar import LOCAL, NODES, TABLE_V
from tests.support.evaluation_documents import TEXT
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
        parse_evaluation(text, "f")
    return [str(one) for one in caught.value.problems]


def test_file_is_read_with_its_units() -> None:
    found = parse_evaluation(TEXT)
    design = found.design
    assert (design.nodes, design.clients, design.runs, design.duration) == (("a", "b"), ("u",), 2, 1.0)
    assert (design.pause, design.pilot.duration, found.analysis.varies_from) == (0.0, 0.5, 0.2)
    assert found.implementation.measure is not None
    assert found.implementation.measure.command == ("printf", "7000000")


@pytest.mark.parametrize("step", STEPS)
def test_missing_step_is_named(step: str) -> None:
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
        ("because: It is there.", "because: ' '", "wrong-length", "metrics_selected.0.because", 16),
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
        ("duration: 1 s", "duration: 0 s", "out-of-range", "design.duration", 24),
        ("nodes: [a, b]", "nodes: [a, a]", "duplicate", "design.nodes", 21),
        ("runs: 2", "runs: 0", "out-of-range", "design.runs", 23),
        ("runs: 2", "runs: 2\n  pauses: 1 s", "unknown-key", "design.pauses", 24),
        ("7000000", "{host}", "invalid", "implementation.measure.command", 28),
        ("of: u", "of: v", "invalid", "conclusions.answers.0.of", 32),
        (", of: u", "", "invalid", "conclusions.answers.0.of", 32),
        ("by: speed-to-client", "by: magic", "unknown-value", "conclusions.answers.0.by", 32),
        ("question: speed, by", "question: pace, by", "invalid", "conclusions.answers.0.question", 32),
        ("name: small", "name: Small one", "malformed", "name", 1),
        ("analysis: {}", "analysis: {varies_from: 100 %}", "out-of-range", "analysis.varies_from", 29),
    ],
)
def test_mistake_has_its_code_and_line(old: str, new: str, code: str, field: str, line: int) -> None:
    assert TEXT.count(old) == 1
    with refused(code, field, line):
        parse_evaluation(TEXT.replace(old, new), "f")


def test_file_adds_to_the_catalogue() -> None:
    more = """\
supplement:
  metrics: [{id: goodput, title: Goodput, features: [communication-data-throughput], unit: bit/s, source: us}]
  benchmarks: [{id: mine, title: Mine, metrics: [goodput], source: us}]
"""
    text = (TEXT + more).replace("metric: tcp-transfer-bit-speed", "metric: goodput")
    text = text.replace("[iperf3, packet-train]", "[mine]").replace("benchmark: iperf3", "benchmark: mine")
    assert parse_evaluation(text).metrics_selected[0].metric == "goodput"
    found, *_ = problems(text.replace("id: goodput", "id: round-trip-time"))
    assert found.startswith("f:34: supplement.metrics:")


def test_digest_depends_on_the_meaning_only() -> None:
    first = parse_evaluation(TEXT)
    spread = yaml.safe_dump(yaml.safe_load(TEXT), sort_keys=False)
    assert parse_evaluation("# a remark\n" + spread).digest() == first.digest()
    assert parse_evaluation(TEXT.replace("duration: 1 s", "duration: 1000 ms")).digest() == first.digest()
    assert parse_evaluation(TEXT.replace("duration: 1 s", "duration: 2 s")).digest() != first.digest()


PROBE = TEXT.replace(
    'measure:\n    command: [printf, "7000000"]', "probe: {kind: throughput, connections: 4}"
)


def test_probe_agents_are_a_method() -> None:
    found = parse_evaluation(PROBE)
    assert "4 connections" in found.implementation.summary


@pytest.mark.parametrize("name", BUILTIN.names())
def test_builtin_evaluation_is_valid(name: str) -> None:
    assert BUILTIN.load(name).name == name


def test_reference_is_table_v() -> None:
    found = BUILTIN.reference("nectar")
    assert (found.nodes, found.clients) == (NODES, (LOCAL,))
    assert found.path_statistics().keys() == TABLE_V.path_statistics().keys()
    for path, paper in TABLE_V.path_statistics().items():
        its = found.path_statistics()[path]
        assert (its.mean / 1e6, its.deviation / 1e6) == pytest.approx(
            (paper.mean, paper.deviation), rel=1e-12
        )


def test_design_is_table_iv() -> None:
    """15 paths inside the cloud (C(5, 2) + C(5, 1)) and 5 of the client."""
    tested = BUILTIN.load("nectar").design.tested_paths
    assert len(tested) == 20
    assert {*tested} == {*TABLE_V.path_statistics()}
    assert tested[:5] == tuple(PlacePath(LOCAL, node) for node in NODES)
    assert tested[5:7] == (PlacePath("MEB-np", "MEB-np"), PlacePath("MEB-np", "MEB-qh2"))


@pytest.mark.parametrize("name", ["none", "../nectar", "nectar.reference", ""])
def test_unknown_evaluation_is_not_found(name: str) -> None:
    for ask in (BUILTIN.text, BUILTIN.load, BUILTIN.reference):
        with pytest.raises(NotFound):
            ask(name)


def test_builtin_catalogue_is_consistent() -> None:
    catalogue = Catalogue(CatalogueEntries())
    assert {feature.of for feature in catalogue.features.values()} <= {"", *catalogue.features}
    assert {name for one in catalogue.metrics.values() for name in one.features} <= {*catalogue.features}
    assert {name for one in catalogue.benchmarks.values() for name in one.metrics} <= {*catalogue.metrics}
