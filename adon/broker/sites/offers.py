"""Which programs may run where: what a request for a job is held against.

Only what a site's configuration names can be asked for, for the templates and with as many words as it says
(:class:`adon.config.ConfiguredJob`).  Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from adon.config import Configuration
from adon.config.compute import ConfiguredJob
from adon.errors import InvalidInput


def find_program(
    configuration: Configuration, site: str, job: str, arguments: Sequence[str], template: str | None
) -> ConfiguredJob:
    """The program that is asked for, as its site's configuration has it.

    :param template: the name of the template whose data it is for, if any.
    :raises InvalidInput: if the site does not offer it, or not so.
    """
    place = configuration.compute.get(site)
    if place is None:
        raise InvalidInput.of("site", f"there is no compute site {site!r}")
    if place.adapter is None or place.adapter.kind == "static":
        raise InvalidInput.of("site", f"{site} takes no jobs: it has no adapter that could hand them over")
    program = place.adapter.jobs.get(job)
    if program is None:
        there = ", ".join(sorted(place.adapter.jobs)) if place.adapter.jobs else "nothing"
        raise InvalidInput.of("job", f"{site} has no job {job!r}; it has {there}")
    refusal = program.refusal(arguments)
    if refusal is not None:
        raise InvalidInput.of("arguments", refusal)
    if program.templates and template not in program.templates:
        raise InvalidInput.of("template", f"{job} is for {', '.join(program.templates)} only")
    return program


def offered_at(
    configuration: Configuration, campus: str, job: str, arguments: Sequence[str], template: str
) -> tuple[str, ...]:
    """The compute sites of a campus that would run this.

    :raises InvalidInput: if none would, with what each of them says.
    """
    refusals, found = [], []
    for name, site in configuration.compute.items():
        if site.site != campus:
            continue
        try:
            find_program(configuration, name, job, arguments, template)
        except InvalidInput as error:
            refusals.append(f"{name}: {error}")
        else:
            found.append(name)
    if not found:
        told = "; ".join(refusals) if refusals else "there is no compute site"
        raise InvalidInput.of("job", f"nothing at {campus} would run it: {told}")
    return tuple(found)
