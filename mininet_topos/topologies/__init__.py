"""Networks as Mininet topologies; ``mn --custom`` runs each file with the system's Python.

Modules here and :mod:`mininet_topos.nodes` import the standard library and Mininet only.
"""
