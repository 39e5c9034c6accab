"""``adon place tasks``: files in; a table, JSON and what Slurm takes out; what is wrong is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from adon.placement.documents import placement_from_json
from apps.cli.main import app

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
        assert "map-1   vm-b     2      10 GB" in done.stdout
        assert "88.89 s until the last transfer is over; the path vm-b > vm-c decides: 10 GB" in done.stdout
        assert "no placement is faster: proven" in done.stdout

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
        assert (placed.application, placed.placement.proven) == ("sort", True)
        assert json.loads((tmp_path / "placement.json").read_text()) == json.loads(done.stdout)

    def test_as_slurm_takes_it(self, files: Files) -> None:
        assert files.place("--slurm", "hostfile").stdout == "vm-b\nvm-a\nvm-c\n"
        assert files.place("--slurm", "nodelist").stdout == "vm-b,vm-a,vm-c\n"
        options = "--ntasks=3 --distribution=arbitrary\n"
        assert files.place("--slurm", "options").stdout == options

    def test_methods_beside_each_other(self, files: Files) -> None:
        told = files.place("--compare").stdout
        assert "round-robin       6.667 min        4.50" in told
        assert "placing by measurement pays: 5.185 min (77.78 %) would be saved" in told
        documents = json.loads(files.place("--compare", "--json").stdout)
        assert {one["method"] for one in documents} == {
            *("exact", "greedy", "random", "round-robin", "minimum-machines")
        }

    def test_that_it_does_not_pay(self, files: Files) -> None:
        files.change(FILE, "size: 1 GB", "size: 100 MB")
        files.change(FILE, "10 GB", "1 GB")
        told = files.place("--compare").stdout
        assert "placing by measurement does not pay: too short: 31.11 s would be saved" in told

    def test_several_applications_at_once(self, files: Files, tmp_path: Path) -> None:
        other = files.write(
            "other.yaml", "{name: other, tasks: [{name: t, cores: 1}, {name: u, cores: 1}], transfers: []}"
        )
        done = files.place(str(other), "--json")
        assert list(json.loads(done.stdout)["machines"])[-2:] == ["other/t", "other/u"]

    def test_hoses_that_nobody_measured(self, files: Files) -> None:
        files.change(FILE, "from: map-2, to: reduce, size: 1 GB", "from: map-1, to: map-2, size: 9 GB")
        assert json.loads(files.place("--json").stdout)["limit"]["kind"] == "path"
        assert json.loads(files.place("--json", "--hose").stdout)["limit"]["kind"] == "hose"


class TestRefused:
    @pytest.mark.parametrize(
        ("name", "old", "new", "told"),
        [
            (
                FILE,
                "map-1, cores: 2",
                "map-1, cores: 20",
                "tasks.map-1: fits on no machine: the largest is vm-a, which has 4 cores",
            ),
            (FILE, "2 GiB", "32 GiB", "tasks.map-1: fits on no machine"),
            (FILE, "pinned: vm-c", "pinned: vm-x", "reduce is pinned to vm-x, which is none of the machines"),
            (FILE, "pinned: vm-c", "pinned: vm-c, colour: red", "application.yaml:6: tasks.2.colour"),
            (
                FILE,
                "to: reduce, size: 1 GB",
                "to: nobody, size: 1 GB",
                "yaml:7: transfers: map-2 > nobody: nobody is none of the tasks",
            ),
            (FILE, "from: map-2", "from: map-1", "transfers: map-1 > reduce: is there twice"),
            (FILE, "10 GB", "10", "application.yaml:8: transfers.0.size: '10' has no unit"),
            (FILE, "map-1, cores: 2, memory: 2 GiB", "map-1, cores: 2, pinned: vm-c", "apart"),
            (FILE, "apart: [[map-1", "apart: [[map-7", "apart: map-7 is none of the tasks"),
            (FILE, "name: sort", "name: so/rt", "application.yaml:2: name: "),
            (FILE, "[[map-1, map-2]]", "[[map-1, map-1]]", "apart: [map-1, map-1] is no group of different"),
            (FILE, "[[map-1, map-2]]", "[[map-1]]", "apart: [map-1] is no group of different tasks"),
            (
                FILE,
                "rtt: 5 ms}",
                "rtt: 5 ms}, {tasks: [map-1, reduce], rtt: 1 s}",
                "within: map-1 > reduce: is there twice",
            ),
            (FILE, "rtt: 5 ms", "rtt: 5 us", "tasks"),
            (
                "instances.yaml",
                "name: vm-a, address: 10.0.0.1, cores: 4,",
                "name: vm-a, address: 10.0.0.1,",
                "cores: instance vm-a: is required",
            ),
            (
                "instances.yaml",
                ", memory: 16 GiB",
                "",
                "machines: vm-a: its memory is not known, and task map-1",
            ),
            (
                "snapshot.json",
                "[1000000000.0, 1000000000.0, null]",
                "[1000000000.0, null]",
                "--snapshot: rates: row of 'vm-c'",
            ),
            ("snapshot.json", "900000000.0", "null", "2 of 6"),
        ],
    )
    def test_with_its_field(self, files: Files, name: str, old: str, new: str, told: str) -> None:
        if told == "apart":
            files.change(FILE, "map-2, cores: 2", "map-2, cores: 2, pinned: vm-c")
        if told == "2 of 6":
            files.change("snapshot.json", "200000000.0", "null")
        files.change(name, old, new)
        done = files.place()
        assert done.exit_code == 2
        assert told in done.output.replace("\n", " ")

    def test_a_matrix_that_is_not_square(self, files: Files) -> None:
        files.write(FILE, APPLICATION.replace("SENT", MATRIX.replace("[0 B, null, 1 GB], ", "")))
        done = files.place()
        assert done.exit_code == 2
        assert "matrix: 2 rows for 3 names: the matrix must be square" in done.output

    def test_two_ways_to_say_what_is_sent(self, files: Files) -> None:
        files.write(FILE, APPLICATION.replace("SENT", f"{MATRIX}\n{TRANSFERS}"))
        assert "matrix: transfers says what is sent already" in files.place().output

    def test_files_that_are_not_there(self, files: Files) -> None:
        (files.folder / "snapshot.json").unlink()
        done = files.place()
        assert done.exit_code == 2
        assert "--snapshot: " in done.output
        assert "snapshot.json: No such file or directory" in done.output

    def test_an_answer_that_can_be_written_nowhere_is_not_looked_for(self, files: Files) -> None:
        done = files.place("-o", str(files.folder / "none" / "placement.json"))
        assert (done.exit_code, done.stdout) == (2, "")
        assert "--output: " in done.output
        assert files.place("-o", str(files.folder)).exit_code == 2

    def test_slurm_is_all_that_is_printed(self, files: Files) -> None:
        assert files.place("--slurm", "hostfile", "--json").exit_code == 2
