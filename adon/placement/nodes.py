"""Partial placements, many at a time: what each may still become, and how long that takes at least.

All operations are on K nodes at once: one numpy operation over all of them costs little more than over one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adon.placement.arrays import Arrays, Flags, Floats, Numbers
from adon.placement.constraints import SLACK

OPEN = -1
"""The machine of a task that has none yet."""


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """K partial placements with equally many tasks placed.

    :param placed: K x J, machines, or :data:`OPEN`.
    :param busy: K x M x 2M: row m holds seconds of each path *to* m, then of each path *from* m.
    :param talk: K x J x 2M: bits to each task from what is on each machine, then from it to there.
    :param shared: K x G, seconds of what paths share.
    :param free: K x M x 2, cores and memory.
    :param values: K x J x M, seconds that it takes at least with a task there; infinite where it must not be.
    :param least: K, seconds that every completion takes at least.
    """

    placed: Numbers
    busy: Floats
    talk: Floats
    shared: Floats
    free: Floats
    values: Floats
    least: Floats

    def __len__(self) -> int:
        return len(self.least)

    def take(self, which: Numbers | Flags) -> Nodes:
        """Some of them."""
        return Nodes(
            self.placed[which],
            self.busy[which],
            self.talk[which],
            self.shared[which],
            self.free[which],
            self.values[which],
            self.least[which],
        )


@dataclass(frozen=True, eq=False)
class Space:
    """What a problem's arrays come to once for all nodes."""

    arrays: Arrays

    @cached_property
    def cost(self) -> Floats:
        """M x 2M, seconds per bit of paths to, then from, each machine."""
        return np.hstack([self.arrays.per_bit.T, self.arrays.per_bit])

    @cached_property
    def wait(self) -> Floats | None:
        """M x 2M, likewise, what others take; None if nobody else sends."""
        wait = self.arrays.wait
        return np.hstack([wait.T, wait]) if wait.any() or self.arrays.shared_wait.any() else None

    @cached_property
    def share(self) -> Floats:
        """2M x (M G): seconds of shared links per bit to, then from, each machine, by where a task is."""
        member = self.arrays.member * self.arrays.shared_per_bit[:, None, None]
        count = self.arrays.machines
        to, out = member.transpose(1, 2, 0), member.transpose(2, 1, 0)
        return np.concatenate([to, out]).reshape(2 * count, -1)

    @cached_property
    def traffic(self) -> Floats:
        """J, bits to and from each task, as a share of the most that one has."""
        total = self.arrays.bits.sum(0) + self.arrays.bits.sum(1)
        most: float = total.max()
        shares: Floats = total / most if most > 0 else total
        return shares

    def root(self, placed: Numbers) -> Nodes:
        """One node, with some tasks placed already.

        :param placed: J machines, or :data:`OPEN`.
        """
        arrays, count = self.arrays, self.arrays.machines
        there = np.zeros((arrays.tasks, count))
        known = np.flatnonzero(placed != OPEN)
        there[known, placed[known]] = 1.0
        talk = np.hstack([arrays.bits.T @ there, arrays.bits @ there])
        between = there.T @ arrays.bits @ there
        np.fill_diagonal(between, 0.0)
        busy = np.hstack([between.T, between]) * self.cost
        shared = (arrays.member * between).sum((1, 2)) * arrays.shared_per_bit
        waited = busy if self.wait is None else busy + (busy > 0) * self.wait
        shared_waited = shared + (shared > 0) * arrays.shared_wait
        least = max(waited.max(initial=0.0), shared_waited.max(initial=0.0))
        free = arrays.free - there.T @ arrays.need
        values = busy + talk[:, None, :] * self.cost
        if self.wait is not None:
            values += (values > 0) * self.wait
        values = np.maximum(values.max(2), least)
        values[~arrays.allowed | (arrays.need[:, None] > free + SLACK).any(2)] = np.inf
        if arrays.clash is not None:
            for task in known:
                values[arrays.clash[task, placed[task]]] = np.inf
        alone = (placed[None], busy[None], talk[None], shared[None], free[None], values[None])
        nodes = Nodes(*alone, np.array([least]))
        self._share(nodes)
        return nodes

    def deciding(self, placed: Numbers) -> Numbers:
        """Machines at the link that a whole placement waits for."""
        whole, count = self.root(placed), self.arrays.machines
        seconds = whole.busy[0] if self.wait is None else whole.busy[0] + (whole.busy[0] > 0) * self.wait
        shared = whole.shared[0] + (whole.shared[0] > 0) * self.arrays.shared_wait
        if shared.max(initial=0.0) > seconds.max():
            over = self.arrays.member[int(shared.argmax())] * (whole.busy[0, :, count:] > 0)
            return np.flatnonzero(over.any(0) | over.any(1))
        one, other = np.unravel_index(int(seconds.argmax()), seconds.shape)
        return np.array([one, int(other) % count])

    def added(self, nodes: Nodes) -> Floats:
        """K x J x M x G: seconds that a task there adds to each shared link."""
        arrays = self.arrays
        return (nodes.talk @ self.share).reshape(len(nodes), arrays.tasks, arrays.machines, -1)

    def placed(self, nodes: Nodes, task: Numbers, machine: Numbers, least: Floats) -> Nodes:
        """Each node with one task more placed.

        :param nodes: not used any more afterwards: their values become those of the result.
        :param task: K, and likewise ``machine``.
        :param least: K, what :attr:`Nodes.values` said of that.
        """
        arrays, count = self.arrays, self.arrays.machines
        each = np.arange(len(nodes))
        told = nodes.talk[each, task]
        shared = nodes.shared
        if arrays.member.size:
            shared = shared + self.added(nodes)[each, task, machine]
        seconds = told * self.cost[machine]
        busy, talk, free, where = nodes.busy, nodes.talk, nodes.free, nodes.placed
        busy[each, machine] += seconds
        busy[each, :, machine + count] += seconds[:, :count]
        busy[each, :, machine] += seconds[:, count:]
        busy[each, machine, machine] = busy[each, machine, machine + count] = 0.0
        talk[each, :, machine] += arrays.bits[task]
        talk[each, :, machine + count] += arrays.bits.T[task]
        free[each, machine] -= arrays.need[task]
        where[each, task] = machine
        after = Nodes(where, busy, talk, shared, free, nodes.values, least)
        self._narrow(after, task, machine)
        return after

    def _narrow(self, nodes: Nodes, task: Numbers, machine: Numbers) -> None:
        """Bring values up to date, in place, after one task more was placed.

        Of what a task on n takes, only the two paths between n and that machine have changed; where n is that
        machine, all its paths have.
        """
        arrays, count, values = self.arrays, self.arrays.machines, nodes.values
        each = np.arange(len(nodes))
        for way in (machine, machine + count):
            seconds = nodes.talk[each, :, way][:, :, None] * self.cost.T[way][:, None, :]
            seconds += nodes.busy[each, :, way][:, None, :]
            if self.wait is not None:
                seconds += (seconds > 0) * self.wait.T[way][:, None, :]
            np.maximum(values, seconds, out=values)
        seconds = nodes.talk * self.cost[machine][:, None, :] + nodes.busy[each, machine][:, None, :]
        if self.wait is not None:
            seconds += (seconds > 0) * self.wait[machine][:, None, :]
        there = np.maximum(values[each, :, machine], seconds.max(2))
        there[(arrays.need > nodes.free[each, machine][:, None, :] + SLACK).any(2)] = np.inf
        values[each, :, machine] = there
        if arrays.clash is not None:
            values[arrays.clash[task, machine]] = np.inf
        np.maximum(values, nodes.least[:, None, None], out=values)
        self._share(nodes)

    def _share(self, nodes: Nodes) -> None:
        """Bring values up to date, in place, with what paths share."""
        if not self.arrays.member.size:
            return
        seconds = self.added(nodes)
        seconds += nodes.shared[:, None, None, :]
        if self.wait is not None:
            seconds += (seconds > 0) * self.arrays.shared_wait
        np.maximum(nodes.values, seconds.max(3), out=nodes.values)
