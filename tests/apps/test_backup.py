from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import requests

from adon.config import load
from adon.errors import AdonError, Conflict, InvalidInput
from adon.store.access.access import Access, access_url
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from adon.store.tables import STATE
from apps.backup import databases
from apps.backup.making import make, sources
from apps.backup.restoring import restore
from tests.apps.edge import ROOT
from tests.support.refusals import refused
from tests.support.serve_process import Service

NOW = 1_790_000_000.0


def folder_with_databases(folder: Path) -> Path:
    folder.mkdir()
    make_database(f"sqlite:///{folder / 'state.db'}")
    make_database(access_url(folder, None), ACCESS)
    (folder / "accepted.yaml").write_text("network: example\n")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return folder_with_databases(tmp_path / "data")


@pytest.fixture
def kept(data: Path, tmp_path: Path) -> Path:
    return make(sources(data, measurements=True, config=None), tmp_path / "kept.tar", NOW).file


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def changed(kept: Path, change: Callable[[dict[str, bytes]], None], **entry: Any) -> None:
    """Write a backup anew with other contents; ``entry`` are attributes of its last member."""
    with tarfile.open(kept) as tar:
        contents = {one.name: file.read() for one in tar if (file := tar.extractfile(one)) is not None}
    change(contents)
    with tarfile.open(kept, "w") as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            if name == list(contents)[-1]:
                for attribute, value in entry.items():
                    setattr(member, attribute, value)
            tar.addfile(member, BytesIO(content))


