from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from adon.errors import EXIT_DATABASE, DatabaseUnavailable, InvalidInput, Unavailable, UnknownSchema
from adon.store import tables
from adon.store.flow_rows import FlowFilter
from adon.store.store import Store
from adon.store.upgrade import MIGRATIONS, main, upgrade
from tests.support.factories import make_flow, make_request

ONLY_SQLITE = {"ix_flows_sought"}


def set_revision(url: str, revision: str) -> None:
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("UPDATE alembic_version SET version_num = :r"), {"r": revision})
    engine.dispose()


def test_the_migrations_make_the_tables_of_the_code(url: str) -> None:
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        missing = compare_metadata(context, tables.metadata)
        if engine.dialect.name != "sqlite":  # Alembic does not look at Index.ddl_if
            missing = [one for one in missing if one[1].name not in ONLY_SQLITE]
        assert missing == []
    engine.dispose()


def test_the_codes_revision_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [tables.SCHEMA_REVISION]


def test_upgrading_again_changes_nothing(url: str) -> None:
    assert upgrade(url) == tables.SCHEMA_REVISION
    Store.open(url).close()


def test_flows_of_an_earlier_version_are_found_by_text(url: str) -> None:
    with Store.open(url) as store:
        store.save_flow(make_flow(request=make_request(label="Ångström"), reason="it runs"), "e")
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP INDEX IF EXISTS ix_flows_sought")  # of 0012
        connection.exec_driver_sql("ALTER TABLE flows DROP COLUMN sought")
    engine.dispose()
    set_revision(url, "0010")
    upgrade(url)
    with Store.open(url) as store:
        kept = store.flows(FlowFilter(text="ÅNGSTRÖM"))
        assert kept == store.flows(FlowFilter(text="IT RUNS")) == store.flows()


def test_a_database_without_schema_is_refused(empty_url: str) -> None:
    engine = sqlalchemy.create_engine(empty_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE something (id INTEGER)")
    engine.dispose()
    with pytest.raises(DatabaseUnavailable):
        Store.open(empty_url)


def test_a_database_of_another_version_is_refused_naming_both(url: str) -> None:
    set_revision(url, "0999")
    for attempt in (Store.open, upgrade):
        with pytest.raises(UnknownSchema, match=rf"0999.*{tables.SCHEMA_REVISION}"):
            attempt(url)


def test_a_migration_that_fails_leaves_nothing_behind(empty_url: str) -> None:
    engine = sqlalchemy.create_engine(empty_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE rules (id INTEGER)")
    with pytest.raises(Unavailable):
        upgrade(empty_url)
    with engine.connect() as connection:
        assert sqlalchemy.inspect(connection).get_table_names() == ["rules"]
    engine.dispose()


@pytest.mark.parametrize("table", tables.metadata.sorted_tables, ids=lambda table: str(table.name))
def test_every_table_can_be_made_in_postgresql(table: sqlalchemy.Table) -> None:
    assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=postgresql.dialect()))


def test_the_directory_is_made(tmp_path: Path) -> None:
    upgrade(f"sqlite:///{tmp_path}/new 100%/adon.db")
    assert (tmp_path / "new 100%" / "adon.db").is_file()


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="directory"):
        upgrade(f"sqlite:///{tmp_path}/file/below/adon.db")


def test_what_is_no_url() -> None:
    with pytest.raises(InvalidInput, match="store"):
        upgrade("adon.db")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"sqlite:///{tmp_path}/adon.db"]) == 0
    assert capsys.readouterr().out == f"schema {tables.SCHEMA_REVISION}\n"
    pytest.importorskip("psycopg")
    assert main([f"postgresql://adon@/adon?host={tmp_path}"]) == EXIT_DATABASE
    capsys.readouterr()
    assert main(["nonsense"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main([]) == 2


@pytest.mark.integration
def test_the_store_does_not_carry_alembic_or_the_orm() -> None:
    """The idle controller has 150 MB; what the store imports is part of that."""
    probe = (
        "import sys, adon.store.store; print([m for m in ('alembic', 'mako', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_new_database_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    umask = os.umask(0o022)
    try:
        upgrade(f"sqlite:///{file}")
        with Store.open(f"sqlite:///{file}") as store:
            store.save_flow(make_flow(), "e1", 1.0)
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(umask)
    assert modes == dict.fromkeys(("new.db", "new.db-wal", "new.db-shm"), 0o600)
