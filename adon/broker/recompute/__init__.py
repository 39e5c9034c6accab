"""What a decision saw, kept so that the decision can be made again: exactly, by the code that made it.

The story, in the order of the modules:

- :mod:`~adon.broker.recompute.seen`: what a decision saw, as one immutable value.  Large things that many
  decisions see (configuration, topology, template, what was measured on a path) are parts of their own.
- :mod:`~adon.broker.recompute.looking`: the broker's state → that value.  It is made at the moment of the
  decision, from references, so that it costs microseconds; what changes later is not in it.
- :mod:`~adon.broker.recompute.codec`: the value ↔ text, and its digests (SHA-256).  Parts are encoded once.
- :mod:`~adon.broker.recompute.again`: the value → the decision, by the very functions that the broker
  decides with (:mod:`adon.broker.choice`, :mod:`~adon.broker.ruling`, :mod:`~adon.broker.compute` ...).
- :mod:`~adon.broker.recompute.differences`: two records, field by field.

**The boundary.**  Worked out again: the candidates and whether they are usable (from ports and links), what
each metric of each may be taken for (from results, alarms, loads, counters), tables, scores, Q, verdicts, the
selection, who gives way, sites and their costs, move or stay, the plan for displaced flows, what the queue
ladder grants, and the reason in words.  Taken as seen, not worked out again: why a path was closed to the
flow (a hold-off, a slice, a full switch, the ladder, maintenance, refusals: each in words), how many streams
others had on each path, the flow's own rates, its consecutive misses, how long it had to dwell, what an alarm
waived.

Searches are bounded in nodes and sums have a fixed order, so the same code gives the same bits.
"""
