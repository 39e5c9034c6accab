"""Tests by programs: commands, values of their output (iperf3's JSON, shortened), and real processes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.ceem.blueprint import PlannedTest
from measurement.ceem.program_bench import ProgramBench, ask_places, find_cause, read_value
from measurement.ceem.run import Sample
from measurement.ceem.runner import Place, fill_placeholders, take_sample
from measurement.ceem.template import PlacePath, ProgramTest
from measurement.instances import Instance
from tests.support.refusals import refused

IPERF3 = """{"start": {}, "intervals": [{"sum": {"bits_per_second": 5e9}}],
"end": {"sum_received": {"bits_per_second": 4.5e9}}}"""
REFUSED = '{"start": {}, "error": "error - unable to connect to server: Connection refused"}'
RECEIVED = ProgramTest(command=("iperf3",), value="end.sum_received.bits_per_second")


@pytest.mark.parametrize(
    ("printed", "method", "value"),
    [
        (IPERF3, RECEIVED, 4.5e9),
        (IPERF3, ProgramTest(command=("x",), value="intervals.0.sum.bits_per_second"), 5e9),
        ("12.5\n", ProgramTest(command=("x",)), 12.5),
        (" 20.3 ", ProgramTest(command=("x",), factor=1e-3), 0.0203),
        ("0", ProgramTest(command=("x",)), 0.0),
    ],
)
def test_value_is_read(printed: str, method: ProgramTest, value: float) -> None:
    assert read_value(printed, method) == pytest.approx(value)


@pytest.mark.parametrize(
    ("printed", "method", "code"),
    [
        ("", ProgramTest(command=("x",)), "wrong-type"),
        ("12 Mbit/s", ProgramTest(command=("x",)), "wrong-type"),
        ("nan", ProgramTest(command=("x",)), "out-of-range"),
        ("-1", ProgramTest(command=("x",)), "out-of-range"),
        ("[", RECEIVED, "malformed"),
        (REFUSED, RECEIVED, "invalid"),
        ('{"end": {}}', RECEIVED, "missing"),
        ('{"end": {"sum_received": {"bits_per_second": true}}}', RECEIVED, "wrong-type"),
        ("[1]", ProgramTest(command=("x",), value="1"), "missing"),
    ],
)
def test_output_without_a_value_is_refused(printed: str, method: ProgramTest, code: str) -> None:
    with refused(code):
        read_value(printed, method)


def test_cause_is_the_last_line_or_the_error_of_json() -> None:
    assert find_cause("a\n last\t line\n\n", "out") == "last line"
    assert find_cause("", REFUSED) == "error - unable to connect to server: Connection refused"
    assert find_cause(" ", "first\nlast") == "last"
    assert find_cause("", "") == find_cause("", "{}") == ""
    assert len(find_cause("x" * 1000, "")) == 120


def test_known_placeholders_are_replaced_once() -> None:
    values = {"one": "{other}", "port": "5201"}
    assert fill_placeholders(("-p{port}", "{one}", "{what}", "{", "{}}"), values) == (
        "-p5201",
        "{other}",
        "{what}",
        "{",
        "{}}",
    )


@given(
    st.lists(st.text(alphabet="{}ab ", max_size=12)), st.dictionaries(st.sampled_from(["a", "b"]), st.text())
)
def test_word_without_placeholder_stays(words: list[str], values: dict[str, str]) -> None:
    plain = tuple(word.replace("{", "(") for word in words)
    assert fill_placeholders(plain, values) == plain
    assert fill_placeholders(tuple(words), {}) == tuple(words)


HERE = {name: Place(name, Instance(name, "127.0.0.1")) for name in ("a", "b", "u")}


def take(method: ProgramTest, places: Mapping[str, Place] = HERE) -> Sample:
    test = PlannedTest(0, 0, 0, PlacePath("a", "b"), 3)
    return take_sample(ProgramBench(method, places, duration=1.0, port=5000), test)


def test_client_and_server_run_at_their_places(tmp_path: Path) -> None:
    where = {name: Place(name, Instance(name, "127.0.0.1"), ("env", f"PLACE={name}")) for name in ("a", "b")}
    server = ("sh", "-c", f"echo $PLACE > {tmp_path}/server; echo ready; exec sleep 30")
    client = ("sh", "-c", f"echo $PLACE > {tmp_path}/client; cat {tmp_path}/server >&2; echo 5")
    assert take(ProgramTest(command=client, server=server, ready="ready"), where).value == 5
    assert (tmp_path / "client").read_text() == "a\n"
    assert (tmp_path / "server").read_text() == "b\n"


@pytest.mark.parametrize(
    ("method", "says"),
    [
        (ProgramTest(command=("/nonexistent/program",)), "program"),
        (ProgramTest(command=("sh", "-c", "echo what went wrong >&2; exit 3")), "what went wrong"),
        (ProgramTest(command=("echo", "nothing")), "'nothing'"),
        (ProgramTest(command=("echo", '{"error": "refused"}'), value="end"), "refused"),
        (
            ProgramTest(command=("echo", "1"), server=("sh", "-c", "echo no such port; exit 1"), ready="go"),
            "no such port",
        ),
        (ProgramTest(command=("echo", "1"), server=("/nonexistent",), ready="go"), "nonexistent"),
    ],
)
def test_failure_is_the_result(method: ProgramTest, says: str) -> None:
    found = take(method)
    assert found.value is None
    assert says in found.failure
    assert "\n" not in found.failure


def test_server_is_killed_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 60 & echo $! > {tmp_path}/pid; echo ready; wait"
    assert take(ProgramTest(command=("echo", "1"), server=("sh", "-c", script), ready="ready")).value == 1
    pid = int((tmp_path / "pid").read_text())
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text():
            return
        time.sleep(0.01)
    pytest.fail(f"process {pid} is still there")


def test_environment_names_the_places_that_differ() -> None:
    places = {name: Place(name, Instance(name, "127.0.0.1")) for name in ("a", "b")}
    assert ask_places(places, ("echo", "1.2"), "tool") == {"tool": "1.2"}
    places["c"] = Place("c", Instance("c", "127.0.0.1"), ("/nonexistent",))
    found = ask_places(places, ("echo", "1.2"), "tool")
    assert found["tool of a, b"] == "1.2"
    assert "nonexistent" in found["tool of c"]
