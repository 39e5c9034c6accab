"""Whatever happens, in whatever order: random histories of the broker against two fake switches.

The stage checks its laws at every step (saved before sent, no rule on a foreign one, no busy loop); the
machine adds what must hold between steps, and what must hold when everything works again.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize, invariant

from adon.flowvisor.rules.cookie import cookie_tenant
from adon.flowvisor.rules.rule import MeterEntry, Rule
from tests.depth import DEPTH
from tests.support.history_machine import RATES, Histories
from tests.support.network_factories import make_slice, make_sliced_configuration
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage, know


class Tenants(Histories):
    """The same with a slice, a ladder of meters, and budgets that are soon used up."""

    @initialize(rate=RATES)
    def begin(self, rate: float) -> None:
        tenant = make_slice(7, flowspace=[{}], share=1, rule_budget=9)
        read = make_sliced_configuration({"genomics": tenant}, {"mode": "meters"}, {"mu-edge": 30})
        self.stage = Stage(read)
        self.stage.connect()
        know(self.stage, al2s=rate, internet=6.5)

    @invariant()
    def budgets_are_kept(self) -> None:
        """The slice's rules and the switch's: never more wanted than allowed."""
        for dpid, budget in ((MU_EDGE, 30), (OSU_EDGE, None)):
            wanted = [entry for entry in self.stage.desired(dpid) if isinstance(entry, Rule)]
            tenants = [entry for entry in wanted if cookie_tenant(entry.cookie) == 7]
            assert len(tenants) <= 9
            assert budget is None or len(wanted) <= budget

    @invariant()
    def nothing_is_granted_twice(self) -> None:
        """Of each port of an edge, the meters let through what it has and no more."""
        for dpid in (MU_EDGE, OSU_EDGE):
            meters = [entry for entry in self.stage.desired(dpid) if isinstance(entry, MeterEntry)]
            assert len({meter.number for meter in meters}) == len(meters)


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=15 * DEPTH, derandomize=DEPTH == 1, suppress_health_check=list(HealthCheck)
)

TestTenants = Tenants.TestCase
TestTenants.settings = TestHistories.settings
