"""OpenFlow 1.3 and 1.4: encoding and decoding of messages.

This is the only package of ``adon/`` that imports os-ken, and only its protocol library: no controller,
thread or socket.  It encodes and decodes rules, reports and packets with ``struct``
(:mod:`~adon.flowvisor.openflow.encode`, :mod:`~adon.flowvisor.openflow.decode`).  os-ken parses rare
messages: handshake, ports, errors.  References are to the OpenFlow Switch Specification 1.3.5 unless another
version is named.
"""
