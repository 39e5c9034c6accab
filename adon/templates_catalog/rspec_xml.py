"""Templates from GENI RSpec v3 documents, and back (spec section 10c).

A link's capacity, latency and loss become the bounds of a QSpec, each metric with the same weight.  The
template keeps the document, and export returns it with the template's values at that link; all other
elements stay unchanged.  Values that RSpec v3 cannot express (jitter, sites, the exact bounds) are elements
of ADON's own namespace in the link, which other tools ignore; they override the link's values.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar
from xml.sax.saxutils import escape, quoteattr

from pydantic import BaseModel

from adon import yamlfile
from adon.errors import InvalidInput, Problem, problems_of
from adon.templates_catalog.model import QSpec, RSpec, Template
from adon.templates_catalog.rspec_document import (
    ADON,
    CAPACITY,
    LATENCY,
    LOSS,
    RSPEC,
    Document,
    Element,
    Link,
    parse_document,
    read_link,
    replace_values,
    strip_declaration,
)
from measurement.errors import InvalidValue
from measurement.model import Metric

T = TypeVar("T", bound=BaseModel)

_NEW_DOCUMENT = """\
<rspec xmlns="{rspec}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="{rspec} {rspec}/request.xsd" type="request">
  <node client_id={source} exclusive="false">
    <sliver_type name="default-vm"/>
    <interface client_id={first}/>
  </node>
  <node client_id={destination} exclusive="false">
    <sliver_type name="default-vm"/>
    <interface client_id={second}/>
  </node>
  <link client_id={link}>
    <interface_ref client_id={first}/>
    <interface_ref client_id={second}/>
    <property source_id={first} dest_id={second}/>
    <property source_id={second} dest_id={first}/>
  </link>
</rspec>
"""
"""``default-vm`` is GENI's name for any virtual machine."""


@dataclass(frozen=True, slots=True)
class LinkDraft:
    """Requirements of one link of a document.

    :param remarks: dropped parts, parts without effect in ADON, and the content of the kept document.
    """

    link: str
    qspec: QSpec
    rspec: RSpec
    remarks: tuple[str, ...]

    def template(self, name: str) -> Template:
        """Return a template to complete; every bounded metric weighs the same.

        :raises InvalidInput: for a bad name.
        """
        parts = {
            "qspec": self.qspec.model_dump(mode="json", exclude_none=True),
            "rspec": self.rspec.model_dump(mode="json", exclude_defaults=True),
        }
        weights = {metric.value: 1.0 for metric in self.qspec.metrics}
        return yamlfile.check_model({"name": name, **parts, "weights": weights}, Template)


def draft_links(text: str, only: str | None = None) -> tuple[tuple[LinkDraft, ...], tuple[Problem, ...]]:
    """Return a draft for each link of an RSpec v3 document, and the problems of the other links.

    :param only: ``client_id`` of the one link to draft; all if None.
    :raises InvalidInput: if the document cannot be used.
    """
    kept = strip_declaration(text)
    first_line = text.count("\n") - kept.count("\n") + 1
    try:
        document = parse_document(kept)
    except ValueError as error:
        raise InvalidInput(problems_of(error, "rspec")) from error
    drafts: list[LinkDraft] = []
    wrong: list[Problem] = []
    remarks = tuple(_document_remarks(document, text, kept))
    for name in document.links if only is None else (only,):
        try:
            drafts.append(_draft(read_link(document, name), name, kept, remarks))
        except (InvalidInput, ValueError) as error:
            found = error.problems if isinstance(error, InvalidInput) else problems_of(error)
            before = kept.encode()[: document.links.get(name, document.root).start]
            line = before.count(b"\n") + first_line
            wrong += (replace(problem.under(f"link.{name}"), line=line) for problem in found)
    return tuple(drafts), tuple(wrong)


def export_rspec(template: Template, source: str = "source", destination: str = "destination") -> str:
    """Return a template as an RSpec v3 document: the one that it was drafted from, or a new request.

    :param source: name of a new request's first node.
    :param destination: name of its second node.
    :raises InvalidInput: if both names are the same.
    """
    if source == destination:
        raise InvalidInput.of("destination", f"{destination!r} is the source, too; expected another name")
    asked = template.qspec, template.rspec.model_copy(update={"document": "", "link": ""})
    text, name = template.rspec.document, template.rspec.link
    if not text:
        text, name = _new_document(source, destination), f"{source}:{destination}"
    link = read_link(parse_document(text), name)
    if _read(link) == asked:
        return text
    text = replace_values(text, link, _list_changes(link, *asked))
    link = read_link(parse_document(text), name)
    return text if _read(link) == asked else replace_values(text, link, {}, _extension(*asked))


