"""Files moved by a real rclone, which is killed, held back and followed; the controller is played."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adon import yamlfile
from adon.access.external import ExternalIdentity
from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.config import Configuration, Mail, Notify, load
from adon.config.transfers import Transfers
from adon.errors import AdonError, Conflict
from adon.flowvisor.ladder import Granted
from adon.store.access.database import AccessStore, access_url
from adon.store.access.upgrade import upgrade as upgrade_access
from adon.store.access.users import Users
from adon.store.store import Store
from adon.store.upgrade import upgrade
from adon.transfers.machine import Phase, Transfer
from apps.link import LinkClient, LinkServer, Peer
from apps.movers import book
from apps.movers.mover import SOCKET
from tests.apps import standin_globus
from tests.apps.edge import eventually
from tests.apps.moving import PASSWORD, SIZE, USER, Rclone, digest, put
from tests.measurement.notify.standin_smtp import MailServerStandIn, running

pytestmark = pytest.mark.integration
EXAMPLE = Path(__file__).parent.parent / "data" / "network.yaml"


class World:
    """A state database, a controller that keeps reports, an rclone, and the process under test."""

    def __init__(self, folder: Path, mail_port: int = 0, **more: Any) -> None:
        self.mail_port, self.more = mail_port, more
        self.data = folder / "data"
        self.data.mkdir(mode=0o700)
        self.rclone = Rclone(folder)
        self.url = f"sqlite:///{self.data / 'state.db'}"
        upgrade(self.url)
        self.store = Store.open(self.url)
        self.lock = threading.Lock()
        self.reports: list[tuple[int, str, int, str]] = []
        self.config = folder / "adon.yaml"
        (folder / "rclone.password").write_text(PASSWORD + "\n")
        self.config.write_bytes(yamlfile.dump(self.configuration()).encode())
        self.process: subprocess.Popen[bytes] | None = None
        self.controller = LinkServer(self.data / "controller.sock", self.handle)
        self.number = 0
        self.active = True
        self.greeted = False
        self.peer: Peer | None = None

    def configuration(self) -> Configuration:
        tool = {
            "url": f"http://127.0.0.1:{self.rclone.port}",
            "user": USER,
            "password_file": "rclone.password",
            "remotes": {
                "data": {"at": "mu-dtn", "fs": str(self.rclone.here)},
                "far": {"at": "osu-dtn", "fs": str(self.rclone.there)},
            },
        }
        section = {"rclone": {"mu-dtn": tool}, "period": "0.1 s", "backoff": "0.2 s", "tries": 20}
        example = load(EXAMPLE)
        update: dict[str, Any] = {"transfers": Transfers.model_validate(section | self.more)}
        if self.mail_port:
            mail = Mail(host="127.0.0.1", port=self.mail_port, sender="adon@mu.example", security="none")
            measurements = example.measurements.model_copy(update={"notify": Notify(mail=mail)})
            update["measurements"] = measurements
        return example.model_copy(update=update)

    def handle(self, peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        if kind == "hello":
            peer.send("standing", {"active": self.active})
            self.greeted = True
            self.peer = peer
        elif kind == "flow.report":
            peer.answer(payload["command"], self.report(payload))

    def report(self, payload: Mapping[str, Any]) -> Mapping[str, Any] | AdonError:
        with self.lock:
            flow = self.store.flow(payload["flow"])
            if not flow.state.holds_rules:
                return Conflict("state", "it has no transfer to report on")
            self.reports.append((flow.number, payload["status"], payload["bytes"], payload.get("detail", "")))
            ends = {"finished": FlowState.FINISHED, "failed": FlowState.FAILED}
            if payload["status"] in ends:
                self.store.save_flow(flow.step(ends[payload["status"]], time.time(), "told"), "e")
            return {}

    def submit(self, mbps: float | None = None, **transfer: Any) -> int:
        """A flow that is active at once; held to a rate where one is given."""
        wish = {"tool": "rclone", **transfer}
        body = {"source": "mu-dtn", "destination": "osu-dtn", "size": "4 MB", "template": "soykb"}
        request = FlowRequest.model_validate({**body, "transfer": wish, "pausable": True})
        with self.lock:
            self.number += 1
            flow = Flow(self.number, request, "ann", "soykb@1", time.time(), transfer_size=SIZE)
            flow = flow.step(FlowState.INSTALLING, time.time(), "x").step(FlowState.ACTIVE, time.time(), "x")
            self.store.save_flow(granted(flow, mbps), "e")
            return self.number

    def change(self, number: int, how: Callable[[Flow], Flow]) -> None:
        with self.lock:
            self.store.save_flow(how(self.store.flow(number)), "e")

    def start(self) -> None:
        command = [sys.executable, "-m", "apps.movers", "--config", str(self.config)]
        command += ["--data", str(self.data), "--store", self.url]
        self.process = subprocess.Popen(command)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def transfer(self, number: int) -> Transfer | None:
        return book.read(self.data, number)

    def told_all(self, owner: str) -> bool:
        """Whether the process has written down that nothing waits for an owner any more.

        A letter is handed in before that is written: a process that dies in between hands it in twice.
        """
        with closing(book.Book(self.data)) as kept:
            return any(box.owner == owner and not box.waiting for box in kept.boxes())

    def becomes(self, number: int, phase: Phase) -> Transfer:
        eventually(lambda: (now := self.transfer(number)) is not None and now.phase is phase, patience=30)
        found = self.transfer(number)
        assert found is not None
        return found

    def moving(self, number: int) -> Transfer:
        eventually(lambda: (now := self.transfer(number)) is not None and now.bytes > 0, patience=30)
        return self.becomes(number, Phase.RUNNING)

    def close(self) -> None:
        self.kill()
        self.rclone.kill()
        self.controller.close()
        self.store.close()


def granted(flow: Flow, mbps: float | None) -> Flow:
    if mbps is None:
        return flow
    rate = mbps * 1e6
    return replace(flow, granted=Granted("p", 1.0, rate, rate, 0.0, rate, "queue", "x"))


@contextmanager
def world_in(folder: Path, mail_port: int = 0, **more: Any) -> Iterator[World]:
    made = World(folder, mail_port, **more)
    try:
        made.start()
        yield made
    finally:
        made.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path) as made:
        yield made


def test_a_folder_and_a_file_are_moved_and_their_end_is_told(world: World) -> None:
    first, second = put(world.rclone.here / "run/a"), put(world.rclone.here / "run/b c'\";$(x)", 1000)
    folder = world.submit(source="data:run/", destination="far:in/")
    file = world.submit(source="data:run/a", destination="far:one/renamed")
    assert world.becomes(folder, Phase.DONE).bytes == SIZE + 1000
    assert world.becomes(file, Phase.DONE).bytes == SIZE
    there = world.rclone.there
    assert [digest(there / one) for one in ("in/a", "in/b c'\";$(x)", "one/renamed")] == [
        first,
        second,
        first,
    ]
    eventually(lambda: (file, "finished", SIZE, "") in world.reports)


def test_a_transfer_that_is_killed_in_the_middle_starts_again_and_arrives_whole(world: World) -> None:
    content = put(world.rclone.here / "big")
    number = world.submit(mbps=8, source="data:big", destination="far:")
    world.moving(number)
    world.rclone.kill()
    world.rclone.start()
    eventually(lambda: (now := world.transfer(number)) is not None and now.failures == 1, patience=30)
    world.change(number, lambda flow: granted(flow, 800))
    done = world.becomes(number, Phase.DONE)
    assert (done.tries, done.bytes) == (2, SIZE)
    assert digest(world.rclone.there / "big") == content


def test_a_process_that_is_killed_finds_its_run_again(world: World) -> None:
    content = put(world.rclone.here / "big")
    number = world.submit(mbps=8, source="data:big", destination="far:")
    job = world.moving(number).job
    world.kill()
    world.start()
    world.change(number, lambda flow: granted(flow, 800))
    done = world.becomes(number, Phase.DONE)
    assert (done.job, done.tries) == (job, 1)
    assert digest(world.rclone.there / "big") == content


def test_the_limit_follows_what_the_flow_is_granted(world: World) -> None:
    put(world.rclone.here / "big")
    number = world.submit(mbps=8, source="data:big", destination="far:")
    world.moving(number)
    eventually(lambda: world.rclone.ask("core/bwlimit")["bytesPerSecond"] == 1_000_000)
    world.change(number, lambda flow: granted(flow, 4))
    eventually(lambda: world.rclone.ask("core/bwlimit")["bytesPerSecond"] == 500_000)
    world.change(number, lambda flow: flow.step(FlowState.CANCELLED, time.time(), "x"))
    world.becomes(number, Phase.CANCELLED)
    eventually(lambda: world.rclone.ask("core/bwlimit")["rate"] == "off")


def test_it_pauses_with_its_flow_and_ends_with_it(world: World) -> None:
    put(world.rclone.here / "big")
    number = world.submit(mbps=8, source="data:big", destination="far:")
    job = world.moving(number).job
    world.change(number, lambda flow: flow.step(FlowState.QUEUED, time.time(), "x"))
    world.becomes(number, Phase.WAITING)
    assert world.rclone.ask("job/status", jobid=job)["finished"]
    again = lambda flow: flow.step(FlowState.INSTALLING, 1.0, "x").step(FlowState.ACTIVE, 1.0, "x")  # noqa: E731
    world.change(number, again)
    running = world.becomes(number, Phase.RUNNING)
    assert running.job != job
    world.change(number, lambda flow: flow.step(FlowState.CANCELLED, time.time(), "x"))
    world.becomes(number, Phase.CANCELLED)
    assert world.rclone.ask("job/status", jobid=running.job)["finished"]


def test_a_job_of_somebody_else_is_followed_and_left_alone(world: World) -> None:
    put(world.rclone.here / "big")
    eventually(lambda: world.greeted)  # else the job is over before anybody looks
    ends = {"srcFs": str(world.rclone.here), "dstFs": str(world.rclone.there)}
    world.rclone.ask("core/bwlimit", rate="1M")
    job = world.rclone.ask("sync/copy", **ends, _async=True)["jobid"]
    number, other = world.submit(mbps=8, attach=job), world.submit(mbps=8, attach=job)
    world.moving(number)
    world.change(other, lambda flow: flow.step(FlowState.CANCELLED, time.time(), "x"))
    world.becomes(other, Phase.CANCELLED)
    assert world.becomes(number, Phase.DONE).bytes == SIZE
    assert (world.rclone.there / "big").stat().st_size == SIZE


def test_what_cannot_be_mended_fails_with_the_words_of_the_tool(world: World) -> None:
    number = world.submit(source="data:nothing/", destination="far:in/")
    failed = world.becomes(number, Phase.FAILED)
    assert "directory not found" in failed.error
    eventually(lambda: (number, "failed", 0, failed.error) in world.reports)


def test_who_stands_by_moves_nothing_and_who_takes_over_moves_it_once(tmp_path: Path) -> None:
    made = World(tmp_path)
    made.active = False
    try:
        put(made.rclone.here / "big")
        made.start()
        number = made.submit(mbps=8, source="data:big", destination="far:")
        eventually(lambda: made.greeted)
        time.sleep(0.5)  # some rounds of its loop
        assert made.transfer(number) is None
        assert made.peer is not None
        made.peer.send("standing", {"active": True})
        made.moving(number)
        # It steps down: what runs is followed, and nothing else is begun.
        made.peer.send("standing", {"active": False})
        other = made.submit(source="data:big", destination="far:again/")
        assert made.becomes(number, Phase.DONE).tries == 1
        assert made.transfer(other) is None
    finally:
        made.close()


def test_a_retry_need_not_wait(world: World) -> None:
    content = put(world.rclone.here / "run/a", 1000)
    world.rclone.kill()
    number = world.submit(source="data:run/", destination="far:in/")
    eventually(lambda: (now := world.transfer(number)) is not None and now.failures >= 6, patience=30)
    world.rclone.start()
    asking = LinkClient(world.data / SOCKET, "test")
    try:
        with suppress(Conflict):  # it is being tried at this moment
            asking.call("transfer.retry", {"flow": number})
    finally:
        asking.close()
    done = world.becomes(number, Phase.DONE)
    assert done.failures >= 6
    assert digest(world.rclone.there / "in/a") == content


def known_by_mail(world: World, name: str, address: str) -> None:
    """Somebody who has signed in once."""
    url = access_url(world.data, world.url)
    upgrade_access(url)
    with AccessStore.open(url) as access:
        identity = ExternalIdentity("https://idp.example", "1", name, mail=address, via="openid")
        Users(access).signed_in(identity, (), time.time())


def test_its_owner_is_written_to_when_it_breaks_and_when_it_is_done(tmp_path: Path) -> None:
    server = MailServerStandIn()
    pace = {"settle": "0.1 s", "gather": "0.5 s"}
    with running(server):
        made = World(tmp_path, server.port, mail=pace, backoff="1 s")
        try:
            known_by_mail(made, "ann", "ann@uni.example")
            made.start()
            put(made.rclone.here / "run/a", 1000)
            made.rclone.kill()
            number = made.submit(source="data:run/", destination="far:in/")
            eventually(lambda: server.mails and made.told_all("ann"), patience=30)
            made.kill()  # what was told is known after a restart too
            made.rclone.start()
            made.start()
            made.becomes(number, Phase.DONE)
            eventually(lambda: len(server.mails) > 1, patience=30)
            quiet = made.submit(source="data:run/", destination="far:again/", mail="none")
            made.becomes(quiet, Phase.DONE)
        finally:
            made.close()
    broke, done = (mail for _, _, mail in server.mails)
    assert broke["To"] == "ann@uni.example"
    assert "f-1: broke, and is tried again in 1 s: rclone cannot be reached" in broke["Subject"]
    assert done["Subject"] == "[ADON] f-1: done, all 1 kB are there"
    assert "  from     data:run/ at mu-dtn" in done.get_content().splitlines()


def test_globus_by_the_whole_process_which_dies_before_it_hears_of_its_task(tmp_path: Path) -> None:
    with standin_globus.running() as globus:
        places = {
            "data": {"at": "mu-dtn", "collection": standin_globus.CLIENT},
            "far": {"at": "osu-dtn", "collection": standin_globus.CLIENT},
        }
        urls = {"transfer_url": globus.url, "auth_url": globus.url}
        tool = {"client_id": standin_globus.CLIENT, "client_secret_file": "globus.secret", "remotes": places}
        (tmp_path / "globus.secret").write_text(standin_globus.SECRET)
        made = World(tmp_path, globus={"campus": {**tool, **urls}})
        try:
            made.start()
            globus.lost = 3
            number = made.submit(tool="globus", source="data:run/", destination="far:in/")
            eventually(lambda: globus.tasks)
            made.kill()
            made.start()
            job = made.becomes(number, Phase.RUNNING).job
            assert list(globus.tasks) == [job]
            globus.task(job, status="SUCCEEDED", bytes_transferred=SIZE)
            made.becomes(number, Phase.DONE)
            eventually(lambda: (number, "finished", SIZE, "") in made.reports)
        finally:
            made.close()
