from __future__ import annotations

import pytest

from mininet_topos.topology_catalog import BUILT_IN, load_topology
from tests.support.refusals import refused

MINE = """
from mininet_topos.topologies.campus_topo import CampusTopo

class Mine(CampusTopo):
    def describe(self):
        self.campus("aa"), self.campus("bb")
        self.circuit("line", "aa-rtr", "bb-rtr", goodput={goodput})
        self.transit_path("only", 3, ["aa", "bb"])

topos = {{"mine": Mine}}
"""


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_topology_is_found_by_name(name):
    assert load_topology(name).paths


def test_topology_of_a_file_is_found_and_scaled(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MINE.format(goodput=1000))
    assert load_topology(str(file), 50.0).paths["only"].goodput == pytest.approx(20e6)


def test_topology_that_cannot_be_built_names_the_circuit(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MINE.format(goodput=1e9))
    with refused("invalid", "circuits.line.rate"):
        load_topology(str(file))


@pytest.mark.parametrize(
    "text", ["", "topos = {}", "topos = {'one': int, 'two': int}", "topos = {'one': int}", "1 / 0"]
)
def test_file_without_one_topology_is_refused(tmp_path, text):
    file = tmp_path / "mine.py"
    file.write_text(text)
    with refused("invalid", "topology"):
        load_topology(str(file))


def test_unknown_topology_and_missing_file_are_refused(tmp_path):
    with refused("unknown-name", "topology"):
        load_topology("mu_ohio")
    with refused("invalid", "topology"):
        load_topology(str(tmp_path / "mine.py"))
