"""GENI RSpec v3: a template's resources as the XML that GENI tools exchange (spec section 10c).

What RSpec v3 has words for is said in its own: two nodes with a sliver type and an interface each, and
a link with one property per direction (``capacity`` in Kbps, ``latency`` in ms, ``packet_loss`` 0..1).
What it has none for, the QSpec and the exact RSpec, rides in an extension namespace of ours, which
other tools pass over; where it is present it wins over the rounded values of the link.

Elements of other namespaces are not ours to understand: they are kept, as text, with the node or link
they stood in, and written back on export.  DTDs and entities are refused; nothing outside the text is
ever read.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET  # builds and writes; only defusedxml parses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from pydantic import BaseModel

from adon import yamlfile
from adon.errors import InvalidInput, Problem
from adon.templates_catalog.model import QSpec, RSpec, Template
from adon.units import parse_ratio

RSPEC = "http://www.geni.net/resources/rspec/3"
ADON = "urn:adon:rspec-extension:1"
XSI = "http://www.w3.org/2001/XMLSchema-instance"

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 50

SLIVER_TYPE = "default-vm"
"""GENI's name for "any virtual machine": the DTN itself is the site's business."""

_INTEGERS = frozenset({"streams", "worker_nodes", "cores", "gpus"})

T = TypeVar("T", bound=BaseModel)

# Only the prefixes that the writer uses; to XML they mean nothing.
ET.register_namespace("rspec", RSPEC)
ET.register_namespace("adon", ADON)
ET.register_namespace("xsi", XSI)


@dataclass(frozen=True, slots=True)
class Extension:
    """An element of a namespace that is not ours.

    :param parent: the ``client_id`` of the node, interface or link it stands in; "" for the top.
    :param xml: the element in canonical form (C14N 2.0).
    """

    parent: str
    xml: str


def export_rspec(
    template: Template, source_site: str, destination_site: str, extensions: Iterable[Extension] = ()
) -> str:
    """A template as an RSpec v3 request for a link between two sites.

    :param extensions: what an earlier import kept; each goes back to its parent, or to the top if
        that is not in this document.
    :raises InvalidInput: if the two sites are one.
    """
    if source_site == destination_site:
        raise InvalidInput.of("destination_site", f"{destination_site!r} is the source site itself")
    root = ET.Element(f"{{{RSPEC}}}rspec", {"type": "request"})
    root.set(f"{{{XSI}}}schemaLocation", f"{RSPEC} {RSPEC}/request.xsd")
    places = {"": root}
    for site in (source_site, destination_site):
        places[site] = _add(root, "node", client_id=site, exclusive="false")
        _add(places[site], "sliver_type", name=SLIVER_TYPE)
        places[f"{site}:if0"] = _add(places[site], "interface", client_id=f"{site}:if0")
    name = f"{source_site}:{destination_site}"
    places[name] = _add_link(root, template, name, f"{source_site}:if0", f"{destination_site}:if0")
    root.append(_qspec_element(template.qspec))
    root.append(_rspec_element(template.rspec))
    ET.indent(root)
    for extension in extensions:  # after indenting: white space inside them is not ours to change
        places.get(extension.parent, root).append(_parse(extension.xml))
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def draft(text: str, name: str) -> Template:
    """A template to complete, from what an RSpec asks for: every bounded metric weighs the same.

    :raises InvalidInput: as :func:`import_rspec`; for a bad name; and if the document bounds no metric.
    """
    rspec, qspec, _ = import_rspec(text)
    if not qspec.metrics:
        raise InvalidInput.of("rspec", "its link bounds neither latency nor loss: there is nothing to score")
    parts = {
        "rspec": rspec.model_dump(mode="json"),
        "qspec": qspec.model_dump(mode="json", exclude_none=True),
    }
    weights = {metric.value: 1.0 for metric in qspec.metrics}
    return yamlfile.check_model({"name": name, "weights": weights, **parts}, Template)


def import_rspec(text: str) -> tuple[RSpec, QSpec, tuple[Extension, ...]]:
    """What an RSpec v3 document asks for, and the extensions it carries.

    Without our extension the ceiling is the lower capacity of the link's two directions, and the
    bounds for one-way delay and loss are the higher latency and loss; zero there means "not asked".

    :raises InvalidInput: for what is no RSpec v3, has a DTD or entities, is too large or too deep, has
        several links, refers to an interface that is not there, or has an impossible value.
    """
    root = _parse(text)
    if root.tag != f"{{{RSPEC}}}rspec":
        raise InvalidInput.of("rspec", f"the document's element is {root.tag[:80]!r}, not RSpec v3's 'rspec'")
    link = _link(root)
    rspec, qspec = root.find(f"{{{ADON}}}rspec"), root.find(f"{{{ADON}}}qspec")
    return (
        _rspec_of_link(link) if rspec is None else _read(rspec, RSpec),
        _qspec_of_link(link) if qspec is None else _read(qspec, QSpec),
        tuple(_foreign(root, "")),
    )


def _add(parent: ET.Element, tag: str, /, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, f"{{{RSPEC}}}{tag}", attributes)


def _add_link(root: ET.Element, template: Template, name: str, source: str, destination: str) -> ET.Element:
    link = _add(root, "link", client_id=name)
    for interface in (source, destination):
        _add(link, "interface_ref", client_id=interface)
    quality = _link_quality(template)
    for start, end in ((source, destination), (destination, source)):
        _add(link, "property", source_id=start, dest_id=end, **quality)
    return link


def _link_quality(template: Template) -> dict[str, str]:
    quality: dict[str, str] = {}
    qspec, capacity = template.qspec, template.rspec.bandwidth_ceiling
    if capacity is None and qspec.throughput is not None:
        capacity = qspec.throughput.min
    if capacity is not None:
        quality["capacity"] = str(max(1, round(capacity / 1000)))
    if qspec.one_way_delay is not None:
        quality["latency"] = repr(qspec.one_way_delay.max * 1000)
    if qspec.loss is not None:
        quality["packet_loss"] = repr(qspec.loss.max)
    return quality


def _qspec_element(qspec: QSpec) -> ET.Element:
    element = ET.Element(f"{{{ADON}}}qspec")
    for name, part in qspec.model_dump(mode="json", exclude_none=True).items():
        ET.SubElement(element, f"{{{ADON}}}{name}", _attributes(part))
    return element


def _rspec_element(rspec: RSpec) -> ET.Element:
    values = rspec.model_dump(mode="json", exclude_none=True)
    lists = {name: values.pop(name) for name in ("sites", "software")}
    compute = values.pop("compute", None)
    element = ET.Element(f"{{{ADON}}}rspec", _attributes(values))
    if compute is not None:
        ET.SubElement(element, f"{{{ADON}}}compute", _attributes(compute))
    for name, items in lists.items():
        for item in items:
            ET.SubElement(element, f"{{{ADON}}}{name}").text = item
    return element


def _attributes(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def _parse(text: str) -> ET.Element:
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput.of("rspec", f"is larger than {MAX_CHARACTERS} characters, refused unread")
    try:
        root: ET.Element = fromstring(text, forbid_dtd=True)
    except DefusedXmlException as error:
        raise InvalidInput.of("rspec", "DTDs and entities are not accepted") from error
    except (ET.ParseError, ValueError) as error:
        raise InvalidInput.of("rspec", f"is not XML: {error}") from error
    _check_depth(root)
    return root


def _check_depth(root: ET.Element) -> None:
    level = [root]
    for _ in range(MAX_DEPTH):
        level = [child for element in level for child in element]
        if not level:
            return
    raise InvalidInput.of("rspec", f"is nested more than {MAX_DEPTH} levels deep")


def _link(root: ET.Element) -> ET.Element | None:
    links = root.findall(f"{{{RSPEC}}}link")
    if len(links) > 1:
        raise InvalidInput.of("rspec.link", f"a template describes one link, here are {len(links)}")
    if not links:
        return None
    known = {element.get("client_id") for element in root.iter(f"{{{RSPEC}}}interface")}
    wrong = [name for name in _interfaces_named(links[0]) if name not in known]
    if wrong:
        raise InvalidInput(Problem("rspec.link", f"no node has an interface {name!r}") for name in wrong)
    return links[0]


def _interfaces_named(link: ET.Element) -> list[str | None]:
    references = [element.get("client_id") for element in link.findall(f"{{{RSPEC}}}interface_ref")]
    ends = [
        element.get(end)
        for element in link.findall(f"{{{RSPEC}}}property")
        for end in ("source_id", "dest_id")
    ]
    return references + ends


def _stated(link: ET.Element | None, attribute: str) -> list[float]:
    # The values above zero that the link's properties state; zero is GENI's "nothing asked".
    properties = [] if link is None else link.findall(f"{{{RSPEC}}}property")
    texts = [text for element in properties if (text := element.get(attribute)) is not None]
    return [value for text in texts if (value := _number(text, attribute)) > 0]


def _number(text: str, attribute: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    # NaN fails the comparison too; 1e15 of any of these units is beyond every network.
    if not 0 <= value <= 1e15:
        raise InvalidInput.of(f"rspec.link.property.{attribute}", f"{text[:40]!r} is not a possible number")
    return value


def _rspec_of_link(link: ET.Element | None) -> RSpec:
    capacities = _stated(link, "capacity")
    return RSpec.model_validate({"bandwidth_ceiling": f"{min(capacities)!r} kbps"} if capacities else {})


def _qspec_of_link(link: ET.Element | None) -> QSpec:
    bounds: dict[str, dict[str, str]] = {}
    if latencies := _stated(link, "latency"):
        bounds["one_way_delay"] = {"max": f"{max(latencies)!r} ms"}
    if losses := _stated(link, "packet_loss"):
        bounds["loss"] = {"max": _ratio(max(losses))}
    return QSpec.model_validate(bounds)


def _ratio(loss: float) -> str:
    text = f"{loss!r} ratio"
    try:
        parse_ratio(text)
    except ValueError as error:
        raise InvalidInput.of("rspec.link.property.packet_loss", error) from error
    return text


def _read(element: ET.Element, model: type[T]) -> T:
    field = element.tag.rpartition("}")[2]
    try:
        return yamlfile.check_model(_values(element), model)
    except InvalidInput as error:
        raise InvalidInput(problem.under(field) for problem in error.problems) from error


def _values(element: ET.Element) -> dict[str, Any]:
    # Attributes are single values, child elements with text lists of texts, others inner models.
    values: dict[str, Any] = {name: _value(name, text) for name, text in element.attrib.items()}
    for child in element:
        name = child.tag.rpartition("}")[2]
        if name in ("sites", "software"):
            values.setdefault(name, []).append(child.text or "")
        else:
            values[name] = _values(child)
    return values


def _value(name: str, text: str) -> str | int:
    return int(text) if name in _INTEGERS and text.isdecimal() and len(text) < 20 else text


def _foreign(element: ET.Element, parent: str) -> Iterator[Extension]:
    for child in element:
        namespace = child.tag[1:].partition("}")[0] if child.tag.startswith("{") else ""
        if namespace == RSPEC:
            yield from _foreign(child, child.get("client_id", parent))
        elif namespace != ADON:
            child.tail = None  # white space between elements is the document's, not the extension's
            yield Extension(parent, ET.canonicalize(ET.tostring(child, encoding="unicode")))
