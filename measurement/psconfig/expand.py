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

What ADON cannot carry out is skipped, and the expansion names it (:class:`SkippedTask`).  Results go to
ADON's archive: archives, references and priorities of a template are not used, nor are variables in them.
"""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from measurement.psconfig.address_classes import find_part, select_addresses
from measurement.psconfig.errors import (
    CannotPlan,
    SkippedTask,
    SkipReason,
    TemplateError,
    merge_skipped,
)
from measurement.psconfig.model import (
    Address,
    DisjointGroup,
    Group,
    HostPart,
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
_VARIABLE = re.compile(r"\{%(.*?)%\}", re.DOTALL)
_INDEXED = re.compile(r"(address|pscheduler_address|lead_bind_address)\[([0-9]{1,3})\]")
_HOST_NAME = re.compile(
    r"(?=.{1,253}\.?$)([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?"
)
_HOST_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+(%\w+)?\]|[^\[\]:]+)(:(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Place:
    """One address as it is in one task.

    :param name: its name in the template.
    :param pscheduler: where its pScheduler is, with the port if it is not 443; IPv6 in brackets.
    :param lead_bind: the address that its pScheduler binds to as a lead; None when it need not.
    :param problem: why no task can use it.
    """

    name: str
    address: str
    pscheduler: str
    lead_bind: str | None
    agent: bool
    problem: CannotPlan | None = None


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
    tools: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Unique in its template."""
        return f"{self.name}:{'>'.join(f'{place.name}/{place.address}' for place in self.places)}"


class Expansion(NamedTuple):
    """What a template gives.

    :param skipped: what cannot be carried out, one record for each task and reason.
    """

    tasks: tuple[Expanded, ...] = ()
    skipped: tuple[SkippedTask, ...] = ()


def expand(template: Template) -> Expansion:
    """Every task of the template, in its order.

    :raises TemplateError: for groups that give more than :data:`MOST_TASKS` tasks; exclusions do not count.
    """
    _check_size(template)
    found: list[Expanded] = []
    skipped = [
        SkippedTask(name, SkipReason.UNREADABLE, text)
        for name, text in template.unread.get("tasks", {}).items()
    ]
    for name, task in template.tasks.items():
        if task.disabled:
            continue
        skipped += _skipped_subtasks(template, name, task)
        try:
            for each in _of_task(template, name, task):
                if isinstance(each, Expanded):
                    found.append(each)
                else:
                    skipped.append(each.skip(name))
        except CannotPlan as error:
            skipped.append(error.skip(name))
    return Expansion(tuple(found), merge_skipped(skipped))


def _check_size(template: Template) -> None:
    total = 0
    for name, task in template.tasks.items():
        group = template.groups.get(task.group)
        if group is None or task.disabled:
            continue
        try:
            total += _size(template, group)
        except CannotPlan:
            continue  # its task is skipped
        if total > MOST_TASKS:
            raise TemplateError.at(f"tasks.{name}", f"more than {MOST_TASKS} tasks")


def _size(template: Template, group: Group) -> int:
    if isinstance(group, DisjointGroup):
        pairs = len(_members(template, group.a_addresses)) * len(_members(template, group.b_addresses))
        return pairs if group.unidirectional else 2 * pairs
    count = len(_members(template, group.addresses))
    if isinstance(group, ListGroup):
        return count
    return count * (count if group.excludes_self == "disabled" else count - 1)


def _skipped_subtasks(template: Template, name: str, task: Task) -> Iterator[SkippedTask]:
    for subtask in task.subtasks:
        defined = template.subtasks.get(subtask)
        if defined is None or not defined.disabled:
            yield SkippedTask(name, SkipReason.SUBTASK, f"its subtask {subtask} is not run")


def _of_task(template: Template, name: str, task: Task) -> Iterator[Expanded | CannotPlan]:
    group = find_part(template, "groups", template.groups, task.group)
    test = find_part(template, "tests", template.tests, task.test)
    schedule = None
    if task.schedule is not None:
        schedule = find_part(template, "schedules", template.schedules, task.schedule)
    size = 1 if isinstance(group, ListGroup) else 2
    if task.scheduled_by >= size:
        raise CannotPlan(SkipReason.SCHEDULED_BY, f"scheduled-by: {task.scheduled_by} of {size} addresses")
    if not isinstance(test.spec, dict):
        raise CannotPlan(SkipReason.SPEC, f"tests.{task.test}.spec: is no object")
    order = [(task.scheduled_by + step) % size for step in range(size)]
    fill = _compile(f"tests.{task.test}.spec", test.spec, size)
    for places in lists(template, group):
        problem = next((place.problem for place in places if place.problem is not None), None)
        by = next((index for index in order if places[index].agent), None)
        if problem is not None:
            yield problem
        elif by is not None:
            spec = fill(_Values(places, by, by != task.scheduled_by))
            yield Expanded(name, places, by, test.type, spec, schedule, task.tools)


