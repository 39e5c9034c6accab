"""A changed configuration under ``adon serve`` with real Open vSwitch: only what differs is touched."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from adon.config import load
from adon.store.store import Store
from apps.cli.main import app
from apps.link import LinkClient
from tests.apps.edge import BRIDGES, Switches, both_edges, eventually
from tests.support.serve_process import Service
from tests.support.switched_flows import durations, prepare, record_messages, submit_flow

pytestmark = pytest.mark.integration


class Running(Service):
    """The whole service before two bridges."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.data = folder / "data"

    @contextmanager
    def link(self, socket: str = "controller.sock") -> Iterator[LinkClient]:
        link = LinkClient(self.data / socket, "web")
        try:
            eventually(lambda: link.connected, f"{socket} is not served")
            yield link
        finally:
            link.close()

    def said(self, text: str) -> int:
        return self.log.read_text().count(text)

    def edit(self, **sections: Any) -> None:
        """Change the file; a section that is a function makes the new value of the old."""
        document = yaml.safe_load(self.config.read_text())
        for name, change in sections.items():
            document[name] = change(document[name]) if callable(change) else change
        self.config.write_text(yaml.safe_dump(document, sort_keys=False))

    def reload(self) -> Any:
        return CliRunner().invoke(app, ["reload", "--data", str(self.data)])

    def parts(self) -> dict[str, int]:
        """The process of each part, as the log told it last."""
        started = [
            line.split() for line in self.log.read_text().splitlines() if "event=started part=" in line
        ]
        return {words[-2].removeprefix("part="): int(words[-1].removeprefix("pid=")) for words in started}

    def standing(self) -> dict[str, Any]:
        with self.link("serve.sock") as link:
            return link.call("standing", {})

    def flow(self, number: int) -> Any:
        with Store.open(f"sqlite:///{self.data / 'state.db'}", read_only=True) as store:
            return store.flow(number)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    built = Running(tmp_path)
    try:
        yield built
    finally:
        if built.process.poll() is None:
            built.process.terminate()
            built.process.wait(60)


@pytest.fixture
def switches(tmp_path: Path, service: Running) -> Iterator[Switches]:
    with both_edges(tmp_path, load(service.config).controller.openflow_port) as running:
        service.ready()
        eventually(lambda: service.said("code=switch-connected") == 2, "the switches did not connect")
        eventually(lambda: len(rules(running)) == 8, "no measurement rules")
        running.hurry()
        yield running


def rules(switches: Switches) -> list[str]:
    return [line for bridge in BRIDGES for line in switches.rules(bridge)]


def plain(lines: list[str]) -> set[str]:
    """Rules without what a switch counts."""
    counted = ("duration=", "n_packets=", "n_bytes=", "idle_age=", "reset_counts")
    return {" ".join(w for w in line.split() if not w.startswith(counted)) for line in lines}


def active(service: Running, number: int) -> None:
    eventually(lambda: service.flow(number).state == "active", "the flow is not active")


def back(service: Running, times: int) -> None:
    """The controller is up for the so-manieth time, and both switches with it."""
    eventually(lambda: service.said("event=ready network") == times, "the controller did not come back")
    eventually(lambda: service.said("code=switch-connected") == 2 * times, "the switches did not come back")


def test_what_only_looks_different_sends_nothing_and_restarts_nothing(
    service: Running, switches: Switches, tmp_path: Path
) -> None:
    before = service.parts()
    service.config.write_text(
        "# looked at by ann\n" + service.config.read_text().replace("60.6 Mbps", "60600 kbps")
    )
    with record_messages(switches, "mu-edge", tmp_path / "snoop"):
        done = service.reload()
        service.process.send_signal(signal.SIGHUP)  # systemd's way to say the same
        eventually(lambda: service.said("event=reload.unchanged") == 2, "SIGHUP did nothing")
        time.sleep(1.5)  # over a consistency check
    assert (done.exit_code, "changed:" in done.stdout) == (0, False)
    assert service.parts() == before
    heard = (tmp_path / "snoop").read_text(errors="replace")
    assert "OFPST_FLOW" in heard
    assert "OFPT_FLOW_MOD" not in heard


