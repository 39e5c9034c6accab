"""Rounds of probes as ``adon health`` reads them, and what it tells of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput, Unavailable

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


_FIELD = re.compile(r"\A[a-z_]+: ")
"""The measurement's own name of what the option names."""


@contextmanager
def told(field: str, *, whole: bool = False) -> Iterator[None]:
    """Within, what the measurement refuses is told by the option or argument it came from.

    :param whole: with the field that it names itself: where the option is a file, of its many fields one.
    """
    try:
        yield
    except ValueError as error:
        raise InvalidInput.of(field, str(error) if whole else _FIELD.sub("", str(error), count=1)) from error
    except OSError as error:
        if error.filename is not None:
            raise InvalidInput.of(field, f"{error.filename}: {error.strerror}") from error
        raise Unavailable(f"{field}: {error}") from error


def the_round(file: Path | None, rounds: Path) -> RoundRecord:
    """The round that is meant.

    :raises InvalidInput: if there is none, or it is none.
    """
    from measurement.health.history import History, read

    with told("ROUND" if file is not None else "--rounds"):
        if file is not None:
            return read(file)
        latest = History(rounds).latest(1)
    if not latest:
        raise InvalidInput.of("--rounds", f"{rounds}: no round; adon health probe creates one")
    return latest[0]


def summary(record: RoundRecord) -> list[str]:
    """A round in a few lines."""
    from apps.cli.times import at
    from measurement.health.verifying import mean_error

    found = f"{len(record.found)} of {len(record.planned)} pairs found"
    lines = [
        f"round of {at(record.began)}, {record.ended - record.began:.1f} s",
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
