from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from adon.errors import NotFound, Unavailable
from mininet_topos.isolation import default_folder, run_folder, run_isolated
from mininet_topos.up import READY_TIMEOUT, STATE, Bed
from mininet_topos.waiting import wait_until

ROOT = Path(__file__).parents[2]
STATES = {
    "hosts": {"mu-dtn": 12, "osu-dtn": 15},
    "certificates": {"mu-dtn": "/run/x/mu-dtn.pem"},
    "controller": {"certificate": "/run/x/controller.pem", "key": "/run/x/controller.key"},
    "emulation": "userspace datapath",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / STATE).write_text(json.dumps(STATES))
    (tmp_path / "pid").write_text("4711\n")
    return tmp_path


def test_a_testbed_is_read_from_its_folder(folder):
    assert Bed.is_up(folder)
    certificates = {"mu-dtn": Path("/run/x/mu-dtn.pem")}
    controller = (Path("/run/x/controller.pem"), Path("/run/x/controller.key"))
    expected = Bed(folder, 4711, STATES["hosts"], certificates, controller, "userspace datapath")
    assert Bed.read(folder) == expected


@pytest.mark.parametrize(
    ("file", "text"), [(STATE, None), (STATE, "{"), ("pid", None), ("pid", "none")], ids=str
)
def test_one_that_has_not_come_up_is_said(folder, file, text):
    (folder / file).unlink()
    if text is not None:
        (folder / file).write_text(text)
    with pytest.raises(Unavailable, match="no testbed is running in"):
        Bed.read(folder)


def test_programs_run_in_its_network_or_in_one_host(folder):
    bed = Bed.read(folder)
    assert bed.inside(["ip", "link"]) == ["nsenter", "--target", "4711", "--net", "--", "ip", "link"]
    assert bed.inside(["ip", "link"], "osu-dtn") == [
        *("nsenter", "--target", "4711", "--net", "--pid", "--mount", "--"),
        *("mnexec", "-a", "15", "ip", "link"),
    ]
    with pytest.raises(NotFound, match="elsewhere"):
        bed.inside(["true"], "elsewhere")


def test_outside_of_namespaces_it_refuses_in_one_line(tmp_path):
    argv = [sys.executable, "-m", "mininet_topos.up", "--folder", str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "run_isolated" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.testbed
def test_from_outside_programs_run_in_its_hosts_and_its_rules_are_read(testbed_name):
    with run_folder(default_folder(testbed_name)) as folder:
        argv = [sys.executable, "-m", "mininet_topos.up", "--folder", str(folder.path)]
        with run_isolated(argv, folder) as process:
            assert wait_until(lambda: Bed.is_up(folder.path) or process.poll() is not None, READY_TIMEOUT)
            bed = Bed.read(folder.path)
            shown = [bed.inside(["ip", "-br", "-4", "address"], host) for host in ("mu-dtn", "osu-dtn", None)]
            mu, osu, root = (subprocess.check_output(one, text=True) for one in shown)
            assert "10.1.0.10/24" in mu
            assert "10.2.0.10/24" in osu
            assert "172.31.0.1/24" in root
            assert "priority=0 actions=NORMAL" in bed.dump_flows("mu-edge")
            assert all(path.exists() for path in bed.certificates.values())
            asked = {name: _answers_to(bed, name) for name in ("nobody", "controller")}
            assert asked == {"nobody": "403", "controller": "200"}
            assert "datapath" in bed.emulation
        assert process.poll() == 0


def _answers_to(bed: Bed, who: str) -> str:
    """What MU's point answers to a task that nobody, or its controller, posts to it."""
    shown = ["--cert", str(bed.controller[0]), "--key", str(bed.controller[1])] if who == "controller" else []
    task = {"schema": 1, "schedule": {}, "test": {"type": "rtt", "spec": {"dest": "10.1.0.10", "count": 1}}}
    argv = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "10", *shown]
    argv += ["--cacert", str(bed.certificates["mu-dtn"]), "-d", json.dumps(task)]
    argv += ["-H", "Content-Type: application/json", "https://172.31.0.11:4443/pscheduler/tasks"]
    return subprocess.check_output(bed.inside(argv), text=True)
