"""What a broker remembers of flows, by the name of the memory: the one table of its private containers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from adon.broker.broker import Broker

MEMORIES: Mapping[str, Callable[[Broker], Iterable[int]]] = {
    "change under way": lambda broker: broker._placing._before,
    "deferred review": lambda broker: broker._placing._overlooked,
    "learning disabled": lambda broker: broker._placing._deaf,
    "last decision": lambda broker: broker._placing._digests,
    "announced refusal": lambda broker: broker._placing._serving._told,
    "unannounced refusal": lambda broker: broker._placing._serving._missed,
    "queue": lambda broker: broker.world.line._waiters,
    "booking": lambda broker: broker.world.bookings._of,
    "promise": lambda broker: broker.world.estimates._promises,
    "urgent move": lambda broker: broker.world.alarms._hurried,
    "meter": lambda broker: chain.from_iterable(broker.world.meters._taken.values()),
    "failover": lambda broker: broker.world.failovers._moving,
    "trigger values": lambda broker: broker._triggers._seen,
    "moves": lambda broker: broker.world.damping._moves,
    "refusals": lambda broker: broker.world.damping._refusals,
    "abandoned paths": lambda broker: broker.world.damping._for_good,
    "counters": lambda broker: broker.world.flows._counters,
    "rules": lambda broker: [
        int(owner[2:]) for owner in broker.world.network._wanted if owner.startswith("f-")
    ],
    "holds": lambda broker: broker.world.ledger.holders,
}
"""Per memory the numbers of the flows that it names."""
