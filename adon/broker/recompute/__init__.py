"""What a decision saw, kept so that the decision can be made again: exactly, by the code that made it.

The story, in the order of the modules:

- :mod:`~adon.broker.recompute.seen`: what a decision saw, as one immutable value.  Large things that many
  decisions see (configuration, topology, template, what was measured on a path) are parts of their own.
- :mod:`~adon.broker.recompute.capture`: the broker's state → that value.  It is made at the moment of the
  decision, from references, so that it costs microseconds; what changes later is not in it.
- :mod:`~adon.broker.recompute.codec`: the value ↔ text, and its digests (SHA-256).  Parts are encoded once.
- :mod:`~adon.broker.recompute.again`: the value → the decision, by the very functions that the broker
  decides with (:mod:`adon.broker.choice`, :mod:`~adon.broker.decision_rules`,
  :mod:`~adon.broker.site_comparison` ...).
- :mod:`~adon.broker.recompute.differences`: two records, field by field.

**The boundary.**  Worked out again: the candidates and whether they are usable (from ports and links), what
each metric of each may be taken for (from results, alarms, loads, counters), tables, scores, Q, verdicts, the
selection, who gives way, sites by paths and their costs, the plans for flows that wait or were displaced,
move or stay, what the queue ladder grants, and the reason in words.  Taken as seen, not worked out again: why
a path was closed to the flow (a hold-off, a slice, a full switch, the ladder, maintenance, refusals, what is
reserved or kept for others: each in words), why one that could go waits all the same (in words), which flows
may lose their place to it, what was free of each site and from when on, what sites said, their jobs taught,
how far off promises had been, what the others of a plan asked for, how many streams others had on each path,
the flow's own rates, its consecutive misses, how long it had to dwell, what an alarm waived.

Searches are bounded in nodes and sums have a fixed order, so the same code gives the same bits.
"""
