"""``adon place bursts`` and ``predict``: series of numbers in; rates, buckets and the next hour out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from apps.cli.main import app
from measurement.profiling.traffic_forecast import next_hour

MICRO = [200e6] * 4 + [80e6] * 16
"""[HEALTH] figure 4: 200 Mbit/s for four seconds, 80 after that."""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["place", *map(str, arguments)])


def column(file: Path, name: str, values: Sequence[float]) -> Path:
    file.write_text(
        "\n".join([f"second,{name}", *(f"{at},{value}" for at, value in enumerate(values))]) + "\n"
    )
    return file


class TestBursts:
    def test_the_papers_smallest_instance(self, tmp_path: Path) -> None:
        """200 MB: 100 MB in the burst's four seconds, then 100 MB at 80 Mbit/s in ten."""
        done = run("bursts", column(tmp_path / "a.csv", "bits_per_second", MICRO), "--size", "200 MB")
        assert done.exit_code == 0, done.output
        for text in ("200 Mbps", "80 Mbps", "60 MB", "14 s", "114.3 Mbps"):
            assert text in done.stdout, done.stdout

    def test_document_has_rates_bucket_and_the_time_of_a_transfer(self, tmp_path: Path) -> None:
        file = column(tmp_path / "a.csv", "bits_per_second", MICRO)
        done = run("bursts", file, "--interval", "2 s", "--size", "1 GB", "--json")
        assert json.loads(done.stdout) == {
            "throttled": True,
            "burst_bps": 200e6,
            "sustained_bps": 80e6,
            "burst_s": 8.0,
            "bucket_bits": 120e6 * 8,
            "bucket_bytes": 120e6,
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
        assert "120" in done.stdout.split()

    def test_two_hours_are_enough_to_guess_and_too_few_to_judge(self, tmp_path: Path) -> None:
        done = run("predict", column(tmp_path / "a.csv", "bytes_per_hour", [1e9, 2e9]))
        assert done.exit_code == 0
        assert "2 GB" in done.stdout

    def test_bad_value_is_reported_with_its_line(self, tmp_path: Path) -> None:
        file = column(tmp_path / "a.csv", "bytes_per_hour", [1e9, -1.0])
        done = run("predict", file)
        assert done.exit_code == 2
        assert f"{file}:3: bytes_per_hour" in done.stderr
