"""Where a flow's data is computed and by which path it goes: what a decision takes from the cost model."""

from __future__ import annotations

import math
from dataclasses import dataclass

from adon.broker.decision import SiteCost
from adon.broker.flow import Flow
from adon.broker.outcomes import Forecast
from adon.broker.resources.amounts import NOTHING, Amounts
from adon.broker.resources.book import Hold, Who
from adon.broker.resources.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan for several requests has for one of them (:mod:`adon.broker.optimisation.joint`).

    :param why: that it is planned with others, in words.
    """

    site: str | None
    path: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Placement:
    """The compute side of a decision.

    :param costs: every site by every path that was compared.
    :param taken: the one among them that is taken; None if there is nothing to choose, or no site for it.
    :param refused: whether the flow must wait: no site can take it now.
    :param transfer_size: S_t: the bytes that will travel, as the site taken has it.
    :param demand: what it takes of the site.
    :param forecast: when its transfer is expected to be over, if it begins now.
    """

    costs: tuple[SiteCost, ...] = ()
    taken: SiteCost | None = None
    reason: str = ""
    refused: bool = False
    transfer_size: int = 0
    demand: Amounts = NOTHING
    forecast: Forecast | None = None

    @property
    def site(self) -> str | None:
        """The compute site that is taken."""
        return None if self.taken is None else self.taken.site

    @property
    def path(self) -> str | None:
        """The path that goes with it."""
        return None if self.taken is None else self.taken.path

    def ends_by(self, now: float) -> float | None:
        """When it is expected to be over at the latest."""
        return None if self.forecast is None else now + self.forecast.high

    def hold(self, ledger: Ledger, flow: Flow, now: float) -> Ledger:
        """The ledger after the flow took what it needs of the site, and is in the set A (algorithm 2).

        :raises Conflict: if it holds something already, or so much is not free.
        """
        if self.site is None:
            return ledger
        until = self.ends_by(now)
        hold = Hold(self.demand, Who(flow.requester, flow.number), math.inf if until is None else until)
        return ledger.hold(flow.number, self.site, hold, now)


NOWHERE = Placement()
