"""``adon experiment run``: carry an experiment out on a test network of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apps.cli import experiment_files
from apps.cli.common import print_json

if TYPE_CHECKING:
    from rich.console import Console

    from adon.experiments.reading import Source
    from adon.experiments.standing import Standing
    from apps.experiments.preparing import Wanted

FINE, NOT_FINE, INTERRUPTED = 0, 1, 130


def run(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME|FILE|RUN", help="A built-in one, a file, or a run's folder."),
    ],
    seed: Annotated[int | None, typer.Option(help="Another seed than the file's.")] = None,
    repetitions: Annotated[int | None, typer.Option(help="Another number than the file's.")] = None,
    platform: Annotated[
        str | None,
        typer.Option(help="host-kernel, host-user, guest, or host (default: the best this machine has)."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY[/KEY=VALUE,...]",
            help="Only the trials of a policy (ours), or with values of the sweep, too "
            "('ours/soykb.size=25 GB'); '/case=near' is of every policy.  May be said several times.",
        ),
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where runs are kept (default: results).")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not tell what happens in trials.")] = False,
    json_: Annotated[
        bool,
        typer.Option(
            "--json", help="At the end the run's folder, standing, checks and figures; progress on stderr."
        ),
    ] = False,
) -> None:
    """Carry an experiment out: real switches, real bytes, ADON or another policy deciding.

    Keeps everything it finds in results/NAME/RUN, with a report to be looked at in a browser.

    Exit status: 0 if every check held, 1 if one did not or cannot be told, or the run is partial, 2 if the
    file is wrong, 130 if it was interrupted.  Ctrl-C removes all that it built, and keeps what was found by
    then.
    """
    from rich.console import Console

    from apps.experiments.folder import RESULTS
    from apps.experiments.preparing import Wanted

    wanted = Wanted(platform, tuple(only or ()), RESULTS if results is None else results)
    source = _changed(name, seed, repetitions)
    raise typer.Exit(carried_out(source, wanted, Console(stderr=json_), quiet=quiet, as_json=json_))


def carried_out(
    source: Source, wanted: Wanted, console: Console, *, quiet: bool, as_json: bool = False
) -> int:
    """Run it, write its report, tell what became of it; the exit status."""
    from adon.experiments.standing import Standing
    from apps.experiments.interrupting import Interruption
    from apps.experiments.preparing import prepare
    from apps.experiments.progress import progressing
    from apps.experiments.run import carry_out

    interruption = Interruption(lambda text: typer.echo(text, err=True))
    try:
        with interruption.watched():
            prepared = prepare(source, wanted)
            with progressing(console, quiet=quiet) as progress:
                path, _ = carry_out(prepared, progress, interruption)
            standing = _told(path, as_json=as_json)
    except KeyboardInterrupt:
        typer.echo("interrupted before anything was built", err=True)
        return INTERRUPTED
    if interruption.came:
        return INTERRUPTED
    return FINE if standing in (Standing.HELD, Standing.HELD_BUT, Standing.UNCHECKED) else NOT_FINE


def _told(path: Path, *, as_json: bool) -> Standing:
    """Write the report of a run and tell what came of its checks.

    :raises Unavailable: if the report cannot be written.
    """
    from adon.errors import Unavailable
    from adon.experiments.measures import Observed
    from adon.experiments.standing import standing
    from adon.experiments.verdicts import verdicts
    from apps.cli.experiment_told import findings, findings_json
    from apps.experiments import folder
    from apps.experiments.atomic import write_text
    from apps.experiments.report import page

    source, found = folder.document(path), folder.read(path)
    experiment, file = source.experiment, path / folder.REPORT
    judged = verdicts(experiment, Observed.of(found))
    try:
        write_text(file, page(experiment, found, source.text))
    except OSError as error:
        raise Unavailable(f"{file}: cannot be written: {error.strerror}; the run is kept") from error
    if as_json:
        print_json({**findings_json(experiment, found, judged), "folder": str(path), "file": str(file)})
    else:
        typer.echo("\n".join(findings(found, judged)))
        typer.echo(f"{file}: written")
    return standing(found.about, judged)


def _changed(name: str, seed: int | None, repetitions: int | None) -> Source:
    _, source = experiment_files.experiment_of(name)
    changes = {"seed": seed, "repetitions": repetitions}
    wanted = {field: value for field, value in changes.items() if value is not None}
    return source.changed(**wanted) if wanted else source
