"""What each switch can do and what of our needs it lacks, as far as it has said (R8, R9, R12).

A switch is asked when it connects, and about what may change (rules in its tables, queues that an operator
made) at every comparison.  What it does not answer is not held against it.  Two things follow from what it
lacks:

- *unfit*: it cannot hold the form of our rules that it is configured for (tables, fields).  No new flow gets
  rules there; those that are there stay.
- *lacks*: the same, and what its present rules need and it has not (a queue, meters, groups): said once, and
  shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from adon.flowvisor.rules.pipeline import Pipeline
from adon.flowvisor.rules.queue_ladder import EnforcementMeans
from adon.flowvisor.rules.rule import Entry
from adon.flowvisor.rules.switch_features import (
    SwitchFeatures,
    entry_needs,
    find_missing_features,
    merge_features,
    pipeline_needs,
)


@dataclass(slots=True)
class Abilities:
    """See the module's text; all by datapath id."""

    features: dict[int, SwitchFeatures] = field(default_factory=dict)
    unfit: dict[int, tuple[str, ...]] = field(default_factory=dict)
    lacks: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def take(
        self, dpid: int, said: SwitchFeatures, pipeline: Pipeline, desired: Iterable[Entry], *, whole: bool
    ) -> tuple[str, ...]:
        """A switch said what it can do; what is found to be lacking that was not before.

        :param desired: what belongs in it now.
        :param whole: it was asked about everything; otherwise what it did not say is as it was.
        """
        known = self.features.get(dpid)
        features = said if known is None or whole else merge_features(known, said)
        before = self.lacks.get(dpid, ())
        self.features[dpid] = features
        self.unfit[dpid] = find_missing_features(pipeline, features, pipeline_needs(pipeline))
        found = dict.fromkeys(
            (*self.unfit[dpid], *find_missing_features(pipeline, features, entry_needs(desired)))
        )
        self.lacks[dpid] = tuple(found)
        return tuple(reason for reason in found if reason not in before)

    def means(self, dpid: int) -> EnforcementMeans:
        """What a switch can hold a flow to its grant with (R12)."""
        features = self.features[dpid]
        queues = {} if features.queues is None else features.queues
        numbers = {port: frozenset(queue.number for queue in found) for port, found in queues.items()}
        return EnforcementMeans(numbers, meters=bool(features.meters))

    def maximum(self, dpid: int, pipeline: Pipeline) -> int | None:
        """How many rules the table holds that every flow's packets enter ours by; None if it did not say."""
        room = self.features[dpid].tables.get(pipeline.classification)
        return None if room is None else room.most

    def groupless(self) -> frozenset[int]:
        """The switches that said that they have no fast-failover groups."""
        return frozenset(
            dpid
            for dpid, features in self.features.items()
            if features.groups is not None and not features.groups.get("fast_failover", 0)
        )
