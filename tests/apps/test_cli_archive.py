from __future__ import annotations

import pytest
from typer.testing import CliRunner

from apps.cli import archive_commands as commands
from apps.cli.document_printer import CommandGroup
from apps.cli.root_group import RootGroup
from measurement.archive import Archive
from tests.measurement.archive.values import measured, observed

VALUES = [measured(1, 10), measured(2, 20), observed(0.5, 30)]


@pytest.fixture
def data(tmp_path):
    with Archive(tmp_path / "measurements.db") as archive:
        archive.append(VALUES)
    return tmp_path


def run(*arguments, **environment):
    app = CommandGroup("", cls=RootGroup)
    app.add_typer(commands.app, name="archive")
    return CliRunner().invoke(app, ["archive", *map(str, arguments)], env=environment)


def numbers(text):
    return [int(word) for word in text.split() if word.isdigit()]


def test_out_and_in_again(data, tmp_path):
    file, other = tmp_path / "values.csv", tmp_path / "other"
    other.mkdir()
    found = run("export", file, "--data", data)
    assert (found.exit_code, numbers(found.stdout)) == (0, [3])
    assert numbers(run("info", file).stdout) == [3, 0]
    found = run("import", file, "--data", other)
    assert (found.exit_code, numbers(found.stdout)) == (0, [3, 0, 0, 0])
    assert numbers(run("import", file, "--data", other).stdout) == [0, 3, 0, 0]
    with Archive(other / "measurements.db", readonly=True) as archive:
        assert [value for batch in archive.contents(10) for value in batch] == VALUES


def test_what_is_in_the_archive(data):
    lines = run("info", "--data", data).stdout.splitlines()
    (row,) = (line.split() for line in lines if "al2s" in line)
    assert row == ["al2s:mu>osu/throughput", "2", "1970-01-01", "00:00:10", "1970-01-01", "00:00:20"]
    assert numbers(lines[-1]) == [3, 2]


def test_a_file_that_is_there_is_replaced_only_when_asked(data, tmp_path):
    file = tmp_path / "values.csv"
    file.write_text("mine")
    found = run("export", file, "--data", data)
    assert (found.exit_code, file.read_text()) == (2, "mine")
    assert found.stderr.startswith(f"{file}: ")
    assert "--force" in found.stderr
    assert run("export", file, "--data", data, "--force").exit_code == 0
    assert file.read_text().startswith("kind,")


def test_bad_rows_are_told_by_line_and_nothing_is_imported(data, tmp_path):
    file = tmp_path / "values.csv"
    run("export", file, "--data", data)
    file.write_text(file.read_text().replace(",1.0,", ",fast,") + "x\n" * 40)
    found = run("import", file, "--data", tmp_path / "new")
    assert found.exit_code == 1  # there is no such folder to make an archive in
    (tmp_path / "new").mkdir()
    found = run("import", file, "--data", tmp_path / "new")
    lines = found.stderr.splitlines()
    assert found.exit_code == 2
    assert lines[0].startswith(f"{file}: line 2: value: ")
    assert numbers(lines[-2]) == [21]
    assert len(lines) == 22
    assert set(numbers(run("info", "--data", tmp_path / "new").stdout)) == {0}
    found = run("import", file, "--data", tmp_path / "new", "--skip-bad")
    assert found.stdout.startswith("2 new")
    assert numbers(run("info", file).stdout.splitlines()[-1]) == [2, 41]


def test_disagreements_are_told(data, tmp_path):
    file = tmp_path / "values.csv"
    run("export", file, "--data", data)
    file.write_text(file.read_text().replace(",2.0,19.0", ",3.0,19.0"))
    found = run("import", file, "--data", data)
    assert {"3.0", "2.0;"} <= {*found.stderr.split()}
    assert numbers(found.stdout) == [0, 2, 1, 0]


def test_an_archive_by_url_from_the_environment(data, tmp_path):
    found = run("info", ADON_ARCHIVE_URL=f"sqlite:///{data}/measurements.db")
    assert "3 values" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "cause"),
    [
        (("info",), 2, "--url URL"),
        (("info", "--data", "x", "--url", "sqlite:///y"), 2, "--url URL"),
        (("info", "--data", "nowhere"), 1, "nowhere"),
        (("info", "--url", "mysql://h/n"), 1, "SQLite"),
        (("info", "nothing.csv"), 2, "nothing.csv"),
        (("info", "values.txt"), 2, ".csv"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments, status, cause):
    found = run(*arguments)
    assert found.exit_code == status
    assert cause in found.stderr
    assert found.stderr.count("\n") == 1
