from __future__ import annotations

from pathlib import Path

import pytest

from mininet_topos.networks import found, named, names, read, text
from tests.support.refusals import refused

OWN = """
from mininet_topos.topologies.mu_osu import MuOsu

class Ours(MuOsu):
    \"\"\"Two campuses of ours.

    For a test.
    \"\"\"

    scale = 400

topos = {"ours": Ours}
"""


def test_networks_are_found_by_name_or_file(tmp_path: Path) -> None:
    assert found("mu_osu") == named("mu_osu")
    assert {"mu_osu", "two_campuses"} <= set(names())
    file = tmp_path / "ours.py"
    file.write_text(OWN)
    network = found(str(file))
    assert (network.name, network.title, network.about, network.scale) == (
        "ours",
        "Two campuses of ours",
        "For a test.",
        400,
    )
    assert network.paths == named("mu_osu", 400).paths
    assert network.topology.name == "ours"
    assert read(file, 100).paths == named("mu_osu").paths


def test_a_copy_of_a_built_in_topology_is_the_same_network(tmp_path: Path) -> None:
    file = tmp_path / "network.py"
    file.write_text(text("five_sites"))
    assert read(file) == named("five_sites")


def test_unknown_names_and_files_are_refused(tmp_path: Path) -> None:
    with refused("unknown-name", "network"):
        found("mu_oso")
    with refused("unreadable"):
        found(str(tmp_path / "nowhere.py"))


@pytest.mark.parametrize(
    ("program", "field"),
    [
        ("topos = {", "network"),
        ("import nowhere", "network"),
        ("pass", "network"),
        ("topos = {}", "network"),
        ("topos = {'ours': dict}", "network"),
        (f"{OWN}topos['other'] = Ours", "network"),
        (OWN.replace("scale = 400", "scale = 1"), "circuits.line.rate"),
    ],
)
def test_what_a_file_does_wrong_is_refused(program: str, field: str, tmp_path: Path) -> None:
    file = tmp_path / "ours.py"
    file.write_text(program)
    with refused("invalid", field):
        found(str(file))
