"""What an experiment is held against: the test network that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adon import yamlfile
from adon.errors import InvalidInput, Problem
from adon.experiments.reading import Source
from adon.experiments.surroundings import Limits, Surroundings, Way
from adon.paths import is_file
from apps.experiments import measuring
from apps.experiments.named_files import network_file
from mininet_topos import networks
from mininet_topos.link_shape import MAX_DELAY, MAX_RATE, MIN_RATE
from mininet_topos.networks import Network, configuration


def network(source: Source) -> Network:
    """The network that an experiment names: built in, or a file seen from the experiment's own.

    :raises InvalidInput: if there is none, or it cannot be built at this scale.
    """
    name, scale = source.experiment.network, source.experiment.scale
    file = network_file(source)
    if file is None:
        try:
            networks.text(name)
        except InvalidInput as error:
            raise source.placed(error, ("network",)) from error
        return networks.named(name, scale)  # what is wrong with its scale is said in its own words
    if not is_file(file):
        raise source.placed(InvalidInput.of("network", f"there is no file {file}"), ("network",))
    return networks.read(file.absolute(), scale)


def surroundings(of: Network) -> Surroundings:
    """What an experiment may name of a network."""
    return Surroundings(
        network=of.name,
        scale=of.scale,
        sites={site.name: tuple(dtn.host for dtn in site.dtns) for site in of.sites},
        ways={path.name: Way(path.sites, path.goodput) for path in of.paths},
        links=frozenset(link.name for link in of.links),
        limits=Limits((MIN_RATE, MAX_RATE), MAX_DELAY),
    )


def checked(source: Source, of: Network) -> Surroundings:
    """What it is held against, after everything that it says was.

    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    found = surroundings(of)
    source.check(found)
    wrong = [
        problem for look in (_check_configuration, measuring.check) for problem in _problems(look, source, of)
    ]
    if wrong:
        raise InvalidInput(wrong)
    return found


def _problems(look: Callable[[Source, Network], None], source: Source, of: Network) -> Sequence[Problem]:
    try:
        look(source, of)
    except InvalidInput as error:
        return error.problems
    return ()


def _check_configuration(source: Source, of: Network) -> None:
    """Read ADON's configuration with the sections that the file adds to it."""
    extra = source.experiment.model_dump(mode="json")["configuration"]
    if not extra:
        return
    try:
        configuration.read(of, extra=extra)
    except InvalidInput as error:
        wrong = [
            said
            for problem in error.problems
            for said in source.placed(
                InvalidInput(problem), ("configuration", *yamlfile.place_of(problem.field))
            ).problems
        ]
        raise InvalidInput(wrong) from error
