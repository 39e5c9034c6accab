"""Proposals on the page: what was learnt, the evidence, and the decision on it."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from flask import Response, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from adon.access.policy import Action, Object, may
from adon.errors import AdonError, Conflict, InvalidInput, NotFound, Problem, Unavailable
from adon.templates_catalog.proposal import Proposal, ProposalState
from apps.rest.api.proposals import decide, learnt, proposal
from apps.rest.api.templates import latest
from apps.rest.guard import action
from apps.rest.page import frame
from apps.rest.page.proposal_picture import picture
from apps.rest.services import services

READ_AS: Mapping[str, str] = {"throughput": "throughput", "kept": "loss"}
"""Which metric's words a response is told in: a share is told as loss is."""

SHOWN = 100

page = frame.blueprint("proposed")


@page.get("/proposals")
@action(Action.PROPOSAL_READ)
def list_proposals() -> AnyResponse:
    """Proposals, the newest first."""
    return _listed((), HTTPStatus.OK)


def _listed(problems: tuple[Problem, ...], status: int) -> AnyResponse:
    text = render_template(
        "proposals.html",
        proposals=services().store.proposals(limit=SHOWN),
        names=[template.name for template in latest()],
        learning=may(g.actor, Action.PROPOSAL_LEARN, Object("proposal")).allowed,
        problems=problems,
        read_as=READ_AS,
    )
    return Response(text, status)


@page.post("/proposals")
@action(Action.PROPOSAL_LEARN)
def learn_template() -> AnyResponse:
    """Learn a template's scoring; shows the proposal, or why there is none."""
    try:
        made = learnt(request.form.get("template", ""))
    except (Conflict, NotFound, Unavailable) as error:
        problem = (
            Problem(error.field, error.cause) if isinstance(error, Conflict) else Problem("", str(error))
        )
        return _listed((problem,), error.status)
    return redirect(url_for("proposed.show_proposal", id_=made.id), 303)


@page.get("/proposals/<id_>")
@action(Action.PROPOSAL_READ)
def show_proposal(id_: str) -> AnyResponse:
    """One proposal, with a picture of each table that was learnt."""
    return _shown(proposal(id_), (), HTTPStatus.OK)


def _shown(found: Proposal, problems: tuple[Problem, ...], status: int) -> AnyResponse:
    evidence = found.finding.evidence
    open_ = found.state is ProposalState.OPEN
    text = render_template(
        "proposal.html",
        proposal=found,
        evidence=evidence,
        read_as=READ_AS[evidence.response],
        pictures=[picture(one, READ_AS[evidence.response]) for one in evidence.metrics],
        deciding=open_ and may(g.actor, Action.PROPOSAL_DECIDE, Object("proposal")).allowed,
        problems=problems,
    )
    return Response(text, status)


@page.post("/proposals/<id_>/decide")
@action(Action.PROPOSAL_DECIDE)
def decide_proposal(id_: str) -> AnyResponse:
    """Accept or refuse; shows the proposal as it is then, or what is wrong."""
    accepted = request.form.get("decision") == "accept"
    try:
        decide(id_, accepted=accepted, reason=request.form.get("reason", "").strip()[:500])
    except NotFound:
        raise
    except AdonError as error:
        problems = error.problems if isinstance(error, InvalidInput) else (Problem("", str(error)),)
        return _shown(proposal(id_), problems, error.status)
    return redirect(url_for("proposed.show_proposal", id_=id_), 303)
