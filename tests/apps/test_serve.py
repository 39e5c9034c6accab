from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from adon.config import load
from adon.errors import EXIT_DATABASE, DatabaseUnavailable, InvalidInput, Unavailable
from adon.store.access.access import Access, access_url
from adon.store.access.access_tables import ACCESS
from adon.store.access.tokens import Tokens
from adon.store.schema import make_database
from apps import parts as parts_module
from apps import serve
from apps.first_token import first_token
from apps.parts import Part
from tests.apps.edge import ROOT, eventually, free_port, write_configuration
from tests.support.refusals import refused
from tests.support.serve_process import Service


def part(name: str, program: str) -> Part:
    return Part(name, (sys.executable, "-c", program))


@pytest.fixture
def parts() -> Iterator[list[Part]]:
    made: list[Part] = []
    yield made
    parts_module.stop(made)


def wait_for_end(one: Part) -> None:
    assert one.process is not None
    one.process.wait(60)


SLEEPS = "import time; time.sleep(60)"


@pytest.mark.integration
def test_a_part_that_dies_is_started_again_after_pauses_that_grow(parts: list[Part]) -> None:
    parts.append(part("web", "raise SystemExit(1)"))
    now, pauses = 0.0, []
    for _ in range(8):
        assert parts_module.keep_running(parts, now) == 0
        wait_for_end(parts[0])
        assert parts_module.keep_running(parts, now) == 0
        pauses.append(parts[0].start_after - now)
        assert parts_module.keep_running(parts, parts[0].start_after - 0.01) == 0
        assert parts[0].process is None, "started too early"
        now = parts[0].start_after
    assert pauses == [0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 30.0, 30.0]


@pytest.mark.integration
def test_part_that_lost_its_database_is_started_again(parts: list[Part]) -> None:
    parts.append(part("collector", f"raise SystemExit({EXIT_DATABASE})"))
    assert parts_module.keep_running(parts, 0.0) == 0
    wait_for_end(parts[0])
    assert parts_module.keep_running(parts, 0.0) == 0
    assert parts[0].start_after == 0.5


@pytest.mark.integration
def test_a_controller_that_stepped_down_starts_again_soon_however_often(parts: list[Part]) -> None:
    parts.append(part("controller", "raise SystemExit(75)"))
    now = 0.0
    for _ in range(3):
        assert parts_module.keep_running(parts, now) == 0
        wait_for_end(parts[0])
        assert parts_module.keep_running(parts, now) == 0
        assert parts[0].start_after == now + 0.5
        now = parts[0].start_after
    assert parts[0].failures == 0


def test_high_availability_needs_a_shared_database(tmp_path: Path) -> None:
    config = write_configuration(tmp_path, free_port())
    config.write_text(config.read_text().replace("controller:\n", "controller:\n  ha: {name: a}\n"))
    with refused(InvalidInput, field="controller.ha"):
        serve.run(config, tmp_path / "data")
    assert not (tmp_path / "data").exists()


@pytest.mark.integration
def test_a_part_that_ran_well_starts_again_soon(parts: list[Part]) -> None:
    parts.append(part("web", "raise SystemExit(1)"))
    parts[0].failures = 5
    parts_module.keep_running(parts, 0.0)
    wait_for_end(parts[0])
    parts_module.keep_running(parts, 61.0)
    assert parts[0].start_after == 61.5


@pytest.mark.integration
def test_one_part_that_dies_leaves_the_others_alone(parts: list[Part]) -> None:
    parts += [part("controller", SLEEPS), part("web", "raise SystemExit(1)")]
    parts_module.keep_running(parts, 0.0)
    before = parts[0].process
    wait_for_end(parts[1])
    parts_module.keep_running(parts, 0.1)
    parts_module.keep_running(parts, 5.0)
    assert parts[0].process is before
    assert before is not None
    assert before.poll() is None


@pytest.mark.integration
def test_a_part_that_refuses_its_input_ends_the_service(parts: list[Part]) -> None:
    parts += [part("controller", SLEEPS), part("web", "raise SystemExit(2)")]
    parts_module.keep_running(parts, 0.0)
    wait_for_end(parts[1])
    assert parts_module.keep_running(parts, 0.1) == 2
    parts_module.stop(parts)
    assert [each.process.poll() is not None for each in parts if each.process] == [True, True]


