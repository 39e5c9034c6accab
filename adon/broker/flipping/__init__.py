"""Why not another path, or another site: the smallest change of one quantity that would have had it chosen.

A *counterfactual explanation* (Wachter, Mittelstadt and Russell, *Harvard Journal of Law & Technology*
31(2), 2018): the nearest input for which the outcome is another one.  Theirs approximates a model that is
learnt, by descending a gradient.  Here the rule is known and what a decision saw is kept, so each change that
is told was *decided* on: the decision is made again from the changed snapshot
(:mod:`adon.broker.recompute`).

- :mod:`~adon.broker.flipping.quantities`: what may be changed in a snapshot, one number at a time.
- :mod:`~adon.broker.flipping.outcome_ranges`: how the outcome changes as one number does.
- :mod:`~adon.broker.flipping.nearest`: of one decision, per alternative, the nearest changes.
- :mod:`~adon.broker.flipping.words`: the same in words, and as plain values.

What a snapshot has only as words or sums (why a path was closed, who else is on it, what was free of a
site) stays as it was seen (docs/explain-and-replay.md has the list).  Pure, and bounded by the number of
repeated decisions, not by time.
"""
