from __future__ import annotations

import http.client
import json
import re
import shlex
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
from mininet_topos.commands import wait_until
from mininet_topos.topology_catalog import BUILT_IN
from tests.mininet_topos.isolated import ROOT, processes

ADON = (sys.executable, "-m", "apps.cli.main")
ENDING = 60.0
PLAIN = """
from mininet.topo import Topo

class Plain(Topo):
    def build(self):
        one, two = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(one, two)
        for host, switch in (("h1", one), ("h2", one), ("h3", two)):
            self.addLink(self.addHost(host), switch)

topos = {"plain": lambda: Plain()}
"""


@pytest.fixture
def plain_file(tmp_path: Path) -> Path:
    file = tmp_path / "plain.py"
    file.write_text(PLAIN)
    return file


def test_show_prints_the_built_in_topologies():
    result = CliRunner().invoke(app, ["testbed", "show", "--json"])
    assert [one["name"] for one in json.loads(result.output)] == list(BUILT_IN)


def test_show_prints_what_a_topology_is_made_of():
    result = CliRunner().invoke(app, ["testbed", "show", "mu_osu", "--scale", "200", "--json"])
    found = json.loads(result.output)
    assert [path["goodput"] for path in found["paths"]] == [29e6, 3.25e6]
    assert "al2s" in CliRunner().invoke(app, ["testbed", "show", "mu_osu"]).output


@pytest.mark.parametrize("topology", ["two_ports", "plain"])
def test_config_is_what_adon_serve_reads(topology, plain_file):
    reference = str(plain_file) if topology == "plain" else topology
    result = CliRunner().invoke(app, ["testbed", "show", reference, "--config"])
    assert parse_model(result.output, Configuration).network == topology


@pytest.mark.parametrize(
    ("topology", "options", "field"),
    [
        ("no_such", (), "topology"),
        ("./no_such.py", (), "topology"),
        ("mu_osu", ("--scale", "1"), "circuits.line.rate"),
        ("mu_osu", ("--platform", "moon"), "platform"),
    ],
)
def test_what_cannot_be_run_is_refused_with_its_field(topology, options, field, runtime):
    result = CliRunner().invoke(app, ["testbed", "run", topology, *options])
    assert result.exit_code == 2
    assert result.output.startswith(field), result.output
    assert list(runtime.iterdir()) == []


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
def test_flow_between_hosts_of_a_plain_topology_is_on_a_rule_of_adon(runtime, plain_file):
    adon = shlex.join(ADON)
    script = f"""
set -e
flow=$({adon} flow submit --from h1 --to h3 --size 1MB --template soykb --port 5201 --quiet)
until {adon} flow show "$flow" --json | grep -q '"state": "active"'; do sleep 0.2; done
{adon} testbed exec h3 -- iperf3 -s -1 -D
until {adon} testbed exec h1 -- iperf3 -c 10.0.0.3 -n 1M; do sleep 0.2; done
ovs-ofctl -O OpenFlow13 dump-flows s1
"""
    with start("testbed", "run", str(plain_file), "--platform", "host", "--", "sh", "-c", script) as process:
        output = process.stdout.read()
        assert process.wait() == 0, output
    assert "over normal forwarding" in output
    assert re.search(r"n_packets=[1-9].*nw_src=10.0.0.1,nw_dst=10.0.0.3,tp_dst=5201", output), output


@pytest.mark.testbed
def test_command_asks_adon_inside(runtime):
    argv = ["testbed", "run", "mu_osu", "--platform", "host", "--", *ADON, "status"]
    with start(*argv) as process:
        output = process.stdout.read()
        assert process.wait() == 0, output
    assert "controller: ok" in output
