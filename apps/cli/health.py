"""``adon health``: how well instances reach each other, from rounds of probes; needs no server ([HEALTH]).

A round is kept as a file in the folder of rounds; all other commands read it, the latest if none is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli import health_pages, health_probe
from apps.cli.common import EXIT_DIFFERS, JsonFlag, print_json, print_table
from apps.cli.rounds import ROUNDS, RoundFile, Rounds, summary, the_round, told

if TYPE_CHECKING:
    from measurement.health.choosing import Direction
    from measurement.health.model import Pair
    from measurement.health.record import RoundRecord

app = typer.Typer(
    help="Network health between instances.",
    no_args_is_help=True,
)

MOST_ROWS = 40

app.command()(health_probe.probe)
app.command("map")(health_pages.map_)
app.command()(health_pages.diagnose)
app.command()(health_pages.report)


@app.command()
def show(
    file: RoundFile = None,
    rounds: Rounds = ROUNDS,
    all_: Annotated[
        bool, typer.Option("--all", help=f"All pairs, not the {MOST_ROWS} unhealthiest.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Show a round: results, failures and health, the worst first."""
    record = the_round(file, rounds)
    if json_:
        from measurement.model import to_json

        print_json(to_json(record))
        return
    for line in summary(record):
        typer.echo(line)
    ranked = sorted(record.scores, key=lambda pair: (_known(record, pair), pair))
    shown = ranked if all_ else ranked[:MOST_ROWS]
    print_table(
        ("From", "To", "Health", "Throughput", "ICMP", "UDP", "TCP", "Measured", "Problem"),
        (_row(record, pair) for pair in shown),
        "no pair has a score",
    )
    if len(shown) < len(ranked):
        typer.echo(f"{len(ranked) - len(shown)} healthier pairs are not shown: --all")


def _known(record: RoundRecord, pair: Pair) -> float:
    total = record.scores[pair].total
    return 2.0 if total is None else total


def _row(record: RoundRecord, pair: Pair) -> tuple[str, ...]:
    import statistics

    from adon.units import format_rate
    from apps.cli.words import score
    from measurement.health.scoring import Part

    its = record.scores[pair]
    rates = record.found[pair].throughput if pair in record.found else ()
    parts = (its.parts.get(part) for part in Part)
    wrong = ["timed out"] if its.timed_out else []
    wrong += [f"{one.marker}: {one.why}" for one in record.fired.get(pair, ())]
    measured = format_rate(statistics.fmean(rates)) if rates else "-"
    return (*pair, score(its.total), *map(score, parts), measured, "; ".join(wrong) or "-")


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
    json_: JsonFlag = False,
) -> None:
    """Choose the k healthiest instances of a round."""
    from measurement.health.choosing import mutually, towards
    from measurement.health.scoring import around

    if (place is None) == (not among):
        raise InvalidInput.of("--towards", "is required; --towards NAME or --mutually")
    if direction is not None and among:
        raise InvalidInput.of("--direction", "works only with --towards; --mutually uses both directions")
    way = _direction(direction or "both")
    record = the_round(file, rounds)
    with told("--count"):
        if place is not None:
            if place not in {one.name for one in record.instances}:
                raise InvalidInput.of("--towards", f"{place} is not an instance of the round")
            chosen = towards(place, around(place, record.found), count, way, worst=worst)
        else:
            chosen = mutually(record.scores, count, worst=worst)
    if json_:
        print_json(
            {
                "instances": list(chosen.instances),
                "health": chosen.health,
                "bound": chosen.bound,
            }
        )
        return
    for name in chosen.instances:
        typer.echo(name)
    typer.echo(f"mean health {chosen.health:.3f}", err=True)
    if among:
        than = "below" if worst else "above"
        typer.echo(f"no set is {than} {chosen.bound:.3f}", err=True)


def _direction(text: str) -> Direction:
    from measurement.health.choosing import Direction

    try:
        return Direction(text)
    except ValueError:
        raise InvalidInput.of("--direction", f"{text!r} is none of {', '.join(Direction)}") from None


@app.command()
def markers(file: RoundFile = None, rounds: Rounds = ROUNDS, json_: JsonFlag = False) -> None:
    """Compare a round with earlier ones.

    Exit status 3 if a marker fires.
    """
    record = the_round(file, rounds)
    fired = [(pair, one) for pair, its in sorted(record.fired.items()) for one in its]
    if json_:
        print_json(
            [
                {"source": pair.source, "destination": pair.destination, "marker": one.marker, "why": one.why}
                for pair, one in fired
            ]
        )
    else:
        rows = ((*pair, one.marker.value, one.why) for pair, one in fired)
        print_table(("From", "To", "Marker", "Why"), rows, "no marker fired")
    if fired:
        raise typer.Exit(EXIT_DIFFERS)
