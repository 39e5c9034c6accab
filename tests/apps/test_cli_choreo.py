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
import typer
from typer.testing import CliRunner, Result

from apps.cli.common import Commands
from apps.cli.profiling import profile
from apps.cli.snapshots import snapshot, staleness
from measurement.archive.records import Record
from measurement.profiling.documents import loads
from measurement.profiling.packets import End
from tests.measurement.profiling.frames import datagram, ethernet, header, ip, sample
from tests.ports import free_port, free_ports

A, B = End("10.0.0.1", 1000), End("10.0.0.2", 2000)
TASKS = "tasks:\n  map: [10.0.0.1]\n  reduce: ['10.0.0.2:2000']\n"

app = typer.Typer(cls=Commands)
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
            "60 s were observed",
            "3 frames",
            "7 B are to or from nobody",
        ):
            assert text in done.stdout, done.stdout
        found = loads((tmp_path / "profile.json").read_text())
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
        assert "datagrams of 1 agents" in done.stdout

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
                while heard < 2:  # until it listens nobody takes what is sent, and the second one says so
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
        assert loads(file.read_text()).sent.keys() == {("map", "reduce")}

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ((), "CAPTURE: say from what"),
            (("x.pcap", "--listen", "127.0.0.1"), "CAPTURE: say from what"),
            (("--listen", "here"), "--listen: 'here' is no IP address"),
            (("--listen", "127.0.0.1:99999"), "--listen: '127.0.0.1:99999': '99999' is no port"),
            (("--listen", "127.0.0.1:0"), "--listen: '127.0.0.1:0': '0' is no port"),
            (("--listen", "127.0.0.1:7000", "--for", "60"), "--for: "),
            (("--listen", "127.0.0.1:7000", "--for", "0 s"), "--for: 0 s is not above 0"),
            (("no.pcap",), "CAPTURE: no.pcap: No such file or directory"),
            (
                ("--listen", "127.0.0.1", "-o", "/none/p.json"),
                "--output: /none/p.json: no file can be written",
            ),
        ],
    )
    def test_what_is_wrong_is_named(self, tasks: Path, arguments: tuple[str, ...], why: str) -> None:
        done = run("profile", tasks, *arguments)
        assert done.exit_code == 2, done.output
        assert done.stderr.startswith(why)

    def test_a_file_that_is_no_capture(self, tasks: Path) -> None:
        done = run("profile", tasks, tasks)
        assert (done.exit_code, "tasks.yaml: unknown pcap format" in done.stderr) == (2, True)

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("tasks:\n  a: [10.0.0.1]\n", "tasks"),
            ("tasks:\n  a: [10.0.0.1]\n  b: [10.0.0.1]\n", "'10.0.0.1' is a's already"),
            ("tasks:\n  a: [10.0.0.1]\n  b: [host]\n", "tasks.b: 'host' is no IP address"),
            ("tasks:\n  a: [10.0.0.1]\n  b: []\n", "tasks.b"),
        ],
    )
    def test_a_tasks_file_that_is_wrong(self, tasks: Path, capture: Path, text: str, why: str) -> None:
        tasks.write_text(text)
        done = run("profile", tasks, capture)
        assert (done.exit_code, why in done.stderr, "tasks.yaml" in done.stderr) == (2, True, True), (
            done.stderr
        )

    def test_nothing_between_two_tasks_is_status_3(self, tasks: Path, capture: Path) -> None:
        tasks.write_text("tasks:\n  a: [10.1.0.1]\n  b: [10.1.0.2]\n")
        done = run("profile", tasks, capture)
        assert (done.exit_code, "nothing was seen between two tasks" in done.stdout) == (3, True)


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
        assert "max_age: 30 min keeps 95% of the values within 10.0%" in done.stdout, done.stdout
        found = json.loads(run("staleness", series, "--json").stdout)
        assert [each["age"] for each in found["ages"]] == [60.0, 300.0, 600.0, 1800.0]
        assert found["max_age"] == 1800.0

    def test_none_that_is_good_enough_is_status_3(self, series: Path) -> None:
        done = run("staleness", series, "--error", "0.1 %")
        assert (done.exit_code, "no age keeps 95%" in done.stdout) == (3, True), done.output
        assert run("staleness", series, "--metric", "loss").exit_code == 3

    @pytest.mark.parametrize(
        ("arguments", "why"), [(("--error", "10"), "--error: "), (("--share", "0 %"), "--share: ")]
    )
    def test_what_is_wrong_is_named(self, series: Path, arguments: tuple[str, ...], why: str) -> None:
        done = run("staleness", series, *arguments)
        assert (done.exit_code, done.stderr.startswith(why)) == (2, True), done.stderr

    def test_a_file_that_is_none(self, tasks: Path) -> None:
        assert run("staleness", tasks).exit_code == 2


class TestSnapshot:
    INSTANCES = "instances:\n  - {name: a, address: 127.0.0.1}\n  - {name: b, address: 127.0.0.2}\n"

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ((), "key_file: is required"),
            (("--width", "1"), "--width: "),
            (("--train", "ten"), "--train: "),
            (("--transfer", "2"), "--transfer: "),
            (("--transfer", "1 h"), "--transfer: "),
        ],
    )
    def test_what_is_wrong_is_named(self, tmp_path: Path, arguments: tuple[str, ...], why: str) -> None:
        file = tmp_path / "instances.yaml"
        file.write_text(self.INSTANCES)
        done = run("snapshot", file, *arguments)
        assert (done.exit_code, done.stderr.startswith(why)) == (2, True), done.stderr

    def test_nobody_answers(self, tmp_path: Path) -> None:
        from measurement.probes.key import write_key

        write_key(tmp_path / "key")
        port, other, *_ = free_ports()
        file = tmp_path / "instances.yaml"
        text = self.INSTANCES.replace("0.1}", f"0.1, port: {port}}}").replace("0.2}", f"0.2, port: {other}}}")
        file.write_text(f"{text}key_file: key\n")
        done = run("snapshot", file, "-o", tmp_path / "snapshot.json")
        assert done.exit_code == 3, done.output
        assert "no path could be measured" in done.stdout
        assert "a > b: a: " in done.stderr
        assert json.loads((tmp_path / "snapshot.json").read_text())["kind"] == "snapshot"
