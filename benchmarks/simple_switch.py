"""The usual example of a learning switch, written with os-ken as its documentation teaches: a yardstick.

``python -m benchmarks.simple_switch PORT``.  It learns where addresses are, and installs one rule per
connection (Ethernet, IPv4 and UDP fields), as ovs-testcontroller does by default.
"""

from __future__ import annotations

import sys
from typing import Any

from os_ken import cfg
from os_ken.base.app_manager import AppManager, OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ethernet, ipv4, packet, udp
from os_ken.ofproto import ofproto_v1_3

IDLE_S = 60


class SimpleSwitch(OSKenApp):  # type: ignore[misc]
    """Learns, forwards, and installs a rule for what it forwards."""

    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION,)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ports: dict[str, int] = {}

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def on_features(self, event: Any) -> None:
        """Send what no rule takes to the controller."""
        datapath = event.msg.datapath
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        actions = [parser.OFPActionOutput(protocol.OFPP_CONTROLLER, protocol.OFPCML_NO_BUFFER)]
        self._add(datapath, 0, parser.OFPMatch(), actions, 0)

    def _add(self, datapath: Any, priority: int, match: Any, actions: list[Any], idle: int) -> None:
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        instructions = [parser.OFPInstructionActions(protocol.OFPIT_APPLY_ACTIONS, actions)]
        datapath.send_msg(
            parser.OFPFlowMod(
                datapath, priority=priority, match=match, instructions=instructions, idle_timeout=idle
            )
        )

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def on_packet(self, event: Any) -> None:
        """Learn the sender, and send the packet on."""
        message = event.msg
        datapath = message.datapath
        protocol, parser = datapath.ofproto, datapath.ofproto_parser
        in_port = message.match["in_port"]
        headers = packet.Packet(message.data)
        frame = headers.get_protocol(ethernet.ethernet)
        self._ports[frame.src] = in_port
        out_port = self._ports.get(frame.dst, protocol.OFPP_FLOOD)
        actions = [parser.OFPActionOutput(out_port)]
        ip, transport = headers.get_protocol(ipv4.ipv4), headers.get_protocol(udp.udp)
        if out_port != protocol.OFPP_FLOOD and transport is not None:
            match = parser.OFPMatch(
                in_port=in_port,
                eth_type=0x0800,
                eth_src=frame.src,
                eth_dst=frame.dst,
                ip_proto=17,
                ipv4_src=ip.src,
                ipv4_dst=ip.dst,
                udp_src=transport.src_port,
                udp_dst=transport.dst_port,
            )
            self._add(datapath, 1, match, actions, IDLE_S)
        datapath.send_msg(
            parser.OFPPacketOut(
                datapath,
                buffer_id=protocol.OFP_NO_BUFFER,
                in_port=in_port,
                actions=actions,
                data=message.data,
            )
        )


if __name__ == "__main__":
    arguments = [f"--ofp-tcp-listen-port={sys.argv[1]}", "--ofp-listen-host=127.0.0.1"]
    cfg.CONF(args=arguments, project="os_ken")
    AppManager.get_instance().run_apps(["benchmarks.simple_switch", "os_ken.controller.ofp_handler"])
