"""``adon place profile``, ``snapshot`` and ``staleness``: files in, tables and documents out."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import dpkt
import pytest
from typer.testing import CliRunner, Result

from apps.cli.document_printer import CommandGroup
from apps.cli.network_snapshot import snapshot
from apps.cli.root_group import RootGroup
from apps.cli.series_commands import staleness
from apps.cli.traffic_profile import profile
from measurement.archive.records import Record
from measurement.document import loads
from measurement.profiling.model import Profile
from measurement.profiling.packets import End
from tests.measurement.profiling.frames import datagram, ethernet, header, ip, sample
from tests.ports import free_port

A, B = End("10.0.0.1", 1000), End("10.0.0.2", 2000)
TASKS = "tasks:\n  map: [10.0.0.1]\n  reduce: ['10.0.0.2:2000']\n"

app = CommandGroup("", cls=RootGroup)
for _command in (profile, snapshot, staleness):
    app.command()(_command)
app.callback()(lambda: None)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    file = tmp_path / "tasks.yaml"
    file.write_text(TASKS)
    return file


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    file = tmp_path / "a.pcap"
    with file.open("wb") as stream:
        writer = dpkt.pcap.Writer(stream)
        for at, frame in ((1.0, ip(A, B, 1000)), (61.0, ip(B, A, 20)), (61.0, ip(A, End("9.9.9.9", 1), 7))):
            writer.writepkt(ethernet(frame), ts=at)
    return file


class TestProfile:
    def test_from_a_capture(self, tasks: Path, capture: Path, tmp_path: Path) -> None:
        done = run("profile", tasks, capture, "-o", tmp_path / "profile.json")
        assert done.exit_code == 0, done.output
        for text in (
            "map",
            "reduce",
            "1 kB",
            "20 B",
            "60 s",
            "3 frames",
            "7 B",
        ):
            assert text in done.stdout, done.stdout
        found = loads(Profile, (tmp_path / "profile.json").read_text())
        assert found.sent == {("map", "reduce"): 1000, ("reduce", "map"): 20}
        assert json.loads(run("profile", tasks, capture, "--json").stdout)["tasks"] == ["map", "reduce"]

    def test_from_samples(self, tasks: Path) -> None:
        port = free_port()
        over = threading.Event()

        def send() -> None:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                number = 0
                while not over.wait(0.02):
                    number += 1
                    data = datagram(number, [sample(number, [header(ethernet(ip(A, B, 1000)))])])
                    sender.sendto(data, ("127.0.0.1", port))

        sending = threading.Thread(target=send)
        sending.start()
        try:
            done = run("profile", tasks, "--listen", f"127.0.0.1:{port}", "--for", "1 s")
        finally:
            over.set()
            sending.join()
        assert done.exit_code == 0, done.output
        assert "±" in done.stdout
        assert "1 agents" in done.stdout

    def test_an_interrupt_keeps_what_was_heard(self, tasks: Path, tmp_path: Path) -> None:
        port, file = free_port(), tmp_path / "profile.json"
        command = [
            sys.executable,
            "-c",
            "from apps.cli.main import app; app()",
            "place",
            "profile",
            str(tasks),
        ]
        command += ["--listen", f"127.0.0.1:{port}", "--for", "10 min", "-o", str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.connect(("127.0.0.1", port))
                heard = 0
                while heard < 20:  # until it listens nobody takes what is sent, and the second one says so
                    data = datagram(heard + 1, [sample(heard + 1, [header(ethernet(ip(A, B, 1000)))])])
                    try:
                        sender.send(data)
                        heard += 1
                    except ConnectionRefusedError:
                        heard = 0
                    assert process.poll() is None
                    time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (130, ""), err
        assert "map" in out
        assert loads(Profile, file.read_text()).sent.keys() == {("map", "reduce")}

    def test_nothing_between_two_tasks_is_status_3(self, tasks: Path, capture: Path) -> None:
        tasks.write_text("tasks:\n  a: [10.1.0.1]\n  b: [10.1.0.2]\n")
        done = run("profile", tasks, capture)
        assert done.exit_code == 3


class TestStaleness:
    @pytest.fixture
    def series(self, tmp_path: Path) -> Path:
        file = tmp_path / "archive.csv"
        rows = [
            Record(
                "measurement",
                "p",
                "a",
                "b",
                "throughput",
                1e8 + 1e6 * (n % 5),
                n * 60.0,
                n * 60.0,
                "",
                "",
                "{}",
            )
            for n in range(40)
        ]
        rows += [
            Record("measurement", "p", "a", "b", "rtt", 1.0, n * 60.0, n * 60.0, "", "", "{}")
            for n in range(2)
        ]
        text = [",".join(Record._fields), *(",".join(str(each) for each in row) for row in rows)]
        file.write_text("\n".join(text) + "\n")
        return file

    def test_the_ages_and_what_follows(self, series: Path) -> None:
        done = run("staleness", series, "--error", "10 %")
        assert done.exit_code == 0, done.output
        assert {"95%", "10.0%"} <= {*done.stdout.split()}, done.stdout
        found = json.loads(run("staleness", series, "--json").stdout)
        assert [each["age"] for each in found["ages"]] == [60.0, 300.0, 600.0, 1800.0]
        assert found["max_age"] == 1800.0
