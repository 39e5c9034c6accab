"""``adon testbed list|show``: what a person types and is told; nothing is built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from apps.cli.main import app
from mininet_topos import networks


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "moon"), "there is no network 'moon' (there are choreo_tree, "),
        (("show", "mu_osu", "--scale", "0"), "mu_osu.yaml:"),
        (("show", "mu_osu", "--scale", "1"), "on the wire, 6.08 Gbps is not in 100 kbps to 1 Gbps"),
        (("show", "none.yaml"), "none.yaml: cannot be read: there is no such file"),
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
