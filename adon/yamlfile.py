"""YAML that people write (configuration, templates), read safely and checked against a model.

What is accepted is the part of YAML 1.2 that means the same as JSON: mappings with text keys,
sequences, text, numbers, ``true``/``false``, ``null``.  PyYAML's parser yields the events; the values
are built here, because its YAML 1.1 constructor reads ``02:00:00:00:00:01`` as a number in base 60,
``on`` as true, ``0123`` as octal and ``2024-01-01`` as a date.  Refused, each with its line:

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
from collections.abc import Iterator, Sequence
from ipaddress import AddressValueError, NetmaskValueError
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from adon.errors import INVALID, InvalidInput, Problem, problems_of
from adon.json_schema import find_example
from adon.nearest_key import known_keys, nearest_key, suggest

MAX_BYTES = 1_000_000
MAX_DEPTH = 50
PLAIN = "; write the value itself"
_HAS_EXAMPLE = re.compile(r"for example|such as|; expected|known are|did you mean|[Ww]rite ")

T = TypeVar("T", bound=BaseModel)
Place = tuple[str | int, ...]

# libyaml's parser where PyYAML was built with it (about ten times as fast), else PyYAML's own: the
# events are the same.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_INT = re.compile(r"(?:[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")

CODES = {
    "missing": "missing",
    "union_tag_not_found": "missing",
    "extra_forbidden": "unknown-key",
    "enum": "unknown-value",
    "literal_error": "unknown-value",
    "union_tag_invalid": "unknown-value",
    "greater_than": "out-of-range",
    "greater_than_equal": "out-of-range",
    "less_than": "out-of-range",
    "less_than_equal": "out-of-range",
    "multiple_of": "out-of-range",
    "finite_number": "out-of-range",
    "too_short": "wrong-length",
    "too_long": "wrong-length",
    "string_too_short": "wrong-length",
    "string_too_long": "wrong-length",
    "string_pattern_mismatch": "malformed",
    "json_invalid": "malformed",
}
"""The codes of what pydantic refuses, by its ``type``.  Of other types ``*_type`` is ``wrong-type`` and
``*_parsing`` is ``malformed``."""


class Lines:
    """Where in the text each value stands, by its place in the data."""

    def __init__(self) -> None:
        self._known: dict[Place, tuple[int, int]] = {}

    def add(self, place: Place, line: int, column: int) -> None:
        """Remember where the value at ``place`` begins, both counted from 1."""
        self._known[place] = line, column

    def of(self, place: Place) -> tuple[int, int] | None:
        """Line and column of the value at ``place``, or of the nearest value around it; None if unknown."""
        for end in range(len(place), -1, -1):
            known = self._known.get(place[:end])
            if known is not None:
                return known
        return None


def read_yaml(text: str, file: str | None = None) -> tuple[Any, Lines]:
    """The data in a YAML text as plain JSON values, and where each of them stands.

    :param file: the name to report problems with.
    :raises InvalidInput: for text that is not YAML, or uses what this module's docstring refuses.
    """
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        raise _too_large(file)
    return _Builder(text, file).document()


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
    """Check plain JSON values against a model, strictly: ``"3"`` and ``true`` are no numbers.

    :raises InvalidInput: with every problem found.
    """
    if data is None:
        raise InvalidInput(Problem("", f"is empty{known_keys(model, ())}", file, code="missing"))
    try:
        # JSON is the only input for which pydantic's strict mode still takes a list for a tuple and
        # text for an address or an enumeration.
        return model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise InvalidInput(problems(error, data, file, lines, model)) from error


def problems(
    error: ValidationError,
    data: Any,
    file: str | None = None,
    lines: Lines | None = None,
    model: type[BaseModel] | None = None,
) -> Iterator[Problem]:
    """A model's complaints about ``data`` as problems, one per cause, in the order of the model.

    :param model: that model, if known: it gives the key that was meant, and a valid example.
    """
    details = error.errors(include_url=False)
    places = [_place(detail, data) for detail in details]
    told = _meant(model, details, places)
    for detail, place in zip(details, places, strict=True):
        if place in told or _has_wrong_member(detail, place, places):
            continue  # of a value that may be of several kinds, the first complaint is enough
        told.add(place)
        for found in causes(detail):
            whole = (*place, *place_of(found.field))
            hint = "" if model is None or found.field else _hint(model, detail, place, found.cause)
            line, column = (None if lines is None else lines.of(whole)) or (None, None)
            yield Problem(".".join(map(str, whole)), found.cause + hint, file, line, column, found.code)


def _meant(
    model: type[BaseModel] | None, details: Sequence[ErrorDetails], places: Sequence[Place]
) -> set[Place]:
    """Return the keys that unknown keys were meant to be: that those are missing needs no line of its own."""
    unknown = (place for detail, place in zip(details, places, strict=True) if _is_unknown(detail))
    return set() if model is None else {(*place[:-1], nearest_key(model, place)) for place in unknown}


def _has_wrong_member(detail: ErrorDetails, place: Place, places: Sequence[Place]) -> bool:
    # Pydantic does not count members that are wrong, and so finds that there are too few.
    inside = (other for other in places if len(other) > len(place))
    return detail["type"] == "too_short" and any(other[: len(place)] == place for other in inside)


def _hint(model: type[BaseModel], detail: ErrorDetails, place: Place, cause: str) -> str:
    """Return the key that was meant, or a valid example, if the cause has none."""
    if _HAS_EXAMPLE.search(cause) or (not place and detail["type"] == "value_error"):
        return ""
    if _is_unknown(detail) or not place:
        return known_keys(model, place)
    example = find_example(model, place)
    return f"; for example {example}" if example else ""


def dump(model: BaseModel, *, defaults: bool = True) -> str:
    """A model as YAML text that :func:`parse_model` reads back as an equal model.

    :param defaults: with what nobody has written, too; without, it stays known what somebody has.
    """
    return dump_data(model.model_dump(mode="json", by_alias=True, exclude_unset=not defaults))


def dump_data(data: Any) -> str:
    """Plain JSON values as YAML text that :func:`read_yaml` reads back equal."""
    # Text beyond ASCII is escaped: PyYAML writes a lone U+0085 as it is and reads it back as a space.
    return str(yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=100))


def read_text(path: Path) -> str:
    """The text of a file of at most 1 MB.

    :raises InvalidInput: if it cannot be read, is larger, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        cause = "there is no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)
        raise InvalidInput(Problem("", f"cannot be read: {cause}", str(path), code="unreadable")) from error
    except ValueError as error:  # of a name that no file can have
        raise InvalidInput(Problem("", f"cannot be read: {error}", str(path), code="unreadable")) from error
    if len(content) > MAX_BYTES:
        raise _too_large(str(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(Problem("", "is not UTF-8 text", str(path), line, code="malformed")) from error


def _too_large(file: str | None) -> InvalidInput:
    return InvalidInput(
        Problem("", f"is larger than {MAX_BYTES // 1_000_000} MB, refused unread", file, code="too-large")
    )


class _Builder:
    """Builds the data of one text from the parser's events, noting where each value stands."""

    def __init__(self, text: str, file: str | None) -> None:
        self._events = self._parsed(text)
        self._file = file
        self._lines = Lines()

    def document(self) -> tuple[Any, Lines]:
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return None, self._lines
        data = self._value(next(self._events), ())
        next(self._events)  # the document's end
        if not isinstance(event := next(self._events), yaml.StreamEndEvent):
            raise self._wrong(
                event, (), "holds a second document after this one's '---'; write one document in a file"
            )
        return data, self._lines

    def _parsed(self, text: str) -> Iterator[yaml.Event]:
        try:
            events: Iterator[yaml.Event] = yaml.parse(text, Loader=_Loader)
            next(events)  # the stream's start
            yield from events
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            cause = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"
            line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
            if line is not None and any("\t" in one for one in text.split("\n")[line - 1 : line]):
                cause = f"{cause}; write spaces instead of tabs"
            raise InvalidInput(
                Problem("", f"is not YAML: {cause}", self._file, line, column, code="not-yaml")
            ) from error

    def _wrong(
        self, event: yaml.Event, place: Place, cause: str, code: str = "unsupported-yaml"
    ) -> InvalidInput:
        return InvalidInput(Problem(".".join(map(str, place)), cause, self._file, *_position(event), code))

    def _value(self, event: yaml.Event, place: Place) -> Any:
        self._lines.add(place, *_position(event))
        if isinstance(event, yaml.AliasEvent):
            raise self._wrong(event, place, f"aliases are not supported: *{str(event.anchor)[:40]}{PLAIN}")
        self._check_plain(event, place)
        if len(place) > MAX_DEPTH:
            raise self._wrong(
                event, place[:3], f"is nested more than {MAX_DEPTH} levels deep", code="too-large"
            )
        match event:
            case yaml.MappingStartEvent():
                return self._mapping(place)
            case yaml.SequenceStartEvent():
                return self._sequence(place)
            case _:
                return self._scalar(event, place)

    def _check_plain(self, event: Any, place: Place) -> None:
        if event.anchor is not None:
            raise self._wrong(event, place, f"anchors are not supported: &{event.anchor[:40]}{PLAIN}")
        if event.tag is not None:
            raise self._wrong(event, place, f"tags are not supported: {event.tag[:60]}{PLAIN}")

    def _mapping(self, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, place)
            if key in found:
                raise self._wrong(event, (*place, key), "is written twice; write it once", code="duplicate")
            found[key] = self._value(next(self._events), (*place, key))
            # A complaint about a value is best shown at its key: its value may begin a line below.
            self._lines.add((*place, key), *_position(event))
        return found

    def _key(self, event: yaml.Event, place: Place) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._wrong(event, place, "a key must be plain text")
        self._check_plain(event, place)
        return str(event.value)

    def _sequence(self, place: Place) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            found.append(self._value(event, (*place, len(found))))
        return found

    def _scalar(self, event: Any, place: Place) -> Any:
        text = str(event.value)
        if not event.implicit[0]:  # quoted, or a block: text whatever it looks like
            return text
        if _NULL.match(text):
            return None
        if _BOOL.match(text):
            return text.lower() == "true"
        if _INT.match(text) or _FLOAT.match(text):
            return self._number(text, event, place)
        return text

    def _number(self, text: str, event: yaml.Event, place: Place) -> int | float:
        if len(text) > 40:
            raise self._wrong(
                event, place, f"the number {text[:10]}... has too many digits", code="out-of-range"
            )
        if _INT.match(text):
            return int(text, 16 if text.startswith("0x") else 10)
        if not math.isfinite(number := float(text)):
            raise self._wrong(event, place, f"the number {text} is too large", code="out-of-range")
        return number


def _position(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (1, 1) if mark is None else (int(mark.line) + 1, int(mark.column) + 1)


class _Dumper(yaml.SafeDumper):
    """Quotes exactly the texts that :class:`_Builder` would read as something else."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


_Dumper.add_implicit_resolver("tag:yaml.org,2002:null", _NULL, ["~", "n", "N", ""])
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOL, list("tTfF"))
_Dumper.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))


def _place(detail: ErrorDetails, data: Any) -> Place:
    # Pydantic's location also names union members and "[key]", which nobody wrote: keep what is in
    # the data, and the name of a key that is missing from it.
    place: list[str | int] = []
    for number, step in enumerate(detail["loc"], start=1):
        if _holds(data, step):
            data = data[step]
            place.append(step)
        elif detail["type"] == "missing" and number == len(detail["loc"]):
            place.append(step)
    return tuple(place)


def _holds(data: Any, step: str | int) -> bool:
    if isinstance(data, dict):
        return step in data
    return isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data)


def _is_unknown(detail: ErrorDetails) -> bool:
    return detail["type"] == "extra_forbidden"


def causes(detail: ErrorDetails) -> Sequence[Problem]:
    """The problems that one complaint of pydantic reports, with fields relative to the complaint's place."""
    match detail["type"]:
        case "value_error" if isinstance(detail["ctx"]["error"], AddressValueError | NetmaskValueError):
            cause = f"{str(detail['input'])[:60]!r} is not an IP address or network"
            return [Problem("", cause, code="malformed")]
        case "value_error":
            return problems_of(detail["ctx"]["error"])
        case "missing":
            cause = "is required"
        case "extra_forbidden":
            cause = "is not a known key here"
        case "literal_error" | "enum" if isinstance(detail["input"], str):
            known = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
            cause = detail["msg"] + suggest(detail["input"], known)
        case _:
            cause = detail["msg"]
    return [Problem("", cause, code=_code(detail["type"]))]


def _code(kind: str) -> str:
    if kind in CODES:
        return CODES[kind]
    if kind.endswith("_type"):
        return "wrong-type"
    return "malformed" if kind.endswith("_parsing") else INVALID


def place_of(field: str) -> Place:
    """The place in the data that a problem's field (``events.0.at``) tells in words."""
    return tuple(int(part) if part.isdecimal() else part for part in field.split(".")) if field else ()
