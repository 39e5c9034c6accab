from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy

from adon.errors import DatabaseUnavailable, InvalidInput, Unavailable, UnknownSchema
from adon.store.access.access import Access
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from adon.store.store import Store
from adon.store.tables import STATE, Schema
from tests.support.factories import make_flow

BOTH = pytest.mark.parametrize("schema", [STATE, ACCESS], ids=["state", "access"])


def open_database(url: str, schema: Schema) -> Store | Access:
    return Store.open(url) if schema is STATE else Access.open(url)


def execute(url: str, statement: str) -> None:
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()


def table_names(url: str) -> set[str]:
    engine = sqlalchemy.create_engine(url)
    names = set(sqlalchemy.inspect(engine).get_table_names())
    engine.dispose()
    return names


def test_both_schemas_live_in_one_database(empty_url: str) -> None:
    for schema in (STATE, ACCESS, STATE, ACCESS):  # the second time nothing is made
        make_database(empty_url, schema)
    with Store.open(empty_url) as store, Access.open(empty_url) as access:
        store.save_flow(make_flow(), "e-1")
        assert access.audit.verify().problem is None


@BOTH
def test_a_database_of_another_version_is_refused_and_left_alone(empty_url: str, schema: Schema) -> None:
    make_database(empty_url, schema)
    execute(empty_url, f"UPDATE {schema.version.name} SET version_num = '0007'")  # noqa: S608
    for attempt in (make_database, open_database):
        with pytest.raises(UnknownSchema, match=rf"0007.*{schema.revision}") as refused:
            attempt(empty_url, schema)
        assert refused.value.code == "database-schema"
    execute(empty_url, f"UPDATE {schema.version.name} SET version_num = '{schema.revision}'")  # noqa: S608
    open_database(empty_url, schema).close()


@BOTH
def test_a_database_without_schema_is_refused(empty_url: str, schema: Schema) -> None:
    execute(empty_url, "CREATE TABLE something (id INTEGER)")
    with pytest.raises(DatabaseUnavailable):
        open_database(empty_url, schema)


def test_tables_that_cannot_be_made_leave_nothing_behind(empty_url: str) -> None:
    execute(empty_url, "CREATE TABLE rules (id INTEGER)")
    with pytest.raises(Unavailable):
        make_database(empty_url)
    assert table_names(empty_url) == {"rules"}


def test_processes_that_start_at_the_same_time_make_one_database(empty_url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(make_database, [empty_url] * 4)) == [None] * 4
    Store.open(empty_url).close()


def test_the_directory_is_made(tmp_path: Path) -> None:
    make_database(f"sqlite:///{tmp_path}/new 100%/adon.db")
    assert (tmp_path / "new 100%" / "adon.db").is_file()


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="directory"):
        make_database(f"sqlite:///{tmp_path}/file/below/adon.db")


def test_what_is_no_url() -> None:
    with pytest.raises(InvalidInput, match="store"):
        make_database("adon.db")


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(DatabaseUnavailable):
        make_database(f"postgresql://adon@/adon?host={tmp_path}")


@pytest.mark.integration
def test_the_store_does_not_carry_numpy() -> None:
    """The idle controller has 150 MB; what the store imports is part of that."""
    probe = "import sys, adon.store.store; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_new_database_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    umask = os.umask(0o022)
    try:
        make_database(f"sqlite:///{file}")
        with Store.open(f"sqlite:///{file}") as store:
            store.save_flow(make_flow(), "e1", 1.0)
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(umask)
    assert modes == dict.fromkeys(("new.db", "new.db-wal", "new.db-shm"), 0o600)
