"""``adon experiment``: experiments of the papers and of users on a test network; needs no server."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import InvalidInput
from apps.cli.common import EXIT_DIFFERS, print_table
from apps.cli.document_printer import CommandGroup, print_document, print_items

if TYPE_CHECKING:
    from mininet_topos.experiments.report import JudgedRun

app = CommandGroup("Experiments on a test network.")

ResultsOption = Annotated[Path, typer.Option("--results", metavar="DIR", help="Folder of runs.")]
RESULTS = Path("results")


@app.command()
def run(
    experiment: Annotated[
        str | None, typer.Argument(metavar="EXPERIMENT", help="A built-in name, or a YAML file.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Run every built-in experiment.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Check the file and print its trials.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Print the built-in experiments.")] = False,
    platform: Annotated[
        str | None, typer.Option(help="host (needs root) or guest; the best by default.")
    ] = None,
    repetitions: Annotated[int | None, typer.Option(min=1, help="Replace the file's number.")] = None,
    seed: Annotated[int | None, typer.Option(help="Replace the file's seed.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Run trials with this in their name.")
    ] = None,
    results: ResultsOption = RESULTS,
) -> None:
    """Run an experiment and report its verdicts.

    Exit status: 0 if the run ended as its file states, 1 if it is partial, 2 if the file is wrong,
    3 if a check did not hold or cannot be judged, 130 after Ctrl-C.
    """
    changes = {"repetitions": repetitions, "seed": seed}
    given = {name: value for name, value in changes.items() if value is not None}
    if list_:
        _print_experiments()
        return
    if (experiment is None) != all_:
        raise InvalidInput.of("experiment", "expected a name such as figure-18, a file, or --all")
    if check:
        _print_trials(experiment, given)
        return
    from mininet_topos.experiments.report import judge_run
    from mininet_topos.experiments.runner import RunOptions, run_all, run_experiment

    options = RunOptions(platform, tuple(only or ()), results, given)
    if experiment is None:
        judged = [_show(one) for one in run_all(options)]
        raise typer.Exit(max(judged, default=0))
    folder, status = run_experiment(experiment, options)
    differs = _show(judge_run(folder))
    raise typer.Exit(status or differs)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, or of an experiment's runs.")],
) -> None:
    """Write the report of a run again.

    Exit status 3 if a check did not hold or cannot be judged.
    """
    from mininet_topos.experiments.report import judge_run, write_report
    from mininet_topos.experiments.results import RUN_FILE

    runs = (
        [run] if (run / RUN_FILE).is_file() else [file.parent for file in sorted(run.glob(f"*/{RUN_FILE}"))]
    )
    if not runs:
        raise InvalidInput.of("RUN", f"{run}: no run; expected a folder such as results/figure-18")
    write_report(runs[-1])
    raise typer.Exit(_show(judge_run(runs[-1])))


def _print_experiments() -> None:
    from mininet_topos.experiments.loading import BUILT_IN, load_experiment

    found = [load_experiment(name).experiment for name in BUILT_IN.names()]
    shown = [one.model_dump(mode="json", include={"experiment", "title", "source"}) for one in found]
    if not print_document(shown):
        print_items(shown, "experiment source title", "No built-in experiments.")


def _print_trials(experiment: str | None, changes: dict[str, Any]) -> None:
    from mininet_topos.experiments.loading import BUILT_IN
    from mininet_topos.experiments.plan import plan_trials
    from mininet_topos.experiments.runner import load_checked

    names = BUILT_IN.names() if experiment is None else (experiment,)
    trials = {}
    for name in names:
        read, topo = load_checked(name, changes)
        trials[read.experiment.experiment] = [trial.key for trial in plan_trials(read.experiment, topo)]
    if print_document(trials):
        return
    for name, keys in trials.items():
        typer.echo(f"{name}: {len(keys)} trials")
        for key in keys if experiment is not None else ():
            typer.echo(f"  {key}")


def _show(run: JudgedRun) -> int:
    """Print the verdicts of a run; return the exit status."""
    from mininet_topos.experiments.report import REPORT_FILE
    from mininet_topos.experiments.verdicts import Conclusion

    document = {
        "experiment": run.info.experiment,
        "folder": str(run.folder),
        "conclusion": run.conclusion.value,
        "checks": [asdict(one) for one in run.verdicts],
    }
    if not print_document(document):
        typer.echo(f"{run.info.experiment}: {run.conclusion.value}")
        rows = ((one.outcome.value, one.claim, one.paper or "-", one.found) for one in run.verdicts)
        print_table(("Outcome", "Check", "Paper", "Found"), rows, "The file has no checks.")
        typer.echo(f"report: {run.folder / REPORT_FILE}")
    fine = (Conclusion.HELD, Conclusion.HELD_WITH_DISCREPANCIES, Conclusion.UNCHECKED)
    return 0 if run.conclusion in fine else EXIT_DIFFERS
