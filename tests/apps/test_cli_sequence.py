"""``adon place sequence``: one application after the other, each beside those that run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from apps.cli.main import app

NAMES = ("vm-a", "vm-b", "vm-c", "vm-d")
INSTANCES = "instances:\n" + "".join(
    f"  - {{name: {name}, address: 10.0.0.{number}, cores: 1, memory: 4 GiB}}\n"
    for number, name in enumerate(NAMES, 1)
)
FAST, SLOW = {("vm-a", "vm-b")}, 8e6
RATES = [
    [None if one == other else 8e7 if (one, other) in FAST else SLOW for other in NAMES] for one in NAMES
]
SNAPSHOT = {"kind": "snapshot", "version": 1, "at": 1.7e9, "instances": NAMES, "rates": RATES}
APPLICATION = """
name: NAME
tasks: [{name: map, cores: 1, memory: 1 MB}, {name: reduce, cores: 1, memory: 1 MB}]
transfers: [{from: map, to: reduce, size: SIZE}]
"""


class Files:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("instances.yaml", INSTANCES)
        self.write("snapshot.json", json.dumps(SNAPSHOT))

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def application(self, name: str, size: str) -> str:
        return self.write(f"{name}.yaml", APPLICATION.replace("NAME", name).replace("SIZE", size))

    def run(self, *arguments: str) -> Result:
        where = ("--instances", self.folder / "instances.yaml", "--snapshot", self.folder / "snapshot.json")
        return CliRunner().invoke(app, ["place", "sequence", *arguments, *map(str, where)])

    def found(self, *arguments: str) -> list[dict[str, Any]]:
        done = self.run(*arguments, "--json")
        assert done.exit_code == 0, done.output
        document: list[dict[str, Any]] = json.loads(done.stdout)
        return document


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_each_is_placed_beside_those_that_run(files: Files) -> None:
    """The first takes the fast path, 10 MB in a second; the second has what is left, 10 MB in ten."""
    one, two = files.found(files.application("one", "10 MB"), files.application("two", "10 MB"))
    assert one["placements"] == [{"since_s": 0.0, "machines": {"map": "vm-a", "reduce": "vm-b"}}]
    assert {*two["placements"][0]["machines"].values()} == {"vm-c", "vm-d"}
    assert (one["ended_s"], two["ended_s"]) == (pytest.approx(1.0), pytest.approx(10.0))


@pytest.mark.parametrize(("cost", "moves"), [("0 s", 1), ("5 s", 1), ("8 s", 0), ("1 min", 0)])
def test_looked_at_again_it_moves_only_if_that_gains_more_than_it_costs(
    files: Files, cost: str, moves: int
) -> None:
    """After two seconds the fast path is free: 8 of 10 MB are left, 8 s here, 0.8 s there."""
    again = ("--again", "2 s", "--move-cost", cost)
    one, two = files.found(files.application("one", "10 MB"), files.application("two", "10 MB"), *again)
    assert (one["moves"], two["moves"]) == (0, moves)
    if moves:
        assert two["placements"][1] == {"since_s": 2.0, "machines": {"map": "vm-a", "reduce": "vm-b"}}
        assert two["ended_s"] < 10.0
    else:
        assert two["ended_s"] == pytest.approx(10.0)


def test_who_finds_no_room_waits_and_that_is_told(files: Files) -> None:
    applications = [files.application(name, "10 MB") for name in ("one", "two", "three")]
    done = files.run(*applications)
    assert done.exit_code == 0, done.output
    assert "three: 2 s, 1 s of them waiting for room; done at 2 s" in done.stdout, done.stdout
    assert "map vm-a, reduce vm-b" in done.stdout
