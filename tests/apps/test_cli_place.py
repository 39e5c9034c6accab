"""``adon place tasks``: files in; a table, JSON and what Slurm takes out; what is wrong is told."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from adon.placement.model import placement_from_json
from apps.cli.main import app
from tests.measurement.custom.slurm_site import cluster, missing

FILE = "application.yaml"
APPLICATION = """
name: sort
tasks:
  - {name: map-1, cores: 2, memory: 2 GiB}
  - {name: map-2, cores: 2}
  - {name: reduce, cores: 2, pinned: vm-c}
SENT
apart: [[map-1, map-2]]
within: [{tasks: [map-1, reduce], rtt: 5 ms}]
"""
TRANSFERS = """transfers:
  - {from: map-1, to: reduce, size: 10 GB}
  - {from: map-2, to: reduce, size: 1 GB}"""
MATRIX = "matrix: [[null, 0 B, 10 GB], [0 B, null, 1 GB], [null, null, null]]"
INSTANCES = """
instances:
  - {name: vm-a, address: 10.0.0.1, cores: 4, memory: 16 GiB}
  - {name: vm-b, address: 10.0.0.2, cores: 4, memory: 16 GiB}
  - {name: vm-c, address: 10.0.0.3, cores: 2, memory: 16 GiB}
"""
SNAPSHOT = {
    "kind": "snapshot",
    "version": 1,
    "at": 1_700_000_000.0,
    "instances": ["vm-a", "vm-b", "vm-c"],
    "rates": [[None, 1e9, 2e8], [1e9, None, 9e8], [1e9, 1e9, None]],
    "rtts": [[None, 0.001, 0.001], [0.001, None, 0.001], [0.001, 0.001, None]],
}


class Files:
    """The three files of a command, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write(FILE, APPLICATION.replace("SENT", TRANSFERS))
        self.write("instances.yaml", INSTANCES)
        self.write("snapshot.json", json.dumps(SNAPSHOT))

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.write_text(text)
        return file

    def change(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def place(self, *more: str) -> Result:
        where = {name: str(self.folder / name) for name in (FILE, "instances.yaml", "snapshot.json")}
        arguments = ["place", "tasks", where[FILE], "--instances", where["instances.yaml"]]
        return CliRunner().invoke(app, [*arguments, "--snapshot", where["snapshot.json"], *more])


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


class TestPlaced:
    def test_as_a_table(self, files: Files) -> None:
        done = files.place()
        assert done.exit_code == 0, done.output
        assert ["map-1", "vm-b", "2", "10", "GB"] in [line.split() for line in done.stdout.splitlines()]
        assert "88.89 s" in done.stdout
        assert "proven" in done.stdout

    def test_a_matrix_and_a_profile_say_the_same(self, files: Files) -> None:
        by_transfers = files.place("--json").stdout
        files.write(FILE, APPLICATION.replace("SENT", MATRIX))
        assert files.place("--json").stdout == by_transfers
        profile = {"kind": "profile", "version": 1, "began": 0.0, "ended": 60.0}
        sent = [[None, 0, 10**10], [0, None, 10**9], [None, None, None]]
        files.write("p.json", json.dumps({**profile, "tasks": ["map-1", "map-2", "reduce"], "sent": sent}))
        files.write(FILE, APPLICATION.replace("SENT", "profile: p.json"))
        assert files.place("--json").stdout == by_transfers

    def test_json_is_a_placement_that_reads_back(self, files: Files, tmp_path: Path) -> None:
        done = files.place("--json", "-o", str(tmp_path / "placement.json"))
        placed = placement_from_json(json.loads(done.stdout))
        assert (placed.application, placed.proven) == ("sort", True)
        assert json.loads((tmp_path / "placement.json").read_text()) == json.loads(done.stdout)

    def test_as_slurm_takes_it(self, files: Files) -> None:
        assert files.place("--slurm", "hostfile").stdout == "vm-b\nvm-a\nvm-c\n"
        assert files.place("--slurm", "nodelist").stdout == "vm-b,vm-a,vm-c\n"
        options = "--ntasks=3 --distribution=arbitrary\n"
        assert files.place("--slurm", "options").stdout == options

    @pytest.mark.integration
    @pytest.mark.skipif(bool(missing()), reason=f"lacks {', '.join(missing())}")
    def test_slurm_runs_ranks_on_their_machines(self, files: Files, tmp_path: Path) -> None:
        hosts = tmp_path / "hosts"
        hosts.write_text(files.place("--slurm", "hostfile").stdout)
        options = files.place("--slurm", "options").stdout.split()
        with cluster(("vm-a", "vm-b", "vm-c")) as configuration:
            done = subprocess.run(
                ["srun", *options, "sh", "-c", "echo $SLURM_PROCID $SLURMD_NODENAME"],
                env={**os.environ, "SLURM_CONF": str(configuration), "SLURM_HOSTFILE": str(hosts)},
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
        assert sorted(done.stdout.splitlines()) == ["0 vm-b", "1 vm-a", "2 vm-c"]

    @pytest.mark.parametrize("method", ["greedy", "linear-program", "random"])
    def test_each_method_places(self, files: Files, method: str) -> None:
        document = json.loads(files.place("--method", method, "--json").stdout)
        assert (document["method"], document["proven"]) == (method, method == "linear-program")

    def test_several_applications_at_once(self, files: Files, tmp_path: Path) -> None:
        other = files.write(
            "other.yaml", "{name: other, tasks: [{name: t, cores: 1}, {name: u, cores: 1}], transfers: []}"
        )
        done = files.place(str(other), "--json")
        assert list(json.loads(done.stdout)["machines"])[-2:] == ["other/t", "other/u"]
