from __future__ import annotations

import os
import sqlite3

import pytest
import sqlalchemy

from measurement.archive import Archive
from tests.measurement.archive.values import measured
from tests.support.refusals import refused


@pytest.mark.parametrize("version", [1, 99])
def test_another_version_is_refused_and_left_alone(tmp_path, version):
    file = tmp_path / "m.db"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE measurement (id INTEGER)")
        other.execute(f"PRAGMA user_version={version}")
    other.close()
    for readonly in (True, False):
        with refused("version"):
            Archive(file, readonly=readonly)
    with sqlite3.connect(file) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("measurement",)]
    other.close()


def test_another_version_in_postgresql_is_refused(where):
    Archive(where).close()
    if not isinstance(where, str):
        return
    engine = sqlalchemy.create_engine(where)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE mark SET value = 4 WHERE name = 'version'")
    engine.dispose()
    with refused("version"):
        Archive(where)


def test_an_empty_database_is_no_archive_to_a_reader(tmp_path):
    (tmp_path / "m.db").touch()
    with refused("not-found"):
        Archive(tmp_path / "m.db", readonly=True)


def test_what_is_no_archive_is_refused(tmp_path):
    file = tmp_path / "m.db"
    with refused("archive-error"):
        Archive(file, readonly=True)
    assert not file.exists()
    file.write_bytes(b"not a database" * 100)
    with refused("archive-error"):
        Archive(file)
    with refused("unreadable"):
        Archive(tmp_path / "no" / "m.db")


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("measurements.db", "malformed"),
        ("mysql://host/name", "unknown-value"),
        ("sqlite://", "archive-error"),
        ("sqlite:///:memory:", "archive-error"),
    ],
)
def test_other_databases_are_refused(url, code):
    with refused(code):
        Archive(url)


def test_a_database_that_is_away_is_told_without_its_password(tmp_path):
    pytest.importorskip("psycopg")
    with refused("archive-unavailable") as caught:
        Archive(f"postgresql://adon:s3cret@/name?host={tmp_path}")
    assert "s3cret" not in str(caught.error)
    assert "\n" not in str(caught.error)


def test_a_file_by_url(tmp_path):
    with Archive(f"sqlite:///{tmp_path}/m.db") as archive:
        archive.append([measured(1, 10)])
    with Archive(tmp_path / "m.db", readonly=True) as archive:
        assert len(archive.query()) == 1


def test_new_archive_is_readable_by_its_owner_only(tmp_path):
    umask = os.umask(0o022)
    try:
        with Archive(tmp_path / "m.db") as archive:
            archive.append([measured(1, 10)])
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(umask)
    assert modes == dict.fromkeys(("m.db", "m.db-wal", "m.db-shm"), 0o600)
