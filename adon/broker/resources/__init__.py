"""What there is to give, who holds what of it, and who has reserved what of it ([ADON] 3.2, algorithm 2).

A *place* is a compute site or one direction of a path (:mod:`~adon.broker.resources.amounts`).  Per place
there is a *book* (:mod:`~adon.broker.resources.book`): what it has, what flows *hold* of it from now until
they give it back, and what people *reserved* of it from one time until another
(:mod:`~adon.broker.resources.reservation`).  The books of all compute sites and the reservations of
bandwidth are the *ledger* (:mod:`~adon.broker.resources.ledger`), which the broker keeps.

What flows hold of paths follows from the flows themselves and is not kept twice
(:mod:`~adon.broker.resources.paths`); neither is what they hold of sites across a restart.  Reservations are
stored.  :mod:`~adon.broker.resources.reservation_events` takes new ones and ends old ones,
:mod:`~adon.broker.resources.offer` is what a site offers now.
"""
