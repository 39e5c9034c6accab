"""Everything in PostgreSQL: served, dumped while it runs, restored elsewhere.

The commands are those of docs/availability-backup-upgrade.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
import yaml

from adon.access.identity import create_token
from adon.store.access.access import Access
from adon.store.access.access_tables import ACCESS
from adon.store.engine import open_engine, parse_url
from adon.store.schema import make_database
from adon.store.tables import STATE
from tests import postgresql
from tests.apps.edge import DIES_WITH_US, ROOT, end, eventually, write_configuration
from tests.ports import free_port

pytestmark = [pytest.mark.integration, pytest.mark.slow]


class Server:
    """A PostgreSQL of our own, with the programs that an administrator has."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, database: str) -> str:
        """As PostgreSQL's own programs write it, which ADON takes as well."""
        return f"postgresql://adon@/{database}?host={self.folder}"

    def create(self, *databases: str) -> None:
        for name in databases:
            self.run("createdb", "--host", str(self.folder), "--username", "adon", name)

    def dump(self, database: str, to: str) -> Path:
        file = self.folder / to
        self.run("pg_dump", "--format=custom", f"--file={file}", self.url(database))
        return file

    def restore(self, file: Path, database: str) -> None:
        self.create(database)
        self.run("pg_restore", "--exit-on-error", f"--dbname={self.url(database)}", str(file))

    def run(self, program: str, *words: str) -> None:
        found = postgresql.program(program)
        assert found is not None
        done = subprocess.run([found, *words], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr

    def one(self, database: str, query: str) -> object:
        engine = open_engine(parse_url(self.url(database)), read_only=True)
        try:
            with engine.connect() as connection:
                return connection.exec_driver_sql(query).scalar_one()
        finally:
            engine.dispose()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="adon-pg-"))
    folder.chmod(0o755)
    try:
        with postgresql.running(folder, ["fsync=off"]):
            yield Server(folder)
    finally:
        shutil.rmtree(folder)


@contextmanager
def served(folder: Path, store: str, archive: str) -> Iterator[str]:
    """``adon serve`` with these databases; the API's address, when it is ready."""
    folder.mkdir()
    config = write_configuration(folder, free_port())
    document = yaml.safe_load(config.read_text())
    document["measurements"]["archive_url"] = archive
    config.write_text(yaml.safe_dump(document))
    url = f"http://127.0.0.1:{document['controller']['web_port']}/api/v1"
    command = ["serve", "--config", str(config), "--data", str(folder / "data"), "--store", store]
    log = folder / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*DIES_WITH_US, sys.executable, "-m", "apps.cli", *command],
            cwd=ROOT,
            env={**os.environ, "NO_PROXY": "*"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        eventually(lambda: process.poll() is not None or ready(url), "it is not ready")
        assert process.poll() is None, log.read_text()
        yield url
        process.terminate()
        assert process.wait(60) == 0
        assert "Traceback" not in log.read_text()
        assert list((folder / "data").glob("*.db")) == []
    finally:
        end(process)


def ready(url: str) -> bool:
    try:
        return requests.get(f"{url}/readyz", timeout=60).status_code == 200
    except requests.RequestException:
        return False


def flows(url: str, token: str) -> list[str]:
    answer = requests.get(f"{url}/flows", headers={"Authorization": f"Bearer {token}"}, timeout=60)
    assert answer.status_code == 200, answer.text
    return [flow["id"] for flow in answer.json()["items"]]


def make_admin(url: str) -> str:
    """The token of an administrator in a new database."""
    make_database(url, ACCESS)
    text, token = create_token("ann", time.time())
    with Access.open(url) as access:
        access.users.ensure("ann", ["admin"], time.time())
        access.tokens.save(token)
    return text


def test_a_database_is_served_dumped_and_restored(server: Server, tmp_path: Path) -> None:
    server.create("adon", "measurements")
    token = make_admin(server.url("adon"))
    with served(tmp_path / "here", server.url("adon"), server.url("measurements")) as url:
        wish = {"source": "mu-dtn", "destination": "osu-dtn", "size": "1 GB", "template": "geni-classroom"}
        headers = {"Authorization": f"Bearer {token}"}
        asked = requests.post(f"{url}/flows", json=wish, headers=headers, timeout=60)
        assert asked.status_code == 202, asked.text
        dumps = [server.dump(name, f"{name}.dump") for name in ("adon", "measurements")]
    assert server.one("adon", "SELECT version_num FROM alembic_version") == STATE.revision
    server.restore(dumps[0], "adon_again")
    server.restore(dumps[1], "measurements_again")
    again = server.url("adon_again"), server.url("measurements_again")
    with served(tmp_path / "there", *again) as url:
        assert flows(url, token) == [asked.json()["id"]]
    with Access.open(server.url("adon_again")) as access:
        assert access.audit.verify().problem is None
        assert [user.name for user in access.users.list()] == ["ann"]
