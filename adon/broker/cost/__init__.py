"""What computing at one site costs, every term with its spread ([ADON] 4.3, algorithm 4; spec section 3).

::

    T_t = T_c + T_n (+ C_D)         total time to the results
    T_c = T_q + S_c / (N · Γ_c)     waiting in the site's queue, then computing
    T_n = S_t / min(Γ_t, Γ_a)       carrying the data: what TCP could do, what the path has left

:mod:`~adon.broker.cost.site` works it out, from the network's side (:mod:`~adon.broker.cost.terms`), what the
site offers (:mod:`adon.broker.resources.offer`), what finished jobs have taught
(:mod:`adon.broker.sites.rates`) and how far off rates of the path have been
(:mod:`~adon.broker.cost.spread`).  The cost functions that a template may name are in
:mod:`~adon.broker.cost.functions`.

A spread is an observation.  A number without observations (a configured rate) counts as exact, and its
source says so; the forecast of completion has doubts of its own (:mod:`adon.broker.forecasting`).
"""
