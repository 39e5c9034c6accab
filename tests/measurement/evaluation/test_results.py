"""The paper's equations on the paper's own table, worked out apart; and properties of any results."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.evaluation.results import Measured, Path, Results
from tests.measurement.evaluation.nectar import LOCAL, NODES, TABLE_V
from tests.support.refusals import refused

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


def cells(table: dict[str, str]) -> dict[Path, str]:
    return {
        Path(one, other): cell
        for one, row in table.items()
        for other, cell in zip(NODES[-len(row.split()) :], row.split(), strict=True)
    }


class TestTableV:
    def test_covs(self) -> None:
        assert {path: f"{cov:.4f}" for path, cov in TABLE_V.covs().items()} == cells(COVS)

    def test_five_paths_between_nodes_vary_more_than_the_others(self) -> None:
        """The paper's answer to its first question."""
        varied = {path for path, cov in TABLE_V.covs().items() if cov is not None and cov >= 0.2}
        assert varied == {
            Path("MEB-np", "MEB-qh2"),
            Path("MEB-qh2", "Monash01"),
            Path("MEB-qh2", "qld"),
            Path("Monash01", "qld"),
            Path("qld", "sa"),
        }

    def test_distances(self) -> None:
        assert {path: f"{far:.4f}" for path, far in TABLE_V.distances().items()} == cells(DISTANCES)

    def test_the_local_machine_is_measured_by_the_nodes(self) -> None:
        found = TABLE_V.distances(clients=True)
        assert [f"{found[Path(LOCAL, node)]:.1f}" for node in ("MEB-np", "sa")] == ["188.1", "327.5"]
        assert max(found, key=lambda path: found[path]) == Path(LOCAL, "sa")

    def test_diameters(self) -> None:
        assert [f"{one:.3f}" for one in TABLE_V.diameters().values()] == DIAMETERS.split()

    def test_a_path_is_found_either_way_round(self) -> None:
        assert (
            TABLE_V.measured("qld", "MEB-qh2") == TABLE_V.measured("MEB-qh2", "qld") == Measured(18.4, 9.52)
        )
        assert TABLE_V.measured(LOCAL, LOCAL) is None


def test_what_came_to_nothing_is_infinitely_far_and_measures_nobody() -> None:
    dead, alive = Measured(0, 0), Measured(10, 1)
    results = Results(
        ("a", "b", "c"),
        (),
        {Path("a", "b"): dead, Path("a", "c"): alive, Path("a", "a"): dead, Path("b", "b"): alive},
    )
    assert results.covs()[Path("a", "b")] is None
    assert results.distances() == {Path("a", "b"): math.inf, Path("a", "c"): 1.0}
    assert results.diameters() == {"a": 0.0, "b": 1.0}
    nothing = Results(("a", "b"), (), {Path("a", "b"): dead, Path("a", "a"): dead})
    assert (nothing.distances(), nothing.diameters()) == ({}, {})


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        ({Path("a", "x"): Measured(1, 0)}, "unknown-name"),
        ({Path("u", "u"): Measured(1, 0)}, "invalid"),
        ({Path("a", "b"): Measured(1, 0), Path("b", "a"): Measured(1, 0)}, "duplicate"),
        ({Path("a", "b"): Measured(-1, 0)}, "out-of-range"),
        ({Path("a", "b"): Measured(1, float("nan"))}, "out-of-range"),
    ],
)
def test_impossible_results_are_refused(paths: dict[Path, Measured], code: str) -> None:
    with refused(code):
        Results(("a", "b"), ("u",), paths)


@st.composite
def results(draw: st.DrawFn) -> Results:
    nodes = tuple(f"n{number}" for number in range(draw(st.integers(1, 5))))
    clients = tuple(f"c{number}" for number in range(draw(st.integers(0, 2))))
    possible = [Path(one, other) for place, one in enumerate(nodes) for other in nodes[place:]]
    possible += [Path(client, node) for client in clients for node in nodes]
    cell = st.builds(Measured, st.just(0.0) | st.floats(1e-3, 1e5), st.floats(0, 1e5))
    return Results(nodes, clients, draw(st.dictionaries(st.sampled_from(possible), cell)))


@given(results(), st.floats(0.1, 100))
def test_the_nearest_two_nodes_are_one_ratio_apart(found: Results, ratio: float) -> None:
    distances = found.distances(ratio)
    if distances:
        assert min(distances.values()) == pytest.approx(ratio)
    more = found.distances(ratio, clients=True)
    assert {path: more[path] for path in distances} == distances
    assert more.keys() == (
        {path for path in found.paths if not path.within}
        if any(map(math.isfinite, distances.values()))
        else set()
    )


@given(results(), st.floats(0.1, 100))
def test_the_slowest_node_is_one_ratio_wide(found: Results, ratio: float) -> None:
    wide = [one for one in found.diameters(ratio).values() if one]
    assert not wide or min(wide) == pytest.approx(ratio)


@given(results(), st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_unit_does_not_matter(found: Results, by: float) -> None:
    scaled = {path: Measured(by * its.mean, by * its.deviation) for path, its in found.paths.items()}
    other = Results(found.nodes, found.clients, scaled)
    assert other.covs() == pytest.approx(found.covs())
    assert other.distances(clients=True) == pytest.approx(found.distances(clients=True))
    assert other.diameters() == pytest.approx(found.diameters())
