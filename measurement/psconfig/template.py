"""Reading a pSConfig template: checked against its schema and against itself.

The rules are those of perfSONAR's JSON schema for templates (psconfig-schema, draft 4): the same sections,
the same properties. ``_meta`` and comments (keys that begin with ``#``) are dropped. In addition no key may
occur twice, every variable must be closed, and every name that is used must be defined.

The schema does not check entries with names outside of ``[a-zA-Z0-9:._-]``. Such an entry that cannot be read
does not make the template unusable: :func:`~measurement.psconfig.expand.expand` skips the tasks that use it.

``includes`` are loaded through a callback. Without one they are not loaded, because a template does not
decide what this program reads; tasks that use names from them are skipped. As in pSConfig, what the template
itself defines wins over what is included.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from measurement.psconfig.errors import TemplateError
from measurement.psconfig.model import DisjointGroup, Filter, Group, ListGroup, Selector, Template
from measurement.sources import body

Load = Callable[[str], bytes]
"""Gives the content of an include by its URL; raises OSError or a member of the measurement family."""

SECTIONS = (
    "addresses", "address-classes", "archives", "contexts", "groups", "hosts", "schedules", "subtasks",
    "tasks", "tests",
)  # fmt: skip
MOST_INCLUDES = 50
MOST_LEVELS = 100
"""How deeply a template may be nested; everything that walks through one does so by recursion."""
_CHECKED_NAME = re.compile(r"[a-zA-Z0-9:._\-]+")


class _Object(dict[str, Any]):
    """A JSON object that knows its repeated keys."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated: list[str] = []
        if len(self) < len(pairs):
            counts = Counter(name for name, _ in pairs if not name.startswith("#"))
            self.repeated = [name for name, count in counts.items() if count > 1]


def read(data: bytes, load: Load | None = None) -> Template:
    """The template that ``data`` is the JSON of.

    :param load: gives includes; without it they are not loaded.
    :raises TemplateError: naming every place and what is wrong there.
    """
    document = _object("template", data)
    template = _validate(document)
    if template.includes and load is not None:
        template = _validate(_with_includes(document, template.includes, load))
    problems = [] if template.includes and load is None else list(_dangling(template))
    if problems:
        raise TemplateError(problems)
    return template


def _object(place: str, data: bytes) -> dict[str, Any]:
    problems: list[str] = []
    try:
        value = _without_comments(body.parse(data, make_object=_Object), "", 0, problems)
    except ValueError as error:
        raise TemplateError.at(place, str(error)) from None
    if not isinstance(value, dict):
        raise TemplateError.at(place, "expected a JSON object")
    if problems:
        raise TemplateError(problems)
    return value


def _without_comments(value: object, place: str, level: int, problems: list[str]) -> object:
    """Return the value without comments and metadata.

    :param problems: receives repeated keys and unclosed variables with their places.
    :raises ValueError: for a value that is nested too deeply.
    """
    if level > MOST_LEVELS:
        raise ValueError(f"nested more than {MOST_LEVELS} levels deep")
    if isinstance(value, _Object):
        below = f"{place}." if place else ""
        problems += [f"{below}{name}: this key occurs more than once" for name in value.repeated]
        return {
            name: _without_comments(item, f"{below}{name}", level + 1, problems)
            for name, item in value.items()
            if not name.startswith("#") and name != "_meta"
        }
    if isinstance(value, list):
        return [
            _without_comments(item, f"{place}[{number}]", level + 1, problems)
            for number, item in enumerate(value)
        ]
    if isinstance(value, str) and value.rfind("{%") > value.rfind("%}"):
        problems.append(f"{place}: a variable is not closed; expected {{% name %}}")
    return value


def _with_includes(document: dict[str, Any], urls: Iterable[str], load: Load) -> dict[str, Any]:
    merged: dict[str, Any] = dict(document)
    for number, url in enumerate(urls):
        place = f"includes[{number}]"
        if number >= MOST_INCLUDES:
            raise TemplateError.at(place, f"more than {MOST_INCLUDES} includes")
        try:
            included = _object(place, load(url))
        except OSError as error:
            raise TemplateError.at(
                place, f"cannot be loaded: {error.strerror or type(error).__name__}"
            ) from None
        for section in SECTIONS:
            if isinstance(found := included.get(section), dict):
                merged[section] = {**found, **merged.get(section, {})}
    return merged


