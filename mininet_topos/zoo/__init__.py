"""Networks of the Internet Topology Zoo as test networks.

S. Knight, H. X. Nguyen, N. Falkner, R. Bowden, M. Roughan, "The Internet Topology Zoo", IEEE JSAC 29(9),
2011: maps that network operators published, as GraphML with places and speeds.  What a file says is read
first (:mod:`~mininet_topos.zoo.graphml`); what it leaves open (which nodes are campuses, how long links are,
which paths ADON chooses between) is settled in the other modules, and told.
"""
