"""From our plan to a pSConfig template that a site's own agents can run: pure.

Tests that differ only in who measures towards whom become one test with template variables and one
schedule; their pairs become a mesh or a one-way disjoint group where they fill one, else a group each.
Reading and expanding the template again gives the same tests.  What pSConfig cannot say is the exact start of
each run: the agents' servers place a run anywhere within its slip, so that conflicts are theirs to avoid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from measurement.pscheduler.iso8601 import format_duration

_UNNAMED = re.compile(r"[^a-zA-Z0-9:._-]+")
_VARIABLES = {
    "source": ("address", 0),
    "dest": ("address", 1),
    "source-node": ("pscheduler_address", 0),
    "dest-node": ("pscheduler_address", 1),
}


class End(NamedTuple):
    """One end of a test.

    :param host: the machine; tests between two addresses of one are not made.
    :param address: the measurement address.
    :param pscheduler: where its pScheduler is, if not at the measurement address.
    """

    host: str
    address: str
    pscheduler: str | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """One periodic test.

    :param spec: its specification, complete, naming both ends.
    :param repeat: seconds from run to run.
    :param slip: seconds by which a run may start late.
    """

    source: End
    destination: End
    test: str
    spec: Mapping[str, object]
    repeat: float
    slip: float
    tools: tuple[str, ...] = ()


@dataclass(slots=True)
class _Sections:
    addresses: dict[str, Any] = field(default_factory=dict)
    hosts: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, Any] = field(default_factory=dict)
    tests: dict[str, Any] = field(default_factory=dict)
    schedules: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, Any] = field(default_factory=dict)


def write(
    planned: Iterable[Planned], archives: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """The template, as JSON.

    :param archives: pScheduler's archive objects by name; every test's results go to all of them.
    :raises ValueError: for a test with a repeat of zero or one address that two hosts have.
    """
    alike: dict[str, list[Planned]] = {}
    for test in planned:
        alike.setdefault(_kind(test), []).append(test)
    sections = _Sections()
    given = {} if archives is None else archives
    for tests in alike.values():
        _add(sections, tests, list(given))
    return {
        "addresses": sections.addresses,
        "hosts": sections.hosts,
        "groups": sections.groups,
        "tests": sections.tests,
        "schedules": sections.schedules,
        "archives": {_name(name): dict(archive) for name, archive in given.items()},
        "tasks": sections.tasks,
    }


def _kind(test: Planned) -> str:
    """What tests have in common that become one task."""
    if not test.repeat > 0:
        raise ValueError(f"{test.test}: a repeat of {test.repeat!r} s")
    return json.dumps([test.test, _general(test), test.repeat, test.slip, test.tools], sort_keys=True)


def _general(test: Planned) -> dict[str, object]:
    """The specification with variables where it names the ends."""
    ends = (test.source, test.destination)
    general = dict(test.spec)
    for name, (variable, index) in _VARIABLES.items():
        end = ends[index]
        value = end.address if variable == "address" or end.pscheduler is None else end.pscheduler
        if general.get(name) == value:
            general[name] = f"{{% {variable}[{index}] %}}"
    return general


def _add(sections: _Sections, tests: Sequence[Planned], archives: Sequence[str]) -> None:
    first = tests[0]
    name = f"{_name(first.test)}-{len(sections.tests) + 1}"
    schedule = f"every-{first.repeat:g}s-slip-{first.slip:g}s"
    sections.tests[name] = {"type": first.test, "spec": _general(first)}
    sections.schedules[schedule] = {
        "repeat": format_duration(first.repeat),
        "slip": format_duration(first.slip),
        "sliprand": False,
    }
    for test in tests:
        for end in (test.source, test.destination):
            _add_end(sections, end)
    pairs = list(dict.fromkeys((test.source.address, test.destination.address) for test in tests))
    groups = _groups(pairs, sections.addresses)
    for number, group in enumerate(groups, start=1):
        whole = name if len(groups) == 1 else f"{name}-{number}"
        sections.groups[whole] = group
        task: dict[str, Any] = {"group": whole, "test": name, "schedule": schedule}
        if archives:
            task["archives"] = [_name(archive) for archive in archives]
        if first.tools:
            task["tools"] = list(first.tools)
        sections.tasks[whole] = task


def _add_end(sections: _Sections, end: End) -> None:
    address: dict[str, Any] = {"address": end.address, "host": _name(end.host)}
    if end.pscheduler is not None:
        address["pscheduler-address"] = end.pscheduler
    known = sections.addresses.setdefault(_name(end.address), address)
    if known != address:
        raise ValueError(
            f"{end.address}: belongs to {known['host']} and to {end.host}, or has two pSchedulers"
        )
    sections.hosts.setdefault(_name(end.host), {})


def _groups(pairs: Sequence[tuple[str, str]], addresses: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Groups that give these pairs and no others."""
    wanted = set(pairs)
    ends = list(dict.fromkeys(end for pair in pairs for end in pair))
    between = {(a, b) for a in ends for b in ends if _host(addresses, a) != _host(addresses, b)}
    if wanted == between:
        return [{"type": "mesh", "addresses": _selectors(ends)}]
    left = list(dict.fromkeys(pair[0] for pair in pairs))
    right = list(dict.fromkeys(pair[1] for pair in pairs))
    if wanted == {(a, b) for a in left for b in right if _host(addresses, a) != _host(addresses, b)}:
        return [_one_way(left, right)]
    return [_one_way([a], [b]) for a, b in pairs]


def _host(addresses: Mapping[str, Any], address: str) -> object:
    return addresses[_name(address)]["host"]


def _one_way(left: Sequence[str], right: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "disjoint",
        "unidirectional": True,
        "a-addresses": _selectors(left),
        "b-addresses": _selectors(right),
    }


def _selectors(addresses: Iterable[str]) -> list[dict[str, str]]:
    return [{"name": _name(address)} for address in addresses]


def _name(text: str) -> str:
    return _UNNAMED.sub("-", text)
