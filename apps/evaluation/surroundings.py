"""Where a run takes place: kernel and processors of each place, versions of the programs."""

from __future__ import annotations

import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence

from adon.code_version import code_version
from apps.evaluation.failing import TestFailedError
from apps.evaluation.places import Place
from apps.evaluation.programs import run

SYSTEM = ("uname", "-srm")
PROCESSORS = ("nproc",)
PATIENCE_S = 20.0


def environment(places: Mapping[str, Place]) -> dict[str, str]:
    """What is known of the machines; each answer once, with the places that gave it.

    :param places: those that programs can be run at; of others nothing is asked.

    A place that cannot be asked says why instead: its tests will fail, too.
    """
    return {
        "started on": f"{platform.system()} {platform.release()} {platform.machine()}",
        **_asked(places, SYSTEM, "system"),
        **_asked(places, PROCESSORS, "processors"),
    }


def versions(places: Mapping[str, Place], commands: Sequence[tuple[str, ...]]) -> dict[str, str]:
    """The first line that each command prints, and ADON's own."""
    found = {"adon": code_version()}
    for command in commands:
        found |= _asked(places, command, " ".join(command))
    return found


def _asked(places: Mapping[str, Place], command: Sequence[str], name: str) -> dict[str, str]:
    told: defaultdict[str, list[str]] = defaultdict(list)
    for place in places.values():
        told[_answer((*place.reach, *command))].append(place.name)
    if len(told) == 1:
        return {name: next(iter(told))}
    return {f"{name} of {', '.join(names)}": answer for answer, names in told.items()}


def _answer(argv: tuple[str, ...]) -> str:
    try:
        lines = run(argv, PATIENCE_S).strip().splitlines()
    except TestFailedError as error:
        return str(error)
    return lines[0].strip() if lines else "nothing"
