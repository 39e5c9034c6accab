"""Rules that keep a flow on a path: installed through the switches' own tools, as an operator would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from adon.experiments.planned import PlannedFlow
from mininet_topos.networks import Network
from mininet_topos.static_rules import Ofctl, Rule, Traffic, rules

T = TypeVar("T")

RULES_OF_PATH, DELIVERING = 4, 2
"""A path has so many rules, of which the first so many deliver (:func:`mininet_topos.static_rules.rules`)."""
FIRST_COOKIE = 0x0E000000_00000001


def keep(ofctl: Ofctl, wanted: Sequence[Rule], cookie: int) -> None:
    """Install rules: first those that deliver, then those that send there; those of one kind at once.

    :param wanted: as :func:`mininet_topos.static_rules.rules` has them, of one or more paths.
    :raises Unavailable: if a switch cannot be told.
    """
    for part in (False, True):
        some = [rule for place, rule in enumerate(wanted) if (place % RULES_OF_PATH >= DELIVERING) is part]
        at_once(lambda rule: ofctl("--names", "add-flow", rule.switch, rule.text(cookie)), some)


def at_once(act: Callable[[T], object], each: Sequence[T]) -> None:
    """Act on each at the same time: in a guest a program takes a second to start."""
    if each:
        with ThreadPoolExecutor(len(each)) as pool:
            list(pool.map(act, each))


@dataclass(slots=True)
class KeptPaths:
    """The flows that rules keep on paths, and the cookies of their rules."""

    ofctl: Ofctl
    network: Network
    clock: Callable[[], float]
    _flows: dict[str, tuple[Traffic, int]] = field(default_factory=dict)

    def know(self, flow: PlannedFlow, port: int) -> None:
        """Whose packets they are."""
        traffic = Traffic(flow.source, flow.destination, flow.protocol, port)
        self._flows[flow.name] = (traffic, FIRST_COOKIE + len(self._flows))

    def put(self, flow: str, path: str) -> float:
        """Keep a flow on a path from now on; since when, in seconds since 1970.

        :raises InvalidInput: if the path does not lead between its ends.
        :raises Unavailable: if a switch cannot be told.
        """
        traffic, cookie = self._flows[flow]
        keep(self.ofctl, rules(self.network, path, traffic), cookie)
        return self.clock()

    def remove(self, flow: str) -> None:
        """Take its rules out again.

        :raises Unavailable: if a switch cannot be told.
        """
        cookie = f"cookie={self._flows[flow][1]:#x}/-1"
        at_once(lambda site: self.ofctl("del-flows", site.edge, cookie), self.network.sites)
