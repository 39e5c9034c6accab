"""Policies that decide instead of ADON in a trial: the simulator's, by their names in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adon.errors import InvalidInput
from adon.experiments.policies import Kind, PolicyName
from adon.simulation.policies import BestTest, Ecmp, PathPolicy, Policy
from adon.simulation.simulated_network import SimulatedPath
from adon.simulation.workload import Transfer
from measurement.model import Metric


@dataclass
class AlwaysPath(PathPolicy):
    """One path by its name, whatever happens to it; for ends that it does not join the first that does."""

    path: str = ""
    fails_over = False

    def choose(self, transfer: Transfer, paths: Sequence[SimulatedPath]) -> SimulatedPath:  # noqa: ARG002
        """As :meth:`PathPolicy.choose`."""
        return next((path for path in paths if path.name == self.path), paths[0])


def policy(name: PolicyName, seed: int) -> Policy:
    """Return a new policy, for one trial.

    :param seed: of whatever it leaves to chance.
    :raises InvalidInput: for ``ours``, which is ADON itself.
    """
    match name.kind:
        case Kind.ALWAYS:
            return AlwaysPath(str(name), path=name.argument)
        case Kind.ECMP:
            return Ecmp(str(name), seed=seed)
        case Kind.LOWEST_RTT:
            return BestTest(str(name), metric=Metric.RTT)
        case Kind.BEST_TEST:
            return BestTest(str(name), metric=Metric.THROUGHPUT)
        case Kind.OURS:
            raise InvalidInput.of("policies", "ours is ADON itself, no policy of the simulator's")
