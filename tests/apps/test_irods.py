"""Files into a zone and out of it; the zone is a folder that stands in for iRODS at its narrowest border."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from adon.config.transfers import Irods
from adon.transfers.machine import (
    Broke,
    Event,
    Phase,
    Progressed,
    Started,
    Stopped,
    Succeeded,
    Transfer,
)
from adon.transfers.plan import HERE, ZONE, End, Plan
from adon.transfers.wish import TransferOptions
from apps.movers.irods import IrodsRuns
from apps.movers.irods_zone import Seen, ZoneTrouble, connected
from tests.apps.edge import eventually, free_port

NEW = Transfer(7, "adon/f-7/1", "irods:lab", phase=Phase.STARTING, go=True)
OPTIONS = TransferOptions()
PIECE = 1000


class FolderZone:
    """A zone of which a folder is the storage.

    :ivar breaks_after: bytes after which the connection is lost, once.
    :ivar spoils: how many files arrive with a wrong byte.
    :ivar written: what was written, in order.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.breaks_after: int | None = None
        self.spoils = 0
        self.written: list[str] = []

    @contextmanager
    def connected(self) -> Iterator[FolderZone]:
        yield self

    def real(self, path: str) -> Path:
        return self.folder / path.lstrip("/")

    def files(self, path: str) -> Iterator[tuple[str, int]]:
        start = self.real(path)
        if not start.exists():
            raise ZoneTrouble("iRODS has no such collection or data object", again=False)
        for one in [start] if start.is_file() else sorted(start.rglob("*")):
            if one.is_file():
                yield "" if one == start else one.relative_to(start).as_posix(), one.stat().st_size

    def size(self, path: str) -> int | None:
        return self.real(path).stat().st_size if self.real(path).is_file() else None

    def checksum(self, path: str) -> str:
        return "sha2:" + base64.b64encode(hashlib.sha256(self.real(path).read_bytes()).digest()).decode()

    def make(self, path: str) -> None:
        self.real(path).mkdir(parents=True, exist_ok=True)

    def put(self, local: str, path: str, seen: Seen) -> None:
        self.written.append(path)
        self._copy(Path(local), self.real(path), seen)

    def get(self, path: str, local: str, seen: Seen) -> None:
        self._copy(self.real(path), Path(local), seen)

    def _copy(self, source: Path, destination: Path, seen: Seen) -> None:
        content = source.read_bytes()
        with destination.open("wb") as file:
            for at in range(0, len(content), PIECE):
                piece = content[at : at + PIECE]
                if self.breaks_after is not None:
                    self.breaks_after -= len(piece)
                    if self.breaks_after < 0:
                        self.breaks_after = None
                        raise ZoneTrouble("iRODS cannot be reached: reset by peer")
                file.write(piece)
                file.flush()
                seen(len(piece))
            if self.spoils:
                self.spoils -= 1
                file.seek(0)
                file.write(b"\0")


class World:
    def __init__(self, folder: Path) -> None:
        self.here, self.zone = folder / "here", FolderZone(folder / "zone")
        for one in (self.here, self.zone.folder):
            one.mkdir()
        self.runs = IrodsRuns(self.zone.connected)

    def plan(self, source: str, destination: str, *, putting: bool = True) -> Plan:
        here = End(HERE, str(self.here / (source if putting else destination)), str(self.here))
        there = End(ZONE, f"/lab/{destination if putting else source}")
        return Plan("irods:lab", (here, there) if putting else (there, here))

    def begun(self, plan: Plan, transfer: Transfer = NEW, options: TransferOptions = OPTIONS) -> Transfer:
        started = self.runs.begin(transfer, plan, options, None)
        assert isinstance(started, Started)
        return replace(
            transfer, phase=Phase.RUNNING, job=started.job, mark=started.mark, tries=transfer.tries + 1
        )

    def over(self, transfer: Transfer, plan: Plan) -> Event:
        found: list[Event] = []

        def ended() -> bool:
            found.append(self.runs.look(transfer, plan))
            return not isinstance(found[-1], Progressed)

        eventually(ended)
        return found[-1]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def put(path: Path, size: int = 3500) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = os.urandom(size)
    path.write_bytes(content)
    return content


def test_a_folder_goes_there_and_comes_back(world: World) -> None:
    first, second = put(world.here / "run/a"), put(world.here / "run/deep/b c'\";$(x)", 10)
    (world.here / "run/link").symlink_to("/etc/passwd")
    plan = world.plan("run", "in")
    assert world.over(world.begun(plan), plan) == Succeeded(3510)
    assert world.zone.real("/lab/in/a").read_bytes() == first
    assert not world.zone.real("/lab/in/link").exists()
    back = world.plan("in", "back", putting=False)
    assert world.over(world.begun(back, replace(NEW, key="b")), back) == Succeeded(3510)
    assert (world.here / "back/deep/b c'\";$(x)").read_bytes() == second


