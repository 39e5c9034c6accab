"""GENI RSpec v3: what we write others can read, what we read is safe, nothing foreign is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given

from adon.errors import InvalidInput
from adon.templates_catalog.builtins import builtin_templates
from adon.templates_catalog.model import QSpec, RSpec, Template
from adon.templates_catalog.rspec_xml import RSPEC, Extension, draft, export_rspec, import_rspec
from tests.support.refusals import refused
from tests.templates_catalog.strategies import templates

SOYKB = next(template for template in builtin_templates() if template.name == "soykb")

FOREIGN = """<?xml version="1.0" encoding="UTF-8"?>
<rspec xmlns="http://www.geni.net/resources/rspec/3" type="request" xmlns:f="urn:flack">
  <f:info version="1"><note xmlns="">kept <b>as it is</b></note></f:info>
  <node client_id="PC1"><sliver_type name="raw-pc"/>
    <interface client_id="PC1:0"><f:x y="1"/></interface></node>
  <node client_id="PC2"><sliver_type name="raw-pc"/><interface client_id="PC2:0"/></node>
  <link client_id="lan">
    <interface_ref client_id="PC1:0"/><interface_ref client_id="PC2:0"/>
    <property source_id="PC1:0" dest_id="PC2:0" capacity="1000000" latency="20" packet_loss="0.001"/>
    <property source_id="PC2:0" dest_id="PC1:0" capacity="500000" latency="30" packet_loss="0"/>
  </link>
</rspec>
"""


@given(template=templates())
def test_what_is_exported_is_imported_equal(template: Template) -> None:
    text = export_rspec(template, "mu", "osu")
    assert import_rspec(text) == (template.rspec, template.qspec, ())


def test_the_link_in_genis_own_words() -> None:
    root = fromstring(export_rspec(SOYKB, "mu", "osu"))
    names = {"r": RSPEC}
    assert [node.get("client_id") for node in root.findall("r:node", names)] == ["mu", "osu"]
    assert root.find("r:node/r:sliver_type", names) is not None
    assert [
        (p.get("source_id"), p.get("dest_id"), p.get("capacity"), p.get("packet_loss"))
        for p in root.findall("r:link/r:property", names)
    ] == [("mu:if0", "osu:if0", "10000000", "0.001"), ("osu:if0", "mu:if0", "10000000", "0.001")]


def test_a_foreign_request_is_read_from_its_link() -> None:
    rspec, qspec, extensions = import_rspec(FOREIGN)
    assert rspec == RSpec.model_validate({"bandwidth_ceiling": "500 Mbps"})
    assert qspec == QSpec.model_validate({"one_way_delay": {"max": "30 ms"}, "loss": {"max": "0.1 %"}})
    assert [extension.parent for extension in extensions] == ["", "PC1:0"]
    assert "kept <b>as it is</b>" in extensions[0].xml


def test_extensions_survive_export_and_import() -> None:
    kept = (*import_rspec(FOREIGN)[2], Extension("mu:osu", '<x xmlns="urn:x"></x>'))
    once = import_rspec(export_rspec(SOYKB, "mu", "osu", kept))[2]
    assert {(extension.parent) for extension in once} == {"", "mu:osu"}
    assert import_rspec(export_rspec(SOYKB, "mu", "osu", once))[2] == once
    assert any("kept <b>as it is</b>" in extension.xml for extension in once)


def test_a_request_without_link_asks_for_nothing() -> None:
    assert import_rspec(f'<rspec xmlns="{RSPEC}"/>') == (RSpec(), QSpec(), ())


def external(target: Path) -> str:
    return f'<!DOCTYPE r [<!ENTITY x SYSTEM "{target.as_uri()}">]><rspec xmlns="{RSPEC}">&x;</rspec>'


def test_external_entities_are_refused_and_nothing_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("classified")
    with pytest.raises(InvalidInput) as caught:
        import_rspec(external(secret))
    assert "classified" not in str(caught.value)


LAUGHS = '<!DOCTYPE r [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><rspec>&b;</rspec>'
TWO_LINKS = FOREIGN.replace("</rspec>", '<link client_id="two"/></rspec>')


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        (LAUGHS, "invalid", "rspec"),
        ('<!DOCTYPE r SYSTEM "http://localhost:9/x.dtd"><rspec/>', "invalid", "rspec"),
        ("", "invalid", "rspec"),
        ("<rspec>", "invalid", "rspec"),
        ("\ud800", "invalid", "rspec"),
        ("<rspec>&nope;</rspec>", "invalid", "rspec"),
        ("<rspec/>", "invalid", "rspec"),
        ('<rspec xmlns="http://www.geni.net/resources/rspec/2"/>', "invalid", "rspec"),
        (f'<rspec xmlns="{RSPEC}">{" " * 10_000_000}</rspec>', "invalid", "rspec"),
        (f'<rspec xmlns="{RSPEC}">{"<a>" * 9000}{"</a>" * 9000}</rspec>', "invalid", "rspec"),
        (TWO_LINKS, "invalid", "rspec.link"),
        (FOREIGN.replace('ref client_id="PC1:0"', 'ref client_id="PC9"'), "invalid", "rspec.link"),
        (FOREIGN.replace('source_id="PC1:0"', ""), "invalid", "rspec.link"),
        (FOREIGN.replace('"1000000"', '"fast"'), "invalid", "rspec.link.property.capacity"),
        (FOREIGN.replace('"1000000"', '"nan"'), "invalid", "rspec.link.property.capacity"),
        (FOREIGN.replace('"20"', '"-20"'), "invalid", "rspec.link.property.latency"),
        (FOREIGN.replace('"0.001"', '"1.5"'), "out-of-range", "rspec.link.property.packet_loss"),
    ],
)
def test_what_is_refused(text: str, code: str, field: str) -> None:
    with refused(code, field):
        import_rspec(text)


@pytest.mark.parametrize(
    ("old", "new", "code", "field"),
    [
        ('min="700000000.0 bps"', 'min="700"', "no-unit", "qspec.throughput.min"),
        ('streams="1"', 'streams="many"', "wrong-type", "qspec.throughput.streams"),
        ('streams="1"', 'colour="red"', "unknown-key", "qspec.throughput.colour"),
        ('storage="0 B"', 'storage="0"', "no-unit", "rspec.storage"),
    ],
)
def test_a_mistake_in_our_extension_is_named(old: str, new: str, code: str, field: str) -> None:
    text = export_rspec(SOYKB, "mu", "osu")
    assert old in text
    with refused(code, field):
        import_rspec(text.replace(old, new))


def test_a_link_needs_two_sites() -> None:
    with pytest.raises(InvalidInput, match="destination_site"):
        export_rspec(SOYKB, "mu", "mu")


def test_a_document_is_drafted_into_a_template_that_asks_for_the_same() -> None:
    drafted = draft(export_rspec(SOYKB, "mu", "osu"), "soykb-draft")
    assert (drafted.name, drafted.rspec, drafted.qspec) == ("soykb-draft", SOYKB.rspec, SOYKB.qspec)
    assert set(drafted.weights) == set(SOYKB.qspec.metrics)


@pytest.mark.parametrize("name", ["", "Soy KB", "../etc"])
def test_a_draft_needs_a_name(name: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        draft(export_rspec(SOYKB, "mu", "osu"), name)
