"""``adon experiment``: experiments as files, their runs and reports; needs no server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from apps.cli import experiment_files, experiment_run
from apps.cli.common import EXIT_DIFFERS, JsonFlag, print_json, print_table, write
from apps.cli.text_files import check_all

app = typer.Typer(
    help="Experiments on a testbed as files: figures of the papers, and your own.", no_args_is_help=True
)
app.command("run")(experiment_run.run)

ExperimentArgument = Annotated[
    str, typer.Argument(metavar="EXPERIMENT", help="A file, or the name of one of adon experiment list.")
]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's folder, NAME/RUN, or NAME for the last run of it.")
]
ResultsOption = Annotated[Path, typer.Option("--results", metavar="DIR", help="Where runs are kept.")]
RESULTS = Path("results")


@app.command("list")
def list_(
    runs: Annotated[bool, typer.Option("--runs", help="What was run, instead.")] = False,
    results: ResultsOption = RESULTS,
    json_: JsonFlag = False,
) -> None:
    """The experiments that ADON brings; with --runs what was run, and whether it is whole."""
    if runs:
        _list_runs(results, json_)
        return
    from adon.experiments import builtins
    from apps.cli.experiment_told import trials

    found = [(name, builtins.source(name).experiment) for name in builtins.names()]
    if json_:
        print_json(
            [
                {
                    "name": name,
                    "title": its.title,
                    "source": its.source,
                    "follows": its.follows,
                    "network": its.network,
                    "trials": trials(its),
                }
                for name, its in found
            ]
        )
        return
    rows = ((name, its.follows, str(trials(its)), its.title) for name, its in found)
    print_table(("Experiment", "Follows", "Trials", "Title"), rows, "there are none")


def _list_runs(results: Path, json_: bool) -> None:
    from datetime import UTC, datetime

    from adon.errors import InvalidInput
    from apps.experiments import folder

    found = [
        (str(path.relative_to(results)), "damaged", "", str(one))
        if isinstance(one, InvalidInput)
        else (
            f"{one.experiment}/{path.name}",
            one.state.value,
            datetime.fromtimestamp(one.began_at, UTC).isoformat(timespec="seconds"),
            one.why,
        )
        for path, one in folder.runs(results)
    ]
    if json_:
        print_json([dict(zip(("run", "state", "began", "why"), row, strict=True)) for row in found])
    else:
        print_table(("Run", "State", "Began", "Why"), found, f"there are none in {results}")


@app.command()
def show(
    experiment: ExperimentArgument,
    yaml: Annotated[bool, typer.Option("--yaml", help="As it is written, to begin one of your own.")] = False,
    json_: JsonFlag = False,
) -> None:
    """One experiment: its workload, events, what is swept and what must come out."""
    from apps.cli.experiment_told import told, told_json

    text, found = experiment_files.experiment_of(experiment)
    if json_:
        print_json(told_json(found))
    elif yaml:
        typer.echo(text, nl=False)
    else:
        typer.echo("\n".join(told(found)))


@app.command()
def check(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="EXPERIMENT...", help="Files, or names.")
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of a file, for editors.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Check experiments against their networks: every problem with file, line and field."""
    from adon.experiments import reading
    from apps.cli.experiment_told import trials
    from apps.experiments import around

    def checked(name: str) -> tuple[dict[str, object], str]:
        _, found = experiment_files.experiment_of(name)
        around.checked(found, around.network(found))
        its, number = found.experiment.name, trials(found.experiment)
        known = {"name": its, "trials": number, "digest": found.digest()}
        return known, f"{its} is valid: {number} trials"

    if schema:
        print_json(reading.schema())
    else:
        check_all("EXPERIMENT", files, checked, as_json=json_)


@app.command()
def report(
    run: RunArgument,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Not report.html of the run.")
    ] = None,
    results: ResultsOption = RESULTS,
    json_: JsonFlag = False,
) -> None:
    """Write a run's report as one page (HTML), and tell what became of its checks.

    Exit status 3 if a check did not hold, or cannot be told.
    """
    from adon.experiments.measures import Observed
    from adon.experiments.verdicts import Outcome, verdicts
    from apps.cli.experiment_told import findings, findings_json
    from apps.experiments.folder import REPORT
    from apps.experiments.report import page

    path, source, found = experiment_files.run_of(run, results)
    experiment = source.experiment
    file = path / REPORT if out is None else out
    write(file, page(experiment, found, source.text), "--out")
    judged = verdicts(experiment, Observed.of(found))
    if json_:
        print_json({**findings_json(experiment, found, judged), "file": str(file)})
    else:
        typer.echo("\n".join([*findings(found, judged), f"{file}: written"]))
    if any(one.outcome is not Outcome.HELD for one in judged):
        raise typer.Exit(EXIT_DIFFERS)
