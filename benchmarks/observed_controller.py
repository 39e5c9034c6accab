"""The controller process as it is, with a stopwatch: ``python -m benchmarks.observed_controller FD …``.

Times are of CLOCK_MONOTONIC, which all processes of a machine share.  Each is written at once, as one
JSON line, to the descriptor FD; that costs a few microseconds, and is part of what is measured.  On
standard input it takes orders for the yardsticks, which go over the same connections, threads and os-ken
as real batches:

- ``barrier``: a bare barrier to the first edge;
- ``replace``: delete a rule, add it again, barrier: what a controller without standby paths does.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from os_ken.controller import ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser

from adon.broker.broker import Broker
from adon.broker.events import BatchConfirmed, MeasurementArrived, PortChanged
from adon.flowvisor.rules.reconcile import EntryRole, entry_role
from apps.campus_edge import __main__ as controller
from apps.campus_edge.executor import Executor
from apps.campus_edge.loop import Inbox
from apps.campus_edge.switchboard import Switchboard

YARDSTICK_XID = 0x3FFF_0000
FOREIGN_COOKIE = 1

_out = -1


def tell(what: str, at: float | None = None, **more: object) -> None:
    """Write one line: what happened, and when."""
    line = {"what": what, "at": time.monotonic() if at is None else at, **more}
    os.write(_out, json.dumps(line).encode() + b"\n")


class ObservedSwitchboard(Switchboard):
    """Tells when a batch leaves, and answers the yardsticks' orders."""

    ordered_at = 0.0

    def send_batch(self, effect: Any) -> None:
        """As it is, with the time before and after."""
        begun = time.monotonic()
        super().send_batch(effect)
        took = time.monotonic() - begun
        steers = sum(entry_role(change.rule) is EntryRole.INGRESS for change in effect.changes)
        sizes = {"changes": len(effect.changes), "steers": steers}
        tell("sent", begun, took=took, dpid=effect.dpid, batch=effect.batch, **sizes)

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)
    def on_yardstick(self, event: Any) -> None:
        """The answer to a yardstick's barrier."""
        if event.msg.xid == YARDSTICK_XID:
            tell("yardstick", took=time.monotonic() - self.ordered_at)

    def order(self, which: str) -> None:
        """Send a yardstick's messages."""
        connection = self._connections[min(self._connections)]
        messages = [parser.OFPBarrierRequest(connection)]
        if which == "replace":
            messages[:0] = [
                _flow_mod(connection, ofp.OFPFC_DELETE_STRICT),
                _flow_mod(connection, ofp.OFPFC_ADD),
            ]
        packed = b"".join(_packed(message) for message in messages)
        self.ordered_at = time.monotonic()
        connection.send(packed)


def _flow_mod(connection: Any, command: int) -> Any:
    actions = [parser.OFPActionOutput(1)]
    return parser.OFPFlowMod(
        connection,
        cookie=FOREIGN_COOKIE,
        command=command,
        priority=1,
        out_port=ofp.OFPP_ANY,
        out_group=ofp.OFPG_ANY,
        match=parser.OFPMatch(eth_type=0x0800, ipv4_src="192.0.2.1"),
        instructions=[parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions)],
    )


def _packed(message: Any) -> bytes:
    message.set_xid(YARDSTICK_XID)
    message.serialize()
    return bytes(message.buf)


def _timed(what: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def run(*args: Any, **kwargs: Any) -> Any:
        begun = time.monotonic()
        result = method(*args, **kwargs)
        tell(what, begun, took=time.monotonic() - begun, event=type(args[1]).__name__)
        return result

    return run


def _observed_put(put: Callable[..., None]) -> Callable[..., None]:
    def run(inbox: Inbox, event: Any) -> None:
        if isinstance(event, MeasurementArrived):
            tell("arrived")
        elif isinstance(event, BatchConfirmed):
            tell("confirmed", dpid=event.dpid, batch=event.batch)
        elif isinstance(event, PortChanged):
            tell("port", dpid=event.dpid, port=event.name, live=event.state is not None and event.state.live)
        put(inbox, event)

    return run


def _take_orders() -> None:
    from os_ken.base.app_manager import AppManager

    for line in sys.stdin:
        AppManager.get_instance().applications[ObservedSwitchboard.__name__].order(line.strip())


def main() -> int:
    """Run the controller under observation."""
    global _out
    _out = int(sys.argv.pop(1))
    controller.Switchboard = ObservedSwitchboard  # type: ignore[misc]
    Inbox.put = _observed_put(Inbox.put)  # type: ignore[method-assign]
    Broker.handle = _timed("decided", Broker.handle)  # type: ignore[method-assign]
    Executor._commit = _timed("committed", Executor._commit)  # type: ignore[method-assign]
    threading.Thread(target=_take_orders, daemon=True).start()
    return controller.main()


if __name__ == "__main__":
    sys.exit(main())
