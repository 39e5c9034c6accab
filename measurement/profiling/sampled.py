"""A profile from sFlow: samples scaled up, what was lost on the way told and made up for."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from measurement.profiling.model import Profile
from measurement.profiling.packets import dissect
from measurement.profiling.sflow import Datagram, FlowSample
from measurement.profiling.tally import Pair, Sum, Tally, profile
from measurement.profiling.tasks import Tasks

RESTARTED_S = 5.0
"""An agent whose uptime is so much less than before has started again, and counts anew."""
REMEMBERED = 512
"""So many numbers back a datagram may be late; UDP can bring one twice, too."""
_WRAP = 2**32


@dataclass(slots=True)
class Sequence:
    """Numbers that count up by one, some of which do not come."""

    last: int | None = None
    seen: int = 0
    lost: int = 0
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def take(self, number: int) -> bool:
        """One that came; whether it is new."""
        if number in self.recent:
            return False
        if self.last is not None:
            ahead = (number - self.last) % _WRAP
            # What comes late was counted as lost when the next one came.
            self.lost = self.lost + ahead - 1 if ahead < _WRAP // 2 else max(0, self.lost - 1)
            self.last = number if ahead < _WRAP // 2 else self.last
        else:
            self.last = number
        self.seen += 1
        self.recent.append(number)
        return True

    def restart(self) -> None:
        """Begin again at any number, without a loss."""
        self.last = None
        self.recent.clear()


@dataclass(slots=True)
class _Origin:
    """An interface, or other part of an agent, that takes samples.

    :param drops: its counter, as last heard.
    :param dropped: by how much the counter rose while we listened.
    """

    seen: Tally
    samples: Sequence = field(default_factory=Sequence)
    drops: int | None = None
    dropped: int = 0

    def restart(self) -> None:
        self.samples.restart()
        self.drops = None

    def add(self, sample: FlowSample) -> None:
        if not self.samples.take(sample.sequence):
            return
        if self.drops is not None and (sample.drops - self.drops) % _WRAP < _WRAP // 2:
            self.dropped += (sample.drops - self.drops) % _WRAP
        self.drops = sample.drops
        for header in sample.headers:
            packet = dissect(header.frame, header.length, header.link)
            if packet is not None:
                self.seen.add(packet, sample.rate)

    @property
    def scale(self) -> float:
        """By how much more there was than came."""
        return 1 + self.samples.lost / self.samples.seen


@dataclass(frozen=True, slots=True)
class Sampled:
    """What came of the samples.

    :param datagrams, lost_datagrams: that came, and that did not, by their numbers.
    :param samples, lost_samples: likewise.  Bytes are scaled by the lost samples, too, as if they had been
        like those that came.
    :param dropped: samples that agents themselves had to drop; nothing is made up for them.
    :param outside: bytes whose sender or receiver is no task, where most of them were seen.
    """

    profile: Profile
    agents: tuple[str, ...]
    datagrams: int
    lost_datagrams: int
    samples: int
    lost_samples: int
    dropped: int
    outside: int


@dataclass(slots=True)
class _Agent:
    datagrams: Sequence
    uptime: float
    origins: dict[int, _Origin] = field(default_factory=dict)


class Sampling:
    """Datagrams as they come, of any agents."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._agents: dict[tuple[str, int], _Agent] = {}

    def add(self, datagram: Datagram) -> None:
        """One more."""
        who = (datagram.agent, datagram.sub_agent)
        agent = self._agents.setdefault(who, _Agent(Sequence(), datagram.uptime))
        if datagram.uptime < agent.uptime - RESTARTED_S:
            agent.datagrams.restart()
            for origin in agent.origins.values():
                origin.restart()
            agent.uptime = datagram.uptime
        agent.uptime = max(agent.uptime, datagram.uptime)
        if agent.datagrams.take(datagram.sequence):
            for sample in datagram.samples:
                if sample.origin not in agent.origins:
                    agent.origins[sample.origin] = _Origin(Tally(self._tasks))
                agent.origins[sample.origin].add(sample)

    def found(self, began: float, ended: float) -> Sampled:
        """What they say.

        :param began, ended: when one began and ceased to listen, seconds since 1970.
        """
        places: dict[str, dict[Pair, Sum]] = {}
        outside: dict[str, float] = {}
        for (name, _), agent in self._agents.items():
            place = places.setdefault(name, {})
            for origin in agent.origins.values():
                outside[name] = outside.get(name, 0.0) + origin.seen.outside * origin.scale
                for pair, each in origin.seen.sums.items():
                    place[pair] = place.get(pair, Sum()) + each.scaled(origin.scale)
        origins = [origin for agent in self._agents.values() for origin in agent.origins.values()]
        return Sampled(
            profile(self._tasks, places.values(), began, ended),
            agents=tuple(sorted({name for name, _ in self._agents})),
            datagrams=sum(agent.datagrams.seen for agent in self._agents.values()),
            lost_datagrams=sum(agent.datagrams.lost for agent in self._agents.values()),
            samples=sum(origin.samples.seen for origin in origins),
            lost_samples=sum(origin.samples.lost for origin in origins),
            dropped=sum(origin.dropped for origin in origins),
            outside=round(max(outside.values(), default=0.0)),
        )
