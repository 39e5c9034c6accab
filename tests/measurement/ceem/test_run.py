"""Runs: statistics of samples, documents, and the equations of [CEEM] on its own table V."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.ceem.run import EvaluationRun, PathStatistics, Reference, Sample
from measurement.ceem.template import PlacePath
from measurement.model import from_json, to_json
from tests.measurement.ceem.nectar import LOCAL, TABLE_V, stated_paths
from tests.measurement.ceem.nectar import NODES as NECTAR_NODES
from tests.support.refusals import refused

NODES, CLIENTS = ("a", "b"), ("u",)
PATHS = [PlacePath("a", "a"), PlacePath("a", "b"), PlacePath("u", "a"), PlacePath("u", "b")]


def run(*samples: Sample, **more: Any) -> EvaluationRun:
    given = {"began": 0.0, "ended": None, "seed": 1, "planned": len(samples), **more}
    return EvaluationRun(
        "r", Reference("d", 1), "tcp-transfer-bit-speed", "bit/s", NODES, CLIENTS, samples=samples, **given
    )


def sample(number: int, path: PlacePath, value: float | None, **more: Any) -> Sample:
    return Sample(number, *path, float(number), value, None if value is not None else "refused", **more)


def test_failed_tests_are_counted_and_are_no_values() -> None:
    found = run(
        sample(0, PATHS[1], 4.0),
        sample(1, PATHS[1], None),
        sample(2, PATHS[1], 8.0),
        sample(3, PATHS[2], None),
    )
    assert found.values_by_path() == {PATHS[1]: (4.0, 8.0)}
    assert found.failures_by_path() == {PATHS[1]: 1, PATHS[2]: 1}
    assert found.path_statistics() == {PATHS[1]: PathStatistics(6.0, statistics.stdev([4, 8]), 2)}
    assert [one.path for one in found.paths] == [PATHS[2], PATHS[1]]
    paths = {(one["one"], one["other"]): one for one in to_json(found)["paths"]}
    assert paths["u", "a"] == {
        "one": "u",
        "other": "a",
        "mean": None,
        "deviation": None,
        "count": 0,
        "failed": 1,
    }


def test_samples_replace_given_statistics() -> None:
    given = run(
        sample(0, PATHS[1], 4.0),
        paths=stated_paths({PATHS[1]: PathStatistics(9.0, 0.0), PATHS[0]: PathStatistics(1.0, 0.0)}),
    )
    assert given.path_statistics() == {
        PATHS[0]: PathStatistics(1.0, 0.0),
        PATHS[1]: PathStatistics(4.0, 0.0, 1),
    }


def test_interrupted_run_is_not_complete() -> None:
    assert not run(sample(0, PATHS[1], 4.0), planned=2).is_complete
    assert run(sample(0, PATHS[1], 4.0), sample(1, PATHS[1], None), planned=2).is_complete


def test_published_report_is_a_run() -> None:
    stated = EvaluationRun(
        "v",
        Reference("nectar", 1),
        "m",
        "Mbit/s",
        TABLE_V.nodes,
        TABLE_V.clients,
        None,
        None,
        None,
        0,
        paths=stated_paths(TABLE_V.path_statistics()),
    )
    assert stated.path_statistics() == TABLE_V.path_statistics()
    assert stated.is_complete
    assert from_json(EvaluationRun, json.loads(json.dumps(to_json(stated)))) == stated


@pytest.mark.parametrize(
    ("samples", "more", "code"),
    [
        ([sample(3, PATHS[1], 1.0), sample(3, PATHS[2], 1.0)], {}, "duplicate"),
        ([sample(0, PlacePath("a", "x"), 1.0)], {}, "unknown-name"),
    ],
)
def test_contradictory_run_is_refused(samples: list[Sample], more: dict[str, Any], code: str) -> None:
    with refused(code):
        run(*samples, **more)


@st.composite
def runs(draw: st.DrawFn) -> EvaluationRun:
    count = draw(st.integers(0, 12))
    whole = []
    for number in range(count):
        value = draw(st.none() | st.floats(0, 1e11))
        at = draw(st.integers(0, 4_000_000_000_000_000)) / 1e6
        failure = None if value is not None else draw(st.text(min_size=1, max_size=9))
        whole.append(
            Sample(number, *draw(st.sampled_from(PATHS)), at, value, failure, draw(st.integers(0, 3)))
        )
    return run(
        *whole,
        began=draw(st.none() | st.integers(0, 2**32).map(float)),
        pilot=draw(st.booleans()),
        conditions=draw(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2)),
    )


@given(runs())
def test_run_is_read_back(found: EvaluationRun) -> None:
    again = from_json(EvaluationRun, json.loads(json.dumps(to_json(found))))
    assert [one.value for one in again.samples] == [one.value for one in found.samples]
    assert [one.at for one in again.samples] == pytest.approx([one.at for one in found.samples], abs=1e-6)
    assert (again.name, again.began, again.conditions, again.path_statistics()) == (
        found.name,
        found.began,
        found.conditions,
        found.path_statistics(),
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"format": "ceem-run/2"}, "format"),
        ({"nodes": None}, "nodes"),
        ({"began": "2026-01-01T00:00:00"}, "began"),
        ({"samples": [{"number": 0}]}, "samples.0.one"),
        ({"unknown": 1}, "unknown"),
        ({"paths": [{"one": "a", "other": "b", "mean": -1, "deviation": 0}]}, "paths.0.mean"),
    ],
)
def test_invalid_document_is_refused_by_field(change: dict[str, Any], field: str) -> None:
    with refused(ValueError, field):
        from_json(EvaluationRun, {**to_json(run(sample(0, PATHS[1], 1.0))), **change})


def test_refused_document_has_the_code_of_its_value() -> None:
    document = to_json(run(sample(0, PATHS[1], 1.0)))
    with refused("duplicate"):
        from_json(EvaluationRun, {**document, "samples": document["samples"] * 2})


def test_values_are_in_the_order_of_time() -> None:
    found = run(
        Sample(0, *PATHS[1], 9.0, 1.0), Sample(1, *PATHS[1], 3.0, 2.0), Sample(2, *PATHS[1], 6.0, 3.0)
    )
    assert found.values_by_path() == {PATHS[1]: (2.0, 3.0, 1.0)}


COVS = {
    LOCAL: "0.0119 0.0618 0.0853 0.0750 0.0793",
    "MEB-np": "0.0879 0.2191 0.1028 0.1150 0.0973",
    "MEB-qh2": "0.1741 0.2967 0.5174 0.0716",
    "Monash01": "0.0505 0.4408 0.0684",
    "qld": "0.0609 0.2536",
    "sa": "0.0800",
}
DISTANCES = {
    "MEB-np": "1.0000 1.2930 10.4153 38.4565",
    "MEB-qh2": "2.1787 206.4946 38.5736",
    "Monash01": "17.6311 40.5496",
    "qld": "16.5556",
}
DIAMETERS = "1.980 1.708 1.045 1.000 1.984"


def cells(table: dict[str, str]) -> dict[PlacePath, str]:
    return {
        PlacePath(one, other): cell
        for one, row in table.items()
        for other, cell in zip(NECTAR_NODES[-len(row.split()) :], row.split(), strict=True)
    }


def covs(run: EvaluationRun) -> dict[PlacePath, float]:
    return {path: its.cov for path, its in run.path_statistics().items() if its.cov is not None}


def published(
    nodes: tuple[str, ...], statistics: dict[PlacePath, PathStatistics], *clients: str
) -> EvaluationRun:
    return EvaluationRun("p", Reference("d", 1), "m", "bit/s", nodes, clients, paths=stated_paths(statistics))


class TestTableV:
    def test_covs(self) -> None:
        assert {path: f"{cov:.4f}" for path, cov in covs(TABLE_V).items()} == cells(COVS)

    def test_five_paths_between_nodes_vary_more_than_the_others(self) -> None:
        """The paper's answer to its first question."""
        assert {path for path, cov in covs(TABLE_V).items() if cov >= 0.2} == {
            PlacePath("MEB-np", "MEB-qh2"),
            PlacePath("MEB-qh2", "Monash01"),
            PlacePath("MEB-qh2", "qld"),
            PlacePath("Monash01", "qld"),
            PlacePath("qld", "sa"),
        }

    def test_distances(self) -> None:
        assert {path: f"{far:.4f}" for path, far in TABLE_V.distances().items()} == cells(DISTANCES)

    def test_distances_of_the_client_have_the_scale_of_the_nodes(self) -> None:
        found = TABLE_V.distances(clients=True)
        assert [f"{found[PlacePath(LOCAL, node)]:.1f}" for node in ("MEB-np", "sa")] == ["188.1", "327.5"]
        assert max(found, key=lambda path: found[path]) == PlacePath(LOCAL, "sa")

    def test_diameters(self) -> None:
        assert [f"{one:.3f}" for one in TABLE_V.diameters().values()] == DIAMETERS.split()


