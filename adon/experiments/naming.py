"""Whether the network has what a file names, and what it is given there can be built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from adon.experiments import policies
from adon.experiments.checks import DecisionsCheck
from adon.experiments.document import Experiment
from adon.experiments.events import Controller, Event, LinkChange, LinkSetting, Move
from adon.experiments.figures import Measure
from adon.experiments.parts import Moment, Scalar, What
from adon.experiments.surroundings import Surroundings
from adon.experiments.sweeping import POLICY, Place, Point, matches
from adon.experiments.workload import FlowEntry
from adon.nearest_key import absent
from adon.templates_catalog.model import Template
from adon.units import format_duration, format_rate

LEAST_RATE = 1000.0
"""Bits/s on the testbed: below, one datagram takes longer than a trial's patience."""
LEAST_WINDOW = 4096
"""Bytes: Linux gives no smaller socket buffer (SOCK_MIN_SNDBUF is 4608 with its own accounting)."""

ENDS = (Controller.STOP, Controller.KILL)

Finding = tuple[Place, str]


def network(
    at: Experiment, templates: Mapping[str, Template], surroundings: Surroundings
) -> Iterator[Finding]:
    """What the network lacks, of what a file names at one combination."""
    for row, text in enumerate(at.policies):
        name = policies.parse(text)
        if name.kind is policies.Kind.ALWAYS:
            yield from _known("path", name.argument, surroundings.ways, ("policies", row))
    for row, entry in enumerate(at.workload):
        place: Place = ("workload", row)
        yield from _known("template", entry.template, templates, (*place, "template"))
        yield from _sending(entry, surroundings, place)
        template = templates.get(entry.template)
        if entry.protocol is None and template is not None and template.protocol == "udp":
            yield from (((*place, field), cause) for field, cause in entry.not_for_udp())
        yield from _ends(entry, surroundings, place)
    for link, setting in at.links.items():
        yield from _known("link or path", link, [*surroundings.links, *surroundings.ways], ("links", link))
        yield from _quality(setting, surroundings, ("links", link))
    yield from _events(at, surroundings)


Combinations = Sequence[tuple[Point, Experiment]]
"""What is tried, and the file as it is there."""


def read_out(experiment: Experiment, every: Combinations, surroundings: Surroundings) -> Iterator[Finding]:
    """What figures and checks name: a path that is not there carries nothing, and that is no finding.

    :param every: a flow may have other ends at each; it is enough that the path joins them at one.
    """
    for name, figure in experiment.figures.items():
        if figure.path is not None:
            flow = figure.flow if figure.of is Measure.BYTES_ON_PATH else None
            meant = [at for point, at in every if _is_of(point, figure.where)]
            yield from _leads(figure.path, flow, meant, surroundings, ("figures", name, "path"))
    for row, check in enumerate(experiment.checks):
        if not isinstance(check, DecisionsCheck):
            continue
        meant = [at for point, at in every if _is_of(point, check.where)]
        for number, expected in enumerate(check.decisions):
            if expected.path is not None:
                place: Place = ("checks", row, "decisions", number, "path")
                yield from _leads(expected.path, expected.flow, meant, surroundings, place)


def _is_of(point: Point, where: Mapping[str, Scalar]) -> bool:
    return matches(point, str(where.get(POLICY)), where)


def _leads(
    path: str, flow: str | None, meant: Iterable[Experiment], surroundings: Surroundings, place: Place
) -> Iterator[Finding]:
    """A path must be there; and, if it is to carry a flow, lead between its ends."""
    yield from _known("path", path, surroundings.ways, place)
    if flow is None or path not in surroundings.ways:
        return
    entries = [entry for at in meant for entry in at.workload if entry.name == flow]
    between = [surroundings.between(entry.origin, entry.destination) for entry in entries]
    # Ends that nothing joins are told where they stand.
    if all(between) and between and not any(path in ways for ways in between):
        yield place, f"{path!r} does not lead between the ends of {flow!r}"


def _sending(entry: FlowEntry, surroundings: Surroundings, place: Place) -> Iterator[Finding]:
    most = surroundings.limits.rate[1]
    if entry.rate is not None and not LEAST_RATE <= entry.rate / surroundings.scale <= most:
        yield (*place, "rate"), _divided(entry.rate, surroundings, (LEAST_RATE, most))
    if entry.window is not None and entry.window / surroundings.scale < LEAST_WINDOW:
        small = entry.window / surroundings.scale
        cause = f"is {small:.0f} B on the testbed, divided by the scale {surroundings.scale:g}; "
        yield (*place, "window"), f"{cause}no system has one below {LEAST_WINDOW} B"


def _divided(rate: float, surroundings: Surroundings, between: tuple[float, float]) -> str:
    low, high = map(format_rate, between)
    small = format_rate(rate / surroundings.scale)
    return f"is {small} on the testbed, divided by the scale {surroundings.scale:g}: not in {low} to {high}"


def _ends(entry: FlowEntry, surroundings: Surroundings, place: Place) -> Iterator[Finding]:
    path, ends = entry.path, [(entry.origin, (*place, "from")), (entry.destination, (*place, "to"))]
    hosts = [host for hosts in surroundings.sites.values() for host in hosts]
    wrong = [
        finding
        for end, where in ends
        for finding in _known("site or host", end, [*surroundings.sites, *hosts], where)
    ]
    yield from wrong
    if path is not None and path not in surroundings.ways:
        yield from _known("path", path, surroundings.ways, (*place, "path"))
    elif not wrong:
        (one, _), (other, where) = ends
        if surroundings.host(one) == surroundings.host(other):
            yield where, f"{other!r} is the host that it comes from"
        elif not surroundings.between(one, other):
            yield where, f"no path of {surroundings.network} leads from {one!r} to {other!r}"
        elif path is not None and path not in surroundings.between(one, other):
            yield (*place, "path"), f"{path!r} does not lead from {one!r} to {other!r}"


