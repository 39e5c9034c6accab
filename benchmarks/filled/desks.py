"""What else people keep in the store: jobs, reservations, maintenance windows, proposals; subscriptions."""

from __future__ import annotations

import random
from pathlib import Path

from adon.broker.maintenance import Scope, Window
from adon.broker.resources.amounts import Amounts, Place
from adon.broker.resources.reservation import Reservation
from adon.broker.sites.jobs import JobState, SiteJob
from adon.frozenmap import FrozenMap
from adon.store.store import Store
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.proposal import Evidence, Finding, MetricEvidence, Proposal, ProposalState
from apps.collector.readers import READER
from benchmarks.filled import campus
from benchmarks.filled.lives import KINDS, REQUESTERS
from measurement.archive import Archive
from measurement.notify.subscription import Channel, Subscription
from measurement.notify.subscription import to_json as subscription_to_json

JOBS, RESERVATIONS, WINDOWS, PROPOSALS, SUBSCRIPTIONS = 400, 200, 40, 25, 20
DAY_S = 86_400.0


def fill(store: Store, began: float, ended: float, chance: random.Random) -> None:
    """Keep them, over the whole time; the newest are still ahead, or open."""
    span = ended - began
    with store.transaction(durable=False):
        for number in range(1, JOBS + 1):
            store.save_job(_job(number, began + span * number / JOBS, chance))
        for number in range(1, RESERVATIONS + 1):
            store.save_reservation(
                _reservation(number, began + (span + DAY_S) * number / RESERVATIONS, chance)
            )
        for number in range(1, WINDOWS + 1):
            begins = began + (span + 7 * DAY_S) * number / WINDOWS
            path = chance.choice(campus.directions()).path
            cancelled = begins - 60.0 if begins > ended else None  # none may change what is measured
            window = Window(
                number, Scope.PATH, path, begins, begins + 7200.0, 600.0, "fibre work", "operator1", cancelled
            )
            store.save_window(window)
        for number in range(1, PROPOSALS + 1):
            store.save_proposal(_proposal(number, began + span * number / PROPOSALS))


def subscribe(file: Path, at: float) -> None:
    """Who wants to hear of alarms on the event stream."""
    with Archive(file) as archive:
        for number in range(SUBSCRIPTIONS):
            one = Subscription(f"s-{number}", REQUESTERS[number], Channel.STREAM)
            document = {**subscription_to_json(one), READER: {"roles": ["researcher"], "groups": []}}
            archive.put_document("subscription", one.id, at, None, document, is_open=True)


def _job(number: int, at: float, chance: random.Random) -> SiteJob:
    site = chance.choice(campus.SITES)
    good = chance.random() < 0.9
    return SiteJob(
        number=number,
        nonce="bench",
        site=f"{site}-hpc",
        program="align",
        requester=chance.choice(REQUESTERS),
        asked_at=at,
        template=chance.choice(KINDS),
        size=80 * 10**9,
        nodes=4,
        state=JobState.SUCCEEDED if good else JobState.FAILED,
        state_since=at + 1200.0,
        reason="" if good else "exit status 1",
        site_job=str(1000 + number),
        predicted=60.0,
        queued_at=at,
        started_at=at + chance.uniform(5, 300),
        ended_at=at + 1200.0,
        exit_status=0 if good else 1,
    )


def _reservation(number: int, begins: float, chance: random.Random) -> Reservation:
    return Reservation(
        number=number,
        place=Place(f"{chance.choice(campus.SITES)}-hpc"),
        amounts=Amounts(nodes=4),
        begins=begins,
        ends=begins + 3600.0,
        owner=chance.choice(REQUESTERS),
        note="night run",
        asked_at=begins - 3600.0,
    )


def _proposal(number: int, at: float) -> Proposal:
    today = LookupTable(points=((1e6, 1.0), (1e10, 10.0)))
    better = LookupTable(points=((1e8, 1.0), (4e9, 10.0)))
    points = tuple((1e8 * n, 9e7 * n) for n in range(1, 90))
    metric = MetricEvidence("throughput", True, 0.9, 0.6, 0.7, today, better, (1e8, 4e9), points)
    evidence = Evidence(
        *("throughput", 240, at - 9e5, at, 5),
        error_today=8e8,
        error=2e8,
        gain=6e17,
        margin=1e17,
        metrics=(metric,),
    )
    weights = FrozenMap({"throughput": 0.7, "rtt": 0.15, "loss": 0.15})
    found = Finding(f"{KINDS[number % len(KINDS)]}@1", weights, FrozenMap({"throughput": better}), evidence)
    proposal = Proposal(number, at, "performance-engineer1", found)
    if number == PROPOSALS:
        return proposal
    return proposal.decided(ProposalState.REFUSED, "performance-engineer2", "too few outcomes", at + 3600.0)
