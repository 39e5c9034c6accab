from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adon.errors import Conflict, InvalidInput
from mininet_topos.isolation import default_folder, run_folder
from mininet_topos.waiting import wait_until

ROOT = Path(__file__).parent.parent.parent
SHORT = Path("/tmp")


@pytest.fixture
def folder(testbed_name: str) -> Path:
    return SHORT / testbed_name


def test_a_folder_has_one_owner_at_a_time(folder):
    with run_folder(folder), pytest.raises(Conflict, match="a testbed is running"), run_folder(folder):
        pass
    assert not folder.exists()


def test_the_remains_of_a_killed_run_are_removed(folder):
    (folder / "ovs").mkdir(parents=True)
    (folder / "ovs" / "db.sock").touch()
    (folder / "pid").write_text("1")
    with run_folder(folder) as ours:
        assert list(ours.path.iterdir()) == []
    assert not folder.exists()


def test_a_link_in_the_remains_is_not_followed(folder, tmp_path):
    kept = tmp_path / "kept"
    kept.touch()
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with run_folder(folder):
        pass
    assert kept.exists()


def test_a_path_too_long_for_its_sockets_is_refused():
    with pytest.raises(InvalidInput, match="too long"), run_folder(SHORT / ("x" * 90)):
        pass


@pytest.mark.parametrize("name", ["", "../x", "a b", "x" * 33])
def test_a_name_is_a_plain_word(name):
    with pytest.raises(InvalidInput, match="plain word"):
        default_folder(name)


# --- living testbeds --------------------------------------------------------------------------------


class Up:
    """A testbed that another process owns, as a user who typed ``python -m mininet_topos up`` has it."""

    def __init__(self, name: str) -> None:
        self.folder = default_folder(name)
        self.owner = subprocess.Popen(
            # What a shell starts in the background ignores SIGINT, and so does all that comes of it.
            ["env", "--default-signal=INT", sys.executable, "-m", "mininet_topos", "up", "--name", name],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.owner.stdout is not None
        assert self.owner.stdout.readline().startswith("ready:")
        first = int((self.folder / "pid").read_text())
        self.namespaces = {Path(f"/proc/{first}/ns/{kind}").readlink() for kind in ("pid", "net")}

    def processes(self) -> list[str]:
        """Processes of the whole machine that are in one of its namespaces."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                inside = {(process / "ns" / kind).readlink() for kind in ("pid", "net")}
            except OSError:
                continue  # it has just ended
            if inside & self.namespaces:
                found.append(process.name)
        return found


@pytest.fixture
def up(testbed_name: str) -> Iterator[Up]:
    testbed = Up(testbed_name)
    yield testbed
    testbed.owner.kill()
    testbed.owner.wait()
    testbed.owner.stdout.close()
    with run_folder(testbed.folder):
        pass


def interfaces() -> str:
    return subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout


@pytest.mark.testbed
def test_kill_9_of_the_owner_leaves_nothing_but_a_folder(testbed_name):
    before = interfaces()
    testbed = Up(testbed_name)
    assert len(testbed.processes()) > 5
    testbed.owner.kill()
    testbed.owner.wait()
    testbed.owner.stdout.close()
    assert wait_until(lambda: testbed.processes() == [], 10)
    assert interfaces() == before
    assert testbed.folder.exists()
    with run_folder(testbed.folder):
        pass
    assert not testbed.folder.exists()


@pytest.mark.testbed
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda pid: os.killpg(pid, signal.SIGINT), id="Ctrl-C in its terminal"),
        pytest.param(lambda pid: os.kill(pid, signal.SIGTERM), id="SIGTERM to the owner"),
    ],
)
def test_an_interrupted_testbed_removes_everything_and_its_folder(up, end):
    end(up.owner.pid)
    assert up.owner.wait(30) == 0
    assert up.processes() == []
    assert not up.folder.exists()


@pytest.mark.testbed
def test_two_testbeds_at_once_do_not_see_each_other(up):
    other = Up(f"{up.folder.name}-b")
    try:
        assert not up.namespaces & other.namespaces
        with pytest.raises(Conflict), run_folder(other.folder):
            pass
        dump = ["ovs-ofctl", "-O", "OpenFlow13", "dump-flows", "mu-edge"]
        for testbed in (up, other):  # from outside the namespaces, as the guide says
            environment = {**os.environ, "OVS_RUNDIR": str(testbed.folder / "ovs")}
            done = subprocess.run(dump, env=environment, capture_output=True, text=True, check=True)
            assert "actions=NORMAL" in done.stdout
    finally:
        os.killpg(other.owner.pid, signal.SIGINT)
        try:
            assert other.owner.wait(30) == 0
        finally:
            other.owner.kill()
            other.owner.wait()
            other.owner.stdout.close()


def test_the_command_refuses_a_scale_that_cannot_be_built(testbed_name):
    argv = [sys.executable, "-m", "mininet_topos", "up", "--name", testbed_name, "--scale", "1"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "rate" in done.stderr
    assert not default_folder(testbed_name).exists()
