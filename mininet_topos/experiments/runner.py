"""Run experiments: check and choose a platform outside, build a testbed and carry out trials inside.

Inside it runs as a program: ``python -m mininet_topos.experiments.runner ORDER``, where ORDER holds the
arguments of :func:`run_inside` as JSON.
"""

from __future__ import annotations

import json
import os
import platform as python_platform
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adon import yamlfile
from adon.code_version import code_version
from adon.config import Configuration
from adon.errors import AdonError, InvalidInput, Unavailable
from adon.values import FrozenMap
from mininet_topos.adon_configuration import configuration_text, fit_periods_to
from mininet_topos.commands import output
from mininet_topos.experiments import plan, results
from mininet_topos.experiments.loading import BUILT_IN, ExperimentFile, load_experiment
from mininet_topos.experiments.references import check_references
from mininet_topos.experiments.report import JudgedRun, judge_run, write_index, write_report
from mininet_topos.experiments.trial import TrialRun
from mininet_topos.experiments.trial_setup import needs_adon, prepare_trial
from mininet_topos.isolation import PlatformChoice, choose_platform, folder_inside, run_isolated
from mininet_topos.measurement_points import start_points
from mininet_topos.testbed import Testbed, build_testbed
from mininet_topos.topologies.campus_topo import CampusTopo
from mininet_topos.topology_catalog import load_topology

