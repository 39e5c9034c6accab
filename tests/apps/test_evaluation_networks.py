"""Whole evaluations: iperf3 between machines in namespaces of known rates; probe agents on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adon.evaluation_file import BUILTIN, parse_evaluation
from apps.cli.main import app
from benchmarks.lab import UNSHARE
from measurement.ceem.answers import answer_questions
from measurement.ceem.run_log import read_log
from measurement.ceem.template import PlacePath
from measurement.probes.secure_channel import write_key
from tests.support.evaluation_documents import TEXT
from tests.undisturbed import undisturbed

ROOT = Path(__file__).parents[2]
RATES_MBPS = {PlacePath("user", "one"): 50, PlacePath("user", "two"): 20, PlacePath("one", "two"): 20}
"""What the network of :mod:`tests.apps.evaluation_network` carries."""


def evaluated(folder: Path, document: str, *options: str) -> subprocess.CompletedProcess[str]:
    file = folder / "document.yaml"
    file.write_text(document)
    argv = [*UNSHARE, sys.executable, "-m", "tests.apps.evaluation_network", str(folder), str(folder / "run")]
    return subprocess.run(
        [*argv, str(file), *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
    )


@pytest.mark.testbed
def test_the_answers_are_those_of_the_network(tmp_path: Path) -> None:
    text = BUILTIN.text("starter").replace("runs: 8", "runs: 2").replace("duration: 8 s", "duration: 1 s")
    text = text.replace("pause: 2 s", "pause: 0 s")
    folders = (tmp_path / str(number) for number in count())

    def measured() -> Path:
        folder = next(folders)
        folder.mkdir()
        done = evaluated(folder, text)
        assert done.returncode == 0, done.stderr
        return folder / "run"

    def rates(folder: Path) -> dict[PlacePath, float]:
        return {path: its.mean / 1e6 for path, its in read_log(folder).path_statistics().items()}

    def enough(folder: Path) -> bool:
        found = rates(folder)
        return all(found[path] > 0.9 * rate for path, rate in RATES_MBPS.items())

    folder = undisturbed(measured, enough)
    run = read_log(folder)
    assert run.is_complete
    assert run.failures_by_path() == {}
    assert "iperf" in run.versions["iperf3 --version"]
    found = rates(folder)
    assert all(0.7 * rate < found[path] < 1.2 * rate for path, rate in RATES_MBPS.items()), found
    told = answer_questions(parse_evaluation(text), run)
    assert {"user", "one"} <= {*told[1].found[0].split()}
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.testbed
def test_a_machine_that_is_down_is_a_failure_of_its_paths_alone(tmp_path: Path) -> None:
    server = (
        "server: [sh, -c, 'test {other} != two && exec iperf3 --server --one-off --port {port} --forceflush']"
    )
    lines = [
        f"    {server}" if line.startswith("    server:") else line
        for line in BUILTIN.text("starter").splitlines()
    ]
    done = evaluated(tmp_path, "\n".join(lines), "--pilot")
    assert done.returncode == 3, done.stderr
    run = read_log(tmp_path / "run")
    assert set(run.failures_by_path()) == {PlacePath("user", "two"), PlacePath("one", "two")}
    assert [*run.path_statistics()] == [PlacePath("user", "one")]
    assert "Tests failed" in done.stdout


@contextmanager
def agents(folder: Path, names: str) -> Iterator[Path]:
    """An agent for each name, on loopback; the instances file."""
    key = folder / "key"
    write_key(key)
    lines = [f"key_file: {key}", "instances:"]
    with ExitStack() as stack:
        for name in names:
            agent = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "measurement.probes.main", "--host", "127.0.0.1", "--port", "0",
                     "--key", str(key)],
                    stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
                )
            )  # fmt: skip
            stack.callback(agent.terminate)
            assert agent.stdout is not None
            port = agent.stdout.readline().strip().rpartition("=")[2]
            lines.append(f"  - {{name: {name}, address: 127.0.0.1, port: {port}}}")
        file = folder / "instances.yaml"
        file.write_text("\n".join(lines) + "\n")
        yield file


@pytest.mark.integration
@pytest.mark.parametrize(
    ("kind", "metric", "benchmark"),
    [
        ("throughput", "tcp-transfer-bit-speed", "probe-agent"),
        ("round-trip", "round-trip-time", "udp-echo"),
    ],
)
def test_probe_agents_make_the_tests(tmp_path: Path, kind: str, metric: str, benchmark: str) -> None:
    text = TEXT.replace('measure:\n    command: [printf, "7000000"]', f"probe: {{kind: {kind}}}")
    text = text.replace("tcp-transfer-bit-speed", metric).replace("[iperf3, packet-train]", f"[{benchmark}]")
    text = text.replace("benchmark: iperf3", f"benchmark: {benchmark}").replace("runs: 2", "runs: 1")
    if metric == "round-trip-time":
        text = text.replace("communication-data-throughput", "communication-latency")
    document = tmp_path / "d.yaml"
    document.write_text(text)
    with agents(tmp_path, "abu") as instances:
        done = CliRunner().invoke(
            app,
            ["evaluate", "run", str(document), "--instances", str(instances), "--out", str(tmp_path / "run")],
        )
    assert done.exit_code == 0, done.output
    run = read_log(tmp_path / "run")
    assert run.is_complete
    assert run.unit == ("s" if kind == "round-trip" else "bit/s")
    assert kind in run.conditions["command"]
    assert all(sample.value is not None and sample.value > 0 for sample in run.samples)
    assert (tmp_path / "key").read_text().strip() not in (tmp_path / "run" / "log.jsonl").read_text()


@pytest.mark.integration
def test_an_agent_that_is_gone_is_a_failure_of_its_paths(tmp_path: Path) -> None:
    text = TEXT.replace('measure:\n    command: [printf, "7000000"]', "probe: {kind: train}")
    document = tmp_path / "d.yaml"
    document.write_text(
        text.replace("runs: 2", "runs: 1").replace("nodes: [a, b]", "within: false\n  nodes: [a, b]")
    )
    with agents(tmp_path, "au") as instances:
        instances.write_text(instances.read_text() + "  - {name: b, address: 127.0.0.1, port: 1}\n")
        done = CliRunner().invoke(
            app,
            ["evaluate", "run", str(document), "--instances", str(instances), "--out", str(tmp_path / "run")],
        )
    assert done.exit_code == 3, done.output
    run = read_log(tmp_path / "run")
    assert set(run.failures_by_path()) == {PlacePath("a", "b"), PlacePath("u", "b")}
    assert all(sample.failure.startswith("unreachable: ") for sample in run.samples if sample.failure)
