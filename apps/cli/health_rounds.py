"""Rounds of probes: their folder, and a summary of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli.common import option_errors
from apps.cli.value_format import format_time

if TYPE_CHECKING:
    from measurement.health.record import RoundRecord

Rounds = Annotated[
    Path,
    typer.Option("--rounds", envvar="ADON_HEALTH_ROUNDS", metavar="DIR", help="The folder of rounds."),
]
ROUNDS = Path("health-rounds")
RoundFile = Annotated[
    Path | None,
    typer.Argument(metavar="[ROUND]", help="A round's file (default: the latest of the folder)."),
]


def read_round(file: Path | None, rounds: Path) -> RoundRecord:
    """Return the round of a file, or the latest of a folder.

    :raises InvalidInput: if there is no round, or the file has none.
    """
    from measurement.health.history import History, read

    with option_errors("ROUND" if file is not None else "--rounds"):
        if file is not None:
            return read(file)
        latest = History(rounds).latest(1)
    if not latest:
        raise InvalidInput.of("--rounds", f"{rounds}: no round; adon health probe creates one")
    return latest[0]


def summarise_round(record: RoundRecord) -> list[str]:
    """Return a round in a few lines."""
    from measurement.health.train_verification import mean_error

    found = f"{len(record.found)} of {len(record.planned)} pairs found"
    lines = [
        f"round of {format_time(record.began)}, {record.ended - record.began:.1f} s",
        f"{record.profile} of {len(record.instances)} instances, {found}",
    ]
    if record.interrupted:
        lines.append(f"ended early: {record.interrupted}")
    if record.failures:
        lines.append(f"{len(record.failures)} probes without result")
    if record.carried:
        lines.append(f"the throughput of {len(record.carried)} pairs is of an earlier round")
    if record.translated:
        lines.append(
            f"between the instances of {len(record.translated)} pairs addresses are translated (NAT)"
        )
    if (error := mean_error(record)) is not None:
        lines.append(f"trains are {error:.1%} off the transfers of {len(record.verified)} pairs (mean)")
    return lines
