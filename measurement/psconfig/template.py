"""Reading a pSConfig template: checked against its schema and against itself.

The rules are those of perfSONAR's JSON schema for templates (psconfig-schema, draft 4): the same sections,
the same names for things, no unknown properties.  ``_meta`` and comments (keys that begin with ``#``) are
dropped.  In addition every name that is used must be defined.  ``address-classes`` and ``subtasks`` may
be in a template, but are refused where a group or task uses them: the former filter by jq, the latter
run relative to other tasks.

``includes`` are loaded through a callback, or refused when there is none: a template does not decide
what this program reads.  As in pSConfig, what the template itself defines wins over what is included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from measurement.psconfig.errors import TemplateError
from measurement.psconfig.model import DisjointGroup, ListGroup, MeshGroup, Selector, Template
from measurement.sources import body

Load = Callable[[str], bytes]
"""Gives the content of an include by its URL; raises OSError or a member of the measurement family."""

SECTIONS = (
    "addresses", "address-classes", "archives", "contexts", "groups", "hosts", "schedules", "subtasks",
    "tasks", "tests",
)  # fmt: skip
MOST_INCLUDES = 50


def read(data: bytes, load: Load | None = None) -> Template:
    """The template that ``data`` is the JSON of.

    :param load: gives includes; None refuses a template that has any.
    :raises TemplateError: naming every place and what is wrong there.
    """
    document = _object("template", data)
    own = _validated(document)
    if own.includes:
        document = _with_includes(document, own.includes, load)
        own = _validated(document)
    problems = list(_dangling(own))
    if problems:
        raise TemplateError(problems)
    return own


def _object(place: str, data: bytes) -> dict[str, Any]:
    try:
        value = _without_comments(body.parse(data))
    except ValueError as error:
        raise TemplateError.at(place, str(error)) from None
    if not isinstance(value, dict):
        raise TemplateError.at(place, "expected a JSON object")
    return value


def _without_comments(value: object) -> object:
    """Without comments and what is nobody's business but the author's."""
    if isinstance(value, dict):
        return {
            name: _without_comments(item)
            for name, item in value.items()
            if not name.startswith("#") and name != "_meta"
        }
    if isinstance(value, list):
        return [_without_comments(item) for item in value]
    return value


def _with_includes(document: dict[str, Any], urls: Iterable[str], load: Load | None) -> dict[str, Any]:
    merged: dict[str, Any] = dict(document)
    for number, url in enumerate(urls):
        place = f"includes[{number}]"
        if load is None:
            raise TemplateError.at(place, "this template may not include others")
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


def _validated(document: Mapping[str, Any]) -> Template:
    try:
        return Template.model_validate(document)
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in problem['loc']) or 'template'}: {problem['msg']}"
            for problem in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        raise TemplateError(problems) from None


def _dangling(template: Template) -> Iterator[str]:
    """Names that are used and not defined, and what this program does not do."""
    for name, address in template.addresses.items():
        yield from _missing(f"addresses.{name}.host", [address.host], template.hosts)
        yield from _missing(f"addresses.{name}.contexts", address.contexts, template.contexts)
        yield from _missing(
            f"addresses.{name}.remote-addresses", address.remote_addresses, template.addresses
        )
    for name, host in template.hosts.items():
        yield from _missing(f"hosts.{name}.archives", host.archives, template.archives)
    for name, group in template.groups.items():
        for selector in _selectors(group):
            if selector.class_ is not None:
                yield f"groups.{name}: address classes are not supported ({selector.class_})"
            yield from _missing(f"groups.{name}", [selector.name], template.addresses)
    for name, task in template.tasks.items():
        place = f"tasks.{name}"
        yield from _missing(f"{place}.group", [task.group], template.groups)
        yield from _missing(f"{place}.test", [task.test], template.tests)
        yield from _missing(f"{place}.schedule", [task.schedule], template.schedules)
        yield from _missing(f"{place}.archives", task.archives, template.archives)
        if task.subtasks:
            yield f"{place}.subtasks: are not supported"


def _missing(place: str, names: Iterable[str | None], defined: Mapping[str, Any]) -> Iterator[str]:
    for name in names:
        if name is not None and name not in defined:
            yield f"{place}: {name!r} is not defined"


def _selectors(group: MeshGroup | DisjointGroup | ListGroup) -> Iterator[Selector]:
    if isinstance(group, DisjointGroup):
        yield from group.a_addresses
        yield from group.b_addresses
    else:
        yield from group.addresses
    if not isinstance(group, ListGroup):
        for exclude in group.excludes:
            yield exclude.local_address
            yield from exclude.target_addresses
