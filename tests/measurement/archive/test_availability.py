from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import exc, make_url

from measurement.archive import Archive, database
from measurement.archive.availability import is_unavailable, postgresql_timeouts
from measurement.errors import ArchiveError, ArchiveUnavailable
from tests.measurement.archive.values import measured


@pytest.mark.parametrize(
    ("sqlstate", "unavailable"),
    [
        ("08006", True),  # connection_failure
        ("57P01", True),  # admin_shutdown
        ("57P03", True),  # cannot_connect_now
        ("53300", True),  # too_many_connections
        ("55P03", True),  # lock_not_available
        ("25006", True),  # read_only_sql_transaction
        ("3D000", False),  # invalid_catalog_name
        ("42P01", False),  # undefined_table
        ("42501", False),  # insufficient_privilege
        ("23505", False),  # unique_violation
        ("XX001", False),  # data_corrupted
    ],
)
def test_sqlstate_of_postgresql_decides(sqlstate: str, *, unavailable: bool) -> None:
    psycopg = pytest.importorskip("psycopg")
    cause = psycopg.errors.lookup(sqlstate)("text that does not matter")
    error = exc.DBAPIError.instance("SELECT 1", None, cause, psycopg.Error)
    assert isinstance(error, exc.SQLAlchemyError)
    assert is_unavailable(error) == unavailable


def test_broken_connection_and_exhausted_pool_are_outages() -> None:
    broken = exc.DBAPIError("SELECT 1", None, RuntimeError("x"), connection_invalidated=True)
    assert is_unavailable(broken)
    assert is_unavailable(exc.TimeoutError("exhausted"))
    assert not is_unavailable(exc.ArgumentError("no URL"))


def test_server_that_does_not_answer_is_an_outage_of_the_archive(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(ArchiveUnavailable) as outage:
        Archive(f"postgresql://adon@/name?host={tmp_path}")
    assert outage.value.code == "archive-unavailable"


def test_writer_that_holds_the_file_too_long_is_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT_S", 0.05)
    with (
        Archive(tmp_path / "m.db") as archive,
        contextlib.closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ArchiveUnavailable):
            archive.append([measured(1, 10)])
        other.execute("ROLLBACK")
        assert archive.append([measured(1, 10)]).new == 1


@pytest.mark.parametrize("what", ["no database", "no folder", "another version"])
def test_file_that_is_no_archive_of_this_version_is_no_outage(tmp_path: Path, what: str) -> None:
    file = tmp_path / "no" / "m.db" if what == "no folder" else tmp_path / "m.db"
    if what == "no database":
        file.write_bytes(b"not a database" * 100)
    elif what == "another version":
        with contextlib.closing(sqlite3.connect(file)) as other:
            other.execute("PRAGMA user_version=99")
    with pytest.raises(ArchiveError) as refused:
        Archive(file)
    assert not isinstance(refused.value, ArchiveUnavailable)


def test_timeouts_of_the_url_are_kept() -> None:
    found = postgresql_timeouts(make_url("postgresql+psycopg://db/adon?connect_timeout=3"))
    assert "connect_timeout" not in found
    assert found["tcp_user_timeout"] == 15_000
