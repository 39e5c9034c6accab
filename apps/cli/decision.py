"""``adon decision``: why a path or a site was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adon.errors import InvalidInput
from apps.cli import completing as offered
from apps.cli import deciding
from apps.cli.common import EXIT_OTHER, JsonFlag, client, print_json, print_table

if TYPE_CHECKING:
    from adon.api.decisions import DecisionView, MetricView, SiteCostView, WhyNotView
    from adon.client import Client

app = typer.Typer(help="Decisions with candidates, scores and reasons.", no_args_is_help=True)


app.command("list")(deciding.list_)


@app.command()
def show(
    ctx: typer.Context,
    decision: Annotated[
        str,
        typer.Argument(help="A decision's id, or a flow's for its latest.", autocompletion=offered.flows),
    ],
    json_: JsonFlag = False,
) -> None:
    """Show a decision: candidates, scores, sites and reason."""
    api = client(ctx)
    body = _latest(api, decision) if decision.startswith("f-") else api.decision(decision)
    if json_:
        print_json(body)
    else:
        print_decision(body)


def _latest(api: Client, flow: str) -> DecisionView:
    """The latest decision about a flow.

    :raises NotFound: if nothing was decided about it.
    """
    from adon.errors import NotFound

    found = api.decisions(flow)
    if not found:
        raise NotFound("decision", f"about {flow}")
    return found[-1]


def _asked(api: Client, decision: str) -> WhyNotView:
    """Why not, as the server says, of a decision or of a flow's latest."""
    return api.why_not(_latest(api, decision).id if decision.startswith("f-") else decision)


def print_decision(decision: DecisionView) -> None:
    """A decision for people."""
    from apps.cli.times import at

    where = f" on {decision.path}" if decision.path else ""
    typer.echo(f"{decision.id} {at(decision.at)} {decision.flow}: {decision.outcome}{where}")
    typer.echo(decision.reason)
    if decision.alarm is not None:
        typer.echo(f"because of alarm {decision.alarm}")
    if decision.trigger:
        typer.echo(f"because of {decision.trigger}")
    print_findings(decision)
    if decision.forecast is not None:
        from apps.cli.words import forecast

        typer.echo(f"expected to take {forecast(decision.forecast)}")


def print_findings(decision: DecisionView) -> None:
    """What was found of each path, and of each compute site."""
    from apps.cli.words import score

    candidates = (
        (
            one.path + (" *" if one.path == decision.path else ""),
            one.layer,
            one.verdict,
            score(one.q),
            "; ".join(map(_metric, one.metrics)),
            one.why,
        )
        for one in decision.candidates
    )
    columns = ("Path", "Layer", "Verdict", "Q", "Metrics (value, age, basis, score x weight)", "Why")
    print_table(columns, candidates, "no candidates")
    if decision.compute:
        _print_sites(decision)


def _metric(one: MetricView) -> str:
    from apps.cli.words import age, score, value

    if one.value is None:
        return f"{one.metric} unknown ({one.unknown})"
    missed = ", BOUND MISSED" if one.bound_met is False else ""
    told = ", ".join(part for part in (age(one.age_seconds), one.basis) if part)
    figure = f"{score(one.score)} x {one.weight:.2f}"
    return f"{one.metric} {value(one.value, one.unit)} ({told}) {figure}{missed}"


def _print_sites(decision: DecisionView) -> None:
    from apps.cli.words import cost, with_spread

    taken = (decision.compute_site, decision.path)
    rows = (
        (
            site.site + (" *" if (site.site, site.path) == taken else ""),
            "local" if site.local else "remote",
            site.path or "-",
            cost(site),
            *(with_spread(span, site.deviations.get(term)) for term, span in _terms(site)),
            "; ".join(filter(None, (site.why, _origins(site.origins)))) or "-",
        )
        for site in decision.compute
    )
    columns = ("Site", "Where", "Path", "Cost", "T_t total", "T_q", "T_c", "T_n", "C_D", "Why, and from what")
    print_table(columns, rows, "")


def _terms(site: SiteCostView) -> Iterator[tuple[str, float | str]]:
    """T_t and what it is the sum of."""
    yield "total", site.total_seconds
    yield "queue", site.queue_seconds
    yield "compute", site.compute_seconds
    yield "network", site.network_seconds
    yield "duplication", site.duplication_seconds


def _origins(origins: Mapping[str, str]) -> str:
    """``T_q as configured, available COV of 9 measurements``."""
    names = {"queue": "T_q", "node_rate": "rate of a node", "result": "result's size", "available": "rate"}
    return ", ".join(f"{names.get(term, term)}: {words}" for term, words in origins.items())


Data = Annotated[Path | None, typer.Option(metavar="DIR", help="The folder that the state's database is in.")]
Url = Annotated[
    str | None, typer.Option("--store", envvar="ADON_STORE_URL", help="The state's database, if elsewhere.")
]


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
    json_: JsonFlag = False,
) -> None:
    """Replay a recorded decision and compare the results.

    The command reads the database itself, without a server.  The same version of ADON makes the same
    decision.  Another version can decide differently; the output then names both versions.

    Exit status: 0 if they are equal, 1 if not.
    """
    from apps.cli.recomputing import from_database, from_file, made_again

    if (decision is None) == (from_ is None):
        raise InvalidInput.of("decision", "name a decision, or a file with --from")
    record = from_database(str(decision), data, store) if from_ is None else from_file(from_)
    if save is not None:
        record.write(save)
    found = made_again(record)
    if json_:
        print_json(found.to_json())
    else:
        found.print()
    if found.differences:
        raise typer.Exit(EXIT_OTHER)


@app.command("why-not")
def why_not(
    ctx: typer.Context,
    decision: Annotated[str | None, typer.Argument(help="A decision's id.")] = None,
    data: Data = None,
    store: Url = None,
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="File of recompute --save.")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Print the smallest change that selects another path or site.

    The server computes it, or with --data, --store or --from this command.
    """
    from apps.cli.why_not import print_why_not, worked_out

    if (decision is None) == (from_ is None):
        raise InvalidInput.of("decision", "name a decision, or a file with --from")
    here = from_ is not None or data is not None or store is not None
    found = worked_out(decision, from_, data, store) if here else _asked(client(ctx), str(decision))
    if json_:
        print_json(found)
    else:
        print_why_not(found)
