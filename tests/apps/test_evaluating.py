"""Evaluations carried out: real programs, logs that survive, what cannot be run as a result of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from adon.errors import Conflict
from adon.evaluations import reading
from apps.evaluation import logfile
from apps.evaluation.places import Place
from apps.evaluation.programs import Bench
from apps.evaluation.report import page
from apps.evaluation.running import carry_out, stopping
from apps.evaluation.source import Source
from measurement.evaluation.blueprint import Blueprint, Test, blueprint
from measurement.evaluation.document import AtOnce, Design, Measure
from measurement.evaluation.planned import planned
from measurement.evaluation.results import Path as Way
from measurement.evaluation.run import Sample
from measurement.instances import Instance
from tests.evaluations.documents import INSTANCES as FILE
from tests.evaluations.documents import TEXT
from tests.support.refusals import refused

HERE = {name: Place(name, Instance(name, "127.0.0.1")) for name in ("a", "b", "u")}
TEST = Test(0, 0, 0, Way("a", "b"), 3)


def made(measure: Measure, where: Mapping[str, Place] = HERE, duration: float = 1.0) -> Sample:
    return Bench(measure, where, duration, 5000).make(TEST)


# -- places ---------------------------------------------------------------------------------------------


# -- one test -------------------------------------------------------------------------------------------


def test_the_client_runs_at_one_place_and_the_server_at_the_other(tmp_path: Path) -> None:
    where = {name: Place(name, Instance(name, "127.0.0.1"), ("env", f"PLACE={name}")) for name in ("a", "b")}
    server = ("sh", "-c", f"echo $PLACE > {tmp_path}/server; echo ready; exec sleep 30")
    client = ("sh", "-c", f"echo $PLACE > {tmp_path}/client; cat {tmp_path}/server >&2; echo 5")
    assert made(Measure(client, server=server, ready="ready"), where).value == 5
    assert (tmp_path / "client").read_text() == "a\n"
    assert (tmp_path / "server").read_text() == "b\n"


@pytest.mark.parametrize(
    ("measure", "says"),
    [
        (Measure(("/nonexistent/program",)), "program"),
        (Measure(("sh", "-c", "echo what went wrong >&2; exit 3")), "what went wrong"),
        (Measure(("echo", "nothing")), "'nothing'"),
        (Measure(("echo", '{"error": "refused"}'), "end"), "refused"),
        (
            Measure(("echo", "1"), server=("sh", "-c", "echo no such port; exit 1"), ready="go"),
            "no such port",
        ),
        (Measure(("echo", "1"), server=("/nonexistent",), ready="go"), "nonexistent"),
    ],
)
def test_what_goes_wrong_is_the_result(measure: Measure, says: str) -> None:
    found = made(measure)
    assert found.value is None
    assert says in found.failure
    assert "\n" not in found.failure


def test_a_server_is_gone_after_its_test_with_all_it_started(tmp_path: Path) -> None:
    script = f"sleep 60 & echo $! > {tmp_path}/pid; echo ready; wait"
    assert made(Measure(("echo", "1"), server=("sh", "-c", script), ready="ready")).value == 1
    pid = int((tmp_path / "pid").read_text())
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text():
            return
        time.sleep(0.01)
    pytest.fail(f"process {pid} is still there")


# -- many tests -----------------------------------------------------------------------------------------


def number_of(test: Test) -> Sample:
    return Sample(test.number, *test.path, float(test.number), 1.0)


@pytest.mark.parametrize("at_once", AtOnce)
def test_each_test_is_made_once_and_recorded(at_once: AtOnce) -> None:
    plan = blueprint(Design(tuple("abc"), 3, 0.01, at_once=at_once))
    found: list[Sample] = []
    assert carry_out(plan, number_of, found.append, (), threading.Event())
    assert sorted(one.number for one in found) == [*range(plan.tests)]


def test_a_stop_ends_the_turn_and_begins_no_other() -> None:
    plan = blueprint(Design(tuple("abc"), 5, 0.01, pause=3600.0, at_once=AtOnce.ALL))
    stop = threading.Event()
    found: list[Sample] = []

    def record(sample: Sample) -> None:
        found.append(sample)
        stop.set()

    assert not carry_out(plan, number_of, record, (), stop)
    assert len(found) == plan.widest


def test_ctrl_c_stops_and_a_second_one_interrupts() -> None:
    stop, told = threading.Event(), []
    before = signal.getsignal(signal.SIGINT)
    with stopping(stop, lambda: told.append(1)):
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(60)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    assert told == [1]
    assert signal.getsignal(signal.SIGINT) is before


# -- the folder -----------------------------------------------------------------------------------------


def begin(folder: Path) -> tuple[Blueprint, Mapping[int, Sample]]:
    """A run of which two tests are in the log."""
    file = reading.parse(TEXT)
    plan = blueprint(file.value().design)
    run = planned(file.value(), file.digest(), plan, "r", 1.0, {}, {})
    samples = {test.number: number_of(test) for turn in plan.turns for test in turn}
    with logfile.started(folder, TEXT, run) as log:
        log.sample(samples[0])
        log.sample(samples[1])
    return plan, samples


def test_a_run_is_kept_and_gone_on_with(tmp_path: Path) -> None:
    plan, samples = begin(tmp_path)
    assert (tmp_path / "document.yaml").read_text() == TEXT
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"sample": {"number": 2, "on')  # killed while it wrote
    assert len(logfile.read(tmp_path).samples) == 2
    with logfile.resumed(tmp_path) as log:
        log.note(5.0, "restored")
        carry_out(plan, samples_of(samples), log.sample, {0, 1}, threading.Event())
        log.end(9.0)
    found = logfile.read(tmp_path)
    assert found.complete
    assert found.ended == 9.0
    assert found.notes[0].text == "restored"


def samples_of(samples: Mapping[int, Sample]):
    return lambda test: samples[test.number]


def test_a_run_is_not_written_over_nor_by_two(tmp_path: Path) -> None:
    begin(tmp_path)
    with refused(Conflict, field="--out"):
        begin(tmp_path)
    with (
        logfile.resumed(tmp_path),
        refused(Conflict, field="--out"),
        logfile.resumed(tmp_path),
    ):
        pass
    assert len(logfile.read(tmp_path).samples) == 2


@pytest.mark.slow
@pytest.mark.integration
def test_what_was_recorded_survives_a_kill(tmp_path: Path) -> None:
    """Killed, then stopped by Ctrl-C: each result that was told is in the log, and it is gone on with."""
    document, instances = tmp_path / "d.yaml", tmp_path / "i.yaml"
    slow = TEXT.replace('command: [printf, "7000000"]', 'command: [sh, -c, "sleep 0.1; echo 7000000"]')
    document.write_text(slow.replace("runs: 2", "runs: 8"))
    instances.write_text(FILE)
    out = tmp_path / "run"
    argv = [sys.executable, "-m", "apps.cli", "evaluate", "run", str(document), "--instances", str(instances),
            "--out", str(out)]  # fmt: skip
    assert until(argv, 3, signal.SIGKILL) == -signal.SIGKILL
    kept = logfile.read(out)
    assert 3 <= len(kept.samples) < 40
    assert until([*argv, "--resume"], 2, signal.SIGINT) == 130
    stopped = logfile.read(out)
    resumed, ended = [note.text for note in stopped.notes]
    assert (str(len(kept.samples)) in resumed, ended) == (True, "stopped")
    assert (stopped.complete, stopped.ended) == (False, None)
    assert (out / "report.html").exists()
    assert until([*argv, "--resume"]) == 0
    found = logfile.read(out)
    assert found.complete
    assert found.samples[: len(stopped.samples)] == stopped.samples
    assert stopped.samples[: len(kept.samples)] == kept.samples


def until(argv: list[str], results: int = 0, number: int = 0) -> int:
    """Run it, send it a signal after so many results were told; its exit status."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        told = 0
        for line in process.stderr:
            told += " of 40, " in line
            if results and told == results:
                process.send_signal(number)
                results = 0
    return process.returncode


# -- surroundings and the report ------------------------------------------------------------------------


def test_what_people_wrote_cannot_become_a_part_of_the_page() -> None:
    text = TEXT.replace("A small one", "'<script>alert(1)</script>'")
    file = reading.parse(text)
    run = planned(
        file.value(), file.digest(), blueprint(file.value().design), "<b>", 1.0, {"<i>": "</pre>"}, {}
    )
    told = page(Source(file.value(), text, file.digest()), run)
    assert "<script>alert" not in told
    assert "Run <b>&lt;b&gt;</b>" in told
    assert "<i>" not in told
