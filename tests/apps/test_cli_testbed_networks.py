"""``adon testbed list|show|draw|import``: what a person types and is told; nothing is built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from defusedxml.ElementTree import fromstring
from typer.testing import CliRunner

from apps.cli.main import app
from mininet_topos import networks

SAMPLE = str(Path(__file__).parents[2] / "docs/examples/great-lakes.graphml")


def adon(*words: str) -> Result:
    return CliRunner().invoke(app, ["testbed", *words])


def test_what_is_built_in_is_listed() -> None:
    told = adon("list")
    assert told.exit_code == 0
    lines = [line.split() for line in told.stdout.splitlines()[2:]]
    assert [line[0] for line in lines] == list(networks.names())
    assert lines[1][1:6] == ["5", "109", "10", "30", "1:100"]
    assert [one["switches"] for one in json.loads(adon("list", "--json").stdout)] == [10, 109, 4, 7, 5]


def test_one_is_shown_as_it_is_built() -> None:
    told = adon("show", "mu_osu", "--scale", "1000").stdout
    rows = {line.split("  ")[0]: line.split() for line in told.splitlines() if line}
    assert "Rates are those that are built, at 1:1000." in told
    assert rows["line"] == [
        "line",
        "t1",
        "-",
        "t2",
        "6.08",
        "Mbps",
        "5",
        "ms",
        "0",
        "%",
        "40",
        "frames",
        "1500",
        "B",
    ]
    assert rows["al2s"] == [
        "al2s",
        "2",
        "1701",
        "5.8",
        "Mbps",
        "5",
        "ms",
        "0",
        "%",
        "mu-al2s",
        "line",
        "osu-al2s",
    ]
    assert rows["internet"][:5] == ["internet", "3", "-", "650", "kbps"]
    assert rows["mu"] == ["mu", "mu-edge", "mu-rtr", "0", "mu-dtn", "10.1.0.10"]
    whole = json.loads(adon("show", "mu_osu", "--json").stdout)
    assert [path["loss"] for path in whole["paths"]] == [0, 0]
    assert "-0" not in json.dumps(whole["paths"])
    assert {"name": "mu-al2s", "between": ["mu-edge", "t1"]} in whole["links"]


def test_one_is_drawn(tmp_path: Path) -> None:
    svg, png = tmp_path / "a.svg", tmp_path / "a.png"
    assert adon("draw", "five_sites", "-o", str(svg), "--between", "nw", "ne").stdout == f"{svg}: written\n"
    assert "first-nw-ne" in svg.read_text()
    assert "first-sw-se" not in svg.read_text()
    assert fromstring(svg.read_text()).tag.endswith("svg")
    assert json.loads(adon("draw", SAMPLE, "-o", str(png), "--json").stdout) == {"file": str(png)}
    assert png.read_bytes().startswith(b"\x89PNG")


def test_a_map_is_imported_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "lakes.yaml"
    told = adon("import", SAMPLE, "-o", str(file), "--campus", "Buffalo", "--campus", "3", "--name", "mine")
    assert told.exit_code == 0
    assert told.stdout == f"{file}: campuses buf, mil; 19 switches, 3 paths; scale 1:1000\n"
    assert "note: edge 8: its label '10-20Gbps' is not one rate" in told.stderr
    assert networks.read(file).name == "mine"
    printed = adon("import", SAMPLE)
    assert networks.described(printed.stdout) == networks.found(SAMPLE)
    document = json.loads(adon("import", SAMPLE, "--json").stdout)
    assert document["file"] is None
    assert document["yaml"] == printed.stdout
    assert len(document["notes"]) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "moon"), "there is no network 'moon' (there are choreo_tree, "),
        (("show", "mu_osu", "--scale", "0"), "mu_osu.yaml:"),
        (("show", "mu_osu", "--scale", "1"), "on the wire, 6.08 Gbps is not in 100 kbps to 1 Gbps"),
        (("show", SAMPLE, "--scale", "1"), f"{SAMPLE} (imported): links.minn-madi.rate: 10 Gbps is not in"),
        (("show", "none.graphml"), "none.graphml: cannot be read: there is no such file"),
        (("draw", "mu_osu", "-o", "a.pdf"), "'a.pdf' ends neither with .svg nor with .png"),
        (("draw", "mu_osu", "-o", "none/a.svg"), "--out: none/a.svg: no file can be written there"),
        (("draw", "mu_osu", "-o", "a.svg", "--between", "mu", "moon"), "there is no site 'moon'"),
        (("import", "none.graphml"), "none.graphml: cannot be read: there is no such file"),
        (("import", SAMPLE, "--rate", "10"), "--rate: '10' has no unit"),
        (("import", SAMPLE, "--rate", "0 Gbps"), "rate: 0 bps is not a rate that a link has"),
        (("import", SAMPLE, "--delay", "2 s"), "delay: 2 s is not in 0..1 s"),
        (("import", SAMPLE, "--overlays", "0"), "overlays: 0 is not in 1..16"),
        (("import", SAMPLE, "--campus", "Oslo", "--campus", "3"), "campuses: there is no node 'Oslo'"),
        (("import", SAMPLE, "--campuses", "99"), "campuses: 99 is not in 2..16, the nodes there are"),
        (("import", SAMPLE, "--name", "My Lakes"), "name: 'My Lakes' is not a letter and at most 39"),
        (("import", SAMPLE, "-o", "none/a.yaml"), "--out: none/a.yaml: no file can be written there"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_nothing_is_written(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = adon(*words)
    assert told.exit_code == 2
    assert said in told.stderr
    assert list(tmp_path.iterdir()) == []
