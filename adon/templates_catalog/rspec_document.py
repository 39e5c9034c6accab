"""GENI RSpec v3 as text: its links, their values and their positions (spec section 10c).

An RSpec has parts that ADON does not use: nodes, images, services, extensions, comments.  ADON keeps the
text and changes only the values of one link in it; all other text stays unchanged.
Therefore the parser records the start and end of each element.  It refuses DTDs and entities, and reads
nothing outside the text.

A property of a link states ``capacity`` in kbit/s, ``latency`` in ms and ``packet_loss`` (0 to 1) in one
direction.  Zero, as GENI's tools write it, means no requirement.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NoReturn
from xml.parsers import expat

from adon.errors import InvalidFields, problems_of
from measurement.errors import InvalidValue

RSPEC = "http://www.geni.net/resources/rspec/3"
ADON = "urn:adon:rspec-extension:1"
"""Namespace of ADON's extension elements."""

MAX_CHARACTERS = 500_000
MAX_DEPTH = 50
MAX_LINKS = 200
MAX_VALUE = 1e15
"""Largest capacity in kbit/s and delay in ms."""

CAPACITY, LATENCY, LOSS = "capacity", "latency", "packet_loss"
TYPES = ("request", "manifest")
ENCODINGS = frozenset({"utf-8", "utf-16", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252"})

_DECLARATION = re.compile(r"<\?xml\s[^>]*?(?:encoding\s*=\s*[\"']([^\"']*)[\"'][^>]*)?\?>\s*")
_NUMBER = re.compile(r"\+?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_ATTRIBUTE = re.compile(rb"\s+([^\s=]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
_TAG = re.compile(rb"<[^\s/>]+((?:\s+[^\s=]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*/?>")


@dataclass(slots=True)
class Element:
    """Element of a document.

    :param attributes: by name; of another namespace, by namespace, a space and the name.
    :param start: index of its first byte in the text as UTF-8.
    :param end: index of its end tag, or after its only tag.
    """

    namespace: str
    name: str
    attributes: dict[str, str]
    start: int
    end: int = 0
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def find_children(self, name: str, namespace: str = RSPEC) -> list[Element]:
        """Return the children of one name."""
        return [child for child in self.children if (child.namespace, child.name) == (namespace, name)]

    def descendants(self) -> Iterator[Element]:
        """Yield all elements inside this one, in the order of the document."""
        for child in self.children:
            yield child
            yield from child.descendants()


@dataclass(frozen=True, slots=True)
class Document:
    """RSpec request or manifest.

    :param links: by their ``client_id``.
    :param interfaces: the ``client_id`` of every interface.
    """

    root: Element
    links: Mapping[str, Element]
    interfaces: frozenset[str]


@dataclass(frozen=True, slots=True)
class Link:
    """Link between two interfaces.

    :param direction: the interfaces from and to which data flow: the direction of the larger capacity.
    :param values: the stated values of that direction, without zeros.
    :param properties: the elements that state these values: of both directions, if these state the same.
    :param differing: the values of the other direction; empty if equal, or without values.
    """

    element: Element
    direction: tuple[str, str]
    values: Mapping[str, float]
    properties: tuple[Element, ...]
    differing: Mapping[str, float]


def decode_document(content: bytes) -> str:
    """Return the text of an XML file, by its byte order mark or its declaration; UTF-8 without them.

    :raises InvalidValue: for an unknown encoding, or text that is not in it.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        declared = _DECLARATION.match(content.removeprefix(codecs.BOM_UTF8)[:200].decode("latin-1"))
        encoding = ((declared and declared[1]) or "utf-8").lower()
    if encoding not in ENCODINGS:
        cause = (
            f"encoding: {encoding[:40]!r} is not supported; expected one of {', '.join(sorted(ENCODINGS))}"
        )
        raise InvalidValue(cause, "malformed")
    try:
        return content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeError as error:
        raise InvalidValue(f"is not text in {encoding}; expected a GENI RSpec", "malformed") from error


def strip_declaration(text: str) -> str:
    """Return a document's text without its XML declaration, which may name another encoding."""
    plain = text.replace("\r\n", "\n").lstrip("\ufeff \t\n")
    return _DECLARATION.sub("", plain, count=1) if plain.startswith("<?xml") else plain


def parse_document(text: str) -> Document:
    """Return an RSpec v3 request or manifest.

    :raises InvalidValue: for another document, one with a DTD, too large, too deep, or without a link.
    """
    root = _parse(text)
    if (root.namespace, root.name) != (RSPEC, "rspec"):
        found = f"{root.namespace} {root.name}".strip()[:100]
        raise InvalidValue(f"the root element is {found!r}; expected 'rspec' of {RSPEC}", "not-rspec")
    kind = root.attributes.get("type", "request")
    if kind == "advertisement":
        cause = "type: an advertisement lists what a facility offers, not what an application needs"
        raise InvalidValue(f"{cause}; expected a request or a manifest", "not-rspec")
    if kind not in TYPES:
        raise InvalidValue(f"type: {kind[:40]!r} is not known; expected {' or '.join(TYPES)}", "not-rspec")
    interfaces = (
        one.attributes.get("client_id", "") for one in root.descendants() if one.name == "interface"
    )
    return Document(root, _links_of(root), frozenset(interfaces))


def _links_of(root: Element) -> dict[str, Element]:
    found = root.find_children("link")
    if not found:
        raise InvalidValue("the document has no link; expected a link between two nodes", "no-link")
    if len(found) > MAX_LINKS:
        raise InvalidValue(f"the document has {len(found)} links; expected at most {MAX_LINKS}", "too-large")
    links: dict[str, Element] = {}
    for link in found:
        name = link.attributes.get("client_id", "")
        if not name:
            raise InvalidValue("link: a link has no client_id; for example client_id='link0'", "missing")
        if name in links:
            cause = f"{name[:40]!r} is the client_id of several links; expected one client_id for each link"
            raise InvalidValue(f"link: {cause}", "duplicate")
        links[name] = link
    return links


def read_link(document: Document, name: str) -> Link:
    """Return the values of a link.

    :raises InvalidValue: for an unknown name, a link that does not join two interfaces of nodes, or an
        impossible value.
    """
    if name not in document.links:
        known = ", ".join(document.links)[:200]
        raise InvalidValue(f"the document has no link {name[:40]!r}; expected one of {known}", "unknown-name")
    element = document.links[name]
    references = element.find_children("interface_ref")
    ends = tuple(dict.fromkeys(one.attributes.get("client_id", "") for one in references))
    if len(ends) != 2:
        cause = f"joins {len(ends)} interfaces; expected two, because a template describes one path"
        raise InvalidValue(cause, "not-a-link")
    for end in ends:
        if end not in document.interfaces:
            known = ", ".join(sorted(document.interfaces))[:200]
            cause = f"no node has an interface {end[:60]!r}; expected one of {known}"
            raise InvalidValue(f"interface_ref: {cause}", "unknown-name")
    stated: dict[tuple[str, str], tuple[Element, dict[str, float]]] = {}
    for one in element.find_children("property"):
        direction = one.attributes.get("source_id", ""), one.attributes.get("dest_id", "")
        if set(direction) != set(ends):
            raise InvalidValue(
                f"property: source_id {direction[0][:60]!r} and dest_id {direction[1][:60]!r} are not the"
                f" interfaces of the link; expected {ends[0][:60]!r} and {ends[1][:60]!r}",
                "malformed",
            )
        if direction in stated:
            cause = f"two properties are from {direction[0][:60]!r}; expected one for each direction"
            raise InvalidValue(f"property: {cause}", "duplicate")
        stated[direction] = one, _values_of(one)
    return _by_direction(element, (ends[0], ends[1]), stated)


def check_link(text: str, name: str) -> None:
    """Check the document and the link that a template names.

    :raises InvalidFields: if one of them cannot be used.
    """
    try:
        read_link(parse_document(text), name)
    except ValueError as error:
        raise InvalidFields(problems_of(error, "document")) from error


def _by_direction(
    element: Element,
    ends: tuple[str, str],
    stated: Mapping[tuple[str, str], tuple[Element, dict[str, float]]],
) -> Link:
    direction = max(stated, key=lambda one: stated[one][1].get(CAPACITY, 0.0), default=ends)
    if direction in stated and not stated[direction][1]:
        direction = max(stated, key=lambda one: len(stated[one][1]))  # the other one may state a delay
    values = stated[direction][1] if stated else {}
    same = tuple(one for one, found in stated.values() if found == values)
    differing = stated.get((direction[1], direction[0]), (element, values))[1]
    return Link(element, direction, values, same, {} if differing == values else differing)


def _values_of(element: Element) -> dict[str, float]:
    found = {
        name: _number(name, text)
        for name in (CAPACITY, LATENCY, LOSS)
        if (text := element.attributes.get(name, "").strip())
    }
    return {name: value for name, value in found.items() if value}


def _number(name: str, text: str) -> float:
    value = float(text) if len(text) < 40 and _NUMBER.fullmatch(text) else -1.0
    most = 1.0 if name == LOSS else MAX_VALUE
    if not 0 <= value <= most:
        cause = f"{text[:40]!r} is out of range; expected a number from 0 to {most:g}"
        raise InvalidValue(f"property.{name}: {cause}", "out-of-range")
    return value


def replace_values(text: str, link: Link, values: Mapping[str, str | None], extension: str = "") -> str:
    """Return the text with other values of a link, and with another extension of ADON.

    :param values: attributes of its properties; None removes an attribute.
    :param extension: elements of the namespace :data:`ADON` that replace the present ones.
    """
    data = text.encode()
    edits = [_edit_tag(data, one, values) for one in link.properties]
    edits += [(*_span(data, one), b"") for one in link.element.children if one.namespace == ADON]
    edits.append((link.element.end, link.element.end, extension.encode()))
    edits.sort()
    kept = [data[: edits[0][0]]]
    for (_, end, new), (following, _, _) in pairwise([*edits, (len(data), 0, b"")]):
        kept += [new, data[end:following]]
    return b"".join(kept).decode()


def _edit_tag(data: bytes, element: Element, values: Mapping[str, str | None]) -> tuple[int, int, bytes]:
    tag = next(_TAG.finditer(data, element.start))
    left = dict(values)

    def edit_attribute(found: re.Match[bytes]) -> bytes:
        name = found[1].decode()
        return found[0] if name not in left else _attribute(name, left.pop(name))

    attributes = _ATTRIBUTE.sub(edit_attribute, tag[1])
    return *tag.span(1), attributes + b"".join(_attribute(*one) for one in left.items())


def _attribute(name: str, value: str | None) -> bytes:
    return b"" if value is None else f' {name}="{value}"'.encode()


def _span(data: bytes, element: Element) -> tuple[int, int]:
    only = next(_TAG.finditer(data, element.start))[0].endswith(b"/>")
    return element.start, element.end if only else data.index(b">", element.end) + 1


def _parse(text: str) -> Element:
    if len(text) > MAX_CHARACTERS:
        raise InvalidValue(f"is larger than {MAX_CHARACTERS} characters, the maximum", "too-large")
    reader = _Reader()
    try:
        reader.parser.Parse(text.encode(), True)
    except (expat.ExpatError, UnicodeError) as error:
        raise InvalidValue(f"is not XML: {error}; expected a GENI RSpec v3 document", "not-xml") from error
    return reader.root


class _Reader:
    """Builder of the elements of a document, with expat."""

    def __init__(self) -> None:
        self.root: Element
        self._open: list[Element] = []
        self.parser = expat.ParserCreate("utf-8", " ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(" ")
        element = Element(namespace, local, attributes, self.parser.CurrentByteIndex)
        if len(self._open) == MAX_DEPTH:
            raise InvalidValue(f"is nested more than {MAX_DEPTH} levels deep", "too-large")
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, _name: str) -> None:
        self._open.pop().end = self.parser.CurrentByteIndex

    def _text(self, text: str) -> None:
        if self._open[-1].namespace == ADON:
            self._open[-1].text += text

    def _doctype(self, *_args: object) -> NoReturn:
        raise InvalidValue("has a DTD; expected a document without DTD and entities", "unsupported-xml")