EXIT_PARTIAL, EXIT_INTERRUPTED = 1, 130
MAX_FAILURES = 3
"""Trials in a row that do not begin, after which a run is given up."""
NOT_IN_SET = ("smoke",)
_STARTED = time.monotonic()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How an experiment is run.

    :param platform: host or guest; None for the best that the machine has.
    :param only: texts of which a trial's key contains one (``ours``, ``soykb.size=25 GB``); empty for all.
    :param changes: fields of the document with other values, such as ``repetitions``.
    """

    platform: str | None = None
    only: tuple[str, ...] = ()
    results: Path = Path("results")
    changes: Mapping[str, Any] = FrozenMap()


def load_checked(
    reference: str, changes: Mapping[str, Any] = FrozenMap()
) -> tuple[ExperimentFile, CampusTopo]:
    """Return an experiment and its topology after everything in it was checked.

    :raises InvalidInput: with all problems, each with file and line.
    """
    read = load_experiment(reference)
    if changes and not read.problems:
        read = read.change_fields(**changes)
    name = read.experiment.network
    if name.endswith(".py") and read.folder is not None:
        name = str(read.folder / name)
    with _locate_problems(read, "network"):
        topo = load_topology(name, read.experiment.scale)
    check_references(read, topo)
    with _locate_problems(read, "configuration"):
        text = configuration_text(topo, extra=read.experiment.configuration)
        yamlfile.parse_model(text, Configuration)
    with _locate_problems(read, "measuring"):
        for _, variant in plan.list_variants(read.experiment):
            fit_periods_to(topo, variant.measuring)
    return read, topo


@contextmanager
def _locate_problems(read: ExperimentFile, section: str) -> Iterator[None]:
    """Give problems the place of a section of the document, and add those of its templates."""
    try:
        yield
    except InvalidInput as error:
        found = [read.problem((section,), f"{one.field}: {one.cause}") for one in error.problems]
        raise InvalidInput([*read.problems, *found]) from error


def run_experiment(reference: str, options: RunOptions) -> tuple[Path, int]:
    """Run an experiment isolated, write its report, and return its folder and exit status.

    :raises InvalidInput: for a document with problems, before anything is built.
    :raises Unavailable: if this machine cannot run it, or the run did not begin.
    """
    read, topo = load_checked(reference, options.changes)
    trials = _choose_trials(plan.plan_trials(read.experiment, topo), options.only)
    choice = choose_platform(options.platform, needs_netem=any(map(plan.needs_netem, trials)))
    shared = options.results.absolute()
    folder = shared / read.experiment.experiment / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    order: dict[str, Any] = {"reference": reference, "folder": str(folder)}
    order |= {"only": options.only, "changes": options.changes}
    status = run_program("mininet_topos.experiments.runner", order, choice, shared)
    if not (folder / results.RUN_FILE).exists():
        raise Unavailable(f"the run did not begin (exit status {status})")
    write_report(folder)
    return folder, status


def run_program(module: str, order: Mapping[str, Any], choice: PlatformChoice, shared: Path) -> int:
    """Run a module of this package isolated and return its exit status.

    :param order: arguments, in addition to the platform, of the function that :func:`run_order` calls in it.
    """
    platform = {"name": choice.platform.value, "reason": choice.reason}
    argv = [sys.executable, "-m", module, json.dumps({**order, "platform": platform})]
    return run_isolated(argv, choice.platform, shared=shared)


def run_order(function: Callable[..., int]) -> int:
    """Call a function with the order of :func:`run_program`.

    :return: its exit status; 1 after an error, 130 after Ctrl-C.
    """
    try:
        return function(**json.loads(sys.argv[1]))
    except KeyboardInterrupt:
        sys.stdout.write("interrupted: everything that was built is removed\n")
        return EXIT_INTERRUPTED
    except AdonError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_PARTIAL


def run_all(options: RunOptions) -> Iterator[JudgedRun]:
    """Run each built-in experiment, keep the index of all, and yield each run with its verdicts.

    :raises Unavailable: after the last, if experiments could not run; names each with the reason.
    """
    failures = []
    for name in (name for name in BUILT_IN.names() if name not in NOT_IN_SET):
        try:
            folder, status = run_experiment(name, options)
        except AdonError as error:
            failures.append(f"{name}: {error}")
            continue
        write_index(options.results)
        yield judge_run(folder)
        if status == EXIT_INTERRUPTED:
            return
    if failures:
        raise Unavailable("\n".join(failures))


def run_inside(
    reference: str, folder: str, platform: Mapping[str, str], only: Sequence[str], changes: Mapping[str, Any]
) -> int:
    """Carry out the trials in this process's namespaces or guest; return the exit status.

    Each trial is written when it ends; ``run.json`` is partial until the last has ended.

    :raises AdonError: if the document cannot be read.
    """
    read, topo = load_checked(reference, changes)
    trials = _choose_trials(plan.plan_trials(read.experiment, topo), only)
    begin_run(Path(folder), read, topo, platform)
    status, reason = 0, ""
    try:
        _run_trials(topo, Path(folder), trials)
    except KeyboardInterrupt:
        status, reason = EXIT_INTERRUPTED, "interrupted"
    except AdonError as error:
        status, reason = EXIT_PARTIAL, str(error)
        print_line(reason)
    results.end_run(Path(folder), reason)
    return status


def begin_run(folder: Path, read: ExperimentFile, topo: CampusTopo, platform: Mapping[str, str]) -> None:
    """Write what is known of a run before its first trial to a new folder."""
    experiment = read.experiment
    info = results.RunInfo(
        experiment=experiment.experiment,
        scale=topo.scale,
        sizes=plan.size_divisor(experiment, topo),
        planned=len(plan.plan_trials(experiment, topo)),
        began_at=time.time(),
        platform=platform,
        machine=_describe_machine(),
    )
    results.start_run(folder, read.text, info)


def carry_out(
    trial: plan.Trial,
    testbed: Testbed,
    points: Path | None,
    print_line: Callable[[str], object],
    *,
    folder: Path | None = None,
) -> tuple[results.TrialRecord, results.Tables]:
    """Carry out one trial; one that cannot begin is partial and has no rows.

    :param folder: of an ADON that outlives the trial; None for one of its own.
    """
    began, monotonic = time.time(), time.monotonic()
    tables, reason = results.Tables(), ""
    try:
        with prepare_trial(testbed, points, trial, print_line, folder) as setup:
            tables, reason = TrialRun(setup, print_line).run()
    except AdonError as error:
        reason = reason or str(error)
    record = results.TrialRecord(
        **{one.name: getattr(trial, one.name) for one in fields(results.TrialName)},
        began_at=began,
        seconds=time.monotonic() - monotonic,
        partial=reason,
    )
    return record, tables


def print_line(text: str) -> None:
    """Print a line with the seconds since this program started."""
    sys.stdout.write(f"{time.monotonic() - _STARTED:7.1f} s  {text}\n")
    sys.stdout.flush()


def _run_trials(topo: CampusTopo, folder: Path, trials: Sequence[plan.Trial]) -> None:
    """Carry out all trials: a testbed serves as many as leave it as it was.

    :raises AdonError: if no testbed can be built, or trials in a row do not begin.
    """
    waiting, failures = deque(trials), 0
    needs_points = any(map(needs_adon, trials))
    while waiting:
        inside = folder_inside() / f"t{waiting[0].number}"
        inside.mkdir()
        print_line("building the testbed")
        reason = ""
        with (
            build_testbed(topo, inside) as testbed,
            start_points(testbed) if needs_points else nullcontext() as points,
        ):
            results.write_emulation(folder, testbed.emulation)
            while waiting and not reason:
                trial = waiting.popleft()
                print_line(f"trial {len(trials) - len(waiting)} of {len(trials)}: {trial.key}")
                record, tables = carry_out(trial, testbed, points, lambda text: print_line(f"  {text}"))
                results.write_trial(folder, record, tables)
                reason = record.partial
                failures = 0 if tables.flows else failures + 1
                if reason:
                    print_line(f"  this trial is partial: {reason}")
                if failures == MAX_FAILURES:
                    raise Unavailable(f"{MAX_FAILURES} trials in a row did not begin: {reason}")


def _choose_trials(trials: Sequence[plan.Trial], only: Sequence[str]) -> list[plan.Trial]:
    chosen = [trial for trial in trials if not only or any(text in trial.key for text in only)]
    if not chosen:
        keys = "; ".join(trial.key for trial in trials[:5])
        raise InvalidInput.of("--only", f"no trial has {' or '.join(only)} in its name; names are {keys}")
    return chosen


def _describe_machine() -> dict[str, str]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processors": str(os.cpu_count()),
        "memory": f"{memory / 2**30:.1f} GiB",
        "kernel": f"{python_platform.system()} {python_platform.release()}",
        "architecture": python_platform.machine(),
        "ADON": code_version(),
        "Python": python_platform.python_version(),
        "Open vSwitch": output(["ovs-vswitchd", "--version"]).partition("\n")[0],
        "iproute2": output(["tc", "-V"]).strip(),
    }


if __name__ == "__main__":
    sys.exit(run_order(run_inside))
