"""The controller process as it is, with a stopwatch for moves: ``python -m benchmarks.moves_controller …``.

Times are of CLOCK_REALTIME in nanoseconds, as the kernel stamps packets.  They are kept in memory and given
out on the order ``marks``, so that the stopwatch costs a move a microsecond or two and no write.  Orders come
on standard input, one JSON value per line; each is answered by one line on standard output.

It also moves a flow of its own by hand, over the same connections, as the yardsticks: ``shift`` modifies the
ingress rule where delivery stands by; ``replace`` deletes the old path's rules, waits for the barriers, and
adds those of the new path.  These messages are os-ken's objects.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from os_ken.base.app_manager import AppManager
from os_ken.controller import ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser

from adon.broker.broker import Broker
from adon.broker.decision import Outcome
from adon.broker.effects import SaveDecision, SendBatch
from adon.broker.events import BatchConfirmed, MeasurementArrived
from apps.campus_edge import __main__ as controller
from apps.campus_edge.executor import Executor
from apps.campus_edge.loop import Inbox
from apps.campus_edge.switchboard import Switchboard
from benchmarks.lab import MACS, NETWORK, PORTS, VLANS

HAND_PORT = 5302
HAND_PRIORITY = 50_000
FOREIGN_COOKIE = 1
HAND_XIDS = range(0x3FFF_0000, 0x3FFF_FFFF)
MU, OSU = 0xA01, 0xA02
ANSWER_WITHIN_S = 5.0

marks: list[dict[str, Any]] = []


def mark(what: str, begun: int, **more: object) -> None:
    """Note that something which began then has ended now."""
    marks.append({"what": what, "begun": begun, "ended": time.time_ns(), **more})


class ObservedSwitchboard(Switchboard):
    """Notes when a batch leaves, and moves a flow by hand."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._hand = iter(HAND_XIDS)
        self._answered: dict[int, threading.Event] = {}

    def send_batch(self, effect: SendBatch) -> None:
        """As it is, with the time before and after."""
        begun = time.time_ns()
        super().send_batch(effect)
        mark("sent", begun, dpid=effect.dpid, batch=effect.batch, cause=effect.cause)

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def on_hand_barrier(self, event: Any) -> None:
        """The answer to a barrier that was sent by hand."""
        waiting = self._answered.get(event.msg.xid)
        if waiting is not None:
            waiting.set()

    def by_hand(self, how: str, old: str, new: str) -> None:
        """Move the yardstick's flow; returns when the last barrier is answered."""
        begun = time.time_ns()
        if how == "shift":
            self._send({MU: [_ingress(self._connections[MU], ofp.OFPFC_MODIFY_STRICT, new)]})
        else:
            for command, path in ((ofp.OFPFC_DELETE_STRICT, old), (ofp.OFPFC_ADD, new)):
                ingress = _ingress(self._connections[MU], command, path)
                self._send({MU: [ingress], OSU: [_delivery(self._connections[OSU], command, path)]})
        mark("by hand", begun, how=how, path=new)

    def _send(self, messages: Mapping[int, list[Any]]) -> None:
        waiting = []
        for dpid, listed in messages.items():
            connection = self._connections[dpid]
            xid = next(self._hand)
            answered = self._answered[xid] = threading.Event()
            waiting.append(answered)
            barrier = parser.OFPBarrierRequest(connection)
            connection.send(b"".join(_packed(message, xid) for message in (*listed, barrier)))
        for answered in waiting:
            if not answered.wait(ANSWER_WITHIN_S):
                raise TimeoutError("no barrier reply")


