"""Backtest of a template with the databases on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from adon.broker.flow import Flow
from adon.config import Configuration
from adon.errors import InvalidInput, Unavailable
from adon.explain.backtest.comparison import Backtest, Compared, backtest, ways, ways_then
from adon.explain.backtest.past import Past, alarms_between
from adon.explain.backtest.run import Run
from adon.templates_catalog.catalog import Catalog
from adon.units import format_duration, format_share
from apps.cli.document_printer import print_items
from apps.cli.local_databases import open_state
from apps.cli.value_format import format_cell
from measurement.archive import Archive
from measurement.errors import ArchiveError
from measurement.model import Measurement

if TYPE_CHECKING:
    from adon.store.store import Store
    from adon.templates_catalog.model import Template

PAGE = 500
MOST_RESULTS = 5_000_000
DAY_S = 86_400.0
MODEL = (
    "Model: a path carries the sum of its last throughput test and the flows during it; transfers share this "
    "evenly by streams. The network has no failures, hosts and disks have no limits."
)


@dataclass(frozen=True, slots=True)
class Sources:
    """Databases and limits of a backtest.

    :ivar data: folder of the databases that have no URL.
    :ivar most_results: largest number of measurements.
    """

    configuration: Configuration
    data: Path | None
    store: str | None
    archive: str | None
    most_results: int | None


def run_backtest(template: Template, sources: Sources, since: float, until: float) -> Backtest:
    """Replay the flows of a period with the present and with another version of a template.

    :raises InvalidInput: if there are more measurements than the limit.
    :raises Unavailable: if a database cannot be opened.
    """
    data = sources.data if sources.store is None else None
    with open_state(data, sources.store) as store, _open_archive(sources) as archive:
        catalog = Catalog.of(saved.template for saved in store.templates())
        window = sources.configuration.measurements.window
        past = Past(
            since,
            until,
            tuple(_flows(store, since - DAY_S)),
            tuple(_measurements(archive, since - window, until, sources.most_results or MOST_RESULTS)),
            _alarms(archive, since, until),
        )
        circuits = store.circuits()
    return backtest(sources.configuration, catalog, past, template, circuits)


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
def _open_archive(sources: Sources) -> Iterator[Archive]:
    """Open the measurement archive for reading: by URL, as configured, or the file in the data folder.

    :raises InvalidInput: if nothing says where it is.
    :raises Unavailable: if it cannot be opened.
    """
    configured = sources.configuration.measurements.archive_url
    file = None if sources.data is None else sources.data / "measurements.db"
    where = sources.archive or configured or file
    if where is None:
        raise InvalidInput.of("archive", "is required; --data DIR or --archive URL")
    try:
        with Archive(where, readonly=True) as archive:
            yield archive
    except ArchiveError as error:
        raise Unavailable(str(error)) from error


# -- output ----------------------------------------------------------------------------------------------

COLUMNS = (
    "flow size_bytes happened.paths happened.took_seconds present.paths present.violated_seconds"
    " present.took_seconds proposed.paths proposed.violated_seconds proposed.took_seconds saved_seconds"
)


def format_backtest(found: Backtest) -> dict[str, Any]:
    """Return the comparison as plain JSON values; times in seconds since the epoch."""
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
    spans = run.violations(until)
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


def print_backtest(found: Mapping[str, Any]) -> None:
    """Print the comparison as a table with its sums."""
    print_items(found["flows"], COLUMNS, "No flows in this time.")
    if not found["flows"]:
        return
    flows, present, proposed = len(found["flows"]), found["present"], found["proposed"]
    typer.echo(f"{found['moved']} of {flows} flows take another path with {proposed}")
    for name, side in ((present, "present"), (proposed, "proposed")):
        runs = [one[side] for one in found["flows"]]
        times = sum(one["violations"] for one in runs)
        span = format_duration(sum(one["violated_seconds"] for one in runs))
        typer.echo(f"QSpec violated with {name}: {times} times, {span}")
    saved = format_cell("saved_seconds", found["saved_seconds"])
    typer.echo(f"time from request to end that is saved: {saved} in all")
    if found["model_off_by"] is not None:
        off = format_share(found["model_off_by"])
        typer.echo(f"with {present} the model differs from the observation by {off}")
    typer.echo(found["model"])