def test_one_file_gets_the_name_that_was_asked_for(world: World) -> None:
    content = put(world.here / "a")
    plan = world.plan("a", "in/renamed")
    assert world.over(world.begun(plan), plan) == Succeeded(3500)
    assert world.zone.real("/lab/in/renamed").read_bytes() == content


def test_what_is_there_is_not_moved_again_and_what_broke_goes_on(world: World) -> None:
    put(world.here / "run/a")
    second = put(world.here / "run/b")
    plan = world.plan("run", "in")
    world.zone.breaks_after = 5000
    one = world.begun(plan)
    broke = world.over(one, plan)
    assert broke == Broke("iRODS cannot be reached: reset by peer", kept=3500)
    again = replace(one, phase=Phase.STARTING, kept=3500, job=None)
    assert world.over(world.begun(plan, again), plan) == Succeeded(7000)
    assert world.zone.written == ["/lab/in/a", "/lab/in/b", "/lab/in/b"]
    assert world.zone.real("/lab/in/b").read_bytes() == second


@pytest.mark.parametrize("putting", [True, False])
def test_a_file_that_arrives_wrong_is_moved_again(world: World, putting: bool) -> None:
    content = put((world.here if putting else world.zone.folder / "lab") / "a")
    plan = world.plan("a", "b", putting=putting)
    world.zone.spoils = 1
    one = world.begun(plan)
    broke = world.over(one, plan)
    assert isinstance(broke, Broke)
    assert "checksum" in broke.why
    assert broke.again
    again = replace(one, phase=Phase.STARTING, job=None)
    assert world.over(world.begun(plan, again), plan) == Succeeded(3500)
    there = world.zone.real("/lab/b") if putting else world.here / "b"
    assert there.read_bytes() == content


def test_by_checksum_finds_what_has_the_same_size(world: World) -> None:
    content = put(world.here / "a")
    world.zone.real("/lab").mkdir()
    world.zone.real("/lab/a").write_bytes(bytes(3500))
    plan = world.plan("a", "a")
    world.over(world.begun(plan), plan)
    assert world.zone.written == []
    exact = replace(NEW, key="exact")
    world.over(world.begun(plan, exact, TransferOptions(checksum=True)), plan)
    assert world.zone.real("/lab/a").read_bytes() == content


def test_it_is_held_back_stopped_and_goes_on(world: World) -> None:
    content = put(world.here / "a", 50_000)
    plan = world.plan("a", "a")
    world.runs.limit(80_000)  # 10 kB/s: seconds for the file
    one = world.begun(plan)
    eventually(lambda: isinstance(now := world.runs.look(one, plan), Progressed) and now.bytes >= PIECE)
    assert world.runs.begin(replace(one, phase=Phase.STARTING, tries=0), plan, OPTIONS, None) == Started(
        one.job or "", one.mark
    )
    assert world.runs.stop(one, plan) == Stopped(0)
    assert world.runs.look(one, plan) == Broke("the process that moved it was started anew; it goes on")
    world.runs.limit(None)
    again = world.begun(plan, replace(one, phase=Phase.STARTING, job=None))
    assert world.over(again, plan) == Succeeded(50_000)
    assert world.zone.real("/lab/a").read_bytes() == content


def test_nothing_is_read_or_written_outside_the_folder_of_the_configuration(
    world: World, tmp_path: Path
) -> None:
    outside = tmp_path / "secret"
    put(outside)
    (world.here / "way").symlink_to(tmp_path)
    for plan in (world.plan("way/secret", "x"), world.plan("lab", "way/there", putting=False)):
        world.zone.make("/lab/lab")
        put(world.zone.real("/lab/lab/a"))
        found = world.over(world.begun(plan, replace(NEW, key=str(plan))), plan)
        assert isinstance(found, Broke)
        assert "leads out of" in found.why
        assert not found.again
    assert not (tmp_path / "there").exists()


def test_what_is_not_there_is_said(world: World) -> None:
    for plan in (world.plan("none", "x"), world.plan("none", "x", putting=False)):
        found = world.over(world.begun(plan, replace(NEW, key=str(plan))), plan)
        assert isinstance(found, Broke)
        assert not found.again


def test_a_server_that_is_away_is_said_by_the_real_library() -> None:
    configured = {"host": "127.0.0.1", "port": free_port(), "zone": "lab", "user": "ann", "tls": False}
    wanted = Irods.model_validate({**configured, "password_file": "x"})
    with (
        connected(wanted, "secret", None, 5.0) as zone,
        pytest.raises(ZoneTrouble, match="cannot be reached") as caught,
    ):
        zone.size("/lab/home/ann/a")
    assert caught.value.again
