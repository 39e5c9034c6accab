"""``adon testbed up`` to ``down``: what a person types, on this machine's kernel."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adon.client import Client
from adon.errors import InvalidInput
from apps.cli import testbed_inside
from mininet_topos import networks
from mininet_topos.old_isolation import default_folder, run_folder
from mininet_topos.old_platforms.in_folder import known
from mininet_topos.standing.asked import Standing, write
from mininet_topos.waiting import wait_until

ADON = (sys.executable, "-m", "apps.cli.main", "testbed")
PATIENCE = 120.0


def adon(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ADON, *words], input=given, capture_output=True, text=True, timeout=PATIENCE)


def processes(folder: Path) -> list[str]:
    """Those whose command line or folder is below a run folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue  # it has just ended
        if str(folder) in words and int(process.name) != os.getpid():
            found.append(words)
    return found


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("up", "moon"), 2, "moon"),
        (("up", "mu_osu", "--platform", "moon"), 2, "platform:"),
        (("up", "mu_osu", "--scale", "-1"), 2, "scale"),
        (("up", "mu_osu", "--name", "a b"), 2, "name:"),
        (("down",), 1, "testbed"),
        (("down", "moon"), 2, "'moon'"),
        (("down", "moon", "--all"), 2, "--all"),
        (("ping",), 1, "testbed"),
        (("shell", "mu-dtn"), 1, "testbed"),
        (("shell", "a", "b"), 2, "'a'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    done = adon(*words)
    assert done.returncode == code
    assert said in done.stderr
    assert not list(tmp_path.glob("adon/*"))


def test_none_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert json.loads(adon("status", "--json").stdout) == []
    assert json.loads(adon("down", "--all", "--json").stdout) == []


def test_an_adon_that_has_died_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its socket is still its owner's, and takes connections that nobody ever answers."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with run_folder(default_folder("a")) as folder, closing(socket.create_server(("127.0.0.1", 0))) as web:
        url = f"http://127.0.0.1:{web.getsockname()[1]}"
        now = time.time()
        write(Standing("a", folder.path, os.getpid(), "mu_osu", 100, "host-user", "", "", url, now, now))
        told = adon("status")
        assert told.returncode == 0
        assert f"{folder.path}/adon/adon.log" in told.stderr
        assert json.loads(adon("status", "--json").stdout)[0]["adon_answers"] is False


def test_lines_are_no_hosts_that_one_logs_in_to() -> None:
    network = networks.named("mu_osu")
    known(network, "line")  # for who wants to see its queue
    with pytest.raises(InvalidInput) as refused:
        known(network, "moon")
    named = str(refused.value).replace(",", "").split()
    assert {*named} >= {"mu-dtn", "osu-dtn", "mu-rtr", "osu-rtr", "core"}
    assert "line" not in named


@pytest.mark.parametrize("folder", ["a folder; echo -n", "gone"])
def test_a_program_begins_where_the_person_is_if_that_is_there(folder: str, tmp_path: Path) -> None:
    (tmp_path / "a folder; echo -n").mkdir()
    argv = testbed_inside._in_folder(
        ["sh", "-c", 'pwd; echo "$@"; exit 5', "sh", "a b"], f"{tmp_path}/{folder}"
    )
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    there = "/" if folder == "gone" else f"{tmp_path}/{folder}"
    assert (done.returncode, done.stdout, done.stderr) == (5, f"{there}\na b\n", "")


@pytest.fixture
def name(testbed_name: str) -> Iterator[str]:
    yield testbed_name
    adon("down", testbed_name)


@pytest.mark.testbed
def test_from_up_to_down(name: str) -> None:
    up = adon("up", "mu_osu", "--name", name, "--platform", "host", "--json")
    assert up.returncode == 0, up.stderr
    standing = json.loads(up.stdout)
    folder = Path(standing["folder"])
    assert standing["first_ping"]["path"] == "al2s"
    assert standing["first_ping"]["packets"] >= 1
    assert standing["began_at"] < standing["first_ping"]["at"] < standing["up_at"]
    for role in ("admin", "researcher", "engineer", "operator", "auditor"):
        token = (folder / "adon" / f"{role}.token").read_text().strip()
        assert Client.at(standing["url"], token).paths()
    told = {one["name"]: one for one in json.loads(adon("status", "--json").stdout)}
    assert told[name]["adon_answers"] is True

    taken = adon("up", "mu_osu", "--name", name)
    assert taken.returncode == 1
    assert name in taken.stderr

    pinged = adon("ping", name, "--count", "2", "--json")
    assert pinged.returncode == 0, pinged.stderr
    assert [(one["path"], len(one["rtt_s"])) for one in json.loads(pinged.stdout)] == [
        ("al2s", 2),
        ("internet", 2),
    ]

    inside = adon(
        "shell", name, "mu-dtn", "--", "sh", "-c", "cat; ip -br -4 address; pwd; exit 5", given="hello "
    )
    assert inside.returncode == 5
    assert inside.stdout.startswith("hello lo")
    assert "10.1.0.10/24" in inside.stdout
    assert inside.stdout.endswith(f"\n{Path.cwd()}\n")
    unknown = adon("shell", name, "moon")
    assert unknown.returncode == 2
    assert "'moon'" in unknown.stderr
    assert "line" not in unknown.stderr

    assert processes(folder)
    assert name in adon("down", name).stdout
    assert not folder.exists()
    assert wait_until(lambda: processes(folder) == [], 10)
    assert not default_folder(name).exists()
