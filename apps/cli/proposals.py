"""``adon template learn``, ``proposals``, ``accept`` and ``refuse``: the catalog tuned by what flows got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from apps.cli import completing as offered
from apps.cli.arguments import OfTemplate, ProposalId, TemplateName
from apps.cli.common import JsonFlag, client, print_json, print_table

if TYPE_CHECKING:
    from adon.client.documents import MetricEvidenceView, ProposalEvidenceView, ProposalView


def learn(
    ctx: typer.Context,
    name: TemplateName,
    json_: JsonFlag = False,
) -> None:
    """Learn a template's tables and weights from the outcomes of its flows.

    Exit status 1, and why, if there is nothing to propose.
    """
    _print(client(ctx).learn(name), json_)


def proposals(
    ctx: typer.Context,
    proposal: Annotated[
        str | None, typer.Argument(help="Show this one, as in p-3.", autocompletion=offered.proposals)
    ] = None,
    template: OfTemplate = None,
    all_: Annotated[bool, typer.Option("--all", help="Also those that were decided on.")] = False,
    json_: JsonFlag = False,
) -> None:
    """What was learnt and waits for a decision; or one proposal with its evidence."""
    if proposal is not None:
        _print(client(ctx).proposal(proposal), json_)
        return
    found = client(ctx).proposals(template, None if all_ else "open")
    if json_:
        print_json(found)
        return
    rows = (
        (
            one["id"],
            one["template"],
            one["state"],
            str(one["evidence"]["outcomes"]),
            _error(one["evidence"], "error_today"),
            _error(one["evidence"], "error"),
            one["decided_by"] or "-",
            one["saved"] or one["reason"] or "-",
        )
        for one in found
    )
    columns = ("Proposal", "Template", "State", "Outcomes", "Error today", "Proposed", "Decided by", "Became")
    print_table(columns, rows, "no proposal; learn one with: adon template learn NAME")


def accept(
    ctx: typer.Context,
    proposal: ProposalId,
    reason: Annotated[str, typer.Option(help="A word on it.")] = "",
    json_: JsonFlag = False,
) -> None:
    """Accept a proposal: it becomes the next version of its template."""
    found = client(ctx).decide_proposal(proposal, accept=True, reason=reason)
    if json_:
        print_json(found)
    else:
        typer.echo(f"{found['id']} is accepted: {found['saved']} is in the catalog")


def refuse(
    ctx: typer.Context,
    proposal: ProposalId,
    reason: Annotated[str, typer.Option(help="Why; whoever learns next will want to know.")],
    json_: JsonFlag = False,
) -> None:
    """Refuse a proposal."""
    found = client(ctx).decide_proposal(proposal, accept=False, reason=reason)
    if json_:
        print_json(found)
    else:
        typer.echo(f"{found['id']} is refused")


def _print(found: ProposalView, json_: bool) -> None:
    if json_:
        print_json(found)
        return
    from apps.cli.times import span

    evidence = found["evidence"]
    typer.echo(f"{found['id']} {found['state']}: new scoring for {found['template']}")
    typer.echo(
        f"{evidence['outcomes']} outcomes, {span(evidence['since'], evidence['until'])}; "
        f"error in foretelling {_JUDGED[evidence['response']]}: {_error(evidence, 'error_today')} today, "
        f"{_error(evidence, 'error')} proposed (held out, {evidence['folds']} stretches of time)"
    )
    rows = (
        (
            one["metric"],
            f"{one['weight_today']:.3g}",
            f"{one['weight']:.3g}",
            f"{max(0.0, 100 * one['explained']):.0f} %",
            _table_of(one),
        )
        for one in evidence["metrics"]
    )
    print_table(("Metric", "Weight", "Proposed", "Explains by itself", "Table"), rows, "")
    for one in evidence["metrics"]:
        if one["scale"] is not None:
            _draw(one)


_JUDGED = {"throughput": "the throughput achieved", "kept": "how long the QSpec was kept"}


def _table_of(one: MetricEvidenceView) -> str:
    if not one["varied"]:
        return "as today: its values hardly differed"
    return "moved nothing" if one["scale"] is None else "learnt"


def _error(evidence: ProposalEvidenceView, name: Literal["error", "error_today"]) -> str:
    from apps.cli.words import value

    return value(evidence[name], evidence["unit"])


def _draw(one: MetricEvidenceView) -> None:
    """The proposed table as bars, today's score beside each point."""
    from adon.templates_catalog.lookup import LookupTable, from_text
    from apps.cli.bars import picture
    from measurement.model import Metric

    metric = Metric(one["metric"])
    before, after = (
        LookupTable.model_validate(from_text(metric, one[name])) for name in ("table_today", "table")
    )
    typer.echo(f"\n{metric}: value, proposed score, today's score")
    for line, (at, _) in zip(picture(metric, after), after.points, strict=True):
        typer.echo(f"{line}  (today {before.score(at):.2f})")
