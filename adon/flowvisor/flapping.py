"""How long a link that flaps is not used: exponential hold-off with a cap (R15, R17).

The first failure costs nothing: links do break.  The second within memory costs the base penalty, and
each further one doubles it up to the cap.  One failure is forgotten for each time span that passes without
another, so a link that was repaired is forgiven, and one that breaks hourly is not punished at all.  The
idea is that of OpenKilda's path computation, which avoids unstable links for a while; and of BGP's route flap
damping (RFC 2439), with a count in place of its decaying figure of merit.

Functions of values; times in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

from adon.config.network import LinkDiscovery

MOST_COUNTED = 20
"""More failures than these change nothing: 2^18 times the shortest penalty is above any cap in use."""


@dataclass(frozen=True, slots=True)
class Flaps:
    """What is remembered of one link's failures.

    :param count: failures not yet forgotten, as of :attr:`last`.
    :param last: when it failed last.
    :param until: it is not used before this time.
    """

    count: int = 0
    last: float = 0.0
    until: float = 0.0

    def failed(self, now: float, settings: LinkDiscovery) -> Flaps:
        """After one more failure."""
        count = min(MOST_COUNTED, self.remembered(now, settings) + 1)
        penalty = 0.0 if count < 2 else settings.flap_penalty * 2.0 ** (count - 2)
        return Flaps(count, now, now + min(settings.flap_penalty_cap, penalty))

    def remembered(self, now: float, settings: LinkDiscovery) -> int:
        """How many failures are not forgotten by now."""
        return max(0, self.count - int((now - self.last) / settings.flap_forgiven))

    def over(self, now: float, settings: LinkDiscovery) -> bool:
        """Whether nothing of this matters any more."""
        return self.until <= now and self.remembered(now, settings) == 0
