"""A test network that stays: brought up by one command, looked into by others, taken down by a last one.

Whoever brings it up leaves a process behind that owns all of it (:mod:`~mininet_topos.standing.owner`): the
run folder's lock, the network, ADON.  Everything else finds it by its run folder
(:mod:`~mininet_topos.standing.found`).
"""
