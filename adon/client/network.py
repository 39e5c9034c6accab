"""The network: paths, switches, links, rules in the switches, maintenance, rehearsed failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api.maintenance import RehearsalView, WindowView
from adon.api.network import HostView, NetworkView, PathList, PathView
from adon.api.rules import Explanation, RuleView, SentView, SwitchDifference, Synchronised
from adon.api.status import ControllerView
from adon.client.calling import Caller, flag, part


class NetworkCalls(Caller):
    """What the network is, what is in it, and what would become of it."""

    def network(self) -> PathList:
        """Every directed path (``items``), the edge switches, and how good estimates were."""
        return self._get(PathList, "/paths")

    def hosts(self) -> list[HostView]:
        """The data transfer nodes that a transfer can lead from and to."""
        return list(self._pages(HostView, "/hosts", {}, None, "after"))

    def topology(self) -> NetworkView:
        """What the network is made of: sites, switches, links, circuits."""
        return self._get(NetworkView, "/network")

    def paths(self) -> list[PathView]:
        """Every directed path with its latest values."""
        return self.network().items

    def rules(self, flow: str | None = None, dpid: str | None = None) -> list[RuleView]:
        """The rules that should be in the switches."""
        return list(self._pages(RuleView, "/rules", {"flow": flow, "dpid": dpid}, None, "after"))

    def rules_explained(self, of: str) -> Explanation:
        """Why some rules are there, in words."""
        return self._get(Explanation, "/rules/explain", {"of": of})

    def rules_sent(
        self, flow: str | None, dpid: str | None, limit: int, cause: str | None = None
    ) -> list[SentView]:
        """What was sent to switches, the newest first."""
        query = {"flow": flow, "dpid": dpid, "cause": cause, "limit": limit}
        return self._items(SentView, "/rules/sent", query)

    def controllers(self) -> list[ControllerView]:
        """The controller that is active, or was last."""
        return list(self._pages(ControllerView, "/controllers", {}, None, "after"))

    def rules_diff(self) -> list[SwitchDifference]:
        """Per switch how its rules differ from what should be."""
        return list(self._pages(SwitchDifference, "/rules/diff", {}, None, "after"))

    def rules_sync(self) -> list[str]:
        """Have every connected switch compared and repaired now; which they are."""
        return self._post(Synchronised, "/rules/sync", {}).switches

    def add_maintenance(self, window: Mapping[str, Any]) -> WindowView:
        """Announce a maintenance window."""
        return self._post(WindowView, "/maintenance", window)

    def maintenance(self, *, all_: bool) -> list[WindowView]:
        """Maintenance windows; those that are over only if all are asked for."""
        return list(self._pages(WindowView, "/maintenance", {"all": flag(all_)}, None, "after"))

    def cancel_maintenance(self, window: str) -> WindowView:
        """Cancel a maintenance window."""
        return self._delete(WindowView, f"/maintenance/{part(window)}")

    def what_if(self, failure: str | None, name: str | None) -> list[RehearsalView]:
        """What a failure would do, or without one every single failure, the most damage first."""
        return self._items(RehearsalView, "/what-if", {"failure": failure, "name": name})
