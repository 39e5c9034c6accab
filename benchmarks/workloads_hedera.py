"""Hedera's global first fit, for comparison (Al-Fares et al., NSDI 2010, sections 3.2, 4.1 and 4.2).

A new flow is hashed onto a path as ECMP would.  Every five seconds the natural demand of each flow is
estimated: what it would have if only its end hosts' interfaces limited it, shared max-min fairly.  A flow
whose demand is at least a tenth of its interface is large; the paths are searched in order for the first
whose capacity, less what is reserved there, holds its demand, and it is put there.  A flow that fits
nowhere stays where it is.  Reservations are of configured capacities: nothing is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adon.fluid import Demand, max_min_rates
from adon.simulation.network import Path
from adon.simulation.policy import Ecmp, Happening, Order, Take, View, Woken
from adon.simulation.workload import Transfer

PERIOD_S = 5.0
LARGE = 0.1


@dataclass
class Hedera(Ecmp):
    """See the module's text.

    :param interface: bits/s of every end host's interface.
    """

    interface: float = 10e9

    def happened(self, what: Happening, view: View) -> Sequence[Order]:
        """As :meth:`Policy.happened`."""
        orders = list(super().happened(what, view))
        if isinstance(what, Woken) and self.wake is not None and view.now >= self.wake:
            self.wake = None
            orders += self._first_fit(view)
        if not self.placed:
            self.wake = None
        elif self.wake is None:
            self.wake = view.now + PERIOD_S
        return orders

    def _first_fit(self, view: View) -> list[Order]:
        reserved: dict[tuple[str, str], float] = {}
        orders: list[Order] = []
        for number, demand in demands([one for one, _ in self.placed.values()], self.interface).items():
            transfer, present = self.placed[number]
            if demand < LARGE * self.interface:
                continue
            path = self._fitting(transfer, demand, view, reserved)
            if path is None:
                continue
            place = (path.name, transfer.source)
            reserved[place] = reserved.get(place, 0.0) + demand
            if path.name != present:
                self.placed[number] = (transfer, path.name)
                orders.append(Take(number, path.name))
        return orders

    def _fitting(
        self, transfer: Transfer, demand: float, view: View, reserved: dict[tuple[str, str], float]
    ) -> Path | None:
        for path in view.between(transfer.source, transfer.destination):
            held = reserved.get((path.name, transfer.source), 0.0)
            if path.name not in self.down and held + demand <= path.advertised * (1 + 1e-9):
                return path
        return None


def demands(transfers: Sequence[Transfer], interface: float) -> dict[int, float]:
    """The natural demand of each flow, bits/s (4.1: only the hosts' interfaces limit it)."""
    ends = {end for one in transfers for end in ((one.source, "out"), (one.destination, "in"))}
    ways = [
        Demand(((one.source, "out"), (one.destination, "in")), 1, min(interface, one.ceiling))
        for one in transfers
    ]
    rates = max_min_rates(dict.fromkeys(ends, interface), ways)
    return {one.number: rate for one, rate in zip(transfers, rates, strict=True)}
