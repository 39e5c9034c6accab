"""A network in namespaces of this machine, as an experiment sees it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from pathlib import Path

import pytest

from adon.errors import NotFound
from mininet_topos import networks
from mininet_topos import old_platforms as platforms
from mininet_topos.emulation import Emulation
from mininet_topos.old_isolation import default_folder, run_folder, run_isolated
from mininet_topos.old_platforms import Platform, machine, state
from mininet_topos.old_platforms.bed import Bed
from mininet_topos.old_platforms.host import HostBed
from mininet_topos.shaping import Change
from mininet_topos.waiting import wait_until
from tests.support.refusals import refused

ONCE = ("ping", "-n", "-c", "1", "-W", "1", "10.2.0.10")


def answers(bed: Bed) -> bool:
    return subprocess.run(bed.inside(ONCE, "mu-dtn"), stdout=subprocess.DEVNULL).returncode == 0


def said(bed: Bed, *argv: str, host: str | None = "mu-dtn") -> str:
    return subprocess.check_output(bed.inside(argv, host), text=True)


def test_where_none_runs(tmp_path: Path) -> None:
    with refused("unavailable"):
        platforms.running(tmp_path)


@pytest.mark.testbed
def test_a_network_on_the_host(testbed_name: str) -> None:
    choice = platforms.choose("host-user")
    network = networks.named("mu_osu")
    with (
        run_folder(default_folder(testbed_name)) as folder,
        platforms.up(choice.platform, network, folder) as bed,
    ):
        assert platforms.running(bed.folder) == bed
        assert "user datapath" in bed.emulation
        assert "10.1.0.10/24" in said(bed, "ip", "-br", "-4", "address")
        assert "172.31.0.1/24" in said(bed, "ip", "-br", "-4", "address", host=None)
        with refused("unknown-name", "host"):
            bed.inside(["true"], "moon")
        with pytest.raises(NotFound, match="mu-rtr"):
            bed.point("mu-rtr")
        _asked(bed)
        bed.reconnect()
        assert "priority=0 actions=NORMAL" in bed.dump_flows("mu-edge")
        bed.set_link("routed", Change(rate=3e6))
        assert "rate 3Mbit" in said(bed, "tc", "class", "show", "dev", "mu-rtr-wan", host="mu-rtr")
        with refused("invalid", "links.routed.rate"):
            bed.set_link("routed", Change(rate=3))
        bed.set_link("routed", Change(up=False))
        assert not answers(bed)
        bed.set_link("routed", Change(up=True))
        assert wait_until(lambda: answers(bed), 10)


@pytest.mark.testbed
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_program_in_a_host_ends_with_its_command(
    testbed_name: str, tmp_path: Path, number: signal.Signals
) -> None:
    """Of a network that is nothing but its namespaces."""
    network = networks.named("mu_osu")
    with (
        run_folder(default_folder(testbed_name)) as folder,
        run_isolated(["sleep", "600"], folder),
    ):
        bed = HostBed(folder.path, network, Platform.HOST_USER, 6653, {})
        state.write_built(folder.path, state.Built({"mu-dtn": 1}, Emulation("user", netem=False)))
        fifo = tmp_path / "runs"
        os.mkfifo(fifo)
        # Open as long as the program runs, which a FIFO's reader hears wherever it is.
        argv = bed.inside(["sh", "-c", f"exec >{fifo}; echo there; exec sleep 600"], "mu-dtn")
        with subprocess.Popen(argv) as command, fifo.open() as program:
            assert program.readline() == "there\n"
            command.send_signal(number)
            assert select.select([program], [], [], 30)[0]
            assert program.read() == ""


@pytest.mark.testbed
def test_the_systems_programs_are_found_by_who_has_not_their_folders(
    testbed_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the namespaces of a network, and where it is looked what the machine has."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert machine._unshared("ip link set lo up && command -v tc")
    found = tmp_path / "found"
    with (
        run_folder(default_folder(testbed_name)) as folder,
        run_isolated(["sh", "-c", f"command -v tc >{found}"], folder) as first,
    ):
        first.wait(30)
    assert found.read_text().endswith("/tc\n")


def _asked(bed: Bed) -> None:
    """A point knows its controller, and nobody else."""
    point = bed.point("mu-dtn")
    task = {"schema": 1, "schedule": {}, "test": {"type": "rtt", "spec": {"dest": "10.1.0.10", "count": 1}}}
    curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", str(point.certificate)]
    curl += ["-d", json.dumps(task), "-H", "Content-Type: application/json", f"{point.url}/tasks"]
    shown = ["-H", f"Authorization: Bearer {bed.controller.read_text().strip()}"]
    codes = [subprocess.check_output(bed.serving(argv), text=True) for argv in (curl, [*curl, *shown])]
    assert codes == ["403", "200"]
