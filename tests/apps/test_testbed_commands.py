from __future__ import annotations

import http.client
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adon.config import Configuration
from adon.yamlfile import parse_model
from apps.cli.main import app
from mininet_topos.topology_catalog import BUILT_IN
from mininet_topos.waiting import wait_until
from tests.mininet_topos.isolated import ROOT, processes

ADON = (sys.executable, "-m", "apps.cli.main")
ENDING = 60.0


def test_list_prints_the_built_in_topologies():
    result = CliRunner().invoke(app, ["testbed", "run", "--list"])
    assert [line.split()[0] for line in result.output.splitlines()] == list(BUILT_IN)


def test_config_is_what_adon_serve_reads():
    result = CliRunner().invoke(app, ["testbed", "run", "two_ports", "--config"])
    assert parse_model(result.output, Configuration).network == "two_ports"


def test_scale_that_cannot_be_built_is_refused_before_anything_is_made():
    result = CliRunner().invoke(app, ["testbed", "run", "mu_osu", "--scale", "1", "--json"])
    assert result.exit_code == 2


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="adon-", dir="/tmp", ignore_cleanup_errors=True) as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        yield Path(short)


def test_exec_without_a_test_network_is_refused(runtime):
    assert CliRunner().invoke(app, ["testbed", "exec", "mu-dtn"]).exit_code == 2


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*ADON, *words],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.testbed
def test_run_with_adon_serves_programs_inside_and_browsers_outside(runtime):
    with start("testbed", "run", "mu_osu", "--platform", "host") as process:
        facts = {}
        while "tokens" not in facts:
            label, _, text = process.stdout.readline().partition(" ")
            assert label, facts
            facts[label] = text.strip()
        assert "over al2s" in facts["ping"]
        address = facts["dashboard"].removeprefix("http://")
        connection = http.client.HTTPConnection(address, timeout=60)
        connection.request("GET", "/sign-in")
        assert connection.getresponse().status == 200
        ping = ["testbed", "exec", "mu-dtn", "--", "ping", "-n", "-c", "1", "-w", "10", "10.2.0.10"]
        assert subprocess.run([*ADON, *ping], cwd=ROOT, capture_output=True, check=False).returncode == 0
        assert subprocess.run([*ADON, "testbed", "exec", "no-dtn"], cwd=ROOT, check=False).returncode == 2
        process.stdin.write("osu-dtn echo at $(hostname -I)\n")
        process.stdin.flush()
        assert any("at 172.31" in line for line in process.stdout)
        process.kill()
    assert wait_until(lambda: processes(runtime) == [], ENDING), processes(runtime)
    with start(
        "testbed", "run", "mu_osu", "--platform", "host", "--no-adon", "--", "sh", "-c", "exit 7"
    ) as process:
        assert process.wait() == 7
    assert list((runtime / "adon").iterdir()) == []


@pytest.mark.testbed
def test_command_asks_adon_inside(runtime):
    argv = ["testbed", "run", "mu_osu", "--platform", "host", "--", *ADON, "status"]
    with start(*argv) as process:
        output = process.stdout.read()
        assert process.wait() == 0, output
    assert "controller: ok" in output
