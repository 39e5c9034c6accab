"""YAML files of users and of packages: safe reader, and check against a model.

The reader accepts the part of YAML 1.2 that is equivalent to JSON: mappings with text keys,
sequences, text, numbers, ``true``/``false``, ``null``.  PyYAML's parser yields the events; the values
are built here, because its YAML 1.1 constructor reads ``02:00:00:00:00:01`` as a number in base 60,
``on`` as true, ``0123`` as octal and ``2024-01-01`` as a date.  It refuses, with the line:

- more than 1 MB (before a byte is parsed) and more than 50 levels;
- anchors and aliases, and so cyclic documents and those that expand without end;
- tags, duplicate keys, several documents in one file.

Every problem that the model finds becomes a :class:`~adon.errors.Problem` with file, line and field.
A validator of a model may report several at once with :class:`~adon.errors.InvalidFields`, or one per line of
its ``ValueError``, each as ``field: cause`` with the field relative to the model.  Each problem has a code:
the validator's, or that of :data:`CODES` for what pydantic itself refuses.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from ipaddress import AddressValueError, NetmaskValueError
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from adon.errors import INVALID, InvalidInput, NotFound, Problem, problems_of
from adon.json_schema import find_example
from adon.nearest_key import nearest_key, suggest, suggest_key

MAX_BYTES = 1_000_000
MAX_DEPTH = 50
PLAIN = "; write the value itself"
UNKNOWN = "extra_forbidden"
"""Pydantic's type of the error for an unknown key."""
_HAS_EXAMPLE = re.compile(r"for example|such as|; expected|known are|did you mean|[Ww]rite ")

T = TypeVar("T", bound=BaseModel)
Place = tuple[str | int, ...]

# libyaml's parser where PyYAML was built with it (about ten times as fast), else PyYAML's own: the
# events are the same.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_SCALARS: tuple[tuple[str, re.Pattern[str], Callable[[str], Any]], ...] = (
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z"), lambda _: None),
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), lambda text: text.lower() == "true"),
    ("int", re.compile(r"(?:[-+]?(?:0|[1-9][0-9]{0,39})|0x[0-9a-fA-F]{1,40})\Z"), lambda text: int(text, 0)),
    ("float", re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z"), float),
)
"""Plain scalars that are not text: PyYAML's name of the kind, its pattern, and its parser."""

CAUSES = (
    ("missing|union_tag_not_found", "missing", "is required"),
    ("extra_forbidden", "unknown-key", "is not a known key here"),
    ("literal_error|enum", "unknown-value", "must be {expected}"),
    ("union_tag_invalid", "unknown-value", "{discriminator} must be one of {expected_tags}"),
    ("(greater|less)_than(_equal)?|multiple_of|finite_number", "out-of-range", ""),
    ("(string_)?too_(short|long)", "wrong-length", ""),
    ("string_pattern_mismatch", "malformed", "does not have the form of this value"),
    ("json_invalid|.+_parsing", "malformed", ""),
    ("(dict|model|dataclass)_type", "wrong-type", "must be a mapping"),
    ("(list|tuple|set|frozen_set)_type", "wrong-type", "must be a list"),
    (".+_type", "wrong-type", ""),
    (".+", INVALID, ""),
)
"""Patterns of pydantic's types of errors, with ADON's code and cause; empty for pydantic's own text."""


class Lines(dict[Place, tuple[int, int]]):
    """Positions of all values in a text: line and column, counted from 1, by place in the data."""

    def of(self, place: Place) -> tuple[int, int] | None:
        """Return the position of a value, or of the nearest value around it; None if unknown."""
        around = (place[:end] for end in range(len(place), -1, -1))
        return next((self[one] for one in around if one in self), None)


def read_yaml(text: str, file: str | None = None) -> tuple[Any, Lines]:
    """Return the data in a YAML text as plain JSON values, and the position of each value.

    :param file: the name of the file in problems.
    :raises InvalidInput: for text that is not YAML, or with a part that this module refuses.
    """
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise _too_large(file)
    reader = _Reader(text, file)
    return reader.read(), reader.lines


def load_model(path: Path, model: type[T]) -> T:
    """Read a YAML file and check it against a model.

    :raises InvalidInput: with every problem found, each with file, line and field; also if the file
        cannot be read.
    """
    return parse_model(read_text(path), model, str(path))


def parse_model(text: str, model: type[T], file: str | None = None) -> T:
    """Read YAML text and check it against a model.

    :raises InvalidInput: with every problem found, each with its line and field.
    """
    data, lines = read_yaml(text, file)
    return check_model(data, model, file, lines)


