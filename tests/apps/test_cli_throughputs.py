"""``adon place bursts`` and ``predict``: series in; rates, buckets and the next hour out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from apps.cli.main import app
from measurement.archive.records import Record
from measurement.profiling.predicting import next_hour

MICRO = [200e6] * 4 + [80e6] * 16
"""[HEALTH] figure 4: 200 Mbit/s for four seconds, 80 after that."""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["place", *map(str, arguments)])


def column(file: Path, name: str, values: Sequence[float]) -> Path:
    file.write_text(
        "\n".join([f"second,{name}", *(f"{at},{value}" for at, value in enumerate(values))]) + "\n"
    )
    return file


def archive(file: Path, series: dict[tuple[str, str, str], list[tuple[float, float]]]) -> Path:
    rows = [
        Record("measurement", *way, "throughput", value, at, at, "", "", "{}")
        for way, values in series.items()
        for at, value in values
    ]
    lines = [",".join(Record._fields), *(",".join(map(str, row)) for row in rows)]
    file.write_text("\n".join(lines) + "\n")
    return file


def at_two_seconds(rates: list[float]) -> list[tuple[float, float]]:
    return [(1e9 + 2.0 * number, rate) for number, rate in enumerate(rates)]


class TestBursts:
    def test_the_papers_smallest_instance(self, tmp_path: Path) -> None:
        """200 MB: 100 MB in the burst's four seconds, then 100 MB at 80 Mbit/s in ten."""
        done = run("bursts", column(tmp_path / "a.csv", "bits_per_second", MICRO), "--size", "200 MB")
        assert done.exit_code == 0, done.output
        for text in ("200 Mbps for 4 s", "80 Mbps", "60 MB", "200 MB take 14 s", "at 114.3 Mbps"):
            assert text in done.stdout, done.stdout

    def test_csv_json_and_an_archive_say_the_same(self, tmp_path: Path) -> None:
        text = tmp_path / "a.json"
        text.write_text(json.dumps({"bits_per_second": MICRO}))
        rows = archive(
            tmp_path / "archive.csv",
            {("p", "a", "b"): at_two_seconds(MICRO), ("p", "b", "a"): at_two_seconds([1e6] * 20)},
        )
        column(tmp_path / "a.csv", "bits_per_second", MICRO)
        found = [
            json.loads(run("bursts", *arguments, "--size", "1 GB", "--json").stdout)
            for arguments in (
                (tmp_path / "a.csv", "--interval", "2 s"),
                (text, "--interval", "2 s"),
                (rows, "--from", "a", "--to", "b"),
            )
        ]
        assert found[0] == found[1] == found[2]
        assert found[0] == {
            "throttled": True,
            "burst_bps": 200e6,
            "sustained_bps": 80e6,
            "burst_s": 8.0,
            "bucket_bits": 120e6 * 8,
            "size_bytes": 10**9,
            "takes_s": 8 + (8e9 - 1.6e9) / 80e6,
            "expected_bps": pytest.approx(8e9 / 88),
        }

    def test_nothing_is_throttled(self, tmp_path: Path) -> None:
        done = run("bursts", column(tmp_path / "a.csv", "bits_per_second", [1e8] * 9))
        assert (done.exit_code, "100 Mbps all the time" in done.stdout) == (0, True), done.output

    def test_too_little_is_status_3(self, tmp_path: Path) -> None:
        file = column(tmp_path / "a.csv", "bits_per_second", [1e8] * 3)
        assert (run("bursts", file).exit_code, run("bursts", file, "--json").stdout) == (3, "null\n")

    @pytest.mark.parametrize(
        ("text", "arguments", "why"),
        [
            ("second,rate\n0,1\n", (), "a.csv:1: has no column bits_per_second"),
            ("bits_per_second\n1\nmany\n", (), "a.csv:3: bits_per_second: 'many' is no finite number"),
            ("bits_per_second\n1\nnan\n", (), "a.csv:3: bits_per_second: 'nan' is no finite number"),
            ("bits_per_second,x\n1,2\n,3\n", (), "a.csv:3: bits_per_second: '' is no finite number"),
            ("bits_per_second,x\n1,2\n3\n", ("--from", "a"), "FILE: is no export of the archive"),
            ("x,bits_per_second\n1\n", (), "a.csv:2: bits_per_second: '' is no finite number"),
            ("bits_per_second\n", (), "a.csv: has no bits_per_second"),
            ("bits_per_second\n1\n", ("--interval", "1"), "--interval: "),
            ("bits_per_second\n1\n", ("--interval", "0 s"), "--interval: 0 s is no time"),
            ("bits_per_second\n1\n", ("--size", "0 B"), "--size: 0 B is no size"),
            ("bits_per_second\n1\n", ("--from", "a"), "FILE: is no export of the archive"),
        ],
    )
    def test_what_is_wrong_is_named(
        self, tmp_path: Path, text: str, arguments: tuple[str, ...], why: str
    ) -> None:
        file = tmp_path / "a.csv"
        file.write_text(text)
        done = run("bursts", file, *arguments)
        assert (done.exit_code, why in done.stderr) == (2, True), done.stderr

    def test_what_is_no_number_in_json_is_told_as_it_is_written(self, tmp_path: Path) -> None:
        file = tmp_path / "a.json"
        for value in ('"3"', "true", "null", "-1", "1e999", "[]"):
            file.write_text(f'{{"bits_per_second": [1, {value}]}}')
            done = run("bursts", file)
            shown = {"1e999": "Infinity"}.get(value, value)
            assert (
                done.stderr == f"FILE: {file}: [1]: bits_per_second: {shown} is no finite number from 0 on\n"
            )
            assert done.exit_code == 2

    def test_what_is_no_text(self, tmp_path: Path) -> None:
        file = tmp_path / "a.csv"
        file.write_bytes(b"\xff\xfe\x00")
        done = run("bursts", file)
        assert (done.exit_code, done.stderr) == (2, f"FILE: {file}: is not UTF-8 text\n")

    @pytest.mark.parametrize("text", ["[]", "{", "7", '{"bits_per_second": 1}', '{"bits_per_second": ["1"]}'])
    def test_json_that_is_something_else(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "a.json"
        file.write_text(text)
        done = run("bursts", file)
        assert (done.exit_code, "a.json" in done.stderr) == (2, True), done.stderr

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ((), "there are 2 paths (p: a > b, p: b > a): say which"),
            (("--from", "c"), "there is no throughput of such a path"),
            (("--from", "b"), "its values are not equally far from each other"),
            (("--from", "a", "--interval", "1 s"), "--interval: the archive's values have times"),
        ],
    )
    def test_an_archive_that_does_not_say_one_transfer(
        self, tmp_path: Path, arguments: tuple[str, ...], why: str
    ) -> None:
        late = [*at_two_seconds(MICRO), (2e9, 1e6)]
        rows = archive(tmp_path / "a.csv", {("p", "a", "b"): at_two_seconds(MICRO), ("p", "b", "a"): late})
        done = run("bursts", rows, *arguments)
        assert (done.exit_code, why in done.stderr) == (2, True), done.stderr

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        done = run("bursts", tmp_path / "none.csv")
        assert (done.exit_code, "none.csv: No such file" in done.stderr) == (2, True), done.output


