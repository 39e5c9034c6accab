"""A run before anything is built: all that can be wrong with it is looked at, and said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from adon.errors import InvalidInput
from adon.experiments.plan import plan
from adon.experiments.planned import Plan, Trial
from adon.experiments.reading import Source
from adon.nearest_key import absent
from apps.experiments import around
from apps.experiments.folder import RESULTS
from mininet_topos import old_platforms as platforms
from mininet_topos.networks import Network
from mininet_topos.old_platforms import Choice
from mininet_topos.result_folder import require_folder


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a run is to be made.

    :param platform: by name; None for the best that the machine has.
    :param only: each ``POLICY`` or ``POLICY/KEY=VALUE``: the trials of any of them are carried out; all
        where there are none.
    :param results: where the folders of runs are.
    """

    platform: str | None = None
    only: tuple[str, ...] = ()
    results: Path = RESULTS


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run before anything is built: all that can be wrong with it has been looked at.

    :param plan: all trials.
    :param trials: those that are carried out.
    """

    source: Source
    network: Network
    plan: Plan
    trials: tuple[Trial, ...]
    choice: Choice
    results: Path


def prepare(source: Source, wanted: Wanted) -> Prepared:
    """Look at everything first.

    :raises InvalidInput: for a file that cannot be carried out, with every problem.
    :raises Unavailable: if this machine cannot; names the tools that are missing.
    """
    experiment, network = source.experiment, around.network(source)
    found = around.checked(source, network)
    planned = plan(experiment, source.templates, found)
    trials = chosen(planned.trials, wanted.only)
    choice = platforms.choose(wanted.platform, needs_delay=bool(planned.needs))
    require_folder(wanted.results, "--results")
    return Prepared(source, network, planned, trials, choice, wanted.results)


def chosen(trials: Sequence[Trial], only: Sequence[str]) -> tuple[Trial, ...]:
    """The trials that are meant by any of these, in the plan's order; all of them by none.

    :param only: each ``POLICY``, ``POLICY/KEY=VALUE,KEY=VALUE`` or ``/KEY=VALUE``; values as the trials'
        names have them.
    :raises InvalidInput: if one means none; it says what there is.
    """
    if not only:
        return tuple(trials)
    meant = {trial.number for each in only for trial in _meant(trials, each)}
    return tuple(trial for trial in trials if trial.number in meant)


def _meant(trials: Sequence[Trial], only: str) -> tuple[Trial, ...]:
    """Of a policy, and at points with certain values."""
    policy, _, rest = only.partition("/")
    policies = list(dict.fromkeys(trial.policy for trial in trials))
    if policy and policy not in policies:
        raise _wrong_only(absent("policy", policy, policies))
    wanted: dict[str, str] = {}
    for pair in (pair for pair in rest.split(",") if pair):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise _wrong_only(f"{pair!r} is no KEY=VALUE")
        if key in wanted:
            raise _wrong_only(f"{key} is there twice")
        _require_value(trials, key, value)
        wanted[key] = value
    found = tuple(
        trial
        for trial in trials
        if policy in ("", trial.policy)
        and all(str(trial.point[key]) == value for key, value in wanted.items())
    )
    if not found:
        raise _wrong_only(f"no trial has all of {rest}")
    return found


def _require_value(trials: Sequence[Trial], key: str, value: str) -> None:
    values = list(dict.fromkeys(str(trial.point[key]) for trial in trials if key in trial.point))
    if not values:
        keys = list(dict.fromkeys(key for trial in trials for key in trial.point))
        raise _wrong_only(absent("swept key", key, keys))
    if value not in values:
        raise _wrong_only(f"{value!r} is not among the values of {key}: {', '.join(values)}")


def _wrong_only(cause: str) -> InvalidInput:
    return InvalidInput.of("--only", cause)