def check_model(data: Any, model: type[T], file: str | None = None, lines: Lines | None = None) -> T:
    """Check plain JSON values against a model, strictly: ``"3"`` and ``true`` are not numbers.

    :raises InvalidInput: with every problem found.
    """
    if data is None:
        raise InvalidInput(Problem("", f"is empty{suggest_key(model, ())}", file, code="missing"))
    try:
        # JSON is the only input for which pydantic's strict mode still takes a list for a tuple and
        # text for an address or an enumeration.
        return model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise InvalidInput(list_model_problems(error, data, file, lines, model)) from error


def list_model_problems(
    error: ValidationError,
    data: Any,
    file: str | None = None,
    lines: Lines | None = None,
    model: type[BaseModel] | None = None,
) -> Iterator[Problem]:
    """Yield the problems that a model found in ``data``, one per cause, in the order of the model.

    A value has at most one problem: the first one, and none if a part of the value has one.

    :param model: the model, if known, for similar keys and valid examples.
    """
    details = [(_place(detail, data), detail) for detail in error.errors(include_url=False)]
    unknown = [place for place, detail in details if detail["type"] == UNKNOWN]
    # A missing key that is similar to an unknown key is not reported.
    reported = {(*place[:-1], nearest_key(model, place)) for place in unknown} if model else set()
    reported |= {place[:end] for place, _ in details for end in range(1, len(place))}
    for place, detail in details:
        if place in reported:
            continue
        reported.add(place)
        for found in causes(detail):
            whole = (*place, *find_place(found.field))
            hint = "" if model is None or found.field else _hint(model, detail, place, found.cause)
            line, column = (lines and lines.of(whole)) or (None, None)
            yield Problem(".".join(map(str, whole)), found.cause + hint, file, line, column, found.code)


def _hint(model: type[BaseModel], detail: ErrorDetails, place: Place, cause: str) -> str:
    """Return a similar key, or a valid example, if the cause has none."""
    if _HAS_EXAMPLE.search(cause) or (not place and detail["type"] == "value_error"):
        return ""
    if detail["type"] == UNKNOWN or not place:
        return suggest_key(model, place)
    example = find_example(model, place)
    return f"; for example {example}" if example else suggest_key(model, (*place, ""))


def dump(model: BaseModel, *, defaults: bool = True) -> str:
    """Return a model as YAML text that :func:`parse_model` reads as an equal model.

    :param defaults: whether fields that were not set are written with their defaults.
    """
    return dump_data(model.model_dump(mode="json", by_alias=True, exclude_unset=not defaults))


def dump_data(data: Any) -> str:
    """Return plain JSON values as YAML text that :func:`read_yaml` reads as equal values."""
    # Non-ASCII text is escaped: PyYAML writes a single U+0085 unescaped and reads it back as a space.
    return str(yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=100))