class TestPredict:
    WAVE = tuple(1e9 * (1 + hour % 24) + 1e8 * (hour % 5) for hour in range(24 * 5))

    def test_the_next_hour_and_how_far_off_it_was(self, tmp_path: Path) -> None:
        file = column(tmp_path / "a.csv", "bytes_per_hour", self.WAVE)
        found = json.loads(run("predict", file, "--json").stdout)
        assert (found["hours"], found["next_hour_bytes"]) == (120, next_hour(self.WAVE))
        assert found["error"]["both"] < found["error"]["previous_hour"]
        done = run("predict", file)
        assert done.exit_code == 0
        assert "as at this time yesterday" in done.stdout
        assert "by 120 hours" in done.stdout

    def test_two_hours_are_enough_to_guess_and_too_few_to_judge(self, tmp_path: Path) -> None:
        done = run("predict", column(tmp_path / "a.csv", "bytes_per_hour", [1e9, 2e9]))
        assert done.exit_code == 0
        assert "next hour: 2 GB, by 2 hours" in done.stdout
        assert "more than two days" in done.stdout

    def test_another_column(self, tmp_path: Path) -> None:
        done = run("predict", column(tmp_path / "a.csv", "bits_per_second", MICRO))
        assert (done.exit_code, "has no column bytes_per_hour" in done.stderr) == (2, True)
