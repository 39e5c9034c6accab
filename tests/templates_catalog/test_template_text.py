"""What is written for a person reads back as the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon import yamlfile
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.model import Template
from adon.templates_catalog.template_text import format_units, write_template
from adon.units import parse_duration, parse_rate, parse_ratio, parse_size
from measurement.model import to_json
from tests.support.factories import make_template

PARSERS = {"bps": parse_rate, "B": parse_size, "s": parse_duration, "ratio": parse_ratio}


@given(st.floats(0, 1e15), st.sampled_from(sorted(PARSERS)))
def test_what_is_made_readable_means_exactly_the_same(number: float, unit: str) -> None:
    if unit == "B":
        number = float(int(number))
    if unit == "ratio":
        number = min(number, 1.0)
    shown = format_units(f"{number!r} {unit}")
    assert PARSERS[unit](shown) == number


def test_round_amounts_are_written_as_people_do() -> None:
    assert format_units(["7000000.0 bps", 1.0]) == ["7 Mbps", 1.0]
    assert format_units({"max": "0.05 ratio", "for": "3 nodes"}) == {"max": "5 %", "for": "3 nodes"}


@pytest.mark.parametrize("template", builtin_templates(), ids=lambda one: one.name)
def test_what_is_edited_reads_back_as_the_same_template(template: Template) -> None:
    assert yamlfile.parse_model(write_template(to_json(template)), Template) == template
    written = write_template(to_json(template), version=False)
    assert "version" not in written
    assert yamlfile.parse_model(written, Template) == template.model_copy(update={"version": 1})


def test_what_is_switched_on_stays_so() -> None:
    table = {"points": [["7 Mbps", 1], ["50 Mbps", 10]], "step": True}
    on = {"pausable": True, "mode": "dry-run", "tables": {"throughput": table}, "cost": {"local_copy": True}}
    template = make_template(**on)
    written = write_template(to_json(template))
    assert yamlfile.parse_model(written, Template) == template


def test_words_of_somebody_stay_as_they_are() -> None:
    template = make_template(title="3600.0 s")
    assert yamlfile.parse_model(write_template(to_json(template)), Template) == template
