"""``adon template backtest``: what happened, out of the databases; what came of it, for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from adon.broker.flow import Flow
from adon.config import Configuration
from adon.errors import InvalidInput, Unavailable
from adon.explain.backtest.comparison import Backtest, Compared, ways, ways_then
from adon.explain.backtest.past import Past, alarms_between
from adon.explain.backtest.run import Run
from adon.units import format_duration, format_share, format_size, parse_duration
from apps.cli.common import print_table
from measurement.archive import Archive
from measurement.errors import ArchiveError
from measurement.model import Measurement

if TYPE_CHECKING:
    from adon.store.store import Store

PAGE = 500
MOST_RESULTS = 5_000_000
DAY_S = 86_400.0
MODEL = (
    "Model: a path carries the sum of its last throughput test and the flows during it; transfers share this "
    "evenly by streams. The network has no failures, hosts and disks have no limits."
)


def moment(text: str, now: float, option: str) -> float:
    """A time as ``2026-11-21T02:00:00Z``, or how long ago it was, as ``7 d``.

    :raises InvalidInput: for another text.
    """
    from adon.api.base import parse_utc

    try:
        return now - parse_duration(text)
    except ValueError:
        pass
    try:
        return parse_utc(text)
    except ValueError as error:
        raise InvalidInput.of(option, f"{error}, and not a duration such as '7 d'") from None


def past_of(
    store: Store, archive: Archive, window: float, since: float, until: float, most: int = MOST_RESULTS
) -> Past:
    """What happened in this time, and what was known of the paths when it began.

    :param window: seconds of measurements before it.
    :raises InvalidInput: if there are more results than ``most``.
    """
    flows = tuple(_flows(store, since - DAY_S))
    measured = tuple(_measurements(archive, since - window, until, most))
    return Past(since, until, flows, measured, _alarms(archive, since, until))


def _flows(store: Store, since: float) -> Iterator[Flow]:
    """The flows asked for since then, the newest first."""
    before: int | None = None
    while True:
        page = store.flows(limit=PAGE, before=before)
        yield from (flow for flow in page if flow.submitted_at >= since)
        if len(page) < PAGE or all(flow.submitted_at < since for flow in page):
            return
        before = page[-1].number


def _measurements(archive: Archive, since: float, until: float, most: int) -> list[Measurement]:
    found = archive.query(since=since, until=until, limit=most + 1)
    if len(found) > most:
        raise InvalidInput.of("since", f"there are more than {most} measurements: replay a shorter time")
    return sorted(found, key=lambda one: (one.observed_at, str(one.series), one.source))


def _alarms(archive: Archive, since: float, until: float) -> Any:
    from measurement.anomaly.alarm import Alarm
    from measurement.model import from_json

    documents = archive.documents("alarm", since=since, until=until, limit=MOST_RESULTS)
    return alarms_between((from_json(Alarm, document) for document in documents), since, until)


@contextmanager
def archive_of(configuration: Configuration, data: Path | None, url: str | None) -> Iterator[Archive]:
    """The measurement archive, for reading: by URL, as configured, or the file in the data folder.

    :raises InvalidInput: if nothing says where it is.
    :raises Unavailable: if it cannot be opened.
    """
    configured = configuration.measurements.archive_url
    where = url or configured or (None if data is None else data / "measurements.db")
    if where is None:
        raise InvalidInput.of("archive", "is required; --data DIR or --archive URL")
    try:
        with Archive(where, readonly=True) as archive:
            yield archive
    except ArchiveError as error:
        raise Unavailable(str(error)) from error


# -- for people -----------------------------------------------------------------------------------------


def to_json(found: Backtest) -> dict[str, Any]:
    """The comparison as plain JSON values; times in seconds since the epoch."""
    return {
        "since": found.since,
        "until": found.until,
        "present": found.present,
        "proposed": found.proposed,
        "model": MODEL,
        "moved": found.moved,
        "saved_seconds": found.saved,
        "model_off_by": found.off,
        "flows": [_flow_json(one, found.until) for one in found.flows],
    }


def _flow_json(one: Compared, until: float) -> dict[str, Any]:
    return {
        "flow": one.then.id,
        "template": one.then.template,
        "size_bytes": one.then.request.size,
        "submitted_at": one.then.submitted_at,
        "happened": {"paths": list(ways_then(one.then, until)), "took_seconds": one.happened},
        "present": _run_json(one.present, until),
        "proposed": _run_json(one.proposed, until),
        "moved": one.moved,
        "saved_seconds": one.saved,
    }


def _run_json(run: Run, until: float) -> dict[str, Any]:
    spans = run.violated(until)
    return {
        "template": run.template,
        "state": run.state,
        "refused": run.refused,
        "paths": list(ways(run)),
        "moves": run.moves,
        "violations": len(spans),
        "violated_seconds": sum(end - since for since, end in spans),
        "took_seconds": run.took,
    }


def show(found: Backtest) -> None:
    """The comparison as a table, and what it comes to."""
    rows = (
        (
            one.then.id,
            format_size(one.then.request.size),
            _way(ways_then(one.then, found.until)),
            _took(one.happened),
            *_run(one.present, found.until),
            *_run(one.proposed, found.until),
            _saved(one.saved),
        )
        for one in found.flows
    )
    columns = ("Flow", "Size", "Really", "Took", "Present", "Violated", "Takes", "New", "Violated", "Takes")
    print_table((*columns, "Saved"), rows, "no flow was asked for in this time")
    if not found.flows:
        return
    sides = [
        found.violations([getattr(one, side) for one in found.flows]) for side in ("present", "proposed")
    ]
    told = ", ".join(
        f"{name} {times} times, {format_duration(span)}"
        for name, (times, span) in zip((found.present, found.proposed), sides, strict=True)
    )
    typer.echo(f"{found.moved} of {len(found.flows)} flows take another path with {found.proposed}")
    typer.echo(f"QSpec violated: {told}")
    typer.echo(f"time from request to end: {_saved(found.saved)} in all")
    if found.off is not None:
        typer.echo(
            f"with {found.present} the model differs from the observation by {format_share(found.off)}"
        )
    typer.echo(MODEL)


def _run(run: Run, until: float) -> tuple[str, str, str]:
    if run.refused:
        return f"refused: {run.refused}", "-", "-"
    spans = run.violated(until)
    span = format_duration(sum(end - since for since, end in spans)) if spans else "-"
    return _way(ways(run)), span, run.state if run.took is None else _took(run.took)


def _way(paths: tuple[str, ...]) -> str:
    return " > ".join(paths) or "-"


def _took(seconds: float | None) -> str:
    return "-" if seconds is None else format_duration(seconds)


def _saved(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if abs(seconds) < 0.05:
        return "the same"
    return f"{format_duration(abs(seconds))} {'saved' if seconds > 0 else 'lost'}"
