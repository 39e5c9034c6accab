"""What a transfer needs of its tool, as a worker carries it out: planned, asked for, what came of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from adon.broker.flow import Flow, FlowState
from adon.config.transfers import Limit, Transfers, key_of
from adon.errors import AdonError, NotFound
from adon.transfers.machine import Broke, Deed, Event, Transfer, Unanswered
from adon.transfers.plan import Plan, planned
from adon.transfers.wish import TransferOptions
from apps.movers.seeing import Flows, rate_of
from apps.movers.tool import Limited, Tool

log = logging.getLogger("apps.movers")


class Carrier:
    """The tools of the configuration.  Any thread.

    :param tools: by what each is called (:func:`~adon.config.transfers.key_of`).
    """

    def __init__(self, configured: Transfers, tools: Mapping[str, Tool]) -> None:
        self._configured = configured
        self._limits: dict[str, Limit] = {at: tool.limit for at, tool in configured.rclone.items()}
        self._limits |= {key_of("irods", name): tool.limit for name, tool in configured.irods.items()}
        self._tools = tools

    @property
    def limited(self) -> tuple[str, ...]:
        """The names of those that can be held to a rate."""
        return tuple(name for name, tool in self._tools.items() if isinstance(tool, Limited))

    def taken_up(self, flow: Flow, *, pausable: bool, now: float) -> Transfer:
        """The transfer of a flow that is seen for the first time."""
        at, attached = "", flow.request.transfer is not None and flow.request.transfer.attach is not None
        try:
            at = self._plan(flow).at
        except AdonError as error:  # the configuration has changed since it was taken in
            log.warning("event=transfer.unplanned flow=%s cause=%r", flow.id, str(error))
        key = f"adon/{flow.id}/{flow.submitted_at:.3f}"
        return Transfer(flow.number, key, at, attached, pausable, since=now)

    def rate(self, transfer: Transfer, flow: Flow, flows: Flows) -> float | None:
        """What a transfer is to be held to, in bits/s; None for nothing."""
        limit = self._limits.get(transfer.at)
        if limit is None:
            return None
        # What goes on while its flow waits keeps to what it had.
        return rate_of(flow, limit, flows) if flow.state is FlowState.ACTIVE else transfer.rate

    def done(self, deed: Deed, transfer: Transfer, flow: Flow) -> Event:
        """Have the tool do something; what came of it."""
        try:
            return self._done(deed, transfer, flow)
        except AdonError as error:
            return Broke(str(error), again=False) if deed is Deed.START else Unanswered(str(error))
        except Exception as error:  # a fault with one transfer must not end the others
            log.exception("event=transfer.fault flow=%s deed=%s", flow.id, deed)
            return Unanswered(f"a fault of ours: {type(error).__name__}")

    def limit(self, at: str, rate: float | None) -> bool:
        """Hold a tool to so many bits/s; whether it heard."""
        tool = self._tools[at]
        return isinstance(tool, Limited) and tool.limit(rate)

    def _done(self, deed: Deed, transfer: Transfer, flow: Flow) -> Event:
        plan = self._plan(flow)
        tool = self._tools[plan.at]
        match deed:
            case Deed.START:
                wish = flow.request.transfer
                options = TransferOptions() if wish is None else wish.options
                return tool.begin(transfer, plan, options, flow.request.streams)
            case Deed.LOOK:
                return tool.look(transfer, plan)
            case Deed.STOP:
                return tool.stop(transfer, plan)

    def _plan(self, flow: Flow) -> Plan:
        wish = flow.request.transfer
        if wish is None:
            raise NotFound("transfer", flow.id)
        return planned(wish, flow.hosts, flow.groups, self._configured)
