"""Where, by which path, and from when on: for one request, and for several at once ([ADON] 3.2, algorithm 2).

One request: :mod:`~adon.broker.optimisation.location` compares every site by every path, at once and later.
Several that wait and cannot all have their best at once: :mod:`~adon.broker.optimisation.joint` makes one
problem of them, which :mod:`~adon.broker.optimisation.schedule` states and
:mod:`~adon.broker.optimisation.search` solves, exactly if it is small;
:mod:`~adon.broker.optimisation.bound` says how far from the best it can be if it is not.

Displaced flows are another problem (:mod:`adon.broker.refuge`): they all leave now, there is no "later",
and nobody may be refused for the sake of somebody of lower priority, which no weighted sum promises.  So
they keep a search of their own.
"""
