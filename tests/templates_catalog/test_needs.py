from __future__ import annotations

from typing import Any

import pytest

from adon.templates_catalog.builtins import builtin_templates
from adon.templates_catalog.model import Template
from adon.templates_catalog.needs import needs
from measurement.model import Metric
from measurement.psconfig.mesh import Need
from measurement.psconfig.needs import from_json as needs_from_json
from measurement.psconfig.needs import to_json as needs_to_json
from tests.support.factories import make_template


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
