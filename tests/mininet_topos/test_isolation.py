from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys

import pytest

from mininet_topos.commands import wait_until
from mininet_topos.isolation import folder_inside, run_folder, run_folders
from tests.mininet_topos.isolated import BUILD, ROOT, interfaces_left, processes, start
from tests.support.refusals import refused

ENDING = 60.0
"""Seconds within which the kernel ends all processes of a namespace on a busy machine."""


def test_a_folder_is_removed_by_its_owner(runtime):
    with run_folder() as folder:
        (folder / "ovs").mkdir()
        assert folder.parent == run_folders()
    assert list(run_folders().iterdir()) == []


def test_folders_of_ended_owners_are_removed_and_those_of_others_stay(runtime):
    with run_folder() as owned:
        with subprocess.Popen(["true"]) as ended:
            left = run_folders() / f"testbed-{ended.pid}-left"
        (left / "ovs").mkdir(parents=True)
        with run_folder() as other:
            assert set(run_folders().iterdir()) == {owned, other}


def test_link_among_folders_is_not_followed(runtime, tmp_path):
    (tmp_path / "kept").touch()
    with run_folder():
        (run_folders() / "testbed-none-link").symlink_to(tmp_path)
        with run_folder():
            pass
    assert (tmp_path / "kept").exists()


def test_path_that_is_too_long_for_sockets_is_refused(runtime, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime / ("x" * 90)))
    with refused("wrong-length", "run folder"), run_folder():
        pass


def test_program_that_is_not_isolated_has_no_folder(monkeypatch):
    monkeypatch.delenv("ADON_TESTBED_FOLDER", raising=False)
    with refused("conflict", "testbed"):
        folder_inside()


OPEN_AND_CLOSE = """
from mininet_topos.isolation import run_folder
for _ in range(40):
    with run_folder() as folder:
        (folder / "ovs").mkdir()
        assert folder.exists()
"""


def test_testbeds_that_start_and_end_at_once_do_not_disturb_each_other(runtime):
    argv = [sys.executable, "-c", OPEN_AND_CLOSE]
    running = [subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [(one.communicate()[1], one.returncode) for one in running] == [("", 0)] * 3
    assert list(run_folders().iterdir()) == []


@pytest.mark.testbed
@pytest.mark.parametrize(("script", "status"), [("exit 3", 3), ("kill -KILL $$; exit 4", 4), ("true", 0)])
def test_exit_status_is_the_programs(runtime, script, status):
    # The first process of a PID namespace cannot kill itself (pid_namespaces(7)).
    process = start("host", runtime, ["sh", "-c", script])
    assert (process.communicate()[0], process.returncode) == ("", status)


@pytest.mark.testbed
def test_program_has_its_own_network_and_processes(runtime):
    output, _ = start("host", runtime, ["sh", "-c", "echo $$; true"]).communicate()
    assert output.split()[0] == "1"


SERVE = """
import os, socket
web = socket.socket(fileno=int(os.environ["ADON_WEB_SOCKET"]))
print(web.getsockname()[1], flush=True)
web.accept()[0].send(b"inside")
"""
WEB = """
import sys
from pathlib import Path
from mininet_topos.isolation import Platform, run_isolated
run_isolated([sys.executable, "-c", sys.argv[1]], Platform.HOST, shared=Path.cwd())
"""


@pytest.mark.testbed
def test_socket_of_the_machine_is_served_from_inside(runtime):
    process = subprocess.Popen(
        [sys.executable, "-c", WEB, SERVE], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with process:
        with socket.create_connection(("127.0.0.1", int(process.stdout.readline()))) as connection:
            assert connection.recv(6) == b"inside"
        assert process.wait() == 0


@pytest.mark.testbed
def test_sigterm_ends_the_caller_and_everything_and_removes_the_folder(runtime):
    process = start("host", runtime, [sys.executable, "-c", BUILD])
    with process:
        assert process.stdout.readline() == "built\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM
    assert wait_until(lambda: processes(runtime) == [], ENDING)
    assert list(run_folders().iterdir()) == []


@pytest.mark.testbed
def test_kill_9_at_any_moment_leaves_nothing_and_the_next_start_removes_the_folder(runtime):
    seed = random.randrange(1 << 32)
    moments = random.Random(seed)
    for _ in range(10):
        with start("host", runtime, [sys.executable, "-c", BUILD]) as process:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(moments.uniform(0.0, 2.5))
            process.kill()
        assert wait_until(lambda: processes(runtime) == [], ENDING), (seed, processes(runtime))
    assert interfaces_left() == []
    with start("host", runtime, ["true"]) as process:
        assert process.wait() == 0
    assert list(run_folders().iterdir()) == []
