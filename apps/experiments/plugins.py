"""Policies by their names in a file: the simulator's simple ways, and classes of the experimenter's own."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from adon.errors import InvalidInput
from adon.experiments.document import Experiment
from adon.experiments.policies import Kind, PolicyName, parse
from adon.simulation.network import Path as SimulatedPath
from adon.simulation.policy import AtOnce, Ecmp, Latest, Policy
from adon.simulation.workload import Transfer
from measurement.model import Metric

NEEDED = ("name", "quiet", "wake", "happened")
"""What a policy has (:class:`adon.simulation.policy.Policy`)."""


@dataclass
class AlwaysPath(AtOnce):
    """One path by its name, whatever happens to it; for ends that it does not join the first that does."""

    path: str = ""

    def _ports(self, path: SimulatedPath, live: bool, view: Any) -> Sequence[Any]:  # noqa: ARG002
        return ()

    def choose(self, transfer: Transfer, paths: Sequence[SimulatedPath]) -> SimulatedPath:  # noqa: ARG002
        """As :meth:`AtOnce.choose`."""
        return next((path for path in paths if path.name == self.path), paths[0])


def policy(name: PolicyName, seed: int, folder: Path | None = None) -> Policy:
    """A new policy, for one trial.

    :param seed: of whatever it leaves to chance.
    :param folder: of the experiment's file: modules are looked for there first, then where Python looks.
    :raises InvalidInput: if a plugin cannot be loaded or is no policy; says what it lacks.
    """
    match name.kind:
        case Kind.ALWAYS:
            return AlwaysPath(str(name), path=name.argument)
        case Kind.ECMP:
            return Ecmp(str(name), seed=seed)
        case Kind.LOWEST_RTT:
            return Latest(str(name), metric=Metric.RTT)
        case Kind.BEST_TEST:
            return Latest(str(name), metric=Metric.THROUGHPUT)
        case Kind.PLUGIN:
            return _made(_loaded(name.argument, folder), name.argument, seed)
        case Kind.OURS:
            raise InvalidInput.of("policies", "ours is ADON itself, no policy of the simulator's")


def _loaded(plugin: str, folder: Path | None) -> type[Any]:
    module, _, attribute = plugin.partition(":")
    with _first_in_path(folder):
        try:
            found = getattr(importlib.import_module(module), attribute, None)
        except Exception as error:
            told = f"{plugin}: {type(error).__name__}: {error}"
            raise InvalidInput.of("policies", told) from error
    if not inspect.isclass(found):
        raise InvalidInput.of("policies", f"{plugin}: {module} has no class {attribute}")
    return found


def _made(kind: type[Any], plugin: str, seed: int) -> Policy:
    try:
        wants_seed = "seed" in inspect.signature(kind).parameters
        made = kind(seed=seed) if wants_seed else kind()
    except Exception as error:
        raise InvalidInput.of("policies", f"{plugin}: {type(error).__name__}: {error}") from error
    lacking = [attribute for attribute in NEEDED if not hasattr(made, attribute)]
    if lacking:
        raise InvalidInput.of("policies", f"{plugin}: is no policy: it has no {', '.join(lacking)}")
    return cast(Policy, made)


@contextmanager
def _first_in_path(folder: Path | None) -> Iterator[None]:
    if folder is None:
        yield
        return
    place = str(folder.resolve())
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path.remove(place)


def check_policies(experiment: Experiment, folder: Path | None) -> None:
    """Load every policy once, before anything is built.

    :raises InvalidInput: naming the first that cannot be loaded.
    """
    for row, text in enumerate(experiment.policies):
        name = parse(text)
        if name.kind is not Kind.PLUGIN:
            continue
        try:
            policy(name, experiment.seed, folder)
        except InvalidInput as error:
            told = "; ".join(problem.cause for problem in error.problems)
            raise InvalidInput.of(f"policies.{row}", told) from error
