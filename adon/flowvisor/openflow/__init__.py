"""OpenFlow 1.3 and 1.4: messages from values, and values from messages.

The only package of ``adon/`` that imports os-ken, and of os-ken only its protocol library: no controller, no
thread, no socket.  Rules, reports and packets are packed and read here with ``struct``
(:mod:`~adon.flowvisor.openflow.encode`, :mod:`~adon.flowvisor.openflow.decode`).  os-ken reads what comes
seldom: handshake, ports, errors.  References are to the OpenFlow Switch Specification 1.3.5 unless another
version is named.
"""
