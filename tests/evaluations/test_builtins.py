"""What ADON brings: the document of [CEEM], and its table V."""

from __future__ import annotations

import pytest

from adon.errors import NotFound
from adon.evaluations import builtins
from measurement.evaluation.results import Path
from tests.measurement.evaluation.nectar import LOCAL, NODES, TABLE_V


@pytest.mark.parametrize("name", builtins.names())
def test_each_can_be_read(name: str) -> None:
    assert builtins.document(name).name == name


def test_the_reference_is_table_v() -> None:
    found = builtins.reference("nectar").results()
    assert (found.nodes, found.clients) == (NODES, (LOCAL,))
    assert found.paths.keys() == TABLE_V.paths.keys()
    for path, paper in TABLE_V.paths.items():
        its = found.paths[path]
        assert (its.mean / 1e6, its.deviation / 1e6) == pytest.approx(
            (paper.mean, paper.deviation), rel=1e-12
        )


def test_the_design_is_table_iv() -> None:
    """15 paths inside the cloud (C(5, 2) + C(5, 1)) and 5 of the client."""
    tested = builtins.document("nectar").value().design.tested
    assert len(tested) == 20
    assert {*tested} == {*TABLE_V.paths}
    assert tested[:5] == tuple(Path(LOCAL, node) for node in NODES)
    assert tested[5:7] == (Path("MEB-np", "MEB-np"), Path("MEB-np", "MEB-qh2"))


@pytest.mark.parametrize("name", ["none", "../nectar", "nectar.reference", ""])
def test_what_there_is_not_is_not_found(name: str) -> None:
    for ask in (builtins.text, builtins.document, builtins.reference):
        with pytest.raises(NotFound):
            ask(name)
