from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest

from adon.errors import Conflict
from mininet_topos import old_isolation as isolation
from mininet_topos.old_isolation import default_folder, run_folder, run_folders
from mininet_topos.waiting import wait_until
from tests.support.refusals import refused

ROOT = Path(__file__).parent.parent.parent
SHORT = Path("/tmp")
UP = (sys.executable, "-m", "apps.cli.main", "testbed", "up", "--platform", "host")


@pytest.fixture
def folder(testbed_name: str) -> Path:
    return SHORT / testbed_name


def test_a_folder_has_one_owner_at_a_time(folder, monkeypatch):
    monkeypatch.setattr(isolation, "RELEASE_TIMEOUT", 0.05)
    with run_folder(folder), refused("conflict", "run folder"), run_folder(folder):
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
    with refused("wrong-length", "run folder"), run_folder(SHORT / ("x" * 90)):
        pass


@pytest.mark.parametrize("name", ["", "../x", "a b", "x" * 33])
def test_a_name_is_a_plain_word(name):
    with refused("invalid", "name"):
        default_folder(name)


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run folders of this test's own; what holds them is there before, as ``$XDG_RUNTIME_DIR`` is."""
    with tempfile.TemporaryDirectory(prefix="adon-", dir=SHORT) as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        yield Path(short)


def test_the_last_one_removes_the_folder_of_run_folders(apart):
    with run_folder(default_folder("one")):
        with run_folder(default_folder("other")):
            pass
        assert run_folders().exists()
    assert list(apart.iterdir()) == []


def test_no_other_folder_is_removed_for_being_empty(apart):
    mine = apart / "mine"
    mine.mkdir()
    with run_folder(mine / "run"):
        pass
    assert mine.exists()


def test_a_folder_that_goes_while_it_is_made_is_made_again(apart, monkeypatch):
    """Another testbed ends between our making the outer folder and the inner one."""
    real, ended = Path.mkdir, []

    def mkdir(path: Path, *arguments: object, **options: object) -> None:
        if path.name == "one" and not ended:
            ended.append(path)
            run_folders().rmdir()
        real(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with run_folder(default_folder("one")) as ours:
        assert ours.path.exists()
    assert ended


def test_what_goes_again_and_again_is_refused_in_the_end(apart, monkeypatch):
    def gone(path: Path) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(isolation, "RELEASE_TIMEOUT", 0.05)
    monkeypatch.setattr(isolation, "_make", gone)
    with refused("invalid", "run folder"), run_folder(default_folder("one")):
        pass


OPENS_AND_ENDS = (
    "from mininet_topos.old_isolation import default_folder, run_folder\n"
    "for _ in range(40):\n"
    "    with run_folder(default_folder({name!r})):\n"
    "        pass\n"
)


def test_testbeds_that_come_and_go_at_once_do_not_disturb_each_other(apart):
    comers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENS_AND_ENDS.format(name=name)],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b", "c")
    ]
    assert [(one.communicate(timeout=60)[1], one.returncode) for one in comers] == [("", 0)] * 3
    assert list(apart.iterdir()) == []


def remover(path: Path) -> subprocess.Popen[bytes]:
    """What an owner leaves behind that is killed at once."""
    argv = ["sh", "-c", isolation._REMOVE_AFTER_US, "sh", str(path), str(path.parent)]
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_what_a_killed_owner_leaves_is_removed_when_nobody_has_it(apart):
    path = default_folder("one")
    path.mkdir(parents=True)
    (path / "pid").touch()
    assert remover(path).wait(10) == 0
    assert list(apart.iterdir()) == []
    assert remover(path).wait(10) != 0  # and there is no file of that name
    assert list(apart.iterdir()) == []


def test_another_ones_folder_of_the_same_name_is_not_removed(apart):
    """The remover waits for one that the next owner removes; a third has made its own by then."""
    path = default_folder("one")
    with run_folder(path) as ours:
        waiting = remover(path)
        asked = f"{os.fstat(ours.lock).st_ino}"
        assert wait_until(lambda: _waits(asked), 10)
        path.rmdir()
        path.mkdir()
        (path / "pid").touch()
        again = os.dup(ours.lock)
        fcntl.flock(again, fcntl.LOCK_UN)
        os.close(again)
        waiting.wait(10)
        assert (path / "pid").exists()


def _waits(inode: str) -> bool:
    """Whether somebody waits for a lock on this file (proc_locks(5))."""
    lines = Path("/proc/locks").read_text().splitlines()
    return any(" -> " in line and f":{inode} " in line for line in lines)


# --- living testbeds --------------------------------------------------------------------------------


class Up:
    """A testbed that another process owns, as a user who typed ``adon testbed up --foreground`` has it."""

    def __init__(self, name: str) -> None:
        self.folder = default_folder(name)
        self.owner = subprocess.Popen(
            # What a shell starts in the background ignores SIGINT, and so does all that comes of it.
            ["env", "--default-signal=INT", *UP, "--foreground", "--no-adon", "--name", name],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.owner.stdout is not None
        assert any("stays until" in line for line in self.owner.stdout)
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
def test_kill_9_of_the_owner_leaves_nothing(testbed_name):
    before = interfaces()
    testbed = Up(testbed_name)
    assert len(testbed.processes()) > 5
    testbed.owner.kill()
    testbed.owner.wait()
    testbed.owner.stdout.close()
    assert wait_until(lambda: testbed.processes() == [], 10)
    assert interfaces() == before
    assert wait_until(lambda: not testbed.folder.exists(), 10)


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
    argv = [*UP, "--name", testbed_name, "--scale", "1"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("circuits.line.rate: ")
    assert not default_folder(testbed_name).exists()


def test_what_is_put_into_the_folder_while_it_is_removed_is_removed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the database of a process that is just ending."""
    folder, removals = tmp_path / "one", []

    def removed(path: Path, *, ignore_errors: bool) -> None:
        removals.append(path)
        if len(removals) == 1:
            (path / "late").touch()
            return
        rmtree(path, ignore_errors=ignore_errors)

    monkeypatch.setattr("mininet_topos.old_isolation.shutil.rmtree", removed)
    with run_folder(folder):
        pass
    assert (len(removals), folder.exists()) == (2, False)


def test_the_next_owners_folder_is_not_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who makes it as soon as ours is gone."""
    removals = []

    def removed(path: Path, *, ignore_errors: bool) -> None:
        removals.append(path)
        rmtree(path, ignore_errors=ignore_errors)
        path.mkdir()
        (path / "pid").touch()

    monkeypatch.setattr("mininet_topos.old_isolation.shutil.rmtree", removed)
    with run_folder(folder):
        pass
    assert removals == [folder]
    assert (folder / "pid").exists()
    rmtree(folder)


def test_who_is_interrupted_once_more_while_it_removes_its_folder_leaves_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(path: Path, *, ignore_errors: bool) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mininet_topos.old_isolation.shutil.rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt), run_folder(folder) as ours:
        (ours.path / "pid").touch()
    assert wait_until(lambda: not folder.exists(), 10)
