"""The yardstick of :mod:`benchmarks.install`: an os-ken controller as os-ken's documentation has it.

``python -m benchmarks.osken_install SEED``: os-ken's own listener, loop and sending, and every rule as an
``OFPMatch`` and an ``OFPFlowMod`` that ``send_msg`` is called with.  It writes its port to standard output,
then a line when a switch is there, and, for each line on standard input, installs the rules and writes the
milliseconds to the barrier reply.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from typing import Any

from os_ken import cfg
from os_ken.base.app_manager import AppManager, OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.ofproto import ofproto_v1_3

from adon.flowvisor.rules.action import Output, SetEthDst, SetEthSrc
from adon.flowvisor.rules.rule import Rule
from benchmarks.rulesets import delivery_rules


class Installer(OSKenApp):  # type: ignore[misc]
    """Installs rules when told to."""

    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION,)
    rules: tuple[Rule, ...] = ()
    datapath: Any = None
    begun = 0.0

    @set_ev_cls(ofp_event.EventOFPStateChange, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def on_switch(self, event: Any) -> None:
        """The switch is there."""
        self.datapath = event.datapath
        threading.Thread(target=self._orders, daemon=True).start()
        print("connected", flush=True)

    def _orders(self) -> None:
        for _ in sys.stdin:
            self.begun = time.perf_counter()
            for rule in self.rules:
                self.datapath.send_msg(flow_mod(self.datapath, rule))
            self.datapath.send_msg(self.datapath.ofproto_parser.OFPBarrierRequest(self.datapath))

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def on_barrier(self, _: Any) -> None:
        """All of them are in."""
        print((time.perf_counter() - self.begun) * 1e3, flush=True)


def flow_mod(datapath: Any, rule: Rule) -> Any:
    """One of :func:`~benchmarks.rulesets.delivery_rules` in os-ken's classes."""
    ofp, parser = datapath.ofproto, datapath.ofproto_parser
    match = rule.match
    _, source, destination, out = rule.actions
    assert match.vlan is not None
    assert isinstance(source, SetEthSrc)
    assert isinstance(destination, SetEthDst)
    assert isinstance(out, Output)
    fields = {
        "in_port": match.in_port,
        "vlan_vid": ofp.OFPVID_PRESENT | match.vlan,
        "eth_type": match.eth_type,
        "ip_proto": match.ip_proto,
        "ipv4_src": match.ip_src,
        "ipv4_dst": match.ip_dst,
        "tcp_dst": match.tp_dst,
    }
    actions = [
        parser.OFPActionPopVlan(),
        parser.OFPActionSetField(eth_src=source.mac),
        parser.OFPActionSetField(eth_dst=destination.mac),
        parser.OFPActionOutput(out.port),
    ]
    return parser.OFPFlowMod(
        datapath,
        cookie=rule.cookie,
        priority=rule.priority,
        match=parser.OFPMatch(**fields),
        instructions=[parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions)],
    )


def main() -> None:
    """Serve one switch until standard input ends with the parent."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    Installer.rules = delivery_rules(int(sys.argv[1]))
    options = ["--ofp-listen-host", "127.0.0.1", "--ofp-tcp-listen-port", str(port)]
    cfg.CONF(args=options, project="os_ken")
    print(port, flush=True)
    AppManager.get_instance().run_apps([__name__, "os_ken.controller.ofp_handler"])


if __name__ == "__main__":
    # os-ken looks its applications up by their module's name.
    from benchmarks import osken_install

    osken_install.main()
