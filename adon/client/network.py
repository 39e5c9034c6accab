"""The network: paths, switches, links, rules in the switches, maintenance, rehearsed failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api import routes
from adon.api.maintenance import RehearsalView, WindowView
from adon.api.network import HostView, NetworkView, PathList, PathView, PolicyItem, SliceView
from adon.api.rules import Explanation, RuleView, SentView, SwitchDifference
from adon.api.status import ControllerView
from adon.client.calling import Caller, flag


class NetworkCalls(Caller):
    """What the network is, what is in it, and what would become of it."""

    def network(self) -> PathList:
        """Every directed path (``items``), the edge switches, and how good estimates were."""
        return self.call(routes.LIST_PATHS)

    def hosts(self) -> list[HostView]:
        """The data transfer nodes that a transfer can lead from and to."""
        return self._all(routes.LIST_HOSTS)

    def topology(self) -> NetworkView:
        """What the network is made of: sites, switches, links, circuits."""
        return self.call(routes.GET_NETWORK)

    def paths(self) -> list[PathView]:
        """Every directed path with its latest values."""
        return self.network().items

    def rules(self, flow: str | None = None, dpid: str | None = None) -> list[RuleView]:
        """The rules that should be in the switches."""
        return self._all(routes.LIST_RULES, {"flow": flow, "dpid": dpid})

    def rules_explained(self, of: str) -> Explanation:
        """Why some rules are there, in words."""
        return self.call(routes.EXPLAIN_RULES, query={"of": of})

    def rules_sent(
        self, flow: str | None, dpid: str | None, limit: int, cause: str | None = None
    ) -> list[SentView]:
        """What was sent to switches, the newest first."""
        query = {"flow": flow, "dpid": dpid, "cause": cause, "limit": limit}
        return self.call(routes.LIST_SENT, query=query).items

    def controllers(self) -> list[ControllerView]:
        """The controller that is active, or was last."""
        return self._all(routes.LIST_CONTROLLERS)

    def rules_diff(self) -> list[SwitchDifference]:
        """Per switch how its rules differ from what should be."""
        return self._all(routes.RULES_DIFF)

    def rules_sync(self) -> list[str]:
        """Have every connected switch compared and repaired now; which they are."""
        return self.call(routes.RULES_SYNC).switches

    def add_maintenance(self, window: Mapping[str, Any]) -> WindowView:
        """Announce a maintenance window."""
        return self.call(routes.ADD_WINDOW, body=window)

    def maintenance(self, *, all_: bool) -> list[WindowView]:
        """Maintenance windows; those that are over only if all are asked for."""
        return self._all(routes.LIST_WINDOWS, {"all": flag(all_)})

    def cancel_maintenance(self, window: str) -> WindowView:
        """Cancel a maintenance window."""
        return self.call(routes.CANCEL_WINDOW, id=window)

    def what_if(self, failure: str | None, name: str | None) -> list[RehearsalView]:
        """What a failure would do, or without one every single failure, the most damage first."""
        return self.call(routes.WHAT_IF, query={"failure": failure, "name": name}).items

    def slices(self) -> list[SliceView]:
        """Slices with what they use."""
        return self._all(routes.LIST_SLICES)

    def policy(self) -> list[PolicyItem]:
        """Every setting of the policy in force."""
        return self._all(routes.LIST_POLICY)

    def window(self, window: str) -> WindowView:
        """One maintenance window."""
        return self.call(routes.GET_WINDOW, id=window)