def _events(at: Experiment, surroundings: Surroundings) -> Iterator[Finding]:
    for row, event in enumerate(at.events):
        place: Place = ("events", row, event.kind)
        if event.load is not None:
            load = event.load
            yield from _known("path", load.path, surroundings.ways, (*place, "path"))
            way = surroundings.ways.get(load.path)
            if way is not None and load.origin is not None and surroundings.site(load.origin) not in way.ends:
                yield (*place, "from"), f"{load.origin!r} is not at an end of {load.path!r}"
            most = surroundings.limits.rate[1]
            if load.rate is not None and not LEAST_RATE <= load.rate / surroundings.scale <= most:
                yield (*place, "rate"), _divided(load.rate, surroundings, (LEAST_RATE, most))
        if event.controller is Controller.START and not any(one.controller in ENDS for one in at.events):
            yield place, "ADON runs from the beginning, and no event stops or kills it"
        if event.link is not None:
            link = event.link
            if link.name is not None:
                yield from _known("link", link.name, surroundings.links, (*place, "name"))
            if link.path is not None:
                yield from _known("path", link.path, surroundings.ways, (*place, "path"))
            yield from _quality(link, surroundings, place)
        if event.move is not None:
            yield from _known("path", event.move.to, surroundings.ways, (*place, "to"))
            flows = [entry.name for entry in at.workload]
            yield from _known("flow", event.move.flow, flows, (*place, "flow"))
            if not event.absent:
                yield from _moved(event.move, at, surroundings, place)


def _moved(move: Move, at: Experiment, surroundings: Surroundings, place: Place) -> Iterator[Finding]:
    for entry in at.workload:
        if entry.name != move.flow:
            continue
        if entry.absent:
            yield (*place, "flow"), f"{move.flow!r} is absent: there is nothing to move"
        ways = surroundings.between(entry.origin, entry.destination)
        if ways and move.to in surroundings.ways and move.to not in ways:
            cause = f"{move.to!r} does not lead from {entry.origin!r} to {entry.destination!r}"
            yield (*place, "to"), cause


def _quality(given: LinkChange | LinkSetting, surroundings: Surroundings, place: Place) -> Iterator[Finding]:
    limits = surroundings.limits
    if given.rate is not None and not limits.rate[0] <= given.rate / surroundings.scale <= limits.rate[1]:
        yield (*place, "rate"), _divided(given.rate, surroundings, limits.rate)
    if given.delay is not None and given.delay > limits.delay:
        cause = f"{format_duration(given.delay)} is more than {format_duration(limits.delay)}"
        yield (*place, "delay"), cause
    if given.loss is not None and given.loss >= 1:
        yield (*place, "loss"), "a link that loses everything is down (state: down)"


def _known(kind: str, name: str, known: Iterable[str], place: Place) -> Iterator[Finding]:
    names = list(known)
    if name not in names:
        yield place, absent(kind, name, names)


def moments(at: Experiment) -> Iterator[Finding]:
    """Moments of what is not there, or that it does not have, at one combination.

    What is absent waits for nothing, and counts as having happened: of it only names are looked at.
    """
    known = _named(at)
    for one, place, moment in every_moment(at):
        of = known.get(moment.of)
        if of is None or not (one.absent or of.absent):
            yield from _impossible(at, known, moment, place)


def every_moment(experiment: Experiment) -> Iterator[tuple[FlowEntry | Event, Place, Moment]]:
    """The moments of the workload and the events: what waits for each, and where it stands."""
    for row, entry in enumerate(experiment.workload):
        for field in ("after", "until"):
            moment = getattr(entry, field)
            if moment is not None:
                yield entry, ("workload", row, field), moment
    for row, event in enumerate(experiment.events):
        if event.after is not None:
            yield event, ("events", row, "after"), event.after
        if event.until is not None:
            yield event, ("events", row, event.kind, "until"), event.until


_OF_EVENTS = (What.ASKED, What.BEGINS, What.ENDS)
_OF_TESTS = (What.TESTED, What.RETESTED)
"""Of loads: tests see them as they see flows."""
AFTER_THE_END = (What.ENDS, What.RETESTED)
"""What comes when something is over, or later."""


def moment_problems(experiment: Experiment, moment: Moment, place: Place) -> Iterator[Finding]:
    """What is wrong with a moment."""
    return _impossible(experiment, _named(experiment), moment, place)


def _named(experiment: Experiment) -> dict[str, FlowEntry | Event]:
    return {one.name: one for one in experiment.steps}


def _impossible(
    experiment: Experiment, known: Mapping[str, FlowEntry | Event], moment: Moment, place: Place
) -> Iterator[Finding]:
    of, measuring = known.get(moment.of), experiment.measuring
    if of is None:
        yield place, absent("flow or event", moment.of, known)
    elif moment.what in _OF_TESTS and "throughput" in measuring.said and measuring.throughput is None:
        yield place, f"never comes: throughput is never tested, so nothing is {moment.what} (measuring)"
    elif isinstance(of, Event):
        load = of.load is not None
        if moment.what not in ({*_OF_EVENTS, *_OF_TESTS} if load else _OF_EVENTS):
            tested = ", and is tested and retested" if load else ""
            yield place, f"{moment.of!r} is an event: it begins and ends{tested}"
        elif moment.what in AFTER_THE_END and of.lasts is None and of.until is None:
            yield place, f"{moment.of!r} does not end: it has no 'for' and no 'until'"
