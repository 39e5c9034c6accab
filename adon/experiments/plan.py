"""From a file, a network and a seed to the trials: which flows, how large, when, under which policy.

Same file, network and seed: same plan.  The seed of a trial depends on the experiment's seed and on what the
trial is, not on its number, so that a value or policy added to the file changes no other trial.  What a
policy leaves to chance does not depend on the repetition: of one seed it decides the same each time, as a
router that hashes does, and what differs between repetitions is the network.

The repetitions are outermost: a run that is interrupted has whole repetitions of everything, and what drifts
in a machine over an hour does not fall on one policy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from adon.experiments.document import Experiment, Need
from adon.experiments.events import LinkChange, LinkSetting
from adon.experiments.parts import Scalar
from adon.experiments.planned import Plan, Trial
from adon.experiments.scaling import absent, event_on_testbed, flows_of, setting_on_testbed, sizes
from adon.experiments.seeds import seed_of
from adon.experiments.surroundings import Surroundings
from adon.experiments.sweeping import at_point, points
from adon.templates_catalog.builtin_templates import scaled
from adon.templates_catalog.model import Template
from adon.values import FrozenMap


def plan(experiment: Experiment, templates: Mapping[str, Template], surroundings: Surroundings) -> Plan:
    """The trials of a file that was checked (:mod:`adon.experiments.validation`).

    :param templates: those that it names, at full scale.
    """
    combinations = [(point, at_point(experiment, point)) for point in points(experiment)]
    every = [
        (at, point, policy, repetition)
        for repetition in range(1, experiment.repetitions + 1)
        for point, at in combinations
        for policy in experiment.policies
    ]
    trials = [
        trial(at, templates, surroundings, point, policy, repetition)
        for at, point, policy, repetition in every
    ]
    numbered = tuple(replace(one, number=number) for number, one in enumerate(trials, 1))
    needed = frozenset(need for _, at in combinations for need in needs(at))
    return Plan(numbered, surroundings.scale, sizes(experiment, surroundings), needed)


def trial(
    at: Experiment,
    templates: Mapping[str, Template],
    surroundings: Surroundings,
    point: Mapping[str, Scalar],
    policy: str,
    repetition: int,
) -> Trial:
    """One trial; its number is 0.

    :param at: the file as it is at this point.
    """
    key = trial_key(point, policy, repetition)
    factor = 1 / surroundings.scale
    return Trial(
        number=0,
        key=key,
        policy=policy,
        point=point,
        repetition=repetition,
        seed=seed_of(at.seed, key),
        policy_seed=seed_of(at.seed, combination_key(point, policy)),
        flows=tuple(flows_of(at, templates, surroundings)),
        events=tuple(event_on_testbed(event, factor, absent(at)) for event in at.events if not event.absent),
        links=FrozenMap({name: setting_on_testbed(setting, factor) for name, setting in at.links.items()}),
        templates=tuple(scaled(template, factor) for template in templates.values()),
        measuring=at.measuring,
        limit=at.limit,
    )


def trial_key(point: Mapping[str, Scalar], policy: str, repetition: int) -> str:
    """``case=layer-3 soykb.size=25 GB / ours / 1``."""
    return f"{combination_key(point, policy)} / {repetition}"


def combination_key(point: Mapping[str, Scalar], policy: str) -> str:
    """``case=layer-3 soykb.size=25 GB / ours``: what all repetitions of it have in common."""
    swept = " ".join(f"{name}={value}" for name, value in point.items())
    return f"{swept} / {policy}" if swept else policy


def needs(at: Experiment) -> frozenset[Need]:
    """What a platform must be able to do for it: what it says, and what its links are given."""
    given: list[LinkSetting | LinkChange] = [*at.links.values()]
    given += [event.link for event in at.events if event.link is not None and not event.absent]
    found = set(at.needs)
    found |= {Need.DELAY for one in given if one.delay}
    return frozenset(found | {Need.LOSS for one in given if one.loss})
