from __future__ import annotations

import os
import tempfile

import pytest
from typer.testing import CliRunner

from apps.cli.main import app
from mininet_topos import old_isolation as isolation
from mininet_topos.demo import main, stage
from mininet_topos.demo.record import Check
from mininet_topos.old_isolation import default_folder, run_folder


@pytest.fixture(autouse=True)
def _run_folders_of_its_own(monkeypatch, tmp_path):
    """Nothing of this machine's real run folders is looked at or removed; no browser is started."""
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "no-chromium"))
    with tempfile.TemporaryDirectory(prefix="adon-", dir="/tmp") as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        yield


@pytest.fixture
def _able(monkeypatch):
    monkeypatch.setattr(main, "require_machine", lambda: None)


def demo(*arguments: str):
    return CliRunner().invoke(app, ["demo", *arguments])


def without_traceback(result) -> str:
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.stderr


def test_who_is_not_root_is_told_so_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    result = demo("--report", str(tmp_path / "report"))
    assert result.exit_code == 1
    told = "the testbed needs root: it makes network namespaces and interfaces of its own\n"
    assert without_traceback(result) == told
    assert not (tmp_path / "report").exists()


def test_missing_programs_are_named_in_one_line(monkeypatch, tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("unshare", "setpriv", *stage.PROGRAMS):
        if not name.startswith("ovs"):
            (programs / name).touch(mode=0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(programs))
    result = demo("--report", str(tmp_path / "report"))
    assert result.exit_code == 1
    assert "ovs-vswitchd, ovsdb-server" in without_traceback(result)


@pytest.mark.usefixtures("_able")
def test_a_report_that_has_no_place_is_refused_before_anything_is_built(monkeypatch, tmp_path):
    monkeypatch.setattr(main, "_story", lambda *_: pytest.fail("it was begun"))
    (tmp_path / "file").touch()
    result = demo("--report", str(tmp_path / "file"))
    assert result.exit_code == 2
    assert without_traceback(result).startswith(f"report: {tmp_path / 'file'}:")


@pytest.mark.usefixtures("_able")
@pytest.mark.parametrize(
    ("held", "status", "shown"),
    [(True, 0, "held  t1: [SoyKB] is active"), (False, 1, "FAILED  t1: [SoyKB] is active (found: queued)")],
)
def test_the_exit_status_tells_whether_everything_held(monkeypatch, tmp_path, held, status, shown):
    def play(record, tell, stay):
        record.checks.append(Check("t1: [SoyKB] is active", held, "queued"))

    monkeypatch.setattr(main, "_play", play)
    result = demo("--report", str(tmp_path))
    assert result.exit_code == status
    assert shown in result.stdout  # brackets are text, not markup
    assert str(tmp_path / "index.html") in result.stdout
    assert (tmp_path / "record.json").exists()


@pytest.mark.usefixtures("_able")
def test_an_interrupted_run_leaves_no_report(monkeypatch, tmp_path):
    def play(record, tell, stay):
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_play", play)
    result = demo("--report", str(tmp_path))
    assert result.exit_code == 130
    assert "interrupted" in result.stdout.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_the_remains_of_killed_demos_go_and_living_ones_stay(monkeypatch):
    monkeypatch.setattr(isolation, "RELEASE_TIMEOUT", 0.05)
    dead, other = default_folder("demo-1-ab"), default_folder("testbed")
    for folder in (dead, other):
        (folder / "ovs").mkdir(parents=True)
    with run_folder(default_folder("demo-2-cd")) as living:
        stage.remove_remains()
        assert living.path.exists()
    assert not dead.exists()
    assert other.exists()
    with run_folder(other):
        pass
