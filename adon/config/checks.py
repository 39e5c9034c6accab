"""What must hold between the sections: no name refers to nothing, nothing that identifies is doubled."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address
from itertools import chain, combinations
from typing import TYPE_CHECKING

from adon.config.measurements import MeasurementTest, mesh_tests
from adon.config.network import Cost, vlan_ranges
from adon.config.slices import Slice
from adon.config.types import SHARE_ROUNDING
from adon.errors import Problem
from adon.nearest_key import unknown_name
from adon.units import format_duration, format_ratio

if TYPE_CHECKING:
    from adon.config import Configuration


SHORTEST_THROUGHPUT = 3.0
"""Seconds; throughput tests that last so long or shorter never succeed at a pScheduler server."""


def problems(whole: Configuration) -> Iterator[str | Problem]:
    """Every problem between the sections, as ``field: text`` or with a code."""
    return chain(
        _empty(whole),
        _dangling(whole),
        _doubled(whole),
        _shared_ports(whole),
        _wrong_tests(whole),
        _wrong_mesh(whole),
        _unproven(whole),
        link_problems(whole),
        wrong_slices(whole),
        wrong_instances(whole),
    )


def _empty(whole: Configuration) -> Iterator[Problem]:
    # Without one of these no flow could ever have a path.
    parts = (
        ("switches", "switch", whole.switches),
        ("sites", "site", whole.sites),
        ("paths", "path or overlay", {**whole.paths, **whole.overlays}),
    )
    for field, what, found in parts:
        if not found:
            yield Problem(field, f"is empty; the network needs at least one {what}", code="missing")


def _shared_ports(whole: Configuration) -> Iterator[Problem]:
    # The rules of a path tag and address what leaves its port. On a port of paths of both layers, or of a
    # path and a DTN, one would receive frames with the VLAN tag or the addresses of the other.
    first: dict[tuple[str, str], tuple[str, str]] = {}  # by switch and port: kind and field
    for name, path in whole.paths.items():
        kind = f"layer-{path.layer} path"
        for site, end in path.ends.items():
            if site not in whole.sites:
                continue
            field = f"paths.{name}.ends.{site}"
            other, where = first.setdefault((whole.sites[site].edge, end.port), (kind, field))
            if other != kind:
                cause = f"port {end.port!r} is the port of a {other} ({where}); a {kind} needs another port"
                yield Problem(f"{field}.port", cause, code="shared-port")
    for site, place in whole.sites.items():
        for name, host in place.hosts.items():
            kind, where = first.get((place.edge, host.port), ("", ""))
            if kind:
                cause = f"port {host.port!r} is the port of a {kind} ({where}); a DTN needs another port"
                yield Problem(f"sites.{site}.hosts.{name}.port", cause, code="shared-port")


def _dangling(whole: Configuration) -> Iterator[str | Problem]:
    # Names that refer to nothing.
    for name, site in whole.sites.items():
        if site.edge not in whole.switches:
            yield unknown_name(f"sites.{name}.edge", "switch", site.edge, whole.switches)
    known = set(whole.paths) | {link for path in whole.paths.values() for link in path.links}
    for name in whole.measurements.agreement:
        if name not in known:
            yield unknown_name(f"measurements.agreement.{name}", "path or link", name, known)
    points = whole.measurements.points
    for name in whole.measurements.host_metrics:
        if name not in points:
            yield unknown_name(f"measurements.host_metrics.{name}", "measurement point", name, points)
    tested = {test.key for test in whole.measurements.tests}
    for number, each in enumerate(whole.measurements.background):
        if each.key not in tested:
            yield (
                f"measurements.background.{number}.path: there is no test of path {each.path!r} from "
                f"{each.from_!r} to {each.to!r} whose addresses it could use"
            )
    named = [
        *((f"paths.{name}.ends.{end}", end) for name, path in whole.paths.items() for end in path.ends),
        *((f"measurements.points.{name}", name) for name in whole.measurements.points),
        *((f"compute.{name}.site", place.site) for name, place in whole.compute.items()),
    ]
    for field, name in named:
        if name not in whole.sites:
            yield unknown_name(field, "site", name, whole.sites)


def _doubled(whole: Configuration) -> Iterator[str | Problem]:
    # What identifies something must not identify two.
    hosts = [
        (f"sites.{site}.hosts.{name}", name, host)
        for site, place in whole.sites.items()
        for name, host in place.hosts.items()
    ]
    vlans = [
        (f"paths.{name}.vlan", (site, end.port, path.vlan))
        for name, path in whole.paths.items()
        for site, end in path.ends.items()
        if path.layer == 2
    ]
    background = [
        (f"measurements.background.{number}.path", each.key)
        for number, each in enumerate(whole.measurements.background)
    ]
    return chain(
        _repeated("dpid", [(f"switches.{n}.dpid", f"{s.dpid:016x}") for n, s in whole.switches.items()]),
        _repeated("host name", [(field, name) for field, name, _ in hosts]),
        _repeated("address", [(f"{field}.address", host.address) for field, _, host in hosts]),
        _repeated("address", [(f"{f}.address6", h.address6) for f, _, h in hosts if h.address6 is not None]),
        _repeated("MAC address", [(f"{field}.mac", host.mac) for field, _, host in hosts]),
        _repeated("VLAN on this port", vlans),
        _repeated("directed path", background),
    )


def _unproven(whole: Configuration) -> Iterator[str | Problem]:
    # A name that no certificate can prove, and a name that two switches would share.
    bound = [(f"switches.{n}.certificate", s.certificate) for n, s in whole.switches.items() if s.certificate]
    if whole.controller.tls is None:
        for field, _ in bound:
            yield f"{field}: proves nothing without controller.tls"
    yield from _repeated("certificate name", bound)


def _repeated(what: str, values: Sequence[tuple[str, Hashable]]) -> Iterator[Problem]:
    seen: dict[Hashable, str] = {}
    for field, value in values:
        if value in seen:
            yield Problem(field, f"{seen[value]} has the same {what}", code="duplicate")
        else:
            seen[value] = field


def _wrong_tests(whole: Configuration) -> Iterator[str | Problem]:
    taken = {
        str(address): name
        for site in whole.sites.values()
        for name, host in site.hosts.items()
        for address in (host.address, host.address6)
        if address is not None
    }
    pinned: dict[frozenset[IPv4Address | IPv6Address], str] = {}
    meshed = {*mesh_tests(whole.measurements.mesh)}
    for number, test in enumerate(whole.measurements.tests):
        where, fields = f"measurements.tests.{number}", ("source", "destination")
        if test in meshed:
            where, fields = f"measurements.mesh.{test.path}", (test.from_, test.to)
        else:
            yield from _wrong_ends(whole, test, where)
            yield from _short_throughput(whole, test, where)
        for field, address in zip(fields, (test.source, test.destination), strict=True):
            if str(address) in taken:
                host = taken[str(address)]
                yield f"{where}.{field}: is the address of host {host!r}, whose flows it would pin"
        # Rules pin a pair of addresses to a path, so the same pair cannot serve a second path.
        path = pinned.setdefault(frozenset((test.source, test.destination)), test.path)
        if path != test.path:
            yield f"{where}.{fields[0]}: these addresses already measure path {path!r}"


def _wrong_mesh(whole: Configuration) -> Iterator[str | Problem]:
    for name, addresses in whole.measurements.mesh.items():
        field, path = f"measurements.mesh.{name}", whole.paths.get(name)
        if path is None:
            yield unknown_name(field, "path", name, whole.paths)
        elif {*addresses} != {*path.ends}:
            yield f"{field}: expected an address at each end of the path: {', '.join(path.ends)}"
        for site in {*addresses} & {*whole.sites} - {*whole.measurements.points}:
            yield f"{field}.{site}: the site has no measurement point"


def _short_throughput(whole: Configuration, test: MeasurementTest, where: str) -> Iterator[Problem]:
    known = whole.measurements.points
    servers = [end for end in (test.from_, test.to) if end in known and not known[end].is_ours]
    if servers and test.throughput_duration <= SHORTEST_THROUGHPUT:
        cause = f"{format_duration(test.throughput_duration)} is too short for pScheduler, whose server waits"
        cause = f"{cause} for data only as long as the test lasts; expected more than 3 s, for example 10 s"
        yield Problem(f"{where}.throughput_duration", cause, code="out-of-range")


def _wrong_ends(whole: Configuration, test: MeasurementTest, where: str) -> Iterator[str | Problem]:
    path = whole.paths.get(test.path)
    if path is None:
        yield unknown_name(f"{where}.path", "path", test.path, whole.paths)
    elif {test.from_, test.to} != set(path.ends):
        yield f"{where}.path: path {test.path!r} does not lead from {test.from_!r} to {test.to!r}"
    for end, field in ((test.from_, "from"), (test.to, "to")):
        if end not in whole.sites:
            yield unknown_name(f"{where}.{field}", "site", end, whole.sites)
        elif end not in whole.measurements.points:
            yield f"{where}.{field}: site {end!r} has no measurement point"


def link_problems(whole: Configuration) -> Iterator[str | Problem]:
    """Every problem of links and overlays with the other sections, as ``field: text``."""
    yield from _unknown_in_links(whole)
    yield from _doubled_ports(whole)
    yield from _undeclared_delays(whole)
    yield from _vlans_in_use(whole)
    yield from _shared_vlans(whole)


def _unknown_in_links(whole: Configuration) -> Iterator[str | Problem]:
    for name, link in whole.links.items():
        for switch in link.ends:
            if switch not in whole.switches:
                yield unknown_name(f"links.{name}.ends.{switch}", "switch", switch, whole.switches)
    for name, overlay in whole.overlays.items():
        for path in whole.paths:
            # Computed paths are named OVERLAY.N.
            if path == name or re.fullmatch(rf"{re.escape(name)}\.\d+", path):
                yield f"overlays.{name}: there is a path {path!r}: its own paths could have this name"
        for number, link_name in enumerate(overlay.links or ()):
            if link_name not in whole.links:
                yield unknown_name(f"overlays.{name}.links.{number}", "link", link_name, whole.links)


def _doubled_ports(whole: Configuration) -> Iterator[Problem]:
    # A link has its ports for itself; only layer-2 paths, told apart by VLAN, may share one.
    taken: dict[Hashable, str] = {}
    for site, place in whole.sites.items():
        for name, host in place.hosts.items():
            taken[place.edge, host.port] = f"sites.{site}.hosts.{name}"
        for name, path in whole.paths.items():
            if path.layer == 3 and site in path.ends:
                taken[place.edge, path.ends[site].port] = f"paths.{name}.ends.{site}"
    for name, link in whole.links.items():
        for switch, port in link.ends.items():
            field = f"links.{name}.ends.{switch}"
            if (switch, port) in taken:
                yield Problem(field, f"{taken[switch, port]} has the same port", code="shared-port")
            else:
                taken[switch, port] = field


def _undeclared_delays(whole: Configuration) -> Iterator[str | Problem]:
    for name, overlay in whole.overlays.items():
        if overlay.cost is not Cost.DELAY:
            continue
        for link_name, link in whole.links.items():
            if overlay.may_use(link_name) and link.delay is None:
                yield f"overlays.{name}.cost: link {link_name!r} declares no delay"


def _vlans_in_use(whole: Configuration) -> Iterator[str | Problem]:
    ports = {(switch, port): name for name, link in whole.links.items() for switch, port in link.ends.items()}
    for name, path in whole.paths.items():
        for site, end in path.ends.items():
            place = whole.sites.get(site)
            link = ports.get((place.edge, end.port)) if place is not None else None
            for overlay_name, overlay in whole.overlays.items():
                if link is not None and overlay.may_use(link) and path.vlan in overlay.vlans:
                    yield (
                        f"overlays.{overlay_name}.vlans: VLAN {path.vlan} belongs to path {name!r} "
                        f"on port {end.port} of link {link!r}"
                    )


def _shared_vlans(whole: Configuration) -> Iterator[str | Problem]:
    for (name, overlay), (other_name, other) in combinations(whole.overlays.items(), 2):
        shared = [link for link in whole.links if overlay.may_use(link) and other.may_use(link)]
        both = overlay.vlans & other.vlans
        if shared and both:
            yield (
                f"overlays.{other_name}.vlans: {vlan_ranges(both)} belong to overlay {name!r} too, "
                f"and both may use link {shared[0]!r}"
            )


def wrong_slices(whole: Configuration) -> Iterator[str | Problem]:
    """What slices get wrong about the network, and about each other, as ``field: text``."""
    yield from _wrong_reactive_entries(whole)
    numbers: dict[int, str] = {}
    for name, one in whole.slices.items():
        taken = numbers.setdefault(one.number, name)
        if taken != name:
            yield f"slices.{name}.number: slice {taken!r} has the same"
        yield from _unknown_in_slice(whole, name, one)
    for (first, one), (second, other) in combinations(whole.slices.items(), 2):
        if not (one.shared and other.shared):
            yield from _overlapping(first, one, second, other)
    for path in whole.paths:
        shares = {name: one.share_of(path) for name, one in whole.slices.items() if one.share_of(path)}
        if sum(shares.values()) > 1 + SHARE_ROUNDING:
            listed = ", ".join(f"{name} {format_ratio(share)}" for name, share in shares.items())
            last = next(reversed(shares))
            yield f"slices.{last}.share: path {path!r} is given away more than once: {listed}"


def _wrong_reactive_entries(whole: Configuration) -> Iterator[str | Problem]:
    for row, entry in enumerate(whole.policy.reactive):
        of = None if entry.slice is None else whole.slices.get(entry.slice)
        if entry.slice is not None and of is None:
            yield unknown_name(f"policy.reactive.{row}.slice", "slice", entry.slice, whole.slices)
        elif of is not None and not of.members.includes(entry.requester, (), ()):
            who = f"{entry.requester!r} is no member of slice {entry.slice!r}"
            yield f"policy.reactive.{row}.requester: {who}"


def _unknown_in_slice(whole: Configuration, name: str, one: Slice) -> Iterator[str | Problem]:
    for row, space in enumerate(one.flowspace):
        for field, named, known in (("paths", space.paths, whole.paths), ("sites", space.sites, whole.sites)):
            for missing in (each for each in named if each not in known):
                yield unknown_name(f"slices.{name}.flowspace.{row}.{field}", field[:-1], missing, known)
    if isinstance(one.share, Mapping):
        for missing in (path for path in one.share if path not in whole.paths):
            yield unknown_name(f"slices.{name}.share.{missing}", "path", missing, whole.paths)


def _overlapping(first: str, one: Slice, second: str, other: Slice) -> Iterator[str | Problem]:
    """The first connection that two slices both have; one is enough to say so."""
    for row, space in enumerate(other.flowspace):
        for mine in one.flowspace:
            both = space.common(mine)
            if both is not None:
                yield (
                    f"slices.{second}.flowspace.{row}: overlaps that of slice {first!r}: {both.example()} "
                    f"is in both; narrow one, or say 'shared: true' in both"
                )
                return


def wrong_instances(whole: Configuration) -> Iterator[str | Problem]:
    """What does not agree with the rest, as ``field: text``."""
    if whole.health is None:
        return
    for number, one in enumerate(whole.health.instances):
        field = f"health.instances.{number}"
        if one.site is not None and one.site not in whole.sites:
            yield unknown_name(f"{field}.site", "site", one.site, whole.sites)
        elif one.path is not None and one.path not in whole.paths:
            yield unknown_name(f"{field}.path", "path", one.path, whole.paths)
        elif one.path is not None and one.site is not None and one.site not in whole.paths[one.path].ends:
            yield f"{field}.path: {one.path} does not end at {one.site}"
