"""The network as values: topology, candidate paths, performance, selection, rules and differences.

Everything here is a function from values to values; :mod:`adon.flowvisor.openflow` alone knows
os-ken, and even it opens no socket: it turns our values into OpenFlow messages and back.
"""
