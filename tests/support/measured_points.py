"""A collector process that measures between two real points."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
import yaml

from measurement.archive import Archive
from measurement.errors import ArchiveError
from tests.measurement.point.running import A, B, RunningPoint, digest, start_known, stop
from tests.support.network_factories import NETWORK

TOKEN = "token-of-the-collector"  # noqa: S105 - of this test


@contextmanager
def run_points(folder: Path) -> Iterator[dict[str, RunningPoint]]:
    """Two points that know each other, and the collector, by token."""
    known = f'[[known]]\nname = "collector"\ntoken_sha256 = "{digest(TOKEN)}"\nmay = ["start", "read"]\n'
    running = start_known(folder, {"mu": A, "osu": B}, f'reading = "known"\n{known}')
    yield running
    assert [stop(point) for point in running.values()] == [0, 0]


def count_tasks(point: RunningPoint, owner: str, kind: str) -> int:
    """Return how many tasks of this kind an owner has at a point."""
    pattern = {"reference": {"owner": owner}, "test": {"type": kind}, "detail": {"enabled": True}}
    answer = requests.get(
        f"{point.url}/tasks",
        params={"json": json.dumps(pattern)},
        headers={"Authorization": f"Bearer {TOKEN}"},
        verify=str(point.certificate),
        timeout=60,
    )
    return len(answer.json())


def write_points(folder: Path, points: dict[str, RunningPoint], **keys: Any) -> Path:
    """The example's network, measured between real points."""
    whole = yaml.safe_load(NETWORK.read_text())
    (folder / "token").write_text(TOKEN)
    hosts = {
        name: {"url": point.url, "verify": str(point.certificate), "token_file": "token"}
        for name, point in points.items()
    }
    one = {"path": "al2s", "rtt_period": "1 h"}
    tests = [
        {**one, "from": "mu", "to": "osu", "source": A, "destination": B},
        {**one, "from": "osu", "to": "mu", "source": B, "destination": A},
    ]
    whole["measurements"] = {"points": hosts, "tests": tests, **keys}
    file = folder / "network.yaml"
    file.write_text(json.dumps(whole))
    return file


def start_collector(file: Path, data: Path) -> subprocess.Popen[str]:
    """Start a collector as a process."""
    command = [sys.executable, "-m", "apps.collector", "--config", str(file), "--data", str(data)]
    with (data / "log").open("a") as log:
        return subprocess.Popen(command, stderr=log, text=True)


def has_archive(data: Path) -> bool:
    """Whether the collector has made its archive: first there is a file, and only then are tables in it."""
    try:
        with Archive(data / "measurements.db", readonly=True):
            return True
    except ArchiveError:
        return False