@pytest.mark.integration
def test_a_part_that_does_not_listen_is_killed_in_the_end(
    parts: list[Part], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "STOP_WITHIN_S", 0.2)
    deaf = "import signal, pathlib, time; signal.signal(15, signal.SIG_IGN)\n"
    up = f"pathlib.Path({str(tmp_path / 'up')!r}).touch()\n"
    parts.append(part("web", deaf + up + "time.sleep(60)"))
    parts_module.keep_running(parts, 0.0)
    eventually((tmp_path / "up").exists)
    parts_module.stop(parts)
    assert parts[0].process is not None
    assert parts[0].process.returncode == -signal.SIGKILL


# -- the first token ---------------------------------------------------------------------------------------


@pytest.fixture
def url(tmp_path: Path) -> str:
    made = access_url(tmp_path, None)
    make_database(made, ACCESS)
    return made


PAGES = "http://127.0.0.1:8080"


def tokens(url: str) -> int:
    with Access.open(url) as access:
        return access.tokens.count()


def test_the_token_is_shown_once_and_only_once(url: str, capfd: pytest.CaptureFixture[str]) -> None:
    first_token(url, None, PAGES)
    shown = capfd.readouterr().err
    assert shown.count("Admin token") == 1
    assert f"adon --url {PAGES} login" in shown
    first_token(url, None, PAGES)
    assert capfd.readouterr().err == ""
    assert tokens(url) == 1


