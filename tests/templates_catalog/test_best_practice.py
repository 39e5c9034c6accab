"""Best practices in a template: what may be written, and that one path has one."""

from __future__ import annotations

from typing import Any

import pytest

from adon import yamlfile
from adon.errors import InvalidInput
from adon.templates_catalog.best_practice import BestPractice, gain
from adon.templates_catalog.model import Template

GOOD: dict[str, Any] = {
    "path": "al2s",
    "source": "mu-dtn",
    "destination": "osu-dtn",
    "streams": 4,
    "buffer": "64 MiB",
    "mtu": 9000,
    "congestion_control": "cubic",
    "settings": {"net.ipv4.tcp_rmem": "4096 131072 67108864"},
    "applied_at": "2026-11-20T10:00:00Z",
    "accepted_at": "2026-11-21T10:00:00+00:00",
    "accepted_by": "ann",
    "before_throughput": "4 Gbps",
    "after_throughput": "6 Gbps",
    "predicted": {"low": 1.2, "expected": 1.5, "high": 1.8},
    "achieved": {"low": 1.3, "expected": 1.5, "high": 1.6},
    "p_value": 0.004,
    "effect": 1.0,
    "before": ["f-1"],
    "after": ["f-7", "f-8"],
}


def template(*practices: dict[str, Any]) -> Template:
    body = {"name": "soykb", "weights": {"throughput": 1}, "best_practices": list(practices)}
    return yamlfile.check_model(body, Template)


def test_as_it_is_written() -> None:
    found = template(GOOD).best_practices[0]
    assert (found.buffer, found.after_throughput) == (64 * 2**20, 6e9)
    assert found.settings == GOOD["settings"]
    saved = template(GOOD)
    assert yamlfile.parse_model(yamlfile.dump(saved), Template) == saved
    assert Template.model_validate(saved.model_dump(mode="json")) == saved
    assert hash(found) == hash(template(GOOD).best_practices[0])


def test_a_template_of_before_has_none() -> None:
    assert Template.model_validate({"name": "soykb", "weights": {"throughput": 1}}).best_practices == ()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"streams": 0}, "best_practices.0.streams: "),
        ({"buffer": "64"}, "best_practices.0.buffer: '64' has no unit"),
        ({"mtu": 100}, "best_practices.0.mtu: "),
        ({"achieved": {"low": 2, "expected": 1, "high": 3}}, "best_practices.0.achieved.expected: must lie"),
        ({"applied_at": "2026-11-20T10:00:00"}, "best_practices.0.applied_at: "),
        ({"p_value": 1.5}, "best_practices.0.p_value: "),
        ({"before": []}, "best_practices.0.before: "),
        ({"after": ["17"]}, "best_practices.0.after.0: "),
        ({"congestion_control": "cubic; reboot"}, "best_practices.0.congestion_control: "),
        ({"colour": "red"}, "best_practices.0.colour: is not a known key here"),
    ],
)
def test_a_mistake_is_named(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        template(GOOD | changes)
    assert str(caught.value.problems[0]).startswith(problem)


def test_one_path_between_two_hosts_has_one() -> None:
    other = GOOD | {"path": "internet"}
    assert len(template(GOOD, other).best_practices) == 2
    with pytest.raises(InvalidInput, match=r"best_practices\.2\.path: best_practices\.0 is of the same path"):
        template(GOOD, other, GOOD | {"streams": 8})


def test_a_gain_that_is_no_number_is_none() -> None:
    assert gain(1.0, 2.0, float("inf")) is None
    assert gain(1.0, 2.0, 3.0) is not None


def test_it_cannot_change() -> None:
    kept: Any = BestPractice.model_validate(GOOD)
    with pytest.raises(TypeError, match="cannot be changed"):
        kept.settings["x"] = "y"
