"""All experiments one after the other: one that crashes stops no other, an interruption stops all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from adon.experiments import builtins
from adon.experiments.results import About, State
from apps.experiments import whole_set
from apps.experiments.folder import Folder, new_name

NAMES = ("figure-19", "figure-20")


class Runs:
    """Stands for ``adon``: leaves a run without trials, or none, and ends with a status."""

    def __init__(self, results: Path, statuses: Sequence[int]) -> None:
        self.results, self.statuses = results, list(statuses)
        self.words: list[Sequence[str]] = []

    def __call__(self, words: Sequence[str]) -> int:
        self.words.append(words)
        status = self.statuses.pop(0)
        if status in (0, 3):
            source = builtins.source(words[2])
            experiment = source.experiment
            about = About(
                experiment.name, "", experiment.title, experiment.source, experiment.follows, experiment.seed,
                100.0, 100.0, 1, tuple(experiment.policies), time.time(), time.time(), 0, "", State.PARTIAL,
            )  # fmt: skip
            run = Folder(self.results / experiment.name / new_name(time.time()), source.text, about)
            run.finish(time.time())
        return status


def test_each_is_run_and_the_page_names_it(tmp_path: Path) -> None:
    said: list[str] = []
    runs = Runs(tmp_path, [3, 3])
    status = whole_set.whole_set(NAMES, tmp_path, ["--repetitions", "1"], runs, said.append)
    assert status == whole_set.NOT_FINE  # a run without trials tells nothing
    assert [words[2] for words in runs.words] == list(NAMES)
    assert all(list(words[-2:]) == ["--repetitions", "1"] for words in runs.words)
    page = (tmp_path / whole_set.PAGE).read_text()
    assert all(name in page for name in NAMES)
    assert "cannot say" in page


def test_one_that_crashes_stops_no_other(tmp_path: Path) -> None:
    said: list[str] = []
    runs = Runs(tmp_path, [1, 3])
    assert whole_set.whole_set(NAMES, tmp_path, [], runs, said.append) == whole_set.NOT_FINE
    assert len(runs.words) == 2
    assert any(line.startswith("figure-19: failed") for line in said)


def test_an_older_run_is_not_taken_for_this_one(tmp_path: Path) -> None:
    assert Runs(tmp_path, [0])(["experiment", "run", "figure-19"]) == 0
    said: list[str] = []
    whole_set.whole_set(("figure-19",), tmp_path, [], Runs(tmp_path, [1]), said.append)
    assert any("status 1" in line for line in said)


def test_an_interruption_stops_all(tmp_path: Path) -> None:
    runs = Runs(tmp_path, [130, 0])
    assert whole_set.whole_set(NAMES, tmp_path, [], runs, lambda _: None) == whole_set.INTERRUPTED
    assert len(runs.words) == 1
    assert (tmp_path / whole_set.PAGE).is_file()


@pytest.mark.parametrize("status", [0, 1, -2, 130])
def test_after_a_ctrl_c_it_is_interrupted_whatever_the_process_that_runs_makes_of_it(monkeypatch, status):
    class Process:
        def __init__(self, _argv: Sequence[str]) -> None:
            self.pressed = False

        def wait(self) -> int:
            if not self.pressed:
                self.pressed = True
                raise KeyboardInterrupt
            return status

    monkeypatch.setattr(whole_set.subprocess, "Popen", Process)
    assert whole_set.adon(["experiment", "run", "figure-19"]) == whole_set.INTERRUPTED


def test_a_ctrl_c_between_two_of_them_is_no_traceback(tmp_path: Path, monkeypatch) -> None:
    def press(_name: str) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(whole_set, "adon", Runs(tmp_path, [0]))
    monkeypatch.setattr(whole_set.builtins, "source", press)
    assert whole_set.main(["--results", str(tmp_path), "--only", "figure-19"]) == whole_set.INTERRUPTED


def test_the_smoke_test_is_none_of_them() -> None:
    assert set(whole_set.names()) == set(builtins.names()) - {"smoke"}


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        whole_set.main(["--only", "figure-99"])
    assert ended.value.code == 2
    assert "figure-99" in capsys.readouterr().err
