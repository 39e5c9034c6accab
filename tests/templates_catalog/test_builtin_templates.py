"""The five built-in templates say what the papers say, and scale for a testbed."""

from __future__ import annotations

import pytest

from adon import yamlfile
from adon.templates_catalog.builtin_templates import builtin_templates, scale_template
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from measurement.model import Metric

BUILTIN = {template.name: template for template in builtin_templates()}


def test_the_five_of_the_papers_are_there() -> None:
    assert list(BUILTIN) == ["eldercare", "geni-classroom", "neuroblastoma", "rivvir", "soykb"]


def test_soykb_as_in_the_thesis() -> None:
    soykb = BUILTIN["soykb"]
    assert soykb.qspec.bound(Metric.THROUGHPUT) == 700e6
    assert soykb.qspec.streams == 1
    assert soykb.rspec.bandwidth_ceiling == 10e9
    assert soykb.cost is not None
    assert (soykb.cost.function, soykb.cost.result_ratio) == ("total_time", 0.1)
    # Figure 18, scaled back: layer 2 qualifies when idle (5.5 Gbps) and not beside Neuroblastoma
    # (500 Mbps); layer 3 (650 Mbps) only for the flow that asks for 600 Mbps.
    assert [soykb.qspec.met_by(Metric.THROUGHPUT, value) for value in (5.5e9, 5e8, 6.5e8)] == [
        True,
        False,
        False,
    ]


def test_priorities_are_ordered_as_in_the_papers() -> None:
    high = {BUILTIN[name].priority for name in ("neuroblastoma", "eldercare")}
    medium = {BUILTIN[name].priority for name in ("rivvir", "geni-classroom", "soykb")}
    assert min(high) > max(medium)


def test_every_builtin_is_found_by_its_application_and_no_two_claim_a_port_or_dscp() -> None:
    catalog = Catalog.of(BUILTIN.values())
    for name, template in BUILTIN.items():
        assert catalog.match(application=name) == template
        for port in template.match.ports:
            first = int(str(port).partition("-")[0])
            assert catalog.match(ports=[first]) == template
        for dscp in template.match.dscp:
            assert catalog.match(dscp=dscp) == template


@pytest.mark.parametrize("template", BUILTIN.values(), ids=BUILTIN)
def test_a_builtin_is_written_and_read_back_equal(template: Template) -> None:
    assert yamlfile.parse_model(yamlfile.dump(template), Template) == template


@pytest.mark.parametrize("template", BUILTIN.values(), ids=BUILTIN)
def test_scaling_multiplies_every_rate_and_nothing_else(template: Template) -> None:
    small = scale_template(template, 0.01)
    for metric in Metric:
        factor = 0.01 if metric is Metric.THROUGHPUT else 1
        for value, original in (
            (small.qspec.bound(metric), template.qspec.bound(metric)),
            (small.qspec.target(metric), template.qspec.target(metric)),
        ):
            assert value == (None if original is None else pytest.approx(original * factor))
        if metric in template.tables:
            for (value, score), (was, same) in zip(
                small.tables[metric].points, template.tables[metric].points, strict=True
            ):
                assert (value, score) == (pytest.approx(was * factor), same)
    assert small.rspec.bandwidth_ceiling == pytest.approx((template.rspec.bandwidth_ceiling or 0) * 0.01)
    assert small.weights == template.weights
    assert Template.model_validate(small.model_dump()) == small


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf")])
def test_a_factor_that_is_none_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="factor"):
        scale_template(BUILTIN["soykb"], factor)
