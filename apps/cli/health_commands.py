"""``adon health``: how well instances reach each other, from rounds of probes; needs no server ([HEALTH]).

A round is kept as a file in the folder of rounds; all other commands read it, the latest if none is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.common import EXIT_DIFFERS, option_errors, print_table, write
from apps.cli.document_printer import CommandGroup, print_document, print_items, show_object
from apps.cli.health_probe import probe
from apps.cli.health_rounds import ROUNDS, RoundFile, Rounds, read_round, summarise_round
from apps.cli.value_format import format_score

if TYPE_CHECKING:
    from measurement.health.diagnostics import Diagnosis, Step
    from measurement.health.instance_selection import Direction
    from measurement.health.model import Pair
    from measurement.health.record import RoundRecord
    from measurement.health.regression import DataSet

app = CommandGroup("Network health between instances.")

MOST_ROWS = 40

app.command()(probe)

Out = Annotated[Path | None, typer.Option("--out", metavar="FILE.html", help="Write the page here.")]
MOST_ROUNDS = 200
"""Largest number of rounds of a diagnosis."""


@app.command()
def show(
    file: RoundFile = None,
    rounds: Rounds = ROUNDS,
    all_: Annotated[
        bool, typer.Option("--all", help=f"All pairs, not the {MOST_ROWS} unhealthiest.")
    ] = False,
) -> None:
    """Show a round: results, failures and health, the worst first."""
    from measurement.model import to_json

    record = read_round(file, rounds)
    if print_document(to_json(record)):
        return
    for line in summarise_round(record):
        typer.echo(line)
    ranked = sorted(record.scores, key=lambda pair: (_total_health(record, pair), pair))
    shown = ranked if all_ else ranked[:MOST_ROWS]
    print_table(
        ("From", "To", "Health", "Throughput", "ICMP", "UDP", "TCP", "Measured", "Problem"),
        (_row(record, pair) for pair in shown),
        "no pair has a score",
    )
    if len(shown) < len(ranked):
        typer.echo(f"{len(ranked) - len(shown)} healthier pairs are not shown: --all")


def _total_health(record: RoundRecord, pair: Pair) -> float:
    total = record.scores[pair].total
    return 2.0 if total is None else total


def _row(record: RoundRecord, pair: Pair) -> tuple[str, ...]:
    import statistics

    from adon.units import format_rate
    from measurement.health.pair_scores import Part

    its = record.scores[pair]
    rates = record.found[pair].throughput if pair in record.found else ()
    parts = (its.parts.get(part) for part in Part)
    wrong = ["timed out"] if its.timed_out else []
    wrong += [f"{one.marker}: {one.why}" for one in record.fired.get(pair, ())]
    measured = format_rate(statistics.fmean(rates)) if rates else "-"
    return (*pair, format_score(its.total), *map(format_score, parts), measured, "; ".join(wrong) or "-")


@app.command()
def choose(
    file: RoundFile = None,
    rounds: Rounds = ROUNDS,
    place: Annotated[
        str | None, typer.Option("--towards", metavar="NAME", help="By their health towards this instance.")
    ] = None,
    among: Annotated[bool, typer.Option("--mutually", help="By their health among each other.")] = False,
    count: Annotated[int, typer.Option("-k", "--count", help="Number of instances.")] = 8,
    direction: Annotated[
        str | None, typer.Option(help="With --towards: data flow from it, to it, or both (default).")
    ] = None,
    worst: Annotated[
        bool, typer.Option("--worst", help="The unhealthiest instances, for comparison.")
    ] = False,
) -> None:
    """Choose the k healthiest instances of a round."""
    from measurement.health.instance_selection import mutually, towards
    from measurement.health.pair_scores import around

    if (place is None) == (not among):
        raise InvalidInput.of("--towards", "is required; --towards NAME or --mutually")
    if direction is not None and among:
        raise InvalidInput.of("--direction", "works only with --towards; --mutually uses both directions")
    way = _direction(direction or "both")
    record = read_round(file, rounds)
    with option_errors("--count"):
        if place is not None:
            if place not in {one.name for one in record.instances}:
                raise InvalidInput.of("--towards", f"{place} is not an instance of the round")
            chosen = towards(place, around(place, record.found), count, way, worst=worst)
        else:
            chosen = mutually(record.scores, count, worst=worst)
    if print_document(
        {
            "instances": list(chosen.instances),
            "health": chosen.health,
            "bound": chosen.bound,
        }
    ):
        return
    for name in chosen.instances:
        typer.echo(name)
    typer.echo(f"mean health {chosen.health:.3f}", err=True)
    if among:
        than = "below" if worst else "above"
        typer.echo(f"no set is {than} {chosen.bound:.3f}", err=True)


def _direction(text: str) -> Direction:
    from measurement.health.instance_selection import Direction

    try:
        return Direction(text)
    except ValueError:
        raise InvalidInput.of("--direction", f"{text!r} is none of {', '.join(Direction)}") from None


@app.command()
def markers(file: RoundFile = None, rounds: Rounds = ROUNDS) -> None:
    """Compare a round with earlier ones.

    Exit status 3 if a marker fires.
    """
    record = read_round(file, rounds)
    fired = [(pair, one) for pair, its in sorted(record.fired.items()) for one in its]
    document = [
        {"source": pair.source, "destination": pair.destination, "marker": one.marker, "why": one.why}
        for pair, one in fired
    ]
    if not print_document(document):
        print_items(document, "source destination marker why", "No marker fired.")
    if fired:
        raise typer.Exit(EXIT_DIFFERS)


# -- pages and predictors ------------------------------------------------------------------------------


@app.command("map")
def map_(file: RoundFile = None, rounds: Rounds = ROUNDS, out: Out = None) -> None:
    """Show the mean health between zones, or a heat map with --out."""
    record = read_round(file, rounds)
    if out is not None:
        from apps.health.pages import map_page

        write(out, map_page(record), "--out")
        _print_written(out)
        return
    zones, means = zone_means(record)
    if print_document({"zones": zones, "health": means}):
        return
    rows = (
        (name or "-", *("-" if one is None else f"{one:.2f}" for one in row))
        for name, row in zip(zones, means, strict=True)
    )
    print_table(("From \\ to", *(zone or "-" for zone in zones)), rows, "nothing is known")


def zone_means(record: RoundRecord) -> tuple[list[str], list[list[float | None]]]:
    """Return the zones, and the mean health from each (row) to each (column); None if unknown."""
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


@app.command()
def report(
    out: Annotated[Path, typer.Option("--out", metavar="FILE.html", help="Write the page here.")],
    file: RoundFile = None,
    rounds: Rounds = ROUNDS,
    place: Annotated[
        str | None, typer.Option("--towards", metavar="NAME", help="Choose by the health towards this one.")
    ] = None,
    count: Annotated[int, typer.Option("-k", "--count", min=2, help="Number of instances.")] = 8,
) -> None:
    """Write a report about a round as one page.

    The page has map, graph, markers, choice of instances, and predictors, which need earlier rounds.
    """
    from apps.health.pages import report as page
    from apps.health.pages import selection

    record = read_round(file, rounds)
    with option_errors("--towards"):
        chosen = selection(record, place, count)
    write(out, page(record, chosen, _diagnose_rounds(record, rounds)), "--out")
    _print_written(out)


def _diagnose_rounds(record: RoundRecord, rounds: Path) -> Diagnosis | None:
    """Return the diagnosis of the rounds up to this one; None if they are too few or too similar."""
    from measurement.health.datasets import of_rounds
    from measurement.health.diagnostics import diagnose
    from measurement.health.history import History

    with option_errors("--rounds"):
        before = [one for one in History(rounds).latest(MOST_ROUNDS) if one.began <= record.began]
    try:
        return diagnose(of_rounds(before))
    except ValueError as error:
        typer.echo(f"without diagnostics: {error}", err=True)
        return None


@app.command()
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
) -> None:
    """Find the health metrics that predict an observed quantity.

    The result has AIC steps with p-values and the adjusted R² of all subsets.  Without TABLE, the metrics of
    each pair in a round predict its throughput in the next.  --out adds a page with residuals and a Q-Q plot.
    """
    from measurement.health.diagnostics import diagnose

    data = _data(table, response, metric or [], rounds)
    with option_errors("TABLE" if table is not None else "--rounds"):
        found = diagnose(data)
    if out is not None:
        from apps.health.pages import diagnosis_page

        write(out, diagnosis_page(found), "--out")
    show_object(_document(found))


def _data(table: Path | None, response: str | None, metrics: list[str], rounds: Path) -> DataSet:
    from measurement.health.datasets import of_file, of_rounds
    from measurement.health.history import History

    if table is None:
        if response is not None or metrics:
            raise InvalidInput.of("--response", "requires a TABLE")
        with option_errors("--rounds"):
            return of_rounds(History(rounds).latest(MOST_ROUNDS))
    if response is None:
        raise InvalidInput.of("--response", "is required with a table; the name of the observed column")
    with option_errors("TABLE"):
        return of_file(table, response, metrics)


def _document(found: Diagnosis) -> dict[str, object]:
    def steps(found: Sequence[Step]) -> list[dict[str, object]]:
        return [
            {"metric": one.metric, "aic": one.aic, "p_value": one.p_value, "metrics": one.metrics}
            for one in found
        ]

    return {
        "response": found.data.response,
        "rows": len(found.data.observed),
        "left_out": found.data.left_out,
        "forward": steps(found.forward),
        "backward": steps(found.backward),
        "selected": {"forward": found.selected[0], "backward": found.selected[1]},
        "subsets": [
            {"metrics": one.metrics, "adjusted_r_squared": one.adjusted, "aic": one.aic}
            for one in found.subsets
        ],
    }


def _print_written(out: Path) -> None:
    if not print_document({"file": str(out)}):
        typer.echo(f"{out}: written")