def read_text(path: Path) -> str:
    """Return the text of a file of at most 1 MB.

    :raises InvalidInput: if it cannot be read, is larger, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: for an impossible file name
        cause = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(Problem("", f"cannot be read: {cause}", str(path), code="unreadable")) from error
    if len(content) > MAX_BYTES:
        raise _too_large(str(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(Problem("", "is not UTF-8 text", str(path), line, code="malformed")) from error


def _too_large(file: str | None) -> InvalidInput:
    return InvalidInput(Problem("", f"is larger than {MAX_BYTES // 1_000_000} MB", file, code="too-large"))


class _Reader:
    """Builder of the data and positions of one text, from the parser's events."""

    def __init__(self, text: str, file: str | None) -> None:
        self.lines = Lines()
        self._file = file
        self._events = self._parse(text)

    def read(self) -> Any:
        """Return the data of the one document; None for a text without any."""
        if next(self._events, None) is None:
            return None
        data = self._value(next(self._events), ())
        if (second := next(self._events, None)) is not None:
            cause = "holds a second document after this one's '---'; write one document in a file"
            raise self._refuse(second, (), cause)
        return data

    def _parse(self, text: str) -> Iterator[Any]:
        """Yield the start of each document and what is in it."""
        outside = yaml.StreamStartEvent | yaml.StreamEndEvent | yaml.DocumentEndEvent
        try:
            yield from (one for one in yaml.parse(text, Loader=_Loader) if not isinstance(one, outside))
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            cause = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"
            line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
            if line is not None and any("\t" in one for one in text.split("\n")[line - 1 : line]):
                cause = f"{cause}; write spaces instead of tabs"
            problem = Problem("", f"is not YAML: {cause}", self._file, line, column, code="not-yaml")
            raise InvalidInput(problem) from error

    def _refuse(self, event: Any, place: Place, cause: str, code: str = "unsupported-yaml") -> InvalidInput:
        return InvalidInput(Problem(".".join(map(str, place)), cause, self._file, *_position(event), code))

    def _value(self, event: Any, place: Place) -> Any:
        self.lines[place] = _position(event)
        self._check(event, place)
        if len(place) > MAX_DEPTH:
            cause = f"is nested more than {MAX_DEPTH} levels deep"
            raise self._refuse(event, place[:3], cause, code="too-large")
        match event:
            case yaml.MappingStartEvent():
                return self._mapping(place)
            case yaml.SequenceStartEvent():
                return self._sequence(place)
        return self._scalar(event, place)

    def _check(self, event: Any, place: Place) -> None:
        """Refuse an alias, an anchor or a tag."""
        if event.anchor is not None:
            kind = "aliases are not supported: *"
            if not isinstance(event, yaml.AliasEvent):
                kind = "anchors are not supported: &"
            raise self._refuse(event, place, f"{kind}{event.anchor[:40]}{PLAIN}")
        if event.tag is not None:
            raise self._refuse(event, place, f"tags are not supported: {event.tag[:60]}{PLAIN}")

    def _mapping(self, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            self._check(event, place)
            if not isinstance(event, yaml.ScalarEvent):
                raise self._refuse(event, place, "a key must be plain text")
            inside = (*place, key := str(event.value))
            if key in found:
                raise self._refuse(event, inside, "is written twice; write it once", code="duplicate")
            found[key] = self._value(next(self._events), inside)
            # The position of a value is that of its key, because the value may start on a later line.
            self.lines[inside] = _position(event)
        return found

    def _sequence(self, place: Place) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            found.append(self._value(event, (*place, len(found))))
        return found

    def _scalar(self, event: Any, place: Place) -> Any:
        text = str(event.value)
        if not event.implicit[0]:  # quoted, or a block: always text
            return text
        value = next((read(text) for _, kind, read in _SCALARS if kind.match(text)), text)
        if isinstance(value, float) and not math.isfinite(value):
            cause = f"the number {text[:10]}... is too large; write for example 1e9"
            raise self._refuse(event, place, cause, code="out-of-range")
        return value


def _position(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (1, 1) if mark is None else (int(mark.line) + 1, int(mark.column) + 1)


class _Dumper(yaml.SafeDumper):
    """YAML dumper that quotes exactly the texts that :class:`_Reader` would not read as text."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for _name, _pattern, _ in _SCALARS:
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _pattern, None)


def _place(detail: ErrorDetails, data: Any) -> Place:
    # Pydantic's location also names union members and "[key]": keep only the parts that are in the data, and
    # the name of a missing key.
    place: list[str | int] = []
    for number, step in enumerate(detail["loc"], start=1):
        if isinstance(data, list):
            data = dict(enumerate(data))
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif detail["type"] != "missing" or number < len(detail["loc"]):
            continue
        place.append(step)
    return tuple(place)


def causes(detail: ErrorDetails) -> Sequence[Problem]:
    """Return the problems of one error of pydantic, with fields relative to its place."""
    error = detail.get("ctx", {}).get("error")
    if isinstance(error, AddressValueError | NetmaskValueError):
        return [
            Problem("", f"{str(detail['input'])[:60]!r} is not an IP address or network", code="malformed")
        ]
    if isinstance(error, ValueError):
        return problems_of(error)
    code, cause = next((code, cause) for kind, code, cause in CAUSES if re.fullmatch(kind, detail["type"]))
    cause = cause.format(**detail.get("ctx", {})) or re.sub(
        r"^\w+ should", "must", detail["msg"].replace(" after validation", "")
    )
    if code == "unknown-value" and isinstance(detail["input"], str):
        cause += suggest(detail["input"], re.findall(r"'([^']*)'", cause))
    return [Problem("", ("is empty; " if detail["input"] is None else "") + cause, code=code)]


def find_place(field: str) -> Place:
    """Return the place in the data that a problem's field (``events.0.at``) names."""
    return tuple(int(part) if part.isdecimal() else part for part in field.split(".")) if field else ()


SUFFIX = ".yaml"


@dataclass(frozen=True, slots=True)
class BuiltinFiles:
    """Built-in files of one kind.

    :param kind: name of the kind in messages.
    :param package: the package with the folder ``builtin``.
    """

    kind: str
    package: str

    @property
    def folder(self) -> Traversable:
        """Folder of the files."""
        return resources.files(self.package).joinpath("builtin")

    def names(self) -> tuple[str, ...]:
        """Return the names in order."""
        found = (file.name for file in self.folder.iterdir())
        return tuple(sorted(name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX)))

    def text(self, name: str) -> str:
        """Return the text of a file.

        :raises NotFound: if there is no file of this name.
        """
        # Only listed names are valid, because a name must not be a path.
        if name not in self.names():
            raise NotFound(self.kind, name)
        return self.folder.joinpath(f"{name}{SUFFIX}").read_text("utf-8")
