"""Proposals to change a template's scoring: learnt from outcomes, accepted, refused.

What is learnt is worked out here, in the web process: numpy and scipy are loaded when it is asked for, and
never in the controller, which keeps the proposal.
"""

from __future__ import annotations

import re
from http import HTTPStatus

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.errors import InvalidInput, NotFound
from adon.store import codec
from adon.templates_catalog.model import Name
from adon.templates_catalog.proposal import Proposal, ProposalState
from apps.rest.answers import done, json_answer
from apps.rest.api.common import PREFIX, Address, answers, blueprint
from apps.rest.guard import action, requester
from apps.rest.paging import NewestFirst, listed, page
from apps.rest.proposal_models import AcceptProposal, LearnBody, ProposalList, ProposalView, RefuseProposal
from apps.rest.services import services

api = blueprint("proposals", "The catalog learns: new scoring proposed from outcomes")


class ProposalQuery(NewestFirst):
    """Which proposals."""

    template: Name | None = None
    state: ProposalState | None = None
    before: str | None = Field(default=None, max_length=20, description="proposals before this one (p-3)")


class ProposalAddress(Address):
    """Which proposal."""

    id: str = Field(max_length=20, description="as in p-3")


@api.get("/proposals", responses=answers(200, ProposalList))
@action(Action.PROPOSAL_READ)
def list_proposals(query: ProposalQuery) -> Response:
    """Proposals, the newest first."""
    before = None if query.before is None else _number(query.before)
    found = services().store.proposals(query.template, query.state, query.limit + 1, before)
    shown, following = page(found, query.limit, lambda one: one.id)
    return listed(ProposalList(items=[ProposalView.of(one) for one in shown], next=following))


@api.post("/proposals", responses=answers(201, ProposalView, 400, 409, 413, 415))
@action(Action.PROPOSAL_LEARN)
def learn_template(body: LearnBody) -> Response:
    """Learn a template's scoring from the outcomes of its flows; 409 if there is nothing to propose."""
    made = learnt(body.template)
    return done(ProposalView.of(made), HTTPStatus.CREATED, f"{PREFIX}/proposals/{made.id}")


def learnt(name: str) -> Proposal:
    """Have a template's scoring learnt, and the proposal kept.

    :raises NotFound: if there is no such template.
    :raises Conflict: if there is nothing to propose, saying why.
    """
    from adon.templates_catalog.learning.learn import learn

    store = services().store
    finding = learn(store.template(name).template, store.experience(name))
    command = {"finding": codec.encode_finding(finding), "proposer": requester().name}
    answer = services().controller.call("proposal.add", command)
    return store.proposal(answer["number"])


@api.get("/proposals/<id>", responses=answers(200, ProposalView))
@action(Action.PROPOSAL_READ)
def get_proposal(path: ProposalAddress) -> Response:
    """One proposal with its evidence."""
    return json_answer(ProposalView.of(proposal(path.id)))


def proposal(id_: str) -> Proposal:
    """One proposal.

    :raises NotFound: if there is none of this id.
    """
    return services().store.proposal(_number(id_))


@api.post("/proposals/<id>/accept", responses=answers(200, ProposalView, 400, 409, 413, 415))
@action(Action.PROPOSAL_DECIDE)
def accept_proposal(path: ProposalAddress, body: AcceptProposal) -> Response:
    """Accept a proposal: it becomes the next version of its template."""
    decided = decide(path.id, accepted=True, reason=body.reason)
    return done(ProposalView.of(decided), HTTPStatus.OK)


@api.post("/proposals/<id>/refuse", responses=answers(200, ProposalView, 400, 409, 413, 415))
@action(Action.PROPOSAL_DECIDE)
def refuse_proposal(path: ProposalAddress, body: RefuseProposal) -> Response:
    """Refuse a proposal, saying why."""
    decided = decide(path.id, accepted=False, reason=body.reason)
    return done(ProposalView.of(decided), HTTPStatus.OK)


def decide(id_: str, *, accepted: bool, reason: str) -> Proposal:
    """Have the controller decide on a proposal; the proposal as it is then.

    :raises NotFound: if there is none of this id.
    :raises InvalidInput: for a refusal without a reason.
    :raises AdonError: what the controller says against it.
    """
    if not accepted and not reason.strip():
        raise InvalidInput.of("reason", "say why it is refused: whoever learns next will want to know")
    command = {"number": _number(id_), "accepted": accepted, "who": requester().name, "reason": reason}
    answer = services().controller.call("proposal.decide", command)
    return services().store.proposal(answer["number"])


def _number(id_: str) -> int:
    found = re.fullmatch(r"p-([1-9][0-9]{0,14})", id_)
    if found is None:
        raise NotFound("proposal", id_)
    return int(found[1])
