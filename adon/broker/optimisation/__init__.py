"""Where, and by which path: for one request, and for several at once ([ADON] 3.2, algorithm 2).

One request: :mod:`~adon.broker.optimisation.location` compares every site by every path.  Several queued
requests that cannot all have their best at once: :mod:`~adon.broker.optimisation.joint` makes one problem of
them, and :mod:`~adon.broker.optimisation.search` solves it, exactly if it is small.

Displaced flows are another problem (:mod:`adon.broker.refuge`): priority levels and the grades of their paths
decide, and they keep a search of their own.
"""
