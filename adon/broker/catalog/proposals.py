"""Proposals: taken in, accepted, refused ([ADON] 3.3: the catalog is tuned by a growing knowledge base).

Of a template there is one open proposal at most: a newer one takes the place of an older one, which rests on
fewer outcomes.  An accepted one must still be about the latest version; it becomes the next one in the same
transaction that says so.
"""

from __future__ import annotations

from adon.broker.catalog.kept import name_of
from adon.broker.effects import Announce, Answer, Effect, NeedsChanged, SaveProposal, SaveTemplate
from adon.broker.events import ProposalDecided, ProposalMade
from adon.broker.world import World
from adon.errors import Conflict, InvalidInput
from adon.templates_catalog.needs import needs
from adon.templates_catalog.proposal import Proposal, ProposalState, applied


def made(world: World, event: ProposalMade) -> list[Effect]:
    """Take a new proposal in.

    :raises InvalidInput, NotFound: if its template is not in the catalog, or it makes no valid one.
    :raises Conflict: if it is not about the latest version.
    """
    template, finding = world.catalog.resolve(event.finding.template), event.finding
    latest = world.catalog.get(template.name)
    proposal = world.proposals.following(finding, event.proposer, event.at)
    applied(latest, proposal)  # what would make no template is not kept
    superseded = [
        older.decided(
            ProposalState.SUPERSEDED, event.proposer, f"{proposal.id} rests on newer outcomes", event.at
        )
        for older in world.proposals.about(template.name)
    ]
    for one in (*superseded, proposal):
        world.proposals.put(one)
    text = (
        f"proposal {proposal.id}: new scoring for {template.reference}, from "
        f"{finding.evidence.outcomes} outcomes"
    )
    return [
        *(SaveProposal(event.id, one) for one in (*superseded, proposal)),
        Announce(event.id, "info", text),
        Answer(event.id, event.command, {"number": proposal.number}),
    ]


def decided(world: World, event: ProposalDecided) -> list[Effect]:
    """Accept a proposal, which becomes the next template version, or refuse it.

    :raises InvalidInput: for a refusal without a reason.
    :raises NotFound, Conflict: as :meth:`~adon.broker.catalog.kept.Proposals.get`; also if a newer version
        was saved meanwhile.
    """
    proposal = world.proposals.get(event.number)
    if event.accepted:
        return _accepted(world, proposal, event)
    if not event.reason.strip():
        raise InvalidInput.of("reason", "say why it is refused: whoever learns next will want to know")
    refused = proposal.decided(ProposalState.REFUSED, event.who, event.reason, event.at)
    world.proposals.put(refused)
    return [
        SaveProposal(event.id, refused),
        Announce(event.id, "info", f"proposal {refused.id} is refused by {event.who}: {event.reason}"),
        Answer(event.id, event.command, {"number": refused.number}),
    ]


def _accepted(world: World, proposal: Proposal, event: ProposalDecided) -> list[Effect]:
    latest = world.catalog.get(name_of(proposal.finding))
    catalog, saved = world.catalog.add(applied(latest, proposal))
    if saved == latest:
        raise Conflict("template", f"{latest.reference} has that scoring already")
    world.catalog = catalog
    accepted = proposal.decided(ProposalState.ACCEPTED, event.who, event.reason, event.at)
    accepted = accepted.becoming(saved.reference)
    world.proposals.put(accepted)
    text = f"template {saved.reference} is in the catalog: proposal {accepted.id}, accepted by {event.who}"
    return [
        SaveTemplate(event.id, saved),
        SaveProposal(event.id, accepted),
        NeedsChanged(event.id, needs(catalog.latest)),
        Announce(event.id, "info", text),
        Answer(event.id, event.command, {"number": accepted.number}),
    ]