class _Member(NamedTuple):
    """One address of a group, by one of its labels."""

    name: str
    label: str | None


def _members(template: Template, selectors: Iterable[Selector]) -> list[_Member]:
    """The members that selectors name, each once."""
    found: dict[_Member, None] = {}
    for selector in selectors:
        if selector.disabled:
            continue
        if selector.class_ is not None:
            names = select_addresses(template, selector.class_)
            found |= dict.fromkeys(_Member(name, None) for name in names)
        else:
            found[_Member(str(selector.name), selector.label)] = None
    return list(found)


def lists(template: Template, group: Group) -> list[tuple[Place, ...]]:
    """The lists of addresses that a group gives, each once.

    :raises CannotPlan: for an address class that cannot be evaluated.
    """
    places = _Places(template, group.default_address_label)
    if isinstance(group, ListGroup):
        alone = (places.find(member, None) for member in _members(template, group.addresses))
        return list(dict.fromkeys((place,) for place in alone if place is not None))
    found: dict[tuple[str, ...], tuple[Place, ...]] = {}
    excluded = _excluded_pairs(template, group)
    for first, others in _rows(template, group):
        left_out = excluded.get(_Member(first.name, None), set()) | excluded.get(first, set())
        for second in others:
            if second in left_out or _Member(second.name, None) in left_out:
                continue
            if _is_self(template, group, first, second):
                continue
            one, other = places.find(first, second.name), places.find(second, first.name)
            if one is not None and other is not None:
                found.setdefault((one.name, one.address, other.name, other.address), (one, other))
    return list(found.values())


def _rows(template: Template, group: MeshGroup | DisjointGroup) -> Iterator[tuple[_Member, list[_Member]]]:
    """Every first address with the second addresses that it is paired with."""
    if isinstance(group, MeshGroup):
        members = _members(template, group.addresses)
        yield from ((first, members) for first in members)
        return
    left, right = _members(template, group.a_addresses), _members(template, group.b_addresses)
    yield from ((first, right) for first in left)
    if not group.unidirectional:
        yield from ((first, left) for first in right)


def _excluded_pairs(template: Template, group: MeshGroup | DisjointGroup) -> dict[_Member, set[_Member]]:
    """The second addresses that are left out, by the first; without a label all labels are meant."""
    found: dict[_Member, set[_Member]] = defaultdict(set)
    for exclude in group.excludes:
        targets = _members(template, exclude.target_addresses)
        for first in _members(template, [exclude.local_address]):
            found[first].update(targets)
    return found


def _is_self(template: Template, group: MeshGroup | DisjointGroup, first: _Member, second: _Member) -> bool:
    if group.excludes_self == "disabled":
        return False
    if first.name == second.name:
        return True
    one, other = template.addresses.get(first.name), template.addresses.get(second.name)
    if one is None or other is None:
        return False
    same_host = group.excludes_self == "host" and one.host is not None and one.host == other.host
    return same_host or one.address == other.address


class _Places:
    """The members of a group as places; each is made once for all addresses that it is the same towards."""

    def __init__(self, template: Template, default_label: str | None) -> None:
        self._template = template
        self._default_label = default_label
        self._places: dict[tuple[_Member, str | None], Place | None] = {}

    def find(self, member: _Member, other: str | None) -> Place | None:
        """Return a member as it is towards another address; None when it is not to be used, or not so."""
        address = self._template.addresses.get(member.name)
        towards = other if address is not None and other in address.remote_addresses else None
        key = (member, towards)
        if key not in self._places:
            try:
                self._places[key] = self._make(member, towards)
            except CannotPlan as error:
                self._places[key] = Place(member.name, "", "", None, agent=False, problem=error)
        return self._places[key]

    def _make(self, member: _Member, towards: str | None) -> Place | None:
        address = find_part(self._template, "addresses", self._template.addresses, member.name)
        host = HostPart()
        if address.host is not None:
            host = find_part(self._template, "hosts", self._template.hosts, address.host)
        chosen: Address | Remote | Variant | None
        chosen = address if towards is None else address.remote_addresses[towards]
        label = self._default_label if member.label is None else member.label
        if label is not None and isinstance(chosen, Address | Remote):
            chosen = chosen.labels.get(label)
        if chosen is None or chosen.address is None or address.disabled or chosen.disabled or host.disabled:
            return None
        pscheduler = chosen.address if chosen.pscheduler_address is None else chosen.pscheduler_address
        return Place(
            member.name,
            chosen.address,
            _format_address(pscheduler),
            chosen.lead_bind_address,
            not (address.no_agent or chosen.no_agent or host.no_agent),
            _problem(member.name, chosen),
        )


