"""The folder of a run: ``results/NAME/RUN/``.

::

    experiment.yaml     the file, as it was read
    files/              copies of what it names: network, templates
    run.json            versions, seed, scale, platform, the trials; complete or partial, and why
    flows.csv           and throughput, measurements, decisions, events: docs/experiments.md
    parts/              tables of single trials, until the run is over

Each trial's rows are written when it is over, and ``run.json`` after them, each file whole or not at all: a
run that is killed keeps every trial that had ended, and says that it is partial.  When the run is over the
parts become one file per table.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from adon.errors import Conflict, InvalidInput, NotFound, Problem
from adon.experiments import run_json
from adon.experiments.reading import Source
from adon.experiments.results import ROWS, About, Run, State, Tables, TrialDone
from adon.paths import is_file, is_folder
from adon.values import FrozenMap
from apps.experiments import csv_tables
from apps.experiments.atomic import write_text
from apps.experiments.named_files import stand_ins

RESULTS = Path("results")
"""Where runs are kept, seen from where one works."""
DOCUMENT, ABOUT, FILES, PARTS, REPORT = "experiment.yaml", "run.json", "files", "parts", "report.html"
UNFINISHED = "the run is not over, or was killed"


class Folder:
    """A run that is being carried out.

    :param path: the run's folder; it must not be there yet.
    :param text: the experiment's file.
    :param about: what is known before the first trial; its state is not read.
    :param files: texts of the files that it names (:func:`apps.experiments.named_files.named_files`).
    :raises Conflict: if the folder is there already.
    """

    def __init__(self, path: Path, text: str, about: About, files: Mapping[str, str] = FrozenMap()) -> None:
        self.path = path
        self.about = replace(about, state=State.PARTIAL, why=UNFINISHED, trials=())
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.mkdir()
        except FileExistsError:
            raise Conflict("run", f"there is a folder {path} already") from None
        (path / PARTS).mkdir()
        write_text(path / DOCUMENT, text)
        for name, content in files.items():
            (path / FILES / name).parent.mkdir(parents=True, exist_ok=True)
            write_text(path / FILES / name, content)
        self._say()

    def add(self, done: TrialDone, tables: Tables) -> None:
        """Keep a trial: its rows first, then that it was carried out."""
        for (name, kind), rows in zip(ROWS.items(), tables.all(), strict=True):
            if rows:
                csv_tables.write(self.path / PARTS / f"{done.number:05d}.{name}.csv", kind, rows)
        self.about = replace(self.about, trials=(*self.about.trials, done), ended_at=_ended(done))
        self._say()

    def finish(self, ended_at: float, why: str = "") -> About:
        """The run is over; it is complete if every planned trial is there and complete, and nothing is said.

        :param ended_at: seconds since the epoch.
        :param why: what ended it before its time.
        """
        for name, kind in ROWS.items():
            parts = sorted((self.path / PARTS).glob(f"*.{name}.csv"))
            csv_tables.write(self.path / f"{name}.csv", kind, csv_tables.joined(parts, kind))
        reasons = [why, *_lacking(self.about)]
        said = "; ".join(reason for reason in reasons if reason)
        state = State.PARTIAL if said else State.COMPLETE
        self.about = replace(self.about, state=state, why=said, ended_at=ended_at)
        self._say()
        shutil.rmtree(self.path / PARTS)
        return self.about

    def _say(self) -> None:
        write_text(self.path / ABOUT, run_json.to_text(self.about))


def _ended(done: TrialDone) -> float:
    return done.began_at + done.seconds


def _lacking(about: About) -> list[str]:
    missing = about.planned - len(about.trials)
    partial = [trial for trial in about.trials if trial.state is State.PARTIAL]
    found = [f"{missing} of {about.planned} trials were not carried out"] if missing > 0 else []
    if partial:
        first = partial[0]
        found.append(f"{len(partial)} of {len(about.trials)} trials are partial: {first.key}: {first.why}")
    return found


def read(path: Path) -> Run:
    """A run as its folder has it; rows of trials that ``run.json`` does not name are left out.

    :raises NotFound: if there is no such folder.
    :raises InvalidInput: if a file of it is damaged; it names the file.
    """
    if not (path / ABOUT).is_file():
        raise NotFound("run", str(path))
    about = _about(path / ABOUT)
    told = {trial.number for trial in about.trials}
    tables = []
    for name, kind in ROWS.items():
        whole = path / f"{name}.csv"
        files = [whole] if whole.is_file() else sorted((path / PARTS).glob(f"*.{name}.csv"))
        tables.append([row for row in csv_tables.joined(files, kind) if row.trial in told])
    return Run(about, Tables(*tables))


def document(path: Path) -> Source:
    """What a run was made from: its file, with the seed and the repetitions that it was run with.

    What the file names is that of the run's folder, whatever has become of it elsewhere.

    :raises InvalidInput: if it is not there, or damaged.
    """
    from adon.experiments import reading

    files, about = path / FILES, _about(path / ABOUT)
    source = reading.read(path / DOCUMENT, files if files.is_dir() else None, stand_ins(files))
    run_with = {"seed": about.seed, "repetitions": about.repetitions}
    said = {"seed": source.experiment.seed, "repetitions": source.experiment.repetitions}
    return source if said == run_with else source.changed(**run_with)


def new_name(at: float) -> str:
    """A run's name: when it began, in UTC, such as ``20261123T070328Z``; names sort by time.

    :param at: seconds since the epoch.
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%SZ")


def named(text: str, results: Path = RESULTS) -> Path:
    """The folder that a person means: a path, ``NAME/RUN``, or ``NAME`` for its last run.

    :raises NotFound: if there is none.
    """
    for path in (Path(text), results / text):
        if is_file(path / ABOUT):
            return path
        runs = sorted(file.parent for file in path.glob(f"*/{ABOUT}")) if is_folder(path) else []
        if runs:
            return runs[-1]
    raise NotFound("run", text)


def runs(results: Path = RESULTS) -> list[tuple[Path, About | InvalidInput]]:
    """Every run's folder by experiment and time: what it says of itself, or why that cannot be read."""
    return [(file.parent, _about_or_trouble(file)) for file in sorted(results.glob(f"*/*/{ABOUT}"))]


def _about_or_trouble(file: Path) -> About | InvalidInput:
    try:
        return _about(file)
    except InvalidInput as error:
        return error


def _about(file: Path) -> About:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(Problem("", f"cannot be read: {error}", str(file))) from error
    return run_json.from_text(text, str(file))
