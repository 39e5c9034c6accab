"""Network: paths, switches, links, rules, maintenance, what-if analysis, slices and policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api import routes
from adon.api.maintenance import RehearsalView, WindowView
from adon.api.network import HostView, NetworkView, PathList, PathView, PolicyItem, SliceView
from adon.api.rules import RuleExplanationList, RuleView, SentMessage, SwitchDifference
from adon.api.status import ControllerView
from adon.client.calling import Caller, flag


class NetworkCalls(Caller):
    """Methods for the network, its rules and its maintenance."""

    def network(self) -> PathList:
        """Return every directed path (``items``), the edge switches, and the quality of estimates."""
        return self.call(routes.LIST_PATHS)

    def hosts(self) -> list[HostView]:
        """Return the data transfer nodes."""
        return self._all(routes.LIST_HOSTS)

    def topology(self) -> NetworkView:
        """Return the topology: sites, switches, links, circuits."""
        return self.call(routes.GET_NETWORK)

    def paths(self) -> list[PathView]:
        """Return every directed path with its latest values."""
        return self.network().items

    def rules(self, flow: str | None = None, dpid: str | None = None) -> list[RuleView]:
        """Return the desired rules of the switches."""
        return self._all(routes.LIST_RULES, {"flow": flow, "dpid": dpid})

    def rules_explained(self, of: str) -> RuleExplanationList:
        """Return the purpose and meaning of rules, in words."""
        return self.call(routes.EXPLAIN_RULES, query={"of": of})

    def rules_sent(
        self, flow: str | None, dpid: str | None, limit: int, cause: str | None = None
    ) -> list[SentMessage]:
        """Return the messages that were sent to switches, the newest first."""
        query = {"flow": flow, "dpid": dpid, "cause": cause, "limit": limit}
        return self.call(routes.LIST_SENT, query=query).items

    def controllers(self) -> list[ControllerView]:
        """Return the controller that is active, or was last."""
        return self._all(routes.LIST_CONTROLLERS)

    def rules_diff(self) -> list[SwitchDifference]:
        """Return the differences between present and desired rules of each switch."""
        return self._all(routes.RULES_DIFF)

    def rules_sync(self) -> list[str]:
        """Compare and repair every connected switch now; return their names."""
        return self.call(routes.RULES_SYNC).switches

    def add_maintenance(self, window: Mapping[str, Any]) -> WindowView:
        """Announce a maintenance window."""
        return self.call(routes.ADD_WINDOW, body=window)

    def maintenance(self, *, all_: bool) -> list[WindowView]:
        """Return maintenance windows; ``all_`` includes those that have ended."""
        return self._all(routes.LIST_WINDOWS, {"all": flag(all_)})

    def cancel_maintenance(self, window: str) -> WindowView:
        """Cancel a maintenance window."""
        return self.call(routes.CANCEL_WINDOW, id=window)

    def what_if(self, failure: str | None, name: str | None) -> list[RehearsalView]:
        """Return the effects of a failure, or of every single failure, the most damage first."""
        return self.call(routes.WHAT_IF, query={"failure": failure, "name": name}).items

    def slices(self) -> list[SliceView]:
        """Return slices with their use."""
        return self._all(routes.LIST_SLICES)

    def policy(self) -> list[PolicyItem]:
        """Return every setting of the active policy."""
        return self._all(routes.LIST_POLICY)

    def window(self, window: str) -> WindowView:
        """Return one maintenance window."""
        return self.call(routes.GET_WINDOW, id=window)
