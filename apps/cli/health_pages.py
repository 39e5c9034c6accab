"""``adon health map``, ``report`` and ``diagnose``: rounds as pictures, and what they predict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.common import JsonFlag, print_json, print_table, write
from apps.cli.rounds import ROUNDS, RoundFile, Rounds, the_round, told

if TYPE_CHECKING:
    from measurement.health.diagnostics import Diagnosis
    from measurement.health.record import RoundRecord
    from measurement.health.regression import DataSet

Out = Annotated[Path | None, typer.Option("--out", metavar="FILE.html", help="Write the page here.")]
MOST_ROUNDS = 200
"""Of a history that a diagnosis takes in."""


def map_(file: RoundFile = None, rounds: Rounds = ROUNDS, out: Out = None, json_: JsonFlag = False) -> None:
    """Show the mean health between zones, or a heat map with --out."""
    record = the_round(file, rounds)
    if out is not None:
        from apps.health.pages import map_page

        write(out, map_page(record), "--out")
        _tell_written(out, json_=json_)
        return
    zones, means = zone_means(record)
    if json_:
        print_json({"zones": zones, "health": means})
        return
    rows = (
        (name or "-", *("-" if one is None else f"{one:.2f}" for one in row))
        for name, row in zip(zones, means, strict=True)
    )
    print_table(("From \\ to", *(zone or "-" for zone in zones)), rows, "nothing is known")


def zone_means(record: RoundRecord) -> tuple[list[str], list[list[float | None]]]:
    """The zones, and the mean health from each (row) to each (column); None where nothing is known."""
    import statistics

    of = record.zones
    zones = sorted({*of.values()})
    totals: dict[tuple[str, str], list[float]] = {}
    for pair, score in record.scores.items():
        if score.total is not None:
            totals.setdefault((of[pair.source], of[pair.destination]), []).append(score.total)
    return zones, [
        [statistics.fmean(its) if (its := totals.get((row, column))) else None for column in zones]
        for row in zones
    ]


def report(
    out: Annotated[Path, typer.Option("--out", metavar="FILE.html", help="Write the page here.")],
    file: RoundFile = None,
    rounds: Rounds = ROUNDS,
    place: Annotated[
        str | None, typer.Option("--towards", metavar="NAME", help="Choose by the health towards this one.")
    ] = None,
    count: Annotated[int, typer.Option("-k", "--count", min=2, help="Number of instances.")] = 8,
    json_: JsonFlag = False,
) -> None:
    """Write a report about a round as one page.

    The page has map, graph, markers, choice of instances, and predictors, which need earlier rounds.
    """
    from apps.health.pages import report as page
    from apps.health.pages import selection

    record = the_round(file, rounds)
    with told("--towards"):
        chosen = selection(record, place, count)
    write(out, page(record, chosen, _next(record, rounds)), "--out")
    _tell_written(out, json_=json_)


def _next(record: RoundRecord, rounds: Path) -> Diagnosis | None:
    """What the rounds up to this one predict; None where they are too few, or too much alike."""
    from measurement.health.datasets import of_rounds
    from measurement.health.diagnostics import diagnosed
    from measurement.health.history import History

    with told("--rounds"):
        before = [one for one in History(rounds).latest(MOST_ROUNDS) if one.began <= record.began]
    try:
        return diagnosed(of_rounds(before))
    except ValueError as error:
        typer.echo(f"without diagnostics: {error}", err=True)
        return None


def diagnose(
    table: Annotated[
        Path | None, typer.Argument(metavar="[TABLE]", help="CSV (default: the folder of rounds).")
    ] = None,
    response: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Observed quantity, such as a job's time.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Possible predictor (default: all others).")
    ] = None,
    rounds: Rounds = ROUNDS,
    out: Out = None,
    json_: JsonFlag = False,
) -> None:
    """Find the health metrics that predict an observed quantity.

    The result has AIC steps with p-values and the adjusted R² of all subsets.  Without TABLE, the metrics of
    each pair in a round predict its throughput in the next.  --out adds a page with residuals and a Q-Q plot.
    """
    from measurement.health.diagnostics import diagnosed

    data = _data(table, response, metric or [], rounds)
    with told("TABLE" if table is not None else "--rounds"):
        found = diagnosed(data)
    if out is not None:
        from apps.health.pages import diagnosis_page

        write(out, diagnosis_page(found), "--out")
    if json_:
        print_json(_document(found))
        return
    _print(found)
    if out is not None:
        _tell_written(out, json_=False)


def _data(table: Path | None, response: str | None, metrics: list[str], rounds: Path) -> DataSet:
    from measurement.health.datasets import of_file, of_rounds
    from measurement.health.history import History

    if table is None:
        if response is not None or metrics:
            raise InvalidInput.of("--response", "requires a TABLE")
        with told("--rounds"):
            return of_rounds(History(rounds).latest(MOST_ROUNDS))
    if response is None:
        raise InvalidInput.of("--response", "is required with a table; the name of the observed column")
    with told("TABLE"):
        return of_file(table, response, metrics)


def _print(found: Diagnosis) -> None:
    from apps.health.pages import p_text

    data = found.data
    left = f" ({data.left_out} more left out)" if data.left_out else ""
    typer.echo(f"{data.response} by {', '.join(data.metrics)}: {len(data.observed)} rows{left}")
    for title, verb, steps in (("forward", "Added", found.forward), ("backward", "Dropped", found.backward)):
        typer.echo(f"\n{title}")
        rows = (
            (str(number), one.metric, f"{one.aic:.3f}", p_text(one.p_value), ", ".join(one.metrics))
            for number, one in enumerate(steps, 1)
        )
        print_table(("Step", verb, "AIC", "p-value", "Model"), rows, "there is one metric only")
    typer.echo(
        f"\nlowest AIC: {', '.join(found.selected[0])} (forward), {', '.join(found.selected[1])} (backward)"
    )
    typer.echo("\nadjusted R²")
    print_table(
        ("Of", "Metrics"), ((f"{one.adjusted:.4f}", ", ".join(one.metrics)) for one in found.subsets), ""
    )


def _document(found: Diagnosis) -> dict[str, object]:
    def steps(of: str) -> list[dict[str, object]]:
        return [
            {"metric": one.metric, "metrics": one.metrics, "aic": one.aic, "p_value": one.p_value}
            for one in (found.forward if of == "forward" else found.backward)
        ]

    return {
        "response": found.data.response,
        "rows": len(found.data.observed),
        "left_out": found.data.left_out,
        "forward": steps("forward"),
        "backward": steps("backward"),
        "selected": {"forward": found.selected[0], "backward": found.selected[1]},
        "subsets": [
            {"metrics": one.metrics, "adjusted_r_squared": one.adjusted, "aic": one.aic}
            for one in found.subsets
        ],
    }


def _tell_written(out: Path, *, json_: bool) -> None:
    print_json({"file": str(out)}) if json_ else typer.echo(f"{out}: written")