def test_a_bad_file_is_told_and_changes_nothing(service: Running, switches: Switches) -> None:
    before, good = service.parts(), service.config.read_text()
    service.config.write_text(good.replace("layer: 2", "layer: 7"))
    done = service.reload()
    assert done.exit_code == 2
    assert f"{service.config}:" in done.stderr
    assert "paths.al2s.layer" in done.stderr
    assert service.parts() == before
    assert service.standing()["reloads"]["refused"] == 1
    # Whoever crashes now comes back with the good one.
    os.kill(before["controller"], signal.SIGKILL)
    back(service, 2)
    assert service.process.poll() is None
    service.config.write_text(good)
    assert "changed:" not in service.reload().stdout


def test_a_changed_path_changes_only_its_own_rules(
    service: Running, switches: Switches, tmp_path: Path
) -> None:
    with service.link() as link:
        prepare(link)
        number = submit_flow(link)
        active(service, number)
    before, old = service.parts(), rules(switches)
    others = [line for line in old if "1701" not in line and "set_field:5797" not in line]
    service.edit(paths=lambda paths: {**paths, "al2s": {**paths["al2s"], "vlan": 1702}})
    time.sleep(1.1)
    with record_messages(switches, "mu-edge", tmp_path / "snoop"):
        done = service.reload()
        assert done.exit_code == 0
        assert {"paths.al2s;", "collector,", "controller,", "web"} <= {*done.stdout.split()}
        back(service, 2)
        eventually(lambda: not [one for one in rules(switches) if "5797" in one or "dl_vlan=1701" in one])
        eventually(lambda: len(rules(switches)) == len(old))
        time.sleep(1.5)
    now = service.parts()
    assert now["controller"] != before["controller"]
    assert plain(others) <= plain(rules(switches))
    kept = [line for line in rules(switches) if plain([line]) <= plain(others)]
    assert all(new > old for new, old in zip(durations(kept), durations(others), strict=True))
    sent = [
        line for line in (tmp_path / "snoop").read_text(errors="replace").splitlines() if "FLOW_MOD" in line
    ]
    assert sent
    assert not [line for line in sent if "1701" not in line and "1702" not in line and "579" not in line]
    assert service.flow(number).state == "active"
    assert service.flow(number).path == "al2s"


def test_flows_whose_path_or_host_is_gone_move_or_end_with_the_reason(
    service: Running, switches: Switches
) -> None:
    with service.link() as link:
        prepare(link)
        number = submit_flow(link)
        active(service, number)
    tests = yaml.safe_load(service.config.read_text())["measurements"]
    service.edit(
        paths=lambda paths: {"internet": paths["internet"]},
        measurements={**tests, "tests": [test for test in tests["tests"] if test["path"] == "internet"]},
    )
    assert service.reload().exit_code == 0
    back(service, 2)
    eventually(lambda: service.flow(number).path == "internet", "the flow did not move")
    assert service.flow(number).state == "active"
    with Store.open(f"sqlite:///{service.data / 'state.db'}", read_only=True) as store:
        decision = store.decisions(number)[-1]
    assert "al2s" in decision.reason

    def other_host(sites: Any) -> Any:
        host = sites["mu"]["hosts"]["mu-dtn"]
        return {**sites, "mu": {**sites["mu"], "hosts": {"new-dtn": host}}}

    service.edit(sites=other_host)
    assert service.reload().exit_code == 0
    back(service, 3)
    eventually(lambda: service.flow(number).state == "failed", "the flow did not end")
    assert "mu-dtn" in service.flow(number).reason
    eventually(
        lambda: not [line for line in rules(switches) if "cookie=0xad1" in line], "its rules are there"
    )


def test_what_a_part_refuses_is_taken_back(service: Running, switches: Switches) -> None:
    before = service.parts()
    service.edit(measurements=lambda old: {**old, "notify": {"webhook_secret_file": "nowhere.secret"}})
    assert {"measurements.notify;", "collector"} <= {*service.reload().stdout.split()}
    eventually(lambda: service.said("event=reload.taken_back") == 1, "nothing was taken back")
    eventually(lambda: service.said("event=started part=collector") == 3, "the collector is not back")
    assert service.standing()["reloads"]["taken_back"] == 1
    now = service.parts()
    assert (now["controller"], now["web"]) == (before["controller"], before["web"])
    assert service.process.poll() is None
