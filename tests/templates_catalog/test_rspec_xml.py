"""GENI RSpec v3: drafts from documents, documents from templates, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given

from adon import yamlfile
from adon.errors import InvalidInput
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.model import QSpec, RSpec, Template
from adon.templates_catalog.rspec_document import (
    MAX_CHARACTERS,
    MAX_LINKS,
    RSPEC,
    decode_document,
    strip_declaration,
)
from adon.templates_catalog.rspec_xml import LinkDraft, draft_links, export_rspec
from adon.templates_catalog.template_text import write_template
from tests.support.refusals import refused
from tests.templates_catalog.strategies import templates

DOCUMENTS = Path(__file__).parent.parent / "data" / "rspec"
SOYKB = next(template for template in builtin_templates() if template.name == "soykb")


def read(name: str) -> str:
    return decode_document((DOCUMENTS / name).read_bytes())


def draft(text: str, link: str | None = None) -> LinkDraft:
    drafts, _ = draft_links(text, link)
    assert len(drafts) == 1
    return drafts[0]


def qspec(**bounds: dict[str, str]) -> QSpec:
    return QSpec.model_validate(bounds)


def of_two_nodes(link: str, more: str = "") -> str:
    nodes = "".join(f'<node client_id="{n}"><interface client_id="{n}:0"/></node>' for n in "ab")
    return f'<rspec xmlns="{RSPEC}" type="request">{nodes}{link}{more}</rspec>'


LINK = (
    '<link client_id="ab"><interface_ref client_id="a:0"/><interface_ref client_id="b:0"/>'
    '<property source_id="a:0" dest_id="b:0" capacity="1000"/></link>'
)


class TestDrafts:
    def test_each_link_with_a_bound_is_drafted_and_zero_is_no_bound(self) -> None:
        drafts, problems = draft_links(read("several-links.rspec"))
        assert {one.link: one.qspec for one in drafts} == {
            "Raw Data": qspec(throughput={"min": "1 Gbps"}),
            "control": qspec(one_way_delay={"max": "20 ms"}, loss={"max": "0.1 %"}),
        }
        assert [(one.field, one.code) for one in problems] == [("link.unshaped", "no-bound")]

    def test_one_link_is_chosen_by_its_client_id(self) -> None:
        assert draft(read("several-links.rspec"), "control").link == "control"
        _, problems = draft_links(read("several-links.rspec"), "none")
        assert [(one.field, one.code) for one in problems] == [("link.none", "unknown-name")]

    def test_a_lan_is_a_link_only_between_two_interfaces(self) -> None:
        drafts, problems = draft_links(read("lans.xml"))
        assert [one.link for one in drafts] == ["two-ends"]
        assert [(one.field, one.code) for one in problems] == [
            ("link.three-ends", "not-a-link"),
            ("link.one-end", "not-a-link"),
        ]

    def test_the_direction_of_the_larger_capacity_counts_and_the_other_is_listed(self) -> None:
        drafted = draft(read("manifest-prefixed.rspec"))
        assert drafted.qspec == qspec(
            throughput={"min": "1 Gbps"}, one_way_delay={"max": "20 ms"}, loss={"max": "0.1 %"}
        )
        assert "from PC2:0 to PC1:0, the link states capacity 500000, latency 30" in drafted.remarks[0]

    def test_a_delay_stated_in_one_direction_only_is_a_bound(self) -> None:
        first = '<property source_id="a:0" dest_id="b:0"/>'
        second = '<property source_id="b:0" dest_id="a:0" latency="7"/>'
        link = LINK.replace('<property source_id="a:0" dest_id="b:0" capacity="1000"/>', first + second)
        assert draft(of_two_nodes(link)).qspec == qspec(one_way_delay={"max": "7 ms"})

    @pytest.mark.parametrize("name", ["latin-1.xml", "utf-16.xml", "byte-order-mark.xml"])
    def test_encodings_are_read_and_the_loss_of_the_declaration_is_listed(self, name: str) -> None:
        drafted = draft(read(name))
        assert drafted.link == "Köln"
        assert "Universität" in drafted.rspec.document
        assert any(remark.startswith("not kept: XML declaration") for remark in drafted.remarks)

    def test_what_the_document_holds_besides_is_listed(self) -> None:
        held = draft(read("lans.xml")).remarks[-1]
        assert "node (3)" in held
        assert "http://shared.example/vlan/1 vlan (1)" in held

    def test_a_draft_weighs_all_bounded_metrics_the_same(self) -> None:
        template = draft(read("several-links.rspec"), "control").template("control")
        assert dict(template.weights) == {"one_way_delay": 1.0, "loss": 1.0}

    @pytest.mark.parametrize("name", ["", "Soy KB", "../etc"])
    def test_a_draft_needs_a_name(self, name: str) -> None:
        with refused(InvalidInput, "name"):
            draft(of_two_nodes(LINK)).template(name)


class TestExport:
    @given(template=templates())
    def test_an_exported_template_is_drafted_equal(self, template: Template) -> None:
        text = export_rspec(template, "mu", "osu")
        drafts, problems = draft_links(text)
        if not template.qspec.metrics:
            assert [one.code for one in problems] == ["no-bound"]
            return
        bare = drafts[0].rspec.model_copy(update={"document": "", "link": ""})
        assert (drafts[0].qspec, bare, drafts[0].link) == (template.qspec, template.rspec, "mu:osu")

    def test_a_link_is_written_in_the_words_of_geni(self) -> None:
        text = export_rspec(SOYKB, "mu", "osu")
        for first, second in (("mu:if0", "osu:if0"), ("osu:if0", "mu:if0")):
            ends = f'source_id="{first}" dest_id="{second}"'
            assert f'<property {ends} capacity="700000" packet_loss="0.001"/>' in text

    def test_a_link_needs_two_names(self) -> None:
        with refused(InvalidInput, "destination"):
            export_rspec(SOYKB, "mu", "mu")

    @pytest.mark.parametrize(
        "file", ["several-links.rspec", "lans.xml", "manifest-prefixed.rspec", "latin-1.xml"]
    )
    def test_an_unchanged_draft_returns_the_document_to_the_letter(self, file: str) -> None:
        text = read(file)
        for drafted in draft_links(text)[0]:
            template = yamlfile.parse_model(
                write_template(drafted.template("draft").model_dump(mode="json", by_alias=True)), Template
            )
            assert export_rspec(template) == strip_declaration(text)

    def test_a_changed_draft_changes_its_link_and_nothing_else(self) -> None:
        text = strip_declaration(read("several-links.rspec"))
        template = draft(text, "Raw Data").template("raw")
        changed = template.model_copy(
            update={"qspec": qspec(throughput={"min": "2 Gbps"}, loss={"max": "1 %"})}
        )
        exported = export_rspec(changed)
        assert exported == text.replace(
            'capacity="1000000" latency="0" packet_loss="0"',
            'capacity="2000000" latency="0" packet_loss="0.01"',
        )

    def test_a_bound_that_is_taken_away_leaves_the_link(self) -> None:
        template = draft(read("manifest-prefixed.rspec")).template("wan")
        exported = export_rspec(template.model_copy(update={"qspec": qspec(throughput={"min": "1 Gbps"})}))
        assert """dest_id="PC2:0" capacity='1000000'><e:shaped by="delay1"/>""" in exported
        assert 'dest_id="PC1:0" capacity="500000" latency="30" packet_loss="0"/>' in exported

    def test_what_geni_has_no_words_for_stands_in_an_extension_that_is_replaced(self) -> None:
        template = draft(read("lans.xml")).template("lan")
        exports = [read("lans.xml")]
        for jitter in ("1 ms", "2 ms", "1 ms"):
            asked = qspec(throughput={"min": "100 Mbps"}, jitter={"max": jitter})
            exports.append(export_rspec(template.model_copy(update={"qspec": asked})))
            template = draft(exports[-1]).template("lan")
            assert template.qspec == asked
        assert exports[1] == exports[3]
        assert all(before != after for before, after in pairwise(exports))
        back = template.model_copy(update={"qspec": qspec(throughput={"min": "100 Mbps"})})
        assert export_rspec(back) == exports[0]

    def test_a_value_that_the_extension_overrides_is_listed(self) -> None:
        exported = export_rspec(SOYKB).replace('capacity="700000"', 'capacity="1000"')
        drafted = draft(exported)
        assert drafted.qspec == SOYKB.qspec
        assert drafted.remarks[0].startswith("without effect: the link's values")


REFUSED = {
    "advertisement.xml": ("not-rspec", "rspec.type"),
    "cut-off.xml": ("not-xml", "rspec"),
    "entities.xml": ("unsupported-xml", "rspec"),
    "external-dtd.xml": ("unsupported-xml", "rspec"),
    "no-link.rspec": ("no-link", "rspec"),
    "no-namespace.rspec": ("not-rspec", "rspec"),
    "text.xml": ("not-xml", "rspec"),
    "version-2.rspec": ("not-rspec", "rspec"),
}


class TestRefusals:
    @pytest.mark.parametrize("name", REFUSED)
    def test_a_document_that_cannot_be_used_is_refused_with_a_reason(self, name: str) -> None:
        with refused(*REFUSED[name]):
            draft_links(read(name))

    @pytest.mark.parametrize(
        ("text", "code", "field"),
        [
            ("", "not-xml", "rspec"),
            ("\ud800", "not-xml", "rspec"),
            ("<rspec>&nope;</rspec>", "not-xml", "rspec"),
            (f'<rspec xmlns="{RSPEC}" type="ticket"/>', "not-rspec", "rspec.type"),
            (f'<rspec xmlns="{RSPEC}">{" " * MAX_CHARACTERS}</rspec>', "too-large", "rspec"),
            (f'<rspec xmlns="{RSPEC}">{"<a>" * 9000}{"</a>" * 9000}</rspec>', "too-large", "rspec"),
            (of_two_nodes("<link/>" * (MAX_LINKS + 1)), "too-large", "rspec"),
            (of_two_nodes(LINK, LINK), "duplicate", "rspec.link"),
            (of_two_nodes("<link/>"), "missing", "rspec.link"),
        ],
    )
    def test_a_text_that_is_no_document_is_refused(self, text: str, code: str, field: str) -> None:
        with refused(code, field):
            draft_links(text)

    def test_an_entity_of_a_file_is_not_read(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("classified")
        text = f'<!DOCTYPE r [<!ENTITY x SYSTEM "{secret.as_uri()}">]><rspec xmlns="{RSPEC}">&x;</rspec>'
        with refused("unsupported-xml", "rspec") as refusal:
            draft_links(text)
        assert "classified" not in str(refusal.error)

    def test_each_faulty_link_has_a_reason_of_its_own(self) -> None:
        drafts, problems = draft_links(read("faults.rspec"))
        assert drafts == ()
        assert [(one.field, one.code) for one in problems] == [
            ("link.dangling.interface_ref", "unknown-name"),
            ("link.self", "not-a-link"),
            ("link.undirected.property", "malformed"),
            ("link.twice.property", "duplicate"),
            ("link.fast.property.capacity", "out-of-range"),
            ("link.negative.property.latency", "out-of-range"),
            ("link.percent.property.packet_loss", "out-of-range"),
        ]

    @pytest.mark.parametrize("text", ["nan", "inf", "1_000", "0x10", "1e99", "1" * 50, "1 000"])
    def test_a_capacity_must_be_a_decimal_number(self, text: str) -> None:
        _, problems = draft_links(of_two_nodes(LINK.replace('"1000"', f'"{text}"')))
        assert [one.code for one in problems] == ["out-of-range"]

    def test_an_encoding_that_is_not_known_is_refused(self) -> None:
        with refused("malformed", "encoding"):
            read("unknown-encoding.xml")
        with refused("malformed"):
            decode_document(b"\xff\xfe\xff")

    @pytest.mark.parametrize(
        ("old", "new", "code", "field"),
        [
            ('"min": "700000000.0 bps"', '"min": "700"', "no-unit", "link.mu:osu.qspec.throughput.min"),
            ('"streams": 1', '"streams": "many"', "wrong-type", "link.mu:osu.qspec.throughput.streams"),
            ('"streams": 1', '"colour": "red"', "unknown-key", "link.mu:osu.qspec.throughput.colour"),
            ('"cores": 8', '"cores": 0', "out-of-range", "link.mu:osu.rspec.compute.cores"),
            ('{"bandwidth_ceiling"', "&amp;a {", "unsupported-yaml", "link.mu:osu.rspec"),
        ],
    )
    def test_a_fault_in_the_extension_is_named(self, old: str, new: str, code: str, field: str) -> None:
        text = export_rspec(SOYKB, "mu", "osu")
        assert old in text
        _, problems = draft_links(text.replace(old, new))
        assert (field, code) in [(one.field, one.code) for one in problems]

    @pytest.mark.parametrize(
        ("document", "link", "code", "field"),
        [
            (of_two_nodes(LINK), "none", "unknown-name", "rspec.document"),
            ("<rspec>", "ab", "not-xml", "rspec.document"),
            ("", "ab", "not-xml", "rspec.document"),
        ],
    )
    def test_a_template_names_a_link_of_its_document(
        self, document: str, link: str, code: str, field: str
    ) -> None:
        body = {"name": "x", "weights": {"loss": 1}, "rspec": {"document": document, "link": link}}
        with refused(code, field):
            yamlfile.check_model(body, Template)
        assert RSpec().document == ""
