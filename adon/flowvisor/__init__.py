"""The network as values: topology, candidate paths, performance, selection, rules and differences.

All functions map values to values.  Only :mod:`adon.flowvisor.openflow` imports os-ken.  It encodes and
decodes OpenFlow messages, and opens no socket.
"""