def in_manifest(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(contents: dict[str, bytes]) -> None:
        contents["manifest.json"] = json.dumps(json.loads(contents["manifest.json"]) | changes).encode()

    return change


def of_file(name: str, **changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(contents: dict[str, bytes]) -> None:
        said = json.loads(contents["manifest.json"])
        said["files"][name] |= changes
        contents["manifest.json"] = json.dumps(said).encode()

    return change


def renamed(contents: dict[str, bytes]) -> None:
    said = json.loads(contents["manifest.json"])
    said["files"]["../evil"] = said["files"].pop("access.db")
    contents["manifest.json"] = json.dumps(said).encode()
    contents["../evil"] = contents.pop("access.db")


def flipped(contents: dict[str, bytes]) -> None:
    content = bytearray(contents["state.db"])
    content[len(content) // 2] ^= 0xFF
    contents["state.db"] = bytes(content)


REFUSED: Mapping[str, tuple[Callable[[dict[str, bytes]], None], str]] = {
    "a flipped byte": (flipped, "state.db: is damaged: its SHA-256"),
    "a file too few": (lambda contents: contents.pop("state.db") and None, "is incomplete"),
    "no manifest": (lambda contents: contents.pop("manifest.json") and None, "is incomplete"),
    "a manifest that is none": (lambda contents: contents.update({"manifest.json": b"[" * 9}), "not JSON"),
    "another format": (in_manifest(format=2), "format: format 2 is not known"),
    "a word too many": (in_manifest(more=1), "more: is not a known key here"),
    "no state": (in_manifest(files={}), "state.db: is not in the backup"),
    "a way out of the folder": (renamed, "../evil: is not a file of a backup"),
    "another size": (of_file("state.db", size=7), "state.db: is not of the size"),
    "a newer schema": (
        of_file("state.db", schema_revision="0999"),
        "state.db: has schema 0999, this version",
    ),
    "an older schema": (
        of_file("access.db", schema_revision="a0001"),
        "access.db: has schema a0001, this version",
    ),
    "a schema of no database": (of_file("accepted.yaml", schema_revision="0003"), "accepted.yaml: must have"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_a_whole_backup_of_ours_leaves_nothing(case: str, kept: Path, tmp_path: Path) -> None:
    change, cause = REFUSED[case]
    changed(kept, change)
    before = listing(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        restore(kept, tmp_path / "new")
    assert cause in str(caught.value)
    assert str(kept) in str(caught.value)
    assert listing(tmp_path) == before


def test_a_database_of_another_schema_than_the_manifest_is_refused(data: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(data / "state.db")) as other:
        other.execute("UPDATE alembic_version SET version_num = '0007'")
        other.commit()
    kept = make(sources(data, measurements=False, config=None), tmp_path / "kept.tar", NOW).file
    changed(kept, of_file("state.db", schema_revision=STATE.revision))
    with refused(InvalidInput, field="state.db"):
        restore(kept, tmp_path / "new")


def test_a_link_in_a_backup_is_refused(kept: Path, tmp_path: Path) -> None:
    changed(kept, lambda _: None, type=tarfile.SYMTYPE, linkname="/etc/passwd", size=0)
    with refused(InvalidInput, field="accepted.yaml"):
        restore(kept, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("content", [b"", b"\0" * 20_000, b"no tar", None])
def test_a_file_that_is_no_backup(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "kept.tar"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInput):
        restore(file, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_half_a_backup(kept: Path, tmp_path: Path) -> None:
    kept.write_bytes(kept.read_bytes()[: kept.stat().st_size // 2])
    with pytest.raises(InvalidInput):
        restore(kept, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_is_in_it_and_who_can_read_it(data: Path, tmp_path: Path) -> None:
    own = tmp_path / "network.yaml"
    own.write_text("# why\nnetwork: example\n")
    (data / "measurements.db").write_bytes(b"")
    made = make(sources(data, measurements=False, config=own), tmp_path, NOW)
    assert made.file.name == "adon-20260921T141320Z.tar"
    assert stat.S_IMODE(made.file.stat().st_mode) == 0o600
    assert list(made.manifest.files) == ["state.db", "access.db", "accepted.yaml", "configuration.yaml"]
    assert made.manifest.files["state.db"].schema_revision == STATE.revision
    restore(made.file, tmp_path / "new")
    assert (tmp_path / "new/configuration.yaml").read_text() == own.read_text()
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_nothing_is_replaced(data: Path, kept: Path, tmp_path: Path) -> None:
    content = kept.read_bytes()
    with refused(Conflict, field="target"):
        make(sources(data, measurements=True, config=None), kept, NOW)
    assert kept.read_bytes() == content
    before = listing(data)
    with refused(Conflict, field="data"):
        restore(kept, data)
    assert listing(data) == before
    (tmp_path / "empty").mkdir()
    restore(kept, tmp_path / "empty")
    assert (tmp_path / "empty/state.db").is_file()


def test_a_damaged_database_makes_no_backup(data: Path, tmp_path: Path) -> None:
    content = bytearray((data / "state.db").read_bytes())
    content[4096:8192] = b"\xff" * 4096
    (data / "state.db").write_bytes(content)
    for suffix in ("-wal", "-shm"):
        (data / f"state.db{suffix}").unlink(missing_ok=True)
    (tmp_path / "kept").mkdir()
    with pytest.raises(AdonError):
        make(sources(data, measurements=True, config=None), tmp_path / "kept", NOW)
    assert listing(tmp_path / "kept") == []


def test_a_folder_without_state(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="pg_dump"):
        sources(tmp_path, measurements=True, config=None)


def test_a_copy_is_one_moment_of_a_database_that_is_written_to(tmp_path: Path) -> None:
    file = tmp_path / "busy.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE a (n INTEGER, filler BLOB)")
        made.execute("CREATE TABLE b (n INTEGER)")
    stopped, written = threading.Event(), threading.Semaphore(0)

    def write() -> None:
        with closing(sqlite3.connect(file, isolation_level=None, timeout=60)) as writer:
            number = 0
            while not stopped.is_set():
                writer.execute("BEGIN IMMEDIATE")
                writer.execute("INSERT INTO a VALUES (?, zeroblob(2000))", (number,))
                writer.execute("INSERT INTO b VALUES (?)", (number,))
                writer.execute("COMMIT")
                number += 1
                written.release()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        counts = []
        for number in range(5):
            for _ in range(20):
                assert written.acquire(timeout=60), "the writer has to wait"
            databases.copy(file, tmp_path / f"copy-{number}.db")
            with closing(sqlite3.connect(tmp_path / f"copy-{number}.db")) as copy:
                a, b = (
                    len(copy.execute(query).fetchall()) for query in ("SELECT n FROM a", "SELECT n FROM b")
                )
            assert a == b
            counts.append(a)
    finally:
        stopped.set()
        thread.join()
    assert counts == sorted(counts)
    assert counts[0] >= 20


def answer(service: Service, token: str) -> requests.Response:
    url = f"http://127.0.0.1:{load(service.config).controller.web_port}/api/v1"
    return requests.get(f"{url}/flows", headers={"Authorization": f"Bearer {token}"}, timeout=60)


@pytest.mark.integration
def test_a_folder_of_another_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder_with_databases(tmp_path / "data")
    with closing(sqlite3.connect(tmp_path / "data/state.db")) as other:
        other.execute("UPDATE alembic_version SET version_num = '0007'")
        other.commit()
    service = Service(tmp_path)
    assert service.process.wait(60) == 2
    assert "Traceback" not in service.log.read_text()
    assert databases.schema_of("state.db", tmp_path / "data/state.db") == "0007"


@pytest.mark.integration
def test_a_backup_of_a_running_service_serves_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    service = Service(tmp_path / "here")
    try:
        service.ready()
        shown = next(line for line in service.log.read_text().splitlines() if "Admin token" in line)
        token = shown.rpartition(" ")[2]
        url = f"http://127.0.0.1:{load(service.config).controller.web_port}/api/v1"
        wish = {"source": "mu-dtn", "destination": "osu-dtn", "size": "1 GB", "template": "geni-classroom"}
        headers = {"Authorization": f"Bearer {token}"}
        asked = requests.post(f"{url}/flows", json=wish, headers=headers, timeout=60)
        assert asked.status_code == 202, asked.text
        said = adon("backup", str(tmp_path / "kept.tar"), "--data", str(tmp_path / "here/data"), "--json")
    finally:
        service.process.terminate()
        service.process.wait(60)
    assert {"state.db", "access.db", "measurements.db"} <= set(json.loads(said)["manifest"]["files"])
    assert token.encode() not in (tmp_path / "kept.tar").read_bytes()
    adon("restore", str(tmp_path / "kept.tar"), "--data", str(tmp_path / "there/data"))
    other = Service(tmp_path / "there")
    try:
        other.ready()
        assert [flow["id"] for flow in answer(other, token).json()["items"]] == [asked.json()["id"]]
    finally:
        other.process.terminate()
        other.process.wait(60)
    with Access.open(access_url(tmp_path / "there/data", None)) as access:
        assert access.audit.verify().problem is None


def adon(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "apps.cli", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