def test_path_without_throughput_is_infinitely_far() -> None:
    dead, alive = PathStatistics(0, 0), PathStatistics(10, 1)
    found = published(
        ("a", "b", "c"),
        {
            PlacePath("a", "b"): dead,
            PlacePath("a", "c"): alive,
            PlacePath("a", "a"): dead,
            PlacePath("b", "b"): alive,
        },
    )
    assert PlacePath("a", "b") not in covs(found)
    assert found.distances() == {PlacePath("a", "b"): math.inf, PlacePath("a", "c"): 1.0}
    assert found.diameters() == {"a": 0.0, "b": 1.0}
    nothing = published(("a", "b"), {PlacePath("a", "b"): dead, PlacePath("a", "a"): dead})
    assert (nothing.distances(), nothing.diameters()) == ({}, {})


def test_delays_have_no_distances() -> None:
    found = replace(run(sample(0, PATHS[0], 0.01), sample(1, PATHS[1], 0.02)), unit="s")
    assert (found.distances(), found.diameters()) == ({}, {})


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        ([PlacePath("a", "x")], "unknown-name"),
        ([PlacePath("u", "u")], "invalid"),
        ([PlacePath("a", "b"), PlacePath("b", "a")], "duplicate"),
    ],
)
def test_impossible_paths_are_refused(paths: list[PlacePath], code: str) -> None:
    with refused(code, "paths"):
        published(("a", "b"), dict.fromkeys(paths, PathStatistics(1, 0)), "u")