def _problem(name: str, chosen: Address | Remote | Variant) -> CannotPlan | None:
    """Why no task can use an address."""
    address, pscheduler = str(chosen.address), chosen.pscheduler_address
    if not _is_host(address):
        return CannotPlan(
            SkipReason.ADDRESS, f"addresses.{name}: {address!r} is neither a host name nor an address"
        )
    if pscheduler is not None and not _is_host_port(pscheduler):
        return CannotPlan(SkipReason.ADDRESS, f"addresses.{name}: {pscheduler!r} is not host or host:port")
    if chosen.contexts:
        return CannotPlan(SkipReason.CONTEXTS, f"addresses.{name}: tests in contexts are not run")
    return None


def _is_host(text: str) -> bool:
    return _version(text) is not None or _HOST_NAME.fullmatch(text) is not None


def _is_host_port(text: str) -> bool:
    found = _HOST_PORT.fullmatch(text)
    if found is None or (found["port"] is not None and not 0 < int(found["port"]) < 65536):
        return False
    return _is_host(found["host"].strip("[]"))


def _version(text: str) -> int | None:
    try:
        return ipaddress.ip_address(text).version
    except ValueError:
        return None


def _format_address(address: str) -> str:
    return f"[{address}]" if _version(address) == 6 else address


class _Values(NamedTuple):
    """What the variables of one task stand for."""

    places: Sequence[Place]
    by: int
    flip: bool


def _compile(where: str, value: Any, size: int) -> Callable[[_Values], Any]:
    """Return the function that replaces every variable in a value.

    :param size: how many addresses a task has.
    :raises CannotPlan: for a variable that has no value.
    """
    if isinstance(value, dict):
        items = {name: _compile(f"{where}.{name}", item, size) for name, item in value.items()}
        return lambda values: {name: fill(values) for name, fill in items.items()}
    if isinstance(value, list):
        parts = [_compile(f"{where}[{number}]", item, size) for number, item in enumerate(value)]
        return lambda values: [fill(values) for fill in parts]
    if not isinstance(value, str):
        return lambda _: value
    variables = {
        text: _variable(where, text.strip(), size)
        for text in _VARIABLE.findall(value)
        if len(text) > 2 and text[0].isspace() and text[-1].isspace()  # pSConfig wants the spaces
    }
    if not variables:
        return lambda _: value
    first = next(iter(variables))
    if value.strip() == f"{{%{first}%}}":
        return variables[first]
    return lambda values: _VARIABLE.sub(
        lambda found: _text(variables[found[1]](values)) if found[1] in variables else found[0], value
    )


def _text(value: str | bool) -> str:
    return value if isinstance(value, str) else str(value).lower()


def _variable(where: str, name: str, size: int) -> Callable[[_Values], str | bool]:
    indexed = _INDEXED.fullmatch(name)
    if indexed is not None and int(indexed[2]) < size:
        return _index_getter(indexed[1], int(indexed[2]))
    if name == "flip":
        return lambda values: values.flip
    if name == "scheduled_by_address":
        return lambda values: values.places[values.by].address
    if name == "localhost":
        return lambda values: values.places[values.by].address if values.flip else "localhost"
    if name.startswith("jq "):
        raise CannotPlan(SkipReason.JQ, f"{where}: jq scripts are not run")
    raise CannotPlan(SkipReason.VARIABLE, f"{where}: {name!r} is no variable of {size} addresses")


def _index_getter(name: str, index: int) -> Callable[[_Values], str]:
    if name == "pscheduler_address":
        return lambda values: values.places[index].pscheduler
    if name == "lead_bind_address":
        return lambda values: values.places[index].lead_bind or values.places[index].address
    return lambda values: values.places[index].address
