"""Our values as OpenFlow messages, and what switches say as our values, for OpenFlow 1.3 and 1.4.

The only package of ``adon/`` that imports os-ken, and of os-ken only its protocol library: no controller, no
thread, no socket.  What is sent or reported in numbers is packed and read here with ``struct``
(:mod:`~adon.flowvisor.openflow.encode`, :mod:`~adon.flowvisor.openflow.decode`); what comes once (handshake,
ports, errors) is left to os-ken.  References are to the OpenFlow Switch Specification 1.3.5 unless another
version is named.
"""

from adon.flowvisor.openflow import capabilities, decode, encode
from adon.flowvisor.openflow.messages import envelope, error_text, parsed, port_name, port_state, ports
from adon.flowvisor.openflow.packets import first_packet, five_tuple, lldp_frame
from adon.flowvisor.openflow.prepared import Prepared
from adon.flowvisor.openflow.wire import with_xid

__all__ = [
    "Prepared",
    "capabilities",
    "decode",
    "encode",
    "envelope",
    "error_text",
    "first_packet",
    "five_tuple",
    "lldp_frame",
    "parsed",
    "port_name",
    "port_state",
    "ports",
    "with_xid",
]
