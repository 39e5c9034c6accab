"""The web side killed, stopped or flooded: the controller goes on as if nothing were."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import psutil
import pytest
import requests

from adon.access.identity import create_token
from adon.config import load
from adon.store.access.access import Access, access_url
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from apps.link import LinkClient
from tests.apps.edge import DIES_WITH_US, ROOT, Controller, Switches, end, eventually, measured
from tests.support.switched_flows import (
    await_state,
    ingress_rule,
    prepare,
    stored_flow,
    submit_flow,
)

pytestmark = pytest.mark.integration


class Web:
    """The real process: ``python -m apps.rest``."""

    def __init__(self, controller: Controller, folder: Path) -> None:
        self.port = load(controller.config).controller.web_port
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "web.log"
        self._command = [sys.executable, "-m", "apps.rest"]
        self._command += ["--config", str(controller.config), "--data", str(folder)]
        users = access_url(folder, None)
        make_database(users, ACCESS)
        with Access.open(users) as opened:
            opened.users.ensure("admin", ["admin"], 0.0)
            self.token, kept = create_token("admin", 0.0)
            opened.tokens.save(kept)
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, *self._command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        eventually(lambda: self.get("/healthz") == 200, "the web side does not answer")
        return self.process

    def get(self, path: str) -> int:
        """The status of an answer; 0 for none."""
        try:
            return self.ask(path).status_code
        except requests.RequestException:
            return 0

    def ask(self, path: str) -> requests.Response:
        head = {"Authorization": f"Bearer {self.token}"}
        return requests.get(f"{self.url}/api/v1{path}", headers=head, timeout=60)

    @property
    def stopped(self) -> bool:
        """Whether the kernel holds it, as it says itself."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "T"

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        eventually(lambda: self.stopped, "it is not stopped")

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@pytest.fixture
def web(tmp_path: Path, controller: Controller, switches: Switches) -> Iterator[Web]:
    built = Web(controller, tmp_path)
    eventually(lambda: built.get("/readyz") == 200, "the web side does not reach the controller")
    yield built
    built.go_on()
    end(built.process)


@contextmanager
def flood(web: Web) -> Iterator[list[int]]:
    """Requests as fast as they are answered, by some at once, beside many connections that say nothing.

    What comes is what they were answered.
    """
    host, port = web.url.removeprefix("http://").split(":")
    over, answers = threading.Event(), list[int]()

    def ask() -> None:
        with requests.Session() as session:
            while not over.is_set():
                with suppress(requests.RequestException):
                    head = {"Authorization": f"Bearer {web.token}"}
                    url = f"{web.url}/api/v1/network"
                    answers.append(session.get(url, headers=head, timeout=60).status_code)

    with ExitStack() as ends:
        for _ in range(300):
            ends.enter_context(socket.create_connection((host, int(port)), timeout=60)).sendall(b"GET / H")
        threads = [threading.Thread(target=ask, daemon=True) for _ in range(6)]
        ends.callback(lambda: [one.join(60) for one in threads])
        ends.callback(over.set)
        for one in threads:
            one.start()
        yield answers


TO_AND_FRO = ["internet", "al2s"] * 2


def to_and_fro(link: LinkClient, switches: Switches) -> None:
    """The flow's path gets worse and better again, twice: the rule goes along each time.

    More than once, because the controller sends rules first and tells others afterwards: if it waited for
    somebody then, it would be the next rule that is late.
    """
    for mbps, port in ((2, 3), (50, 2)) * 2:
        link.send("measurement", measured("al2s", mbps))
        eventually(partial(_goes_out_by, switches, port), f"the flow did not move to port {port}")


def _goes_out_by(switches: Switches, port: int) -> bool:
    return f"output:{port}" in ingress_rule(switches)


def test_the_process_that_decides_listens_to_switches_and_to_its_own_user_only(
    controller: Controller, web: Web
) -> None:
    """Pages are served elsewhere: nobody's browser can have it do anything."""
    assert controller.process is not None
    deciding = psutil.Process(controller.process.pid)
    heard = {(one.laddr.ip, one.laddr.port) for one in deciding.net_connections("inet") if not one.raddr}
    assert heard == {("127.0.0.1", controller.port)}
    assert deciding.children() == []
    serving = psutil.Process(web.process.pid).net_connections("inet")
    assert {one.laddr.port for one in serving if one.status == psutil.CONN_LISTEN} == {web.port}


def test_a_web_process_that_is_stopped_or_killed_delays_no_rule_and_is_told_afterwards(
    controller: Controller, switches: Switches, web: Web
) -> None:
    with controller.client("collector") as link:
        prepare(link)
        number = submit_flow(link)
        await_state(controller, number, "active")
        web.stop()
        to_and_fro(link, switches)
        assert web.stopped, "no rule waited for it to go on"
        web.go_on()
        assert web.ask(f"/flows/f-{number}").json()["path"] == "al2s"
        web.process.kill()
        web.process.wait()
        to_and_fro(link, switches)
        web.start()
        decided = web.ask(f"/flows/f-{number}/decisions").json()["items"]
    ways = [one["path"] for one in decided if one["outcome"] in ("admit", "move")]
    assert sorted(ways) == sorted(["al2s", *TO_AND_FRO, *TO_AND_FRO]), "nothing was lost"


def test_a_web_process_that_is_flooded_delays_no_rule(
    controller: Controller, switches: Switches, web: Web
) -> None:
    with controller.client("collector") as link:
        prepare(link)
        number = submit_flow(link)
        await_state(controller, number, "active")
        with flood(web) as answers:
            eventually(lambda: 429 in answers, "there are no limits")
            to_and_fro(link, switches)
            before = len(answers)
            eventually(lambda: len(answers) > before, "the flood was over already")
        assert set(answers) <= {200, 429, 503}
        eventually(lambda: web.get("/readyz") == 200, "it did not recover")
    assert stored_flow(controller, number).path == "al2s"
    assert "Traceback" not in web.log.read_text()


def test_a_web_process_that_asks_without_end_and_never_reads_is_dropped_and_delays_no_rule(
    controller: Controller, switches: Switches
) -> None:
    """Whatever has become of it: the controller keeps no more than so much for it."""
    with controller.client("collector") as link:
        prepare(link)
        number = submit_flow(link)
        await_state(controller, number, "active")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mad:
            mad.settimeout(60)
            mad.connect(str(controller.folder / "controller.sock"))
            mad.sendall(_line("hello", role="web"))
            asked = b"".join(_line("what-if" if n % 2 else "snapshot", command=f"c-{n}") for n in range(500))
            with suppress(BrokenPipeError, ConnectionResetError):
                for turn in range(40):
                    mad.sendall(asked)
                    if turn == 0:
                        link.send("measurement", measured("al2s", 2))
            eventually(lambda: _goes_out_by(switches, 3), "the flow did not move")
            eventually(lambda: controller.said("event=link.peer-gone") == 1, "it was not let go")
        assert controller.alive
        assert link.call("tally", {})
    assert stored_flow(controller, number).path == "internet"


def _line(kind: str, **payload: str) -> bytes:
    return json.dumps({"kind": kind, "payload": payload}).encode() + b"\n"
