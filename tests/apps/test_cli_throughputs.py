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
        for text in ("200 Mbps", "80 Mbps", "60 MB", "14 s", "114.3 Mbps"):
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


class TestPredict:
    WAVE = tuple(1e9 * (1 + hour % 24) + 1e8 * (hour % 5) for hour in range(24 * 5))

    def test_the_next_hour_and_how_far_off_it_was(self, tmp_path: Path) -> None:
        file = column(tmp_path / "a.csv", "bytes_per_hour", self.WAVE)
        found = json.loads(run("predict", file, "--json").stdout)
        assert (found["hours"], found["next_hour_bytes"]) == (120, next_hour(self.WAVE))
        assert found["error"]["both"] < found["error"]["previous_hour"]
        done = run("predict", file)
        assert done.exit_code == 0
        assert "120 hours" in done.stdout

    def test_two_hours_are_enough_to_guess_and_too_few_to_judge(self, tmp_path: Path) -> None:
        done = run("predict", column(tmp_path / "a.csv", "bytes_per_hour", [1e9, 2e9]))
        assert done.exit_code == 0
        assert "2 GB" in done.stdout
        assert "2 hours" in done.stdout
