"""Checks between the sections: references to names, and unique values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations, count
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from adon.config.measurements import MeasurementTest, mesh_tests
from adon.config.network import Cost, vlan_ranges
from adon.config.slices import Slice
from adon.config.types import SHARE_ROUNDING
from adon.errors import Problem
from adon.nearest_key import unknown_name_problem
from adon.units import format_duration, format_ratio

if TYPE_CHECKING:
    from adon.config import Configuration

Found = Iterator[str | Problem]

SHORTEST_THROUGHPUT = 3.0
"""Maximum seconds of throughput tests that never succeed at a pScheduler server."""
REFERENCES = (
    ("sites.*.edge", "switch", "switches"),
    ("paths.*.ends.@", "site", "sites"),
    ("links.*.ends.@", "switch", "switches"),
    ("overlays.*.links.*", "link", "links"),
    ("measurements.points.@", "site", "sites"),
    ("measurements.mesh.@", "path", "paths"),
    ("measurements.host_metrics.@", "measurement point", "measurements.points"),
    ("compute.*.site", "site", "sites"),
    ("slices.*.flowspace.*.paths.*", "path", "paths"),
    ("slices.*.flowspace.*.sites.*", "site", "sites"),
    ("slices.*.share.@", "path", "paths"),
    ("policy.reactive.*.slice", "slice", "slices"),
    ("health.instances.*.site", "site", "sites"),
    ("health.instances.*.path", "path", "paths"),
)
"""Fields with names (``*``: every member, ``@``: every key), the named thing, and its section."""
UNIQUE: Mapping[str, tuple[tuple[str, ...], Callable[[Any, int], object]]] = {
    "datapath id": (("switches.*.dpid",), lambda _, number: f'"{number:016x}"'),
    "certificate name": (("switches.*.certificate",), lambda _, number: f"edge{number}.example.edu"),
    "host name": (("sites.*.hosts.@",), lambda name, number: f"{name}-{number + 1}"),
    "address": (("sites.*.hosts.*.address", "sites.*.hosts.*.address6"), lambda one, number: one + number),
    "MAC address": (("sites.*.hosts.*.mac",), lambda _, number: f"02:00:00:00:00:{number:02x}"),
    "number": (("slices.*.number",), lambda _, number: number),
}
"""Unique values: their fields, and the n-th example of an unused value, from n = 1."""


def find_section_problems(whole: Configuration) -> Found:
    """Return the problems between the sections, as ``field: text`` or with a code."""
    return chain(
        _find_missing_paths(whole),
        _find_unknown_names(whole),
        _find_duplicates(whole),
        _shared_ports(whole),
        _shared_vlans(whole),
        _overlays(whole),
        _tests(whole),
        _mesh(whole),
        _certificates(whole),
        _slices(whole),
        _reactive_entries(whole),
        _instances(whole),
    )


def _find_missing_paths(whole: Configuration) -> Found:
    if not whole.paths and not whole.overlays:
        example = "{al2s: {vlan: 1701, capacity: 10 Gbps, ends: {mu: {port: eth2}, osu: {port: eth2}}}}"
        yield Problem("paths", f"has no path, and overlays has none; for example {example}", code="missing")


def _find(value: Any, steps: Sequence[str], place: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    # The fields of an entry of REFERENCES with their values; an absent section has none.
    if not steps or value is None:
        yield from () if value is None else ((".".join(place), value),)
    elif steps[0] == "@":
        yield from ((".".join((*place, key)), key) for key in (value if isinstance(value, Mapping) else ()))
    elif steps[0] == "*":
        for key, one in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _find(one, steps[1:], (*place, str(key)))
    else:
        yield from _find(getattr(value, steps[0]), steps[1:], (*place, steps[0]))


def _find_unknown_names(whole: Configuration) -> Found:
    for place, kind, section in REFERENCES:
        known = attrgetter(section)(whole)
        for field, name in _find(whole, place.split(".")):
            if name not in known:
                yield unknown_name_problem(field, kind, name, known)
    links = {link for path in whole.paths.values() for link in path.links}
    for name in whole.measurements.agreement:
        if name not in links and name not in whole.paths:
            known = {*whole.paths, *links}
            yield unknown_name_problem(f"measurements.agreement.{name}", "path or link", name, known)


def _find_duplicates(whole: Configuration) -> Found:
    measured = {end for test in whole.measurements.tests for end in (test.source, test.destination)}
    for what, (places, make) in UNIQUE.items():
        values = [found for place in places for found in _find(whole, place.split("."))]
        used, seen = {value for _, value in values} | measured, dict[Any, str]()
        for field, value in values:
            first = seen.setdefault(value, field)
            if first != field:
                unused = next(one for number in count(1) if (one := make(value, number)) not in used)
                cause = f"{first} has the same {what}; for example {unused} is unused"
                yield Problem(field, cause, code="duplicate")


def _port_uses(whole: Configuration) -> Iterator[tuple[tuple[str, str], str, str]]:
    # Each port (switch and name) with its use, and the field of the use.
    for name, path in whole.paths.items():
        for site, end in path.ends.items():
            if site in whole.sites:
                edge, field = whole.sites[site].edge, f"paths.{name}.ends.{site}.port"
                yield (edge, end.port), f"layer-{path.layer} path", field
    for site, place in whole.sites.items():
        for name, host in place.hosts.items():
            yield (place.edge, host.port), "DTN", f"sites.{site}.hosts.{name}.port"
    for name, link in whole.links.items():
        for switch, port in link.ends.items():
            yield (switch, port), "link", f"links.{name}.ends.{switch}"


def _may_share(one: str, other: str) -> bool:
    # VLANs separate layer-2 paths. On a port of paths of both layers, or of a path and a DTN, one would
    # receive frames with the VLAN tag or the addresses of the other.
    return one == other != "link" or (one, other) == ("layer-2 path", "link")


def _shared_ports(whole: Configuration) -> Found:
    uses: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for port, kind, field in _port_uses(whole):
        uses.setdefault(port, []).append((kind, field))
    for (switch, name), users in uses.items():
        for number, (kind, field) in enumerate(users):
            rivals = ((other, where) for other, where in users[:number] if not _may_share(other, kind))
            for other, where in list(rivals)[:1]:
                unused = next(one for n in count(1) if (switch, one := f"eth{n}") not in uses)
                cause = f"port {name!r} is the port of a {other} ({where}); a {kind} needs another port"
                yield Problem(field, f"{cause}, for example {unused}", code="shared-port")


def _shared_vlans(whole: Configuration) -> Found:
    uses: list[tuple[str, frozenset[int], set[tuple[str, str]]]] = []
    for name, path in whole.paths.items():
        ends = {(whole.sites[site].edge, end.port) for site, end in path.ends.items() if site in whole.sites}
        uses.append((f"paths.{name}.vlan", frozenset(() if path.vlan is None else (path.vlan,)), ends))
    for name, overlay in whole.overlays.items():
        links = (link for link_name, link in whole.links.items() if overlay.may_use(link_name))
        uses.append(
            (f"overlays.{name}.vlans", overlay.vlans, {end for one in links for end in one.ends.items()})
        )
    used = frozenset[int]().union(*(vlans for _, vlans, _ in uses))
    unused = next((vlan for vlan in range(1, 4095) if vlan not in used), 4094)
    for (where, vlans, ports), (field, others, places) in combinations(uses, 2):
        if not vlans.isdisjoint(others) and not ports.isdisjoint(places):
            switch, port = min(ports & places)
            cause = f"VLAN {vlan_ranges(vlans & others)} belongs to {where} on port {port!r} of {switch}"
            yield Problem(field, f"{cause}; for example {unused} is unused", code="duplicate")


def _overlays(whole: Configuration) -> Found:
    for name, overlay in whole.overlays.items():
        for path in whole.paths:
            # Computed paths are named OVERLAY.N.
            if path == name or re.fullmatch(rf"{re.escape(name)}\.\d+", path):
                cause = f"path {path!r} has a name of the overlay's own paths; write another name"
                yield f"overlays.{name}: {cause}, for example {name}-overlay"
        used = (link for link in whole.links if overlay.may_use(link) and overlay.cost is Cost.DELAY)
        for link in used:
            if whole.links[link].delay is None:
                cause = f"link {link!r} declares no delay; write its delay, for example delay: 5 ms"
                yield f"overlays.{name}.cost: {cause}"


def _tests(whole: Configuration) -> Found:
    places, _ = UNIQUE["address"]
    taken = {address: field for place in places for field, address in _find(whole, place.split("."))}
    pinned: dict[frozenset[object], str] = {}
    meshed = {*mesh_tests(whole.measurements.mesh)}
    for number, test in enumerate(whole.measurements.tests):
        where, fields = f"measurements.tests.{number}", ("source", "destination")
        if test in meshed:
            where, fields = f"measurements.mesh.{test.path}", (test.from_, test.to)
        else:
            yield from _ends_of_test(whole, test, where)
            yield from _short_throughput(whole, test, where)
        for field, address in zip(fields, (test.source, test.destination), strict=True):
            if address in taken:
                cause = f"is {taken[address]}, so the flows of the host would be pinned to the path"
                yield f"{where}.{field}: {cause}; for example {address + 1}"
        # Rules pin a pair of addresses to a path, so the same pair cannot serve a second path.
        path = pinned.setdefault(frozenset((test.source, test.destination)), test.path)
        if path != test.path and {path, test.path} <= {*whole.paths}:
            yield f"{where}.{fields[0]}: these addresses measure path {path!r}; for example {test.source + 1}"


def _ends_of_test(whole: Configuration, test: MeasurementTest, where: str) -> Found:
    path, points, sites = whole.paths.get(test.path), whole.measurements.points, {*whole.sites}
    ends = {"from": test.from_, "to": test.to}
    if path is None:
        yield unknown_name_problem(f"{where}.path", "path", test.path, whole.paths)
    elif {*ends.values()} <= sites and {*path.ends} <= sites and {*ends.values()} != {*path.ends}:
        cause = f"path {test.path!r} does not lead from {test.from_!r} to {test.to!r}"
        yield f"{where}.path: {cause}; write its ends, for example from: {', to: '.join(path.ends)}"
    for field, end in ends.items():
        if end not in sites:
            yield unknown_name_problem(f"{where}.{field}", "site", end, sites)
        elif end not in points and {*points} <= sites:  # otherwise the name of a point is wrong
            yield f"{where}.{field}: site {end!r} has no measurement point; {_point_of(end)}"


def _point_of(site: str) -> str:
    return f'for example points: {{{site}: {{url: "https://ps.example.edu/pscheduler"}}}}'


def _short_throughput(whole: Configuration, test: MeasurementTest, where: str) -> Found:
    known = whole.measurements.points
    servers = [end for end in (test.from_, test.to) if end in known and not known[end].is_ours]
    if servers and test.throughput_duration <= SHORTEST_THROUGHPUT:
        cause = f"{format_duration(test.throughput_duration)} is too short for pScheduler, whose server waits"
        cause = f"{cause} for data only as long as the test lasts; expected more than 3 s, for example 10 s"
        yield Problem(f"{where}.throughput_duration", cause, code="out-of-range")


def _mesh(whole: Configuration) -> Found:
    for name, addresses in whole.measurements.mesh.items():
        field, path = f"measurements.mesh.{name}", whole.paths.get(name)
        if path is not None and {*addresses} != {*path.ends}:
            pairs = zip(path.ends, addresses.values(), strict=False)
            example = ", ".join(f"{end}: {address}" for end, address in pairs)
            yield f"{field}: names other sites than the ends of the path; for example {{{example}}}"
        for site in {*addresses} & {*whole.sites} - {*whole.measurements.points}:
            yield f"{field}.{site}: the site has no measurement point; {_point_of(site)}"


def _certificates(whole: Configuration) -> Found:
    for name, switch in whole.switches.items():
        if switch.certificate and whole.controller.tls is None:
            example = "controller: {tls: {certificate: c.pem, key: c.key, ca: ca.pem}}"
            yield f"switches.{name}.certificate: proves nothing without TLS; for example {example}"


def _slices(whole: Configuration) -> Found:
    for (first, one), (second, other) in combinations(whole.slices.items(), 2):
        if not (one.shared and other.shared):
            yield from _list_overlaps(first, one, second, other)
    told: set[str] = set()
    for path in whole.paths:
        shares = {name: one.share_of(path) for name, one in whole.slices.items() if one.share_of(path)}
        last = next(reversed(shares), "")
        if sum(shares.values()) > 1 + SHARE_ROUNDING and last not in told:
            told.add(last)
            listed = ", ".join(f"{name} {format_ratio(share)}" for name, share in shares.items())
            rest = max(0.0, 1 - sum(shares.values()) + shares[last])
            cause = f"more than 100 % of path {path!r} is given away: {listed}"
            yield f"slices.{last}.share: {cause}; for example {{{path}: {rest:.3g}}}"


def _list_overlaps(first: str, one: Slice, second: str, other: Slice) -> Found:
    # The first common connection of two slices; one is enough for the error.
    for row, space in enumerate(other.flowspace):
        for mine in one.flowspace:
            both = space.common(mine)
            if both is not None:
                yield (
                    f"slices.{second}.flowspace.{row}: overlaps that of slice {first!r}: {both.example()} "
                    "is in both; narrow one, or write shared: true in both"
                )
                return


def _reactive_entries(whole: Configuration) -> Found:
    for row, entry in enumerate(whole.policy.reactive):
        slice_ = None if entry.slice is None else whole.slices.get(entry.slice)
        if slice_ is not None and not slice_.members.includes(entry.requester, (), ()):
            cause = f"{entry.requester!r} is no member of slice {entry.slice!r}; write a name of its members"
            member = next(iter(slice_.members.who or ()), "ann")
            yield f"policy.reactive.{row}.requester: {cause}, for example {member}"


def _instances(whole: Configuration) -> Found:
    for number, one in enumerate(() if whole.health is None else whole.health.instances):
        path = None if one.path is None else whole.paths.get(one.path)
        if path is not None and one.site in whole.sites and one.site not in path.ends:
            cause = f"{one.path} does not end at {one.site}; expected site {' or '.join(path.ends)}"
            yield f"health.instances.{number}.path: {cause}"
