"""``adon decision``: one decision, its replay, and the changes that select another path or site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput, NotFound
from adon.units import format_duration, format_share, format_significant
from apps.cli.api_completion import complete
from apps.cli.common import EXIT_OTHER, client, print_table
from apps.cli.document_printer import CommandGroup, print_document, show_object
from apps.cli.value_format import format_score, format_span, format_time, format_value

if TYPE_CHECKING:
    from adon.api.decisions import DecisionView, ForecastView, MetricView, SiteCostView, WhyNotView
    from adon.client import Client
    from apps.cli.recorded_decision import Record

app = CommandGroup("Decisions with candidates, scores and reasons.")

SHOWN_CHANGES = 3
"""Changes that are printed per alternative."""
ORIGINS = {"queue": "T_q", "node_rate": "rate of a node", "result": "result's size", "available": "rate"}

Data = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder with the state's database.")]
Url = Annotated[
    str | None, typer.Option("--store", envvar="ADON_STORE_URL", help="The state's database, if elsewhere.")
]


@app.command()
def show(
    ctx: typer.Context,
    decision: Annotated[
        str,
        typer.Argument(
            help="Id of a decision, or of a flow for its latest.", autocompletion=complete("flow")
        ),
    ],
) -> None:
    """Show a decision: candidates, scores, sites and reason."""
    api = client(ctx)
    found = _latest(api, decision) if decision.startswith("f-") else api.decision(decision)
    if not print_document(found):
        print_decision(found)


def _latest(api: Client, flow: str) -> DecisionView:
    """Return the latest decision about a flow.

    :raises NotFound: if there is no decision about it.
    """
    found = api.decisions(flow)
    if not found:
        raise NotFound("decision", f"about {flow}")
    return found[-1]


@app.command()
def recompute(
    decision: Annotated[str | None, typer.Argument(help="Id of a decision.")] = None,
    data: Data = None,
    store: Url = None,
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="File of --save instead of a database.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the decision's inputs, for another version.")
    ] = None,
) -> None:
    """Replay a recorded decision and compare the results.

    The command reads the database itself, without a server.  The same version of ADON makes the same
    decision.  Another version can decide differently; the output then names both versions.

    Exit status: 0 if they are equal, 1 if not.
    """
    from apps.cli.recorded_decision import replay_record

    record = _read_record(_require(decision, from_), from_, data, store)
    if save is not None:
        record.write(save)
    found = replay_record(record)
    show_object(found.to_json())
    if found.differences:
        raise typer.Exit(EXIT_OTHER)


@app.command("why-not")
def why_not(
    ctx: typer.Context,
    decision: Annotated[str | None, typer.Argument(help="Id of a decision.")] = None,
    data: Data = None,
    store: Url = None,
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="File of recompute --save.")
    ] = None,
) -> None:
    """Print the smallest change that selects another path or site.

    The server computes it, or with --data, --store or --from this command.
    """
    from apps.cli.recorded_decision import search_alternatives

    name = _require(decision, from_)
    if from_ is not None or data is not None or store is not None:
        found = search_alternatives(_read_record(name, from_, data, store))
    else:
        found = _ask_why_not(client(ctx), name)
    if not print_document(found):
        print_why_not(found)


def _ask_why_not(api: Client, decision: str) -> WhyNotView:
    return api.why_not(_latest(api, decision).id if decision.startswith("f-") else decision)


def _require(decision: str | None, file: Path | None) -> str:
    if (decision is None) == (file is None):
        raise InvalidInput.of("decision", "name a decision, or a file with --from")
    return str(decision)


def _read_record(decision: str, file: Path | None, data: Path | None, store: str | None) -> Record:
    from apps.cli.recorded_decision import read_database, read_file

    return read_database(decision, data, store) if file is None else read_file(file)


# -- output ----------------------------------------------------------------------------------------------


def print_decision(decision: DecisionView) -> None:
    """Print a decision with its candidates."""
    where = f" on {decision.path}" if decision.path else ""
    typer.echo(f"{decision.id} {format_time(decision.at)} {decision.flow}: {decision.outcome}{where}")
    typer.echo(decision.reason)
    if decision.alarm is not None:
        typer.echo(f"because of alarm {decision.alarm}")
    if decision.trigger:
        typer.echo(f"because of {decision.trigger}")
    print_candidates(decision)
    if decision.forecast is not None:
        typer.echo(f"expected to take {format_forecast(decision.forecast)}")


def print_candidates(decision: DecisionView) -> None:
    """Print the candidate paths and compute sites of a decision; a star marks the selected ones."""
    candidates = (
        (
            one.path + (" *" if one.path == decision.path else ""),
            one.layer,
            one.verdict,
            format_score(one.q),
            "; ".join(map(_format_metric, one.metrics)),
            one.why,
        )
        for one in decision.candidates
    )
    columns = ("Path", "Layer", "Verdict", "Q", "Metrics (value, age, basis, score x weight)", "Why")
    print_table(columns, candidates, "No candidates.")
    sites = (_site_row(site, decision) for site in decision.compute)
    site_columns = (
        "Site",
        "Where",
        "Path",
        "Cost",
        "T_t total",
        "T_q",
        "T_c",
        "T_n",
        "C_D",
        "Why, and origins",
    )
    print_table(site_columns, sites, "")


def _format_metric(one: MetricView) -> str:
    from apps.ages import age

    if one.value is None:
        return f"{one.metric} unknown ({one.unknown})"
    missed = ", BOUND MISSED" if one.bound_met is False else ""
    origin = ", ".join(part for part in (age(one.age_seconds), one.basis) if part)
    score = f"{format_score(one.score)} x {one.weight:.2f}"
    return f"{one.metric} {format_value(one.value, one.unit)} ({origin}) {score}{missed}"


def _site_row(site: SiteCostView, decision: DecisionView) -> tuple[str, ...]:
    selected = (site.site, site.path) == (decision.compute_site, decision.path)
    return (
        site.site + (" *" if selected else ""),
        "local" if site.local else "remote",
        site.path or "-",
        _format_cost(site),
        *(_format_term(span, site.deviations.get(term)) for term, span in _cost_terms(site)),
        "; ".join(filter(None, (site.why, _format_origins(site.origins)))) or "-",
    )


def _cost_terms(site: SiteCostView) -> Iterator[tuple[str, float | str]]:
    """Yield T_t and the terms of which it is the sum."""
    yield "total", site.total_seconds
    yield "queue", site.queue_seconds
    yield "compute", site.compute_seconds
    yield "network", site.network_seconds
    yield "duplication", site.duplication_seconds


def _format_term(span: float | str, deviation: float | None) -> str:
    return format_span(span) if deviation is None else f"{format_span(span)} ± {format_duration(deviation)}"


def _format_cost(site: SiteCostView) -> str:
    if site.cost == "inf":
        return "impossible"
    deviation = site.deviations.get("cost")
    text = format_significant(site.cost)
    return text if deviation is None else f"{text} ± {format_significant(deviation, 2)}"


def _format_origins(origins: Mapping[str, str]) -> str:
    return ", ".join(f"{ORIGINS.get(term, term)}: {words}" for term, words in origins.items())


def format_forecast(found: ForecastView) -> str:
    """Return ``40 s; 90 % between 20 s and 80 s``."""
    low, high = format_span(found.low_seconds), format_span(found.high_seconds)
    share = format_share(found.coverage)
    return f"{format_span(found.expected_seconds)}; {share} between {low} and {high}"


def print_why_not(found: WhyNotView) -> None:
    """Print the alternatives with their smallest changes."""
    where = " ".join(filter(None, (found.path, found.compute_site and f"with {found.compute_site}")))
    typer.echo(f"{found.decision}: {found.outcome}{' on ' if where else ''}{where}")
    if not found.as_recorded:
        typer.echo(f"made by code {found.code}; the present code {found.this_code} decides differently")
    if not found.alternatives:
        typer.echo("no other candidate")
    for one in found.alternatives:
        name = one.path if one.site is None else f"{one.site} by {one.path}"
        typer.echo(f"{name}: {one.why or one.verdict}")
        for flip in one.flips[:SHOWN_CHANGES]:
            typer.echo(f"  {flip.text}")
        if not one.flips:
            typer.echo(f"  {one.text}")
    typer.echo(f"{found.decisions_made} decisions computed; {len(found.searched)} quantities changed")
