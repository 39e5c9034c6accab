"""What happened: requests, measurements and alarms of then, and who was on the paths when a test ran."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from adon.broker.flow import Flow
from adon.broker.outcomes import Stay
from measurement.anomaly.alarm import Alarm
from measurement.model import Measurement, PathKey


@dataclass(frozen=True, slots=True)
class Past:
    """All that is played again.

    :param since: requests from then on are; measurements from before tell what was known then.
    :param until: where the replay ends.
    :param flows: every flow of then, also those asked for before ``since``, which were beside the tests.
    """

    since: float
    until: float
    flows: tuple[Flow, ...]
    measurements: tuple[Measurement, ...]
    alarms: tuple[Alarm, ...] = ()

    @property
    def requests(self) -> tuple[Flow, ...]:
        """The flows that are asked for again, in the order in which they were."""
        asked = (
            flow
            for flow in self.flows
            if self.since <= flow.submitted_at < self.until and not flow.unannounced
        )
        return tuple(sorted(asked, key=lambda flow: (flow.submitted_at, flow.number)))


def stays_of(flow: Flow, until: float) -> tuple[Stay, ...]:
    """The paths that a flow was on, the one it is on still included."""
    if flow.path is None or flow.path_since is None or not flow.state.holds_rules:
        return flow.diary.stays
    return (*flow.diary.stays, Stay(flow.path, flow.path_since, max(until, flow.path_since)))


class Beside:
    """How many streams of the flows of then were on a path at a time.

    :param ends_of: the sites that a flow led from and to; None where these are not known any more.
    :param streams_of: how many streams its transfer had.
    """

    def __init__(
        self,
        flows: Iterable[Flow],
        until: float,
        ends_of: Callable[[Flow], tuple[str, str] | None],
        streams_of: Callable[[Flow], int],
    ) -> None:
        self._stays: dict[PathKey, list[tuple[float, float, int]]] = {}
        for flow in flows:
            ends = ends_of(flow)
            for stay in stays_of(flow, until) if ends is not None else ():
                key = PathKey(stay.path, *ends)  # type: ignore[misc]  # two sites
                self._stays.setdefault(key, []).append((stay.since, stay.until, streams_of(flow)))

    def streams(self, key: PathKey, at: float) -> int:
        """Streams on a directed path at this time."""
        return sum(streams for since, until, streams in self._stays.get(key, ()) if since <= at < until)


def streams_tested(parameters: Mapping[str, object]) -> int:
    """How many streams a throughput test had."""
    stated = parameters.get("streams", 1)
    return stated if isinstance(stated, int) and stated >= 1 else 1


def alarms_between(alarms: Iterable[Alarm], since: float, until: float) -> tuple[Alarm, ...]:
    """Those that were raised in this time."""
    return tuple(sorted((a for a in alarms if since <= a.raised_at < until), key=lambda a: a.raised_at))
