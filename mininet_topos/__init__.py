"""Where ADON is tried: networks of real switches, routers and hosts in namespaces of their own.

A network is declared by a Mininet topology (:mod:`~mininet_topos.topologies`), then built and removed by one
context manager (:mod:`~mininet_topos.testbed`) inside namespaces that the kernel takes away with their owner
(:mod:`~mininet_topos.isolation`).  See ``docs/testbed.md``.
"""
