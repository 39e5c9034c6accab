"""What else people keep in the store: jobs, reservations, maintenance windows; subscriptions."""

from __future__ import annotations

import random
from pathlib import Path

from adon.broker.maintenance import Scope, Window
from adon.broker.resources.amounts import Amounts, Place
from adon.broker.resources.reservation import Reservation
from adon.broker.sites.jobs import JobState, SiteJob
from adon.store.store import Store
from apps.collector.readers import READER
from benchmarks.filled import campus
from benchmarks.filled.lives import KINDS, REQUESTERS
from measurement.archive import Archive
from measurement.model import to_json
from measurement.notify.subscription import Channel, Subscription

JOBS, RESERVATIONS, WINDOWS, SUBSCRIPTIONS = 400, 200, 40, 20
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


def subscribe(file: Path, at: float) -> None:
    """Who wants to hear of alarms on the event stream."""
    with Archive(file) as archive:
        for number in range(SUBSCRIPTIONS):
            one = Subscription(f"s-{number}", REQUESTERS[number], Channel.STREAM)
            document = {**to_json(one), READER: {"roles": ["researcher"], "groups": []}}
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
