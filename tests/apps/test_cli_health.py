"""``adon health``: rounds that are kept are shown, chosen from, and drawn; and real agents are probed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from apps.cli.main import app
from measurement.health.history import History
from measurement.health.model import Pair
from measurement.health.profiles import mesh
from measurement.health.record import RoundRecord
from measurement.health.round_judgement import judge_round
from measurement.model import from_json
from tests.measurement.health.rounds import instances, whole
from tests.measurement.probes.agent_processes import run_agents

ZONED = tuple(replace(one, zone="east" if one.name in "ab" else "west") for one in instances("abc"))


@pytest.fixture
def adon(tmp_path: Path):
    def run(*words: str, rounds: Path = tmp_path / "rounds"):
        return CliRunner().invoke(app, ["health", *words, "--rounds", str(rounds)])

    return run


@pytest.fixture
def kept(tmp_path: Path) -> RoundRecord:
    """a and b are near each other; in the second round a > c has become slow."""
    first = whole(a_b=0.01, b_a=0.01, a_c=0.02, c_a=0.02, b_c=0.03, c_b=0.03)
    second = whole(a_b=0.01, b_a=0.01, a_c=0.09, c_a=0.02, b_c=0.03, c_b=0.03)
    history = History(tmp_path / "rounds")
    before: list[RoundRecord] = []
    for hour, of in enumerate((first, second), 1):
        record = RoundRecord.of(3600.0 * hour, 3600.0 * hour + 5, ZONED, mesh("abc"), of)
        before.append(judge_round(record, before).record)
        history.keep(before[-1])
    return before[-1]


def test_the_latest_round_is_shown_the_unhealthiest_first(adon, kept: RoundRecord) -> None:
    done = adon("show")
    assert done.exit_code == 0, done.output
    assert {"mesh", "3", "6"} <= {*done.output.split()}
    rows = [line.split() for line in done.output.splitlines() if line.startswith(("a ", "b ", "c "))]
    assert rows[0][:2] == ["a", "c"]
    assert "exceed" not in rows[1]
    assert from_json(RoundRecord, json.loads(adon("show", "--json").stdout)) == kept


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--towards", "c", "-k", "1", "--direction", "to"), ["b"]),
        (("--towards", "c", "-k", "1", "--direction", "to", "--worst"), ["a"]),
        (("--towards", "c", "-k", "1", "--direction", "from"), ["a"]),
        (("--mutually", "-k", "2"), ["a", "b"]),
    ],
)
def test_whom_to_take(adon, kept: RoundRecord, words: tuple[str, ...], names: list[str]) -> None:
    done = adon("choose", *words)
    assert sorted(done.stdout.split()) == names, done.output
    found = json.loads(adon("choose", *words, "--json").stdout)
    assert sorted(found["instances"]) == names


def test_markers_end_with_3(adon, kept: RoundRecord) -> None:
    done = adon("markers")
    assert done.exit_code == 3
    assert {*kept.fired} == {Pair("a", "c")}
    (row,) = [line.split() for line in done.output.splitlines() if line.startswith("a ")]
    assert row[:3] == ["a", "c", "udp"]
    assert {"2", "9", "ms"} <= {*row}
    assert {one["marker"] for one in json.loads(adon("markers", "--json").stdout)} == {"udp"}


def test_a_table_of_jobs_is_diagnosed(adon, tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    rows = [f"{10 + 3 * number + (-1) ** number},{number},{number % 3}" for number in range(12)]
    file.write_text("\n".join(["time,tcp,udp", *rows]))
    found = json.loads(adon("diagnose", str(file), "--response", "time", "--json").stdout)
    assert found["forward"][0]["metric"] == "tcp"
    assert found["forward"][0]["p_value"] < 0.001


INSTANCES = (
    "instances:\n  - {name: a, address: 127.0.0.1, port: 1}\n  - {name: b, address: 127.0.0.1, port: 2}\n"
)


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (INSTANCES, (), "key_file:"),
        (f"key_file: none\n{INSTANCES}", (), "key_file:"),
        (INSTANCES, ("--towards", "x"), "--towards:"),
        (INSTANCES, ("--pair", "a"), "--pair:"),
        (INSTANCES, ("--pair", "a:a"), "--pair:"),
        (INSTANCES, ("--pair", "a:b", "--towards", "a"), "--pair:"),
        (INSTANCES, ("--verify", "1", "--exhaustive"), "--verify:"),
        (INSTANCES, ("--train", "10"), "--train:"),
        (INSTANCES, ("--train", "10x1"), "--train:"),
        (INSTANCES, ("--train", "100x2000"), "--train:"),
        (INSTANCES, ("--train", "6000x2", "--both-ways"), "--train:"),
        (INSTANCES, ("--count", "500", "--both-ways"), "--count:"),
        (INSTANCES, ("--changed", "6"), "--changed:"),
        (INSTANCES.partition("  - {name: b")[0], (), "FILE:"),
    ],
)
def test_what_cannot_be_probed_is_told(
    adon, tmp_path: Path, text: str, words: tuple[str, ...], says: str
) -> None:
    file = tmp_path / "instances.yaml"
    file.write_text(text)
    done = adon("probe", str(file), *words)
    assert done.exit_code in (1, 2)
    assert done.stderr.startswith(says), done.stderr
    assert not (tmp_path / "rounds").exists()


def test_a_plan_probes_nobody(adon, tmp_path: Path) -> None:
    file = tmp_path / "instances.yaml"
    file.write_text(INSTANCES)
    found = json.loads(adon("probe", str(file), "--plan", "--verify", "1", "--json").stdout)
    assert (found["pairs"], found["train_rounds"], found["transfer_rounds"], found["least_rounds"]) == (
        2,
        2,
        1,
        2,
    )


@pytest.mark.integration
@pytest.mark.parametrize("how", [(), ("--both-ways",)])
def test_real_agents_are_probed_and_who_vanishes_is_marked(
    adon, tmp_path: Path, how: tuple[str, ...]
) -> None:
    with run_agents(tmp_path, 3) as (file, running):
        done = adon("probe", str(file), "--train", "2x50", "--json", *how)
        assert done.exit_code == 0, done.output
        first = History(tmp_path / "rounds").latest(1)[0]
        assert first.complete
        assert len(first.found) == 6
        assert all(found.throughput and found.udp and found.tcp for found in first.found.values())
        assert all(found.sandwich for found in first.found.values())
        assert len(first.from_other_side) == (3 if how else 0)
        running[2].kill()
        running[2].wait()
        done = adon("probe", str(file), "--train", "2x50", "--json", *how)
        assert done.exit_code == 3, done.output
        record = History(tmp_path / "rounds").latest(1)[0]
        dead = {pair for pair, score in record.scores.items() if score.timed_out}
        assert dead == {Pair("i0", "i2"), Pair("i1", "i2")}
        assert {*record.not_reached} == {Pair("i2", "i0"), Pair("i2", "i1")}
        assert record.found[Pair("i0", "i1")].throughput
        assert json.loads(adon("markers", "--json").stdout)


@pytest.mark.integration
def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    with run_agents(tmp_path, 2) as (file, _):
        rounds = tmp_path / "rounds"
        command = [sys.executable, "-m", "apps.cli", "health", "probe", str(file), "--exhaustive"]
        probing = subprocess.Popen(
            [*command, "--rounds", str(rounds)],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert probing.stderr is not None
            for line in probing.stderr:
                if "light: 2 of 2" in line:
                    break
            probing.send_signal(signal.SIGINT)
            output, _ = probing.communicate(timeout=60)
        finally:
            probing.kill()
            probing.wait()
        assert probing.returncode == 130, output
        assert "stopped" in output
        (record,) = History(rounds).latest(1)
        assert len(record.found) == 2
        assert not any(found.throughput for found in record.found.values())
