"""From a template to the single tasks that pSConfig's agents would post: pure.

A group gives lists of addresses (pairs, or single ones); each list gives one task, with the template
variables filled in.  Rules, from perfSONAR's documentation of pSConfig:

* Towards another address an address is its entry in ``remote-addresses``, if there is one, else itself; of
  that the label that the selector, or else the group, names.  A pair without such a label is left out, as
  is one with a disabled address or host.
* ``excludes-self``: ``host`` (the default) leaves out pairs on one machine, ``address`` only pairs of one
  address's labels.
* The first address from ``scheduled-by`` on that has an agent schedules the task; where none has, there is
  no task.  ``{% flip %}`` is true when it is not the one that ``scheduled-by`` names.
* A variable that is the whole of a string keeps its type; inside a longer string it is text.
  ``{% jq ... %}`` is refused by name.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from measurement.psconfig.errors import TemplateError
from measurement.psconfig.model import (
    Address,
    DisjointGroup,
    Exclude,
    Group,
    ListGroup,
    MeshGroup,
    Remote,
    SchedulePart,
    Selector,
    Task,
    Template,
    Variant,
)

MOST_TASKS = 100_000
_VARIABLE = re.compile(r"\{%\s+((?:(?!%\}).)+?)\s+%\}", re.DOTALL)
_INDEXED = re.compile(r"(address|pscheduler_address|lead_bind_address)\[([0-9]{1,3})\]")


@dataclass(frozen=True, slots=True)
class Place:
    """One address as it is in one task.

    :param name: its name in the template.
    :param pscheduler: where its pScheduler is, with the port if it is not 443; IPv6 in brackets.
    :param lead_bind: the address that its pScheduler binds to as a lead; None when it need not.
    """

    name: str
    address: str
    pscheduler: str
    lead_bind: str | None
    host: str | None
    agent: bool
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expanded:
    """One task for one list of addresses, as it would be posted.

    :param name: the task's name in the template.
    :param places: one or two addresses; of a pair the first is ``address[0]``.
    :param scheduled_by: which of them posts it.
    :param schedule: None means once, as soon as possible.
    """

    name: str
    places: tuple[Place, ...]
    scheduled_by: int
    test: str
    spec: Mapping[str, Any]
    schedule: SchedulePart | None
    archives: tuple[Mapping[str, Any], ...] = ()
    contexts: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    tools: tuple[str, ...] = ()
    priority: int | None = None
    reference: Any = field(default=None)

    @property
    def id(self) -> str:
        """Unique in its template."""
        return f"{self.name}:{'>'.join(f'{place.name}/{place.address}' for place in self.places)}"


def expand(template: Template) -> list[Expanded]:
    """Every task of the template, in its order.

    :raises TemplateError: for a variable that is unknown or points beyond the list of addresses, with the
        first such problem of each task; for more than :data:`MOST_TASKS` tasks.
    """
    found: list[Expanded] = []
    problems: list[str] = []
    for name, task in template.tasks.items():
        if task.disabled:
            continue
        try:
            for places in lists(template, template.groups[task.group]):
                expanded = _task(template, name, task, places)
                if expanded is not None:
                    found.append(expanded)
                if len(found) > MOST_TASKS:
                    raise TemplateError.at(f"tasks.{name}", f"more than {MOST_TASKS} tasks")
        except TemplateError as error:
            problems += error.problems
    if problems:
        raise TemplateError(problems)
    return found


def lists(template: Template, group: Group) -> list[tuple[Place, ...]]:
    """The lists of addresses that a group gives, each once."""
    label = group.default_address_label
    if isinstance(group, ListGroup):
        alone = (_place(template, selector, label, None) for selector in _used(group.addresses))
        return list(dict.fromkeys((place,) for place in alone if place is not None))
    pairs = (
        (_place(template, first, label, second), _place(template, second, label, first))
        for first, second in _pairs(group)
        if not _self(template, group, first, second) and not _excluded(group.excludes, first, second)
    )
    return list(dict.fromkeys((one, other) for one, other in pairs if one is not None and other is not None))


def _used(selectors: Iterable[Selector]) -> list[Selector]:
    return [selector for selector in selectors if not selector.disabled]


def _pairs(group: MeshGroup | DisjointGroup) -> Iterator[tuple[Selector, Selector]]:
    if isinstance(group, MeshGroup):
        members = _used(group.addresses)
        yield from ((first, second) for first in members for second in members)
        return
    left, right = _used(group.a_addresses), _used(group.b_addresses)
    yield from ((first, second) for first in left for second in right)
    if not group.unidirectional:
        yield from ((second, first) for first in left for second in right)


def _self(template: Template, group: MeshGroup | DisjointGroup, first: Selector, second: Selector) -> bool:
    if group.excludes_self == "disabled":
        return False
    if first.name == second.name:
        return True
    hosts = [_address(template, selector).host for selector in (first, second)]
    return group.excludes_self == "host" and hosts[0] is not None and hosts[0] == hosts[1]


def _excluded(excludes: Iterable[Exclude], first: Selector, second: Selector) -> bool:
    return any(
        _same(exclude.local_address, first)
        and any(_same(target, second) for target in exclude.target_addresses)
        for exclude in excludes
    )


def _same(pattern: Selector, selector: Selector) -> bool:
    """An exclusion that names no label is meant for all of them."""
    return pattern.name == selector.name and pattern.label in (None, selector.label)


def _address(template: Template, selector: Selector) -> Address:
    return template.addresses[str(selector.name)]


def _place(
    template: Template, selector: Selector, default: str | None, other: Selector | None
) -> Place | None:
    """An address as it is towards another; None when it is not to be used, or not so."""
    address = _address(template, selector)
    towards = None if other is None else address.remote_addresses.get(str(other.name))
    chosen: Address | Remote | Variant | None = address if towards is None else towards
    label = selector.label if selector.label is not None else default
    if label is not None and isinstance(chosen, Address | Remote):
        chosen = chosen.labels.get(label)
    host = None if address.host is None else template.hosts[address.host]
    if chosen is None or chosen.address is None:
        return None
    if address.disabled or chosen.disabled or (host is not None and host.disabled):
        return None
    agent = not (address.no_agent or chosen.no_agent or (host is not None and host.no_agent))
    pscheduler = chosen.pscheduler_address
    return Place(
        str(selector.name),
        chosen.address,
        _bracketed(chosen.address) if pscheduler is None else _bracketed(pscheduler),
        chosen.lead_bind_address,
        address.host,
        agent,
        chosen.contexts,
    )


def _bracketed(address: str) -> str:
    try:
        return f"[{address}]" if ipaddress.ip_address(address).version == 6 else address
    except ValueError:
        return address


def _task(template: Template, name: str, task: Task, places: tuple[Place, ...]) -> Expanded | None:
    if task.scheduled_by >= len(places):
        raise TemplateError.at(
            f"tasks.{name}.scheduled-by", f"{task.scheduled_by} of {len(places)} addresses"
        )
    order = [(task.scheduled_by + step) % len(places) for step in range(len(places))]
    by = next((index for index in order if places[index].agent), None)
    if by is None:
        return None
    variables = _Variables(places, by, by != task.scheduled_by)
    test = template.tests[task.test]
    return Expanded(
        name,
        places,
        by,
        test.type,
        variables.fill(f"tests.{task.test}.spec", test.spec),
        None if task.schedule is None else template.schedules[task.schedule],
        tuple(_archive(template, archive, variables) for archive in _archives(template, task, places[by])),
        _contexts(template, places, variables),
        task.tools,
        task.priority,
        variables.fill(f"tasks.{name}.reference", task.reference),
    )


def _archives(template: Template, task: Task, by: Place) -> list[str]:
    of_host = () if by.host is None else template.hosts[by.host].archives
    return list(dict.fromkeys((*task.archives, *of_host)))


def _archive(template: Template, name: str, variables: _Variables) -> dict[str, Any]:
    document = template.archives[name].model_dump(by_alias=True, exclude_none=True)
    filled: dict[str, Any] = variables.fill(f"archives.{name}", document)
    return filled


def _contexts(
    template: Template, places: Sequence[Place], variables: _Variables
) -> tuple[tuple[Mapping[str, Any], ...], ...]:
    if not any(place.contexts for place in places):
        return ()
    return tuple(
        tuple(
            variables.fill(f"contexts.{name}", template.contexts[name].model_dump(by_alias=True))
            for name in place.contexts
        )
        for place in places
    )


@dataclass(frozen=True, slots=True)
class _Variables:
    places: Sequence[Place]
    by: int
    flip: bool

    def fill(self, where: str, value: Any) -> Any:
        """The value with every variable in it replaced."""
        if isinstance(value, dict):
            return {name: self.fill(f"{where}.{name}", item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.fill(f"{where}[{number}]", item) for number, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        whole = _VARIABLE.fullmatch(value.strip())
        if whole is not None:
            return self._value(where, whole[1])
        return _VARIABLE.sub(lambda found: self._text(where, found[1]), value)

    def _text(self, where: str, name: str) -> str:
        value = self._value(where, name)
        return value if isinstance(value, str) else str(value).lower()

    def _value(self, where: str, name: str) -> str | bool:
        indexed = _INDEXED.fullmatch(name)
        if indexed is not None:
            return self._indexed(where, indexed[1], int(indexed[2]))
        if name == "flip":
            return self.flip
        if name == "scheduled_by_address":
            return self.places[self.by].address
        if name == "localhost":
            return self.places[self.by].address if self.flip else "localhost"
        if name.startswith("jq"):
            raise TemplateError.at(where, f"jq templates are not supported: {name}")
        raise TemplateError.at(where, f"{name!r} is no template variable")

    def _indexed(self, where: str, name: str, index: int) -> str:
        if index >= len(self.places):
            raise TemplateError.at(where, f"{name}[{index}] of {len(self.places)} addresses")
        place = self.places[index]
        if name == "pscheduler_address":
            return place.pscheduler
        if name == "lead_bind_address" and place.lead_bind is not None:
            return place.lead_bind
        return place.address
