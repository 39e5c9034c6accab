"""This machine's side of a guest, with another program in the place of its kernel."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mininet_topos import networks
from mininet_topos import old_platforms as platforms
from mininet_topos.old_guest import kernel as kernels
from mininet_topos.old_guest import machine
from mininet_topos.old_guest.frames import Frame, Kind
from mininet_topos.old_isolation import run_folder
from mininet_topos.old_platforms import Platform, state
from mininet_topos.old_platforms.bed import Underway
from tests.support.refusals import refused

pytestmark = pytest.mark.integration
PATIENCE = 20.0


class Begun:
    """A network in a guest that does nothing, ``line`` being its end of the line."""

    def __init__(self, underway: Underway, guest: machine.Guest, line: socket.socket) -> None:
        self.underway, self.guest, self.line = underway, guest, line


@contextmanager
def begun(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Begun]:
    ours, theirs = socket.socketpair()
    made = list[machine.Guest]()

    @contextmanager
    def started(kernel: object, argv: object, share: Path, environment: object) -> Iterator[machine.Guest]:
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:  # ends as a keeper does
            made.append(machine.Guest(process, share, ours))
            yield made[0]
            made[0].end()

    patch.setattr(kernels, "found", lambda: kernels.Kernel(folder, folder))
    patch.setattr(machine, "started", started)
    with ours, theirs, run_folder(folder) as own:
        ours.setblocking(False)
        with platforms.begun(Platform.GUEST, networks.named("mu_osu"), own) as underway:
            yield Begun(underway, made[0], theirs)


@pytest.mark.parametrize(
    "said", [Frame(Kind.OVER, 0).packed(), b"", b"\xff" * 100], ids=["over", "nothing", "nonsense"]
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_guest_that_nobody_reaches_any_more_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    with begun(tmp_path / "run", monkeypatch) as made:
        made.line.sendall(said)
        made.line.shutdown(socket.SHUT_WR)
        assert made.guest.process.wait(PATIENCE) == 0


def test_modules_that_do_not_load_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    with begun(folder, monkeypatch) as made:
        (folder / machine.MISSING).write_text("sch_netem\nopenvswitch\n")
        state.say_listening(folder)
        with refused("unavailable"):
            made.underway.await_built()


def test_its_controllers_port_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody gets it who asks for any, and a controller can listen there."""
    with begun(tmp_path / "run", monkeypatch) as made, socket.socket() as other:
        bed = made.underway.bed
        with refused(OSError):
            other.bind(("127.0.0.1", bed.openflow_port))
        assert not bed.controlled()
        with socket.create_server(("127.0.0.1", bed.openflow_port)):
            assert bed.controlled()
        assert not bed.controlled()