def _new_document(source: str, destination: str) -> str:
    names = {
        "source": source,
        "destination": destination,
        "first": f"{source}:if0",
        "second": f"{destination}:if0",
        "link": f"{source}:{destination}",
    }
    return _NEW_DOCUMENT.format(rspec=RSPEC, **{key: quoteattr(name) for key, name in names.items()})


def _draft(link: Link, name: str, text: str, remarks: tuple[str, ...]) -> LinkDraft:
    qspec, rspec = _read(link)
    if not qspec.metrics:
        raise InvalidValue("states no value above zero; for example capacity='1000000'", "no-bound")
    kept = rspec.model_copy(update={"document": text, "link": name})
    return LinkDraft(name, qspec, kept, (*_link_remarks(link, qspec), *remarks))


def _link_remarks(link: Link, qspec: QSpec) -> Iterator[str]:
    if link.differing:
        there = ", ".join(f"{name} {value:g}" for name, value in link.differing.items())
        yield f"without effect: from {link.direction[1]} to {link.direction[0]}, the link states {there}"
    stated = _qspec_of(link)
    if any(stated.bound(metric) != qspec.bound(metric) for metric in stated.metrics):
        yield "without effect: the link's values, because ADON's extension states others"


def _document_remarks(document: Document, text: str, kept: str) -> Iterator[str]:
    if kept != text:
        yield "not kept: XML declaration, encoding and line ends; the export is UTF-8"
    counts = Counter(
        one.name if one.namespace == RSPEC else f"{one.namespace} {one.name}".strip()
        for one in _list_outermost(document.root)
        if one.namespace != ADON
    )
    yield "kept in the document: " + ", ".join(f"{name} ({count})" for name, count in counts.items())


def _list_outermost(element: Element) -> Iterator[Element]:
    """Yield the elements of RSpec v3, and of each extension the outermost."""
    for child in element.children:
        yield child
        if child.namespace == RSPEC:
            yield from _list_outermost(child)


def _read(link: Link) -> tuple[QSpec, RSpec]:
    found = _extensions(link)
    qspec = _parse_extension(found["qspec"], QSpec) if "qspec" in found else _qspec_of(link)
    return qspec, _parse_extension(found["rspec"], RSpec) if "rspec" in found else RSpec()


def _extensions(link: Link) -> dict[str, str]:
    return {one.name: one.text for one in link.element.children if one.namespace == ADON}


def _parse_extension(text: str, model: type[T]) -> T:
    try:
        return yamlfile.check_model(yamlfile.read_yaml(text)[0], model)
    except InvalidInput as error:
        raise InvalidInput(problem.under(model.__name__.lower()) for problem in error.problems) from error


def _qspec_of(link: Link) -> QSpec:
    bounds: dict[str, dict[str, str]] = {}
    if (capacity := link.values.get(CAPACITY)) is not None:
        bounds["throughput"] = {"min": f"{capacity * 1000!r} bps"}
    if (latency := link.values.get(LATENCY)) is not None:
        bounds["one_way_delay"] = {"max": f"{latency / 1000!r} s"}
    if (loss := link.values.get(LOSS)) is not None:
        bounds["loss"] = {"max": f"{loss!r} ratio"}
    return QSpec.model_validate(bounds)


def _list_changes(link: Link, qspec: QSpec, rspec: RSpec) -> dict[str, str | None]:
    """Return the attributes of the link's properties that a template changes."""
    capacity = rspec.bandwidth_ceiling if qspec.throughput is None else qspec.throughput.min
    delay, loss, stated = qspec.bound(Metric.ONE_WAY_DELAY), qspec.bound(Metric.LOSS), _qspec_of(link)
    changed: dict[str, str | None] = {}
    if stated.bound(Metric.THROUGHPUT) != capacity:
        changed[CAPACITY] = None if capacity is None else str(max(1, round(capacity / 1000)))
    if stated.bound(Metric.ONE_WAY_DELAY) != delay:
        changed[LATENCY] = None if delay is None else f"{delay * 1000:.12g}"
    if stated.bound(Metric.LOSS) != loss:
        changed[LOSS] = repr(loss) if loss else None
    return changed


def _extension(qspec: QSpec, rspec: RSpec) -> str:
    parts = {
        "qspec": qspec.model_dump(mode="json", exclude_none=True),
        "rspec": rspec.model_dump(mode="json", exclude_defaults=True),
    }
    return "".join(
        f'<adon:{name} xmlns:adon="{ADON}">{escape(json.dumps(part))}</adon:{name}>'
        for name, part in parts.items()
    )
