"""Whole runs on loopback: what is kept, whatever fails or is interrupted, and what the command says."""

from __future__ import annotations

import errno
import json
import os
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adon.errors import Unavailable
from adon.experiments.plan import plan
from adon.experiments.reading import parse
from adon.experiments.results import FlowState, State
from apps.cli.main import app
from apps.experiments import around, csv_tables, folder, preparing, run
from apps.experiments.interrupting import Interruption
from apps.experiments.preparing import Prepared
from apps.experiments.run import carry_out
from mininet_topos.old_platforms import Choice, Platform
from tests.apps.experiments.loopback import Bed, file

FLOW = "{flow: soykb, template: soykb, from: mu, to: osu, size: 100 MB}"
SLOWED = "[{event: slow, at: 0 s, link: {name: routed, rate: 300 Mbps}}]"
CHECKED = """\
figures: {time: {of: transfer_time, flow: soykb}}
checks: [{check: it takes a while, value: time, between: [0 s, 1 min]}]
"""
CHOICE = Choice(Platform.HOST_USER, "it is loopback")


class Quiet:
    """Progress that nobody looks at."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text):
        self.lines.append(text)

    def begins(self, trial, place, count):
        pass

    def ended(self, seconds):
        pass


class Beds:
    """One loopback network for all trials; what it is told of links may press Ctrl-C, or fail."""

    never_came_up, emulation = False, "none"
    hook = staticmethod(lambda _change: None)

    def __init__(self, *_words) -> None:
        self.spoilings = 0

    @contextmanager
    def kept(self):
        yield

    @contextmanager
    def bed(self):
        yield self.made

    def spoilt(self):
        self.spoilings += 1

    @property
    def made(self):
        hook = self.hook

        class Watched(Bed):
            pid = os.getpid()

            def set_link(self, name, change):
                super().set_link(name, change)
                hook(change)

        return Watched(Path())


@pytest.fixture
def beds(monkeypatch):
    monkeypatch.setattr(run, "Beds", Beds)
    monkeypatch.setattr(Beds, "hook", staticmethod(lambda _change: None))
    return Beds


def prepared(tmp_path, text: str) -> Prepared:
    source = parse(text, "e.yaml", tmp_path)
    network = Bed(tmp_path).network
    planned = plan(source.experiment, source.templates, around.surroundings(network))
    return Prepared(source, network, planned, planned.trials, CHOICE, tmp_path / "results")


def carried_out(tmp_path, text: str, progress=None):
    interruption = Interruption(lambda _line: None)
    with interruption.watched():
        path, about = carry_out(prepared(tmp_path, text), progress or Quiet(), interruption)
    return path, about, interruption


def restored(change) -> bool:
    """Whether a link is being put back: the trial's own rate is 3 Mbit/s."""
    return change.rate not in (None, 3e6)


def test_a_run_that_goes_well_is_complete_and_keeps_its_file(tmp_path, beds):
    text = file(f"[{FLOW}]")
    path, about, interruption = carried_out(tmp_path, text)
    assert (about.state, about.why, interruption.came) == (State.COMPLETE, "", False)
    assert (path / folder.DOCUMENT).read_text() == text
    assert sorted(one.name for one in (path / folder.FILES).iterdir()) == ["network.py", "templates.0.yaml"]
    assert [row.state for row in folder.read(path).tables.flows] == [FlowState.FINISHED]


def test_ctrl_c_while_the_folder_is_made_leaves_one_that_says_so(tmp_path, beds, monkeypatch):
    real = run.named_files

    def press(source):
        os.kill(os.getpid(), signal.SIGINT)
        return real(source)

    monkeypatch.setattr(run, "named_files", press)
    path, about, interruption = carried_out(tmp_path, file(f"[{FLOW}]"))
    assert interruption.came
    assert about.why.startswith("interrupted")
    assert folder.read(path).about.why == about.why


def test_ctrl_c_while_a_trial_is_cleared_away_loses_nothing_of_it(tmp_path, beds, monkeypatch):
    def press(change) -> None:
        if restored(change):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(beds, "hook", staticmethod(press))
    path, about, interruption = carried_out(tmp_path, file(f"[{FLOW}]", SLOWED))
    assert interruption.came
    found = folder.read(path)
    assert [row.state for row in found.tables.flows] == [FlowState.FINISHED]
    assert [trial.state for trial in found.about.trials] == [State.COMPLETE]
    assert about.why == "interrupted"


def test_a_full_disk_is_said_and_what_was_written_stays(tmp_path, beds, monkeypatch):
    text = file(f"[{FLOW}]").replace("repetitions: 1", "repetitions: 3")
    real, left = csv_tables.write, [4]

    def write(*words):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*words)

    monkeypatch.setattr(folder.csv_tables, "write", write)
    with pytest.raises(Unavailable):
        carried_out(tmp_path, text)
    (path,) = (tmp_path / "results" / "loop").iterdir()
    found = folder.read(path)
    assert found.about.state is State.PARTIAL
    assert len(found.about.trials) >= 1
    assert found.tables.flows != ()


def command(tmp_path, monkeypatch, text: str, *words: str):
    (tmp_path / "e.yaml").write_text(text)
    monkeypatch.setattr(preparing.platforms, "choose", lambda *_words, **_more: CHOICE)
    monkeypatch.setattr(preparing.around, "network", lambda _source: Bed(tmp_path).network)
    argv = ["experiment", "run", str(tmp_path / "e.yaml"), "--results", str(tmp_path / "results"), *words]
    return CliRunner().invoke(app, argv)


def test_the_command_tells_its_run_as_json_and_its_progress_beside(tmp_path, beds, monkeypatch):
    done = command(tmp_path, monkeypatch, file(f"[{FLOW}]") + CHECKED, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["standing"], found["state"]) == ("held", "complete")
    assert [check["outcome"] for check in found["checks"]] == ["held"]
    (figure,) = found["figures"]
    assert (figure["figure"], figure["unit"], figure["count"]) == ("time", "s", 1)
    assert figure["where"] == {"policy": "always al2s"}
    assert figure["median"] > 0
    assert (Path(found["folder"]) / "run.json").is_file()
    assert Path(found["file"]).read_text().startswith("<!DOCTYPE html>")
    assert "soykb sends" in done.stderr


def test_an_interrupted_run_is_told_and_ends_with_130(tmp_path, beds, monkeypatch):
    def press(_change) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(beds, "hook", staticmethod(press))
    done = command(tmp_path, monkeypatch, file(f"[{FLOW}]", SLOWED) + CHECKED, "--json")
    assert done.exit_code == 130
    assert json.loads(done.stdout)["standing"] == "partial"
