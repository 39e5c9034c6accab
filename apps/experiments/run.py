"""A whole run: every trial of the plan, one after the other, and what is kept of them.

A test network is brought up once and used for as many trials as leave it as it was; a trial that was broken
off, or that left something, costs the network.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from adon.errors import AdonError, Unavailable
from adon.experiments.planned import Trial
from adon.experiments.results import About, EventRow, State, Tables, TrialDone
from apps.experiments import stage
from apps.experiments.beds import Beds
from apps.experiments.carriers import Carriers
from apps.experiments.folder import Folder, new_name
from apps.experiments.happenings import Happenings
from apps.experiments.interrupting import Interruption
from apps.experiments.links import with_settings
from apps.experiments.machine import machine, versions
from apps.experiments.named_files import named_files
from apps.experiments.preparing import Prepared
from apps.experiments.progress import Progressing
from apps.experiments.record import Outcome, Record
from apps.experiments.seen_tests import SeenTests
from apps.experiments.trial import INTERRUPTED, Running
from mininet_topos.old_platforms.bed import Bed

FAILURES = 3
"""After so many trials in a row for which no network comes up, the run is given up."""


def carry_out(prepared: Prepared, progress: Progressing, interruption: Interruption) -> tuple[Path, About]:
    """Carry out the trials; the run's folder, and what it says of itself.

    Whatever ends it, the folder has what there is; and nothing that was built is left.  Afterwards no signal
    interrupts any more.

    :raises Conflict: if the run's folder is there already.
    :raises Unavailable: if the results cannot be written; what was written by then stays.
    """
    try:
        with interruption.deferred():
            folder = _folder(prepared)
    except KeyboardInterrupt:  # it came meanwhile: the folder is there
        return folder.path, folder.finish(time.time(), INTERRUPTED)
    beds = Beds(prepared.network, prepared.choice, interruption, progress)
    why = ""
    try:
        try:
            with interruption.left_whole(beds.kept()):
                why = _each(prepared, folder, beds, progress, interruption)
        finally:
            interruption.close()
    except KeyboardInterrupt:
        why = INTERRUPTED
    except (AdonError, OSError) as error:
        why = str(error)
        progress.line(why)
    try:
        return folder.path, folder.finish(time.time(), why)
    except OSError as error:
        raise Unavailable(f"{folder.path}: the results cannot be written: {error}") from error


def _each(
    prepared: Prepared, folder: Folder, beds: Beds, progress: Progressing, interruption: Interruption
) -> str:
    failed = 0
    for place, trial in enumerate(prepared.trials, 1):
        progress.begins(trial, place, len(prepared.trials))
        began = time.time()
        outcome = _tried(prepared, trial, beds, progress, interruption)
        took = time.time() - began
        with interruption.deferred():
            folder.about = with_emulation(folder.about, beds.emulation)
            folder.add(_done(trial, outcome, began, took), outcome.tables)
        progress.ended(took)
        if interruption.came:
            return INTERRUPTED
        failed = failed + 1 if beds.never_came_up else 0
        if failed == FAILURES:
            return f"given up: {FAILURES} trials in a row had no test network: {outcome.why}"
    return ""


def _done(trial: Trial, outcome: Outcome, began_at: float, seconds: float) -> TrialDone:
    return TrialDone(
        trial.number,
        trial.key,
        trial.policy,
        trial.point,
        trial.repetition,
        trial.seed,
        began_at,
        seconds,
        State.PARTIAL if outcome.why else State.COMPLETE,
        outcome.why,
    )


def _tried(
    prepared: Prepared, trial: Trial, beds: Beds, progress: Progressing, interruption: Interruption
) -> Outcome:
    """One trial; whatever goes wrong before it begins makes it partial, too.

    What a trial has found is kept, also where something fails or is interrupted while it is cleared away.
    """
    found: list[Outcome] = []
    try:
        with beds.bed() as bed:
            _carried_out(prepared, trial, bed, found, progress, interruption)
            if found[0].why:
                beds.spoilt()
    except AdonError as error:
        beds.spoilt()
        if found:
            progress.line(f"the test network is removed: {error}")
        else:
            row = EventRow(trial.number, 0.0, "trial", "trial", "ends", "never begun", str(error))
            found.append(Outcome(Tables(events=[row]), str(error)))
    except KeyboardInterrupt:
        if not found:
            raise
    if found[0].why:
        progress.line(f"this trial is partial: {found[0].why}")
    return found[0]


def _carried_out(
    prepared: Prepared,
    trial: Trial,
    bed: Bed,
    found: list[Outcome],
    progress: Progressing,
    interruption: Interruption,
) -> None:
    """One trial on a network; its outcome is put into ``found`` before anything is cleared away."""
    source, left_whole = prepared.source, interruption.left_whole
    settings = left_whole(with_settings(bed, dict(trial.links)))
    folder = bed.folder / f"adon-{trial.number}"
    ready = stage.staged(bed, trial, source.experiment, folder, left_whole, progress.line)
    with settings, ready as staged:
        record = Record(trial, prepared.network, SeenTests(staged.tests), progress.line)
        running = Running(record, Carriers(bed), prepared.results, staged.healthy, interruption.deferred)
        decider = stage.decider(staged, record)
        control = None if staged.adon is None else staged.control
        happenings = Happenings(bed, decider, control, trial.links)
        running.run(decider, happenings, found.append)
        with interruption.deferred():
            happenings.undo()


def _folder(prepared: Prepared) -> Folder:
    experiment = prepared.source.experiment
    files = named_files(prepared.source)
    began = time.time()
    path = prepared.results / experiment.name / new_name(began)
    about = About(
        experiment=experiment.name,
        run=path.name,
        title=experiment.title,
        source=experiment.source,
        follows=experiment.follows,
        seed=experiment.seed,
        scale=prepared.plan.scale,
        sizes=prepared.plan.sizes,
        repetitions=experiment.repetitions,
        policies=experiment.policies,
        began_at=began,
        ended_at=began,
        planned=len(prepared.plan.trials),
        digest=prepared.source.digest(),
        state=State.PARTIAL,
        platform={"name": prepared.choice.platform.value, "why": prepared.choice.why},
        versions=versions(),
        machine=machine(),
    )
    return Folder(path, prepared.source.text, about, files)


def with_emulation(about: About, emulation: str) -> About:
    """What the network said of itself when it was up; nothing if it never was."""
    return replace(about, platform={**about.platform, "emulation": emulation}) if emulation else about