def _ingress(connection: Any, command: int, path: str) -> Any:
    """Onto a path at the near edge, as :mod:`adon.flowvisor.rules.rule_compiler` draws it."""
    if path in VLANS:
        actions = [
            parser.OFPActionSetField(eth_dst=MACS["osu-dtn"]),
            parser.OFPActionPushVlan(0x8100),
            parser.OFPActionSetField(vlan_vid=ofp.OFPVID_PRESENT | VLANS[path]),
            parser.OFPActionOutput(PORTS[path]),
        ]
    else:
        actions = [parser.OFPActionSetField(eth_dst=MACS["mu-rtr"]), parser.OFPActionOutput(PORTS["rtr"])]
    return _flow_mod(connection, command, {"in_port": PORTS["dtn"], **_packets()}, actions)


def _delivery(connection: Any, command: int, path: str) -> Any:
    """From a path to the host at the far edge."""
    actions = [parser.OFPActionSetField(eth_src=MACS["osu-rtr"]), parser.OFPActionOutput(PORTS["dtn"])]
    if path not in VLANS:
        return _flow_mod(connection, command, {"in_port": PORTS["rtr"], **_packets()}, actions)
    where = {"in_port": PORTS[path], "vlan_vid": ofp.OFPVID_PRESENT | VLANS[path]}
    return _flow_mod(connection, command, {**where, **_packets()}, [parser.OFPActionPopVlan(), *actions])


def _packets() -> dict[str, object]:
    return {
        "eth_type": 0x0800,
        "ip_proto": 17,
        "ipv4_src": f"{NETWORK['mu']}.10",
        "ipv4_dst": f"{NETWORK['osu']}.10",
        "udp_dst": HAND_PORT,
    }


def _flow_mod(connection: Any, command: int, match: Mapping[str, object], actions: list[Any]) -> Any:
    return parser.OFPFlowMod(
        connection,
        cookie=FOREIGN_COOKIE,
        command=command,
        priority=HAND_PRIORITY,
        out_port=ofp.OFPP_ANY,
        out_group=ofp.OFPG_ANY,
        match=parser.OFPMatch(**match),
        instructions=[parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions)],
    )


def _packed(message: Any, xid: int) -> bytes:
    message.set_xid(xid)
    message.serialize()
    return bytes(message.buf)


def _timed(
    what: str, method: Callable[..., Any], told: Callable[..., dict[str, object]]
) -> Callable[..., Any]:
    @functools.wraps(method)
    def run(*args: Any) -> Any:
        begun = time.time_ns()
        result = method(*args)
        mark(what, begun, **told(args, result))
        return result

    return run


def _decided(args: tuple[Any, ...], effects: list[Any]) -> dict[str, object]:
    decisions = [effect.decision for effect in effects if isinstance(effect, SaveDecision)]
    moved = any(decision.outcome is Outcome.MOVE for decision in decisions)
    return {"event": args[1].id, "moved": moved}


def _observed_put(put: Callable[..., None]) -> Callable[..., None]:
    def run(inbox: Inbox, event: Any) -> None:
        if isinstance(event, MeasurementArrived):
            mark("arrived", time.time_ns(), event=event.id)
        elif isinstance(event, BatchConfirmed):
            mark("confirmed", time.time_ns(), batch=event.batch, dpid=event.dpid)
        put(inbox, event)

    return run


def _take_orders() -> None:
    for line in sys.stdin:
        order, *rest = json.loads(line)
        answer: object = None
        if order == "marks":
            answer, marks[:] = list(marks), []
        else:
            board = AppManager.get_instance().applications[ObservedSwitchboard.__name__]
            board.by_hand(order, *rest)
        print(json.dumps(answer), flush=True)


def main() -> int:
    """Run the controller under observation."""
    controller.Switchboard = ObservedSwitchboard  # type: ignore[attr-defined]
    Inbox.put = _observed_put(Inbox.put)  # type: ignore[method-assign]
    Broker.handle = _timed("decided", Broker.handle, _decided)  # type: ignore[method-assign]
    Executor._commit = _timed(  # type: ignore[method-assign]
        "committed", Executor._commit, lambda args, _: {"event": args[1].id}
    )
    threading.Thread(target=_take_orders, daemon=True).start()
    return controller.main()


if __name__ == "__main__":
    sys.exit(main())
