"""Which group has the next turn: start-time fair queueing of the bytes served.

Goyal, Vin and Cheng, *Start-time Fair Queuing*, IEEE/ACM Transactions on Networking 5(5), 1997, with a flow
of l bytes in the place of their packet, and a group of weight w in the place of their flow::

    S = max(v, F of the group's last)     F = S + l / w      v = S of the one that was served last

The group with the smallest *start tag* S is tried first.  While two groups both wait and both could be
served, what each has been served per weight differs by no more than (their theorem 1)::

    l1 / w1 + l2 / w2                     l: the largest flow of each

whatever either of them asks for, and whenever: many small flows, few large ones, or a crowd of them at once.
A group that did not wait gets no credit for it.  One that waits and cannot be served (its path is down)
keeps its place and catches up later.

Unlike a packet, a flow may end before it has moved all, or be interrupted: what was not moved is given back
(:meth:`Shares.unserved`), and charged again when it goes on.  With one group there is nothing to share, and
the order within it is all.

What is kept is a few numbers per group; no clock, no chance.
"""

from __future__ import annotations

from collections.abc import Mapping


class Shares:
    """What each group has been served; see the module's text.

    :param weights: by group, 1 where none is given.
    """

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self._weights = {} if weights is None else dict(weights)
        self._virtual = 0.0
        self._finish: dict[str, float] = {}
        self._start: dict[str, float] = {}  # of the groups that wait

    def weight(self, group: str) -> float:
        """A group's share relative to the others'."""
        return self._weights.get(group, 1.0)

    def tag(self, group: str) -> float:
        """A group's start tag: the smallest is served first."""
        held = self._start.get(group)
        return max(self._virtual, self._finish.get(group, 0.0)) if held is None else held

    def waits(self, group: str) -> None:
        """A group has somebody who waits: its tag is settled until it is served."""
        self._start.setdefault(group, self.tag(group))

    def idle(self, group: str) -> None:
        """Nobody of a group waits any more."""
        self._start.pop(group, None)

    def served(self, group: str, size: int) -> None:
        """A flow of so many bytes is admitted."""
        tag = self.tag(group)
        self._virtual = max(self._virtual, tag)
        self._finish[group] = tag + size / self.weight(group)
        if group in self._start:
            self._start[group] = self._finish[group]
        self._forget()

    def unserved(self, group: str, size: int) -> None:
        """So many bytes that were charged were not moved."""
        back = size / self.weight(group)
        if group in self._start:
            self._start[group] = self._finish[group] = max(0.0, self._start[group] - back)
        elif group in self._finish:
            self._finish[group] = max(0.0, self._finish[group] - back)

    def _forget(self) -> None:
        """A finish tag that is past says no more than none."""
        past = [group for group, finish in self._finish.items() if finish <= self._virtual]
        for group in past:
            del self._finish[group]
