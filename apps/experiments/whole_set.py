"""Run every experiment that ADON brings, one after the other, and write a page about all of them.

    python -m apps.experiments.whole_set --results results

Each is a process of its own (``adon experiment run NAME``): one that crashes stops no other.  The page is
written anew after each, so that what there is can be looked at while the rest runs.  A Ctrl-C goes to the
experiment that runs, which keeps what it has; no other is begun.

Exit status: 0 everything came out as its file says, 3 it did not, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from adon.errors import AdonError
from adon.experiments import builtins
from adon.experiments.measures import Observed
from adon.experiments.standing import Standing
from adon.experiments.verdicts import verdicts
from apps.experiments import folder, overview
from apps.experiments.atomic import write_text
from apps.experiments.overview import Row

LEFT_OUT = frozenset({"smoke"})
"""What is no experiment of a paper's or of ours."""
PAGE = "index.html"
NOT_FINE, INTERRUPTED = 3, 130

Run = Callable[[Sequence[str]], int]
"""Runs ``adon`` with these words; its exit status."""


def names() -> tuple[str, ...]:
    """The experiments, in the order in which they are run."""
    return tuple(name for name in builtins.names() if name not in LEFT_OUT)


def whole_set(
    chosen: Sequence[str], results: Path, more: Sequence[str], run: Run, tell: Callable[[str], None]
) -> int:
    """Run these, and keep the page; the exit status.

    :param more: further words of each ``adon experiment run``.
    """
    began_at = time.time()
    rows: list[Row] = []
    for name in chosen:
        tell(f"{len(rows) + 1} of {len(chosen)}: {name}")
        begun = time.time()
        status = run(["experiment", "run", name, "--results", str(results), *more])
        rows.append(_row(name, results, begun, status))
        write_text(results / PAGE, overview.page(rows, len(chosen), began_at, time.time()))
        tell(overview.told(rows[-1]))
        if status == INTERRUPTED:
            return INTERRUPTED
    tell(f"{results / PAGE}")
    return 0 if overview.fine(rows) else NOT_FINE


def _row(name: str, results: Path, begun: float, status: int) -> Row:
    seconds = time.time() - begun
    experiment = builtins.source(name).experiment
    try:
        path = folder.named(name, results)
        run = folder.read(path)
        if run.about.began_at < begun:
            raise FileNotFoundError(f"adon experiment run ended with status {status} and no run")
        found = verdicts(folder.document(path).experiment, Observed.of(run))
    except (AdonError, OSError) as error:
        why = str(error)
        return Row(name, experiment.title, experiment.source, Standing.FAILED, seconds, why=why)
    report = path / folder.REPORT
    shown = os.path.relpath(report, results) if report.is_file() else ""
    return overview.row(run.about, found, seconds, shown)


def adon(words: Sequence[str]) -> int:
    """``adon`` as a process of its own, which a Ctrl-C reaches by itself; its exit status.

    After a Ctrl-C it is :data:`INTERRUPTED`, whatever the process says: one that was only just starting, or
    had written everything, ends with another.
    """
    process = subprocess.Popen([sys.executable, "-m", "apps.cli.main", *words])
    interrupted = False
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:
            interrupted = True  # it has it too, and ends in its own time
        else:
            return INTERRUPTED if interrupted else status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="whole_set", description="every experiment, and a page about all")
    parser.add_argument("--results", type=Path, default=folder.RESULTS)
    parser.add_argument("--only", nargs="+", choices=names(), default=names(), metavar="NAME")
    parser.add_argument("more", nargs="*", help="after --: further words of each adon experiment run")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run them."""
    asked = _parser().parse_args(argv)
    asked.results.mkdir(parents=True, exist_ok=True)

    def tell(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    try:
        return whole_set(asked.only, asked.results, asked.more, adon, tell)
    except KeyboardInterrupt:  # between two experiments
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