def test_the_token_goes_to_a_file_that_only_we_can_read(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "token"
    mask = os.umask(0)
    try:
        first_token(url, file, PAGES)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(file.read_text().strip()) > 20
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("what", ["a file that is there", "a folder that is not"])
def test_a_token_that_cannot_be_written_is_not_made(url: str, tmp_path: Path, what: str) -> None:
    file = tmp_path / "token" if what.startswith("a file") else tmp_path / "no" / "token"
    if file.parent.exists():
        file.write_text("mine\n")
        file.chmod(0o644)
    with pytest.raises(InvalidInput, match="admin_token_file"):
        first_token(url, file, PAGES)
    assert tokens(url) == 0
    assert not file.exists() or file.read_text() == "mine\n"


def test_token_file_is_written_again_after_an_outage(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise DatabaseUnavailable("the store does not answer")

    file = tmp_path / "token"
    with monkeypatch.context() as outage:
        outage.setattr(Tokens, "save", fail)
        with pytest.raises(Unavailable):
            first_token(url, file, PAGES)
    first_token(url, file, PAGES)
    assert tokens(url) == 1
    assert file.read_text().strip()


def test_data_folder_that_others_can_read_is_refused_with_the_command_that_repairs_it(tmp_path: Path) -> None:
    config, data = write_configuration(tmp_path, free_port()), tmp_path / "data"
    data.mkdir(mode=0o755)
    with pytest.raises(InvalidInput) as refusal:
        serve.run(config, data)
    (problem,) = refusal.value.problems
    assert (problem.field, problem.code) == ("data", "folder-readable")
    assert list(data.iterdir()) == []


# -- the web side's socket -----------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_one_clear_line(tmp_path: Path) -> None:
    configuration = load(write_configuration(tmp_path, free_port()))
    port = configuration.controller.web_port
    with socket.create_server(("127.0.0.1", port)), pytest.raises(Unavailable) as refusal:
        serve.web_socket(configuration)
    assert str(refusal.value).startswith("controller.web_port: ")


@pytest.mark.parametrize(
    ("said", "pages"),
    [
        ("", "http://127.0.0.1:{port}"),
        ("  web_host: 0.0.0.0\n", "http://localhost:{port}"),
        ("  web_host: '::1'\n", "http://[::1]:{port}"),
        ("access: {public_url: 'https://adon.example.edu/'}\n", "https://adon.example.edu"),
    ],
)
def test_where_the_pages_are_is_told_as_a_browser_asks_for_it(tmp_path: Path, said: str, pages: str) -> None:
    config = write_configuration(tmp_path, free_port())
    where = "controller:\n" if said.startswith(" ") else ""
    config.write_text(config.read_text().replace(where, where + said) if where else config.read_text() + said)
    configuration = load(config)
    with serve.web_socket(configuration) as web:
        assert serve._pages(configuration, web) == pages.format(port=configuration.controller.web_port)


PASSES = """
import os, socket, sys
from pathlib import Path
from adon.config import load
from adon.errors import AdonError
from apps.serve import web_socket
os.environ["LISTEN_PID"] = str(os.getpid())
try:
    print(web_socket(load(Path(sys.argv[1]))).getsockname()[1])
except AdonError as error:
    print(error)
"""


@pytest.mark.integration
@pytest.mark.parametrize("passed", ["a listening socket", "a socket", "a file"])
def test_a_socket_that_the_service_manager_passes(tmp_path: Path, passed: str) -> None:
    config = write_configuration(tmp_path, free_port())
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as plain, config.open() as file:
        which: Any = {"a listening socket": listening, "a socket": plain, "a file": file}[passed]
        done = subprocess.run(
            [
                "bash",
                "-c",
                f'exec "$@" 3<&{which.fileno()}',
                "bash",
                sys.executable,
                "-c",
                PASSES,
                str(config),
            ],
            env={**os.environ, "LISTEN_FDS": "1"},
            pass_fds=(which.fileno(),),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        port = str(listening.getsockname()[1])
    expected = {"a listening socket": port, "a socket": "does not listen", "a file": "is no socket"}[passed]
    assert expected in done.stdout


# -- the whole service ---------------------------------------------------------------------------------------


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    built = Service(tmp_path)
    yield built
    if built.process.poll() is None:
        built.process.terminate()
        built.process.wait(60)


@pytest.mark.integration
def test_sigterm_ends_all_and_a_dead_controller_comes_back(service: Service) -> None:
    service.ready()
    before = service.children()
    controller = min(before)  # the first that was started
    os.kill(controller, signal.SIGKILL)
    eventually(
        lambda: service.log.read_text().count("event=ready network") == 2, "the controller did not come back"
    )
    assert "event=died part=controller status=-9 again_in_s=0.5" in service.log.read_text()
    assert len(before & service.children()) == 2, "the others were left alone"
    everybody = before | service.children()
    service.process.terminate()
    assert service.process.wait(60) == 0
    assert not [pid for pid in everybody if running(pid)]
    assert "event=killed" not in service.log.read_text(), "a part had to be killed"
    assert service.log.read_text().count("Admin token") == 1


@pytest.mark.integration
def test_a_session_outlives_the_web_process_that_it_began_in(service: Service) -> None:
    service.ready()
    shown = next(line for line in service.log.read_text().splitlines() if "Admin token" in line)
    token = shown.rpartition(" ")[2]
    url = f"http://127.0.0.1:{load(service.config).controller.web_port}"
    with requests.Session() as browser:
        browser.trust_env = False
        browser.post(f"{url}/sign-in", data={"token": token}, allow_redirects=False, timeout=60)
        assert browser.get(url, allow_redirects=False, timeout=60).status_code == 200
        web = max(service.children())  # the last that was started
        os.kill(web, signal.SIGKILL)
        eventually(lambda: "event=died part=web" in service.log.read_text(), "nobody saw it end")
        service.ready()
        assert browser.get(url, allow_redirects=False, timeout=60).status_code == 200
    with Access.open(access_url(service.folder / "data", None)) as access:
        done = [(line.entry.action, line.entry.via.split(":")[0]) for line in access.audit.all()]
        assert done == [("token.create", "local"), ("session.begin", "token")]
        assert access.audit.verify().problem is None
    assert service.log.read_text().count(token) == 1, "it is shown once"


@pytest.mark.integration
def test_no_child_outlives_a_supervisor_that_is_killed(service: Service) -> None:
    service.ready()
    children = service.children()
    service.process.kill()
    service.process.wait(60)
    try:
        eventually(lambda: not [pid for pid in children if running(pid)], "a child is left")
    finally:
        for pid in filter(running, children):
            os.kill(pid, signal.SIGKILL)
