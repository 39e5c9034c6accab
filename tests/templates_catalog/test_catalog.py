"""Versions never change, and a request finds its template or learns why not."""

from __future__ import annotations

from typing import Any

import pytest

from adon.errors import AdonError, Conflict, InvalidInput, NotFound
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.catalog import Catalog, needs
from adon.templates_catalog.model import Template
from measurement.model import Metric
from measurement.psconfig.mesh import Need
from measurement.psconfig.needs import from_json as needs_from_json
from measurement.psconfig.needs import to_json as needs_to_json
from tests.support.factories import make_template
from tests.support.refusals import refused


def test_versions_count_up_and_the_old_catalog_stays() -> None:
    empty = Catalog()
    one, first = empty.add(make_template(notes="a"))
    two, second = one.add(make_template(notes="b"))
    assert (first.reference, second.reference) == ("soykb@1", "soykb@2")
    assert empty.latest == ()
    assert one.latest == (first,)
    assert two.latest == (second,)
    assert two.versions("soykb") == (first, second)
    assert two.get("soykb") == second
    assert two.get("soykb", 1) == first
    assert hash(two) == hash(Catalog.of([second, first]))


def test_what_equals_the_latest_is_the_latest() -> None:
    catalog, saved = Catalog().add(make_template(notes="a"))
    again, same = catalog.add(make_template(notes="a"))
    assert again is catalog
    assert same == saved
    back, third = catalog.add(make_template(notes="b"))[0].add(make_template(notes="a"))
    assert third.reference == "soykb@3"
    assert len(back.versions("soykb")) == 3


def test_an_explicit_version_is_kept() -> None:
    catalog, saved = Catalog().add(make_template(version=4))
    assert saved.version == 4
    assert catalog.add(saved) == (catalog, saved)
    assert catalog.add(make_template(notes="next"))[1].version == 5


@pytest.mark.parametrize(("version", "code"), [(4, "duplicate"), (3, "conflict")])
def test_a_saved_version_never_changes(version: int, code: str) -> None:
    catalog, _ = Catalog().add(make_template(version=4))
    with refused(code, "version"):
        catalog.add(make_template(version=version, notes="other"))
    with pytest.raises(Conflict):
        Catalog.of([make_template(version=4), make_template(version=4, notes="other")])


@pytest.mark.parametrize(
    ("reference", "error"),
    [
        ("soykb@3", NotFound),
        ("soy", NotFound),
        ("soykb@", InvalidInput),
        ("soykb@0", InvalidInput),
        ("soykb@-1", InvalidInput),
        ("soykb@1@1", InvalidInput),
        ("@1", InvalidInput),
        ("", InvalidInput),
        ("soykb@" + "9" * 5000, InvalidInput),
    ],
)
def test_references_that_lead_nowhere(reference: str, error: type[AdonError]) -> None:
    with pytest.raises(error):
        Catalog.of([make_template()]).resolve(reference)


def test_references() -> None:
    catalog = Catalog.of([make_template(version=1), make_template(version=2, notes="b")])
    assert catalog.resolve("soykb").version == 2
    assert catalog.resolve("soykb@1").version == 1


SHELF = Catalog.of(
    [
        make_template(
            name="soykb", match={"applications": ["soykb", "irods"], "ports": [1247, "20000-20199"]}
        ),
        make_template(
            name="globus", match={"applications": ["gridftp"], "ports": ["20100-20300"], "dscp": [10]}
        ),
        make_template(name="voice", protocol="udp", match={"ports": [20100], "dscp": [46]}),
        make_template(name="video", protocol="udp", match={"dscp": [46, 34]}),
        make_template(name="bare"),
    ]
)


@pytest.mark.parametrize(
    ("request_like", "name"),
    [
        ({"application": "irods"}, "soykb"),
        ({"application": "bare"}, "bare"),
        ({"application": "irods", "ports": [20250], "dscp": 46}, "soykb"),
        ({"ports": [1247]}, "soykb"),
        ({"ports": [1247, 20001]}, "soykb"),
        ({"ports": [20250], "dscp": 46}, "globus"),
        ({"ports": [9], "dscp": 10}, "globus"),
        ({"ports": [20100], "protocol": "udp"}, "voice"),
        ({"dscp": 34}, "video"),
    ],
)
def test_a_request_finds_its_template(request_like: dict[str, Any], name: str) -> None:
    assert SHELF.match(**request_like).name == name


@pytest.mark.parametrize(
    ("request_like", "code", "field"),
    [
        ({}, "invalid", "template"),
        ({"ports": [9]}, "invalid", "ports"),
        ({"ports": [1247, 9]}, "invalid", "ports"),
        ({"dscp": 7}, "invalid", "dscp"),
        ({"dscp": 46}, "invalid", "dscp"),
        ({"ports": [20150]}, "invalid", "ports"),
        ({"ports": [1247], "protocol": "udp"}, "invalid", "ports"),
    ],
)
def test_a_request_that_fits_none_or_several(request_like: dict[str, Any], code: str, field: str) -> None:
    with refused(code, field):
        SHELF.match(**request_like)


@pytest.mark.parametrize("stated", [{"application": "nothing"}, {"application": "soykb", "protocol": "udp"}])
def test_an_application_without_template_is_not_found(stated: dict[str, str]) -> None:
    with pytest.raises(NotFound):
        SHELF.match(**stated)  # type: ignore[arg-type]


def test_only_the_latest_version_is_matched() -> None:
    catalog, _ = SHELF.add(make_template(name="soykb", match={"applications": ["soykb"]}))
    with pytest.raises(InvalidInput):
        catalog.match(ports=[1247])


def template(**changes: Any) -> Template:
    body = {
        "qspec": {"throughput": {"min": "7 Mbps", "streams": 4}},
        "selection": {"max_age": "5 min"},
        **changes,
    }
    return make_template(**body)


def test_a_metric_is_needed_if_it_has_a_bound_or_a_weight() -> None:
    found = needs([template(weights={"throughput": 1, "rtt": 1, "loss": 0})])
    assert found == {Metric.THROUGHPUT: Need(300.0, 4, 7e6), Metric.RTT: Need(300.0, 1, None)}


def test_the_most_demanding_template_counts() -> None:
    one = template(qspec={"rtt": {"max": "50 ms"}, "throughput": {"min": "5 Mbps", "streams": 8}})
    other = template(
        qspec={"rtt": {"max": "20 ms"}, "throughput": {"min": "9 Mbps"}}, selection={"max_age": "1 min"}
    )
    expected = {Metric.THROUGHPUT: Need(60.0, 1, 9e6), Metric.RTT: Need(60.0, 1, 0.02)}
    assert needs([one, other]) == needs([other, one]) == expected


def test_without_templates_nothing_is_needed() -> None:
    assert needs([]) == {}


def test_needs_travel_as_json() -> None:
    found = needs(builtin_templates())
    assert set(found) == set(Metric) - {Metric.HEALTH}
    assert needs_from_json(needs_to_json(found)) == found


@pytest.mark.parametrize(
    "data",
    [
        {"speed": {"max_age": 1, "streams": 1, "bound": None}},
        {"rtt": {}},
        {"rtt": None},
        {"rtt": {"max_age": 0, "streams": 1, "bound": None}},
    ],
)
def test_what_is_no_need_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        needs_from_json(data)