@st.composite
def publications(draw: st.DrawFn) -> EvaluationRun:
    nodes = tuple(f"n{number}" for number in range(draw(st.integers(1, 5))))
    clients = tuple(f"c{number}" for number in range(draw(st.integers(0, 2))))
    possible = [PlacePath(one, other) for place, one in enumerate(nodes) for other in nodes[place:]]
    possible += [PlacePath(client, node) for client in clients for node in nodes]
    cell = st.builds(PathStatistics, st.just(0.0) | st.floats(1e-3, 1e5), st.floats(0, 1e5))
    return published(nodes, draw(st.dictionaries(st.sampled_from(possible), cell)), *clients)


@given(publications(), st.floats(0.1, 100))
def test_nearest_two_nodes_are_one_ratio_apart(found: EvaluationRun, ratio: float) -> None:
    distances = found.distances(ratio)
    if distances:
        assert min(distances.values()) == pytest.approx(ratio)
    more = found.distances(ratio, clients=True)
    assert {path: more[path] for path in distances} == distances
    has_scale = any(map(math.isfinite, distances.values()))
    assert {*more} == (
        {path for path in found.path_statistics() if not path.is_within} if has_scale else set()
    )


@given(publications(), st.floats(0.1, 100))
def test_slowest_node_is_one_ratio_wide(found: EvaluationRun, ratio: float) -> None:
    wide = [one for one in found.diameters(ratio).values() if one]
    assert not wide or min(wide) == pytest.approx(ratio)


@given(publications(), st.sampled_from([0.25, 2.0, 1024.0]))
def test_results_do_not_depend_on_the_unit(found: EvaluationRun, by: float) -> None:
    scaled = {
        path: PathStatistics(by * its.mean, by * its.deviation)
        for path, its in found.path_statistics().items()
    }
    other = published(found.nodes, scaled, *found.clients)
    assert covs(other) == pytest.approx(covs(found))
    assert other.distances(clients=True) == pytest.approx(found.distances(clients=True))
    assert other.diameters() == pytest.approx(found.diameters())
