"""Which machine stands for which place of a design, and how a program is started there."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from adon.errors import InvalidInput, Problem
from measurement.evaluation.document import PLACEHOLDER, Design
from measurement.evaluation.output import filled
from measurement.instances import Instance

REACH_PLACEHOLDERS = ("name", "address")
"""What ``--reach`` is filled in with."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place.

    :param reach: what a command is put behind to run there; empty: it is this machine.
    """

    name: str
    instance: Instance
    reach: tuple[str, ...] = ()


def places(
    design: Design,
    instances: Iterable[Instance],
    named: Mapping[str, str],
    reach: str = "",
    here: Iterable[str] = (),
) -> dict[str, Place]:
    """By their names in the design.

    :param named: place -> instance, where their names differ.
    :param reach: how commands get to a machine, with ``{name}`` and ``{address}`` of the instance:
        ``ssh ubuntu@{address}``, ``ip netns exec {name}``.  Empty: all places are addresses of this machine.
    :param here: places that are this machine.
    :raises InvalidInput: for a place that is no instance, an instance or place that is not there, two places
        that are one instance, or a word in braces that nothing is filled in for.
    """
    known = {one.name: one for one in instances}
    wanted = (*design.nodes, *design.clients)
    local = {*here}
    found: list[Problem] = []
    for option, names in (("--place", named), ("--here", local)):
        for name in names:
            if name not in wanted:
                found.append(Problem(option, f"{name!r} is no place of the design: {', '.join(wanted)}"))
    try:
        words = tuple(shlex.split(reach))
    except ValueError as error:
        raise InvalidInput.of("--reach", f"cannot be read: {error}") from None
    found += [
        Problem("--reach", f"{{{one}}} is not one of {', '.join(REACH_PLACEHOLDERS)}")
        for word in words
        for one in PLACEHOLDER.findall(word)
        if one not in REACH_PLACEHOLDERS
    ]
    whole: dict[str, Place] = {}
    taken: dict[str, str] = {}
    for name in wanted:
        instance = known.get(named.get(name, name))
        if instance is None:
            cause = f"no instance {named.get(name, name)!r} for the place {name!r}"
            found.append(
                Problem("--instances", f"{cause}; --place {shlex.quote(name)}=INSTANCE says which it is")
            )
            continue
        first = taken.setdefault(instance.name, name)
        if first != name:
            # A path between them would be one within the machine.
            found.append(
                Problem("--place", f"{first!r} and {name!r} are both the instance {instance.name!r}")
            )
        its = () if name in local else _reaching(words, instance)
        whole[name] = Place(name, instance, its)
    if found:
        raise InvalidInput(found)
    return whole


def _reaching(words: tuple[str, ...], instance: Instance) -> tuple[str, ...]:
    return filled(words, {"name": instance.name, "address": instance.address})
