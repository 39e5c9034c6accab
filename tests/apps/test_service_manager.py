"""What systemd is told, read at the other end of its socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from adon.broker.events import Event, SnapshotAsked
from apps.campus_edge.loop import DecisionLoop, Inbox, Stamps
from apps.link import REACHED
from apps.parts import Part
from apps.readiness import Readiness
from apps.service_manager import ServiceManager, environment_of_parts


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.setblocking(False)
        yield listener


def heard(listener: socket.socket) -> list[str]:
    found = []
    while True:
        try:
            found.append(listener.recv(4096).decode())
        except BlockingIOError:
            return found


def environment(listener: socket.socket, **more: str) -> dict[str, str]:
    return {"NOTIFY_SOCKET": str(listener.getsockname()), **more}


def test_nothing_is_said_where_nobody_listens(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    for named in ({}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "vsock:2:1234"}):
        silent = ServiceManager(named | {"WATCHDOG_USEC": "1000000"})
        silent.ready()
        silent.pulse()
        assert silent.pulse_every is None
    assert caplog.text == ""
    ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "gone")}).ready()  # nor does anything fail
    assert "event=notify.lost" in caplog.text


def test_pulses_come_often_enough_and_no_oftener(systemd: socket.socket) -> None:
    now = [100.0]
    manager = ServiceManager(environment(systemd, WATCHDOG_USEC="3000000"), lambda: now[0])
    assert manager.pulse_every == 1.0
    for _ in range(12):
        manager.pulse()
        now[0] += 0.25
    assert heard(systemd) == ["WATCHDOG=1"] * 6


def test_one_process_is_told_where_systemd_listens_and_none_which_sockets_were_passed() -> None:
    ours = {"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "9", "WATCHDOG_PID": "1", "LISTEN_FDS": "1", "HOME": "/h"}
    expected = {"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "9", "HOME": "/h"}
    assert environment_of_parts(ours, watched=True) == expected
    assert environment_of_parts(ours, watched=False) == {"HOME": "/h"}


# -- ready ---------------------------------------------------------------------------------------------------


class Runs:
    """A process that runs, as far as it is looked at here."""


def parts() -> list[Part]:
    made = [Part("controller", ("a",), watched=True), Part("web", ("b",))]
    for one in made:
        one.process, one.started_at = Runs(), 0.0  # type: ignore[assignment]
    return made


def test_ready_is_said_when_the_web_side_reaches_the_controller(systemd: socket.socket) -> None:
    readiness = Readiness(parts(), ServiceManager(environment(systemd)))
    readiness.look(10.0)
    readiness.record_message("hello")
    readiness.look(11.0)
    assert heard(systemd) == ["STATUS=starting"]
    readiness.record_message(REACHED)
    readiness.look(12.0)
    readiness.look(13.0)
    assert heard(systemd) == ["READY=1", "STATUS=serving: controller, web"]


def test_the_supervisor_pulses_for_a_controller_that_is_not_there_and_for_no_other(
    systemd: socket.socket,
) -> None:
    known = parts()
    readiness = Readiness(
        known, ServiceManager(environment(systemd, WATCHDOG_USEC="3"), iter(range(1000)).__next__)
    )
    readiness.look(100.0)
    heard(systemd)
    readiness.look(101.0)
    assert heard(systemd) == [], "it runs: its own thread must say that it lives"
    for change in ({"process": None}, {"stop_by": 200.0}, {"started_at": 101.5}):
        known[0] = Part("controller", ("a",), watched=True, **{"process": Runs(), **change})  # type: ignore[arg-type]
        Readiness(known, readiness._manager).look(102.0)
        assert heard(systemd).count("WATCHDOG=1") == 1, change


# -- alive ---------------------------------------------------------------------------------------------------


class Hangs:
    """A broker that decides nothing more until it is let go."""

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

    def handle(self, event: Event) -> list[object]:
        self.reached.set()
        assert self.go_on.wait(60)
        return []


def test_a_decision_that_hangs_ends_the_pulses_and_an_idle_thread_does_not(systemd: socket.socket) -> None:
    systemd.settimeout(60)
    inbox, broker = Inbox(), Hangs()
    loop = DecisionLoop(
        inbox,
        broker,  # type: ignore[arg-type]
        lambda event, effects: None,
        lambda now: ([], None),
        Stamps(),
        watchman=ServiceManager(environment(systemd, WATCHDOG_USEC="30000")),
    )
    loop.start()
    try:
        assert [systemd.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3, "nothing happens, and it lives"
        inbox.put(SnapshotAsked("e-1", 1000.0, "c-1"))
        assert broker.reached.wait(60)
        systemd.setblocking(False)
        heard(systemd)
        assert not threading.Event().wait(0.1)  # ten times as long as between two pulses
        assert heard(systemd) == []
        systemd.settimeout(60)
        broker.go_on.set()
        assert systemd.recv(100) == b"WATCHDOG=1"
    finally:
        broker.go_on.set()
        loop.stop()
        loop.join(60)