def _validate(document: Mapping[str, Any]) -> Template:
    try:
        return Template.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
    problems: list[str] = []
    unread: dict[str, dict[str, str]] = {}
    for problem in found:
        section, name = map(str, (*problem["loc"], "")[:2])
        text = f"{_path(problem['loc'])}: {problem['msg']}"
        if len(problem["loc"]) > 1 and section in SECTIONS and _CHECKED_NAME.fullmatch(name) is None:
            unread.setdefault(section, {}).setdefault(name, text)
        else:
            problems.append(text)
    if problems:
        raise TemplateError(problems)
    rest = {
        section: {name: entry for name, entry in document[section].items() if name not in names}
        for section, names in unread.items()
    }
    return Template.model_validate({**document, **rest, "#unread": unread})


def _path(parts: tuple[str | int, ...]) -> str:
    """The JSON path of a place that pydantic names; it names the type of a group, too."""
    if parts[0] == "groups":
        parts = (*parts[:2], *parts[3:])
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)[1:]


def _dangling(template: Template) -> Iterator[str]:
    """Names that are used and not defined."""
    defined = {
        section: {*getattr(template, section.replace("-", "_")), *template.unread.get(section, ())}
        for section in SECTIONS
    }
    for place, section, name in _references(template):
        if name is not None and name not in defined[section]:
            yield f"{place}: {name!r} is not defined"


def _references(template: Template) -> Iterator[tuple[str, str, str | None]]:
    """Every use of a name: the place, the section that must have it, and the name."""
    for name, address in template.addresses.items():
        place = f"addresses.{name}"
        yield f"{place}.host", "hosts", address.host
        yield from _each(f"{place}.contexts", "contexts", address.contexts)
        for other, remote in address.remote_addresses.items():
            yield f"{place}.remote-addresses.{other}", "addresses", other
            yield from _each(f"{place}.remote-addresses.{other}.contexts", "contexts", remote.contexts)
        for label, variant in address.labels.items():
            yield from _each(f"{place}.labels.{label}.contexts", "contexts", variant.contexts)
    for name, host in template.hosts.items():
        yield from _each(f"hosts.{name}.archives", "archives", host.archives)
    for name, group in template.groups.items():
        for place, selector in _selectors(f"groups.{name}", group):
            yield place, "addresses", selector.name
            yield place, "address-classes", selector.class_
    for name, class_ in template.address_classes.items():
        for condition in (class_.match_filter, class_.exclude_filter):
            for class_name in _classes_of(condition):
                yield f"address-classes.{name}", "address-classes", class_name
    for name, subtask in template.subtasks.items():
        yield f"subtasks.{name}.test", "tests", subtask.test
        yield from _each(f"subtasks.{name}.archives", "archives", subtask.archives)
    for name, task in template.tasks.items():
        place = f"tasks.{name}"
        yield f"{place}.group", "groups", task.group
        yield f"{place}.test", "tests", task.test
        yield f"{place}.schedule", "schedules", task.schedule
        yield from _each(f"{place}.archives", "archives", task.archives)
        yield from _each(f"{place}.subtasks", "subtasks", task.subtasks)


def _each(place: str, section: str, names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    return ((f"{place}[{number}]", section, name) for number, name in enumerate(names))


def _classes_of(condition: Filter | None) -> Iterator[str]:
    """The address classes that a filter names."""
    if condition is None:
        return
    if condition.class_ is not None:
        yield condition.class_
    for inner in (condition.filter, *(condition.filters or ())):
        yield from _classes_of(inner)


def _selectors(place: str, group: Group) -> Iterator[tuple[str, Selector]]:
    """Every selector of a group with its place."""
    if isinstance(group, DisjointGroup):
        yield from _number_selectors(f"{place}.a-addresses", group.a_addresses)
        yield from _number_selectors(f"{place}.b-addresses", group.b_addresses)
    else:
        yield from _number_selectors(f"{place}.addresses", group.addresses)
    for number, exclude in enumerate(() if isinstance(group, ListGroup) else group.excludes):
        yield f"{place}.excludes[{number}].local-address", exclude.local_address
        yield from _number_selectors(f"{place}.excludes[{number}].target-addresses", exclude.target_addresses)


def _number_selectors(place: str, selectors: Iterable[Selector]) -> Iterator[tuple[str, Selector]]:
    return ((f"{place}[{number}]", selector) for number, selector in enumerate(selectors))
