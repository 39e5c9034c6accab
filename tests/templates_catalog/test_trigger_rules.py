"""What a template may watch for, and what is refused, naming the field."""

from __future__ import annotations

from typing import Any

import pytest

from adon import yamlfile
from adon.errors import InvalidInput
from adon.templates_catalog.model import Template
from adon.templates_catalog.trigger_rules import MOST, Trigger
from tests.support.refusals import refused

BURST = {
    "name": "burst",
    "when": {"metric": "flow.rate", "above": "90 Mbps", "clear": "80 Mbps"},
    "for": "30 s",
    "do": {"action": "capacity", "more": "20 %"},
    "hold": "10 min",
}


def template(*triggers: dict[str, Any], **more: Any) -> Template:
    document = {"name": "x", "weights": {"throughput": 1}, "triggers": list(triggers), **more}
    return yamlfile.check_model(document, Template)


def trigger(**changes: Any) -> Trigger:
    return template({**BURST, **changes}).triggers[0]


def test_a_trigger_is_read_with_its_units() -> None:
    read = trigger()
    assert (read.when.above, read.when.clear, read.for_, read.hold) == (90e6, 80e6, 30, 600)
    assert read.do.model_dump()["more"] == "0.2 ratio"


@pytest.mark.parametrize(
    ("when", "level"),
    [
        ({"metric": "throughput", "below": "5 Mbps"}, 5e6),
        ({"metric": "loss", "above": "1 %"}, 0.01),
        ({"metric": "rtt", "above": "50 ms"}, 0.05),
        ({"metric": "host.memory_available", "of": "source", "below": "2 GB"}, 2e9),
        ({"metric": "batch.queue_wait", "of": "destination", "above": "10 min"}, 600),
        ({"metric": "host.cpu_utilization", "of": "source", "above": "95 %"}, 0.95),
        ({"metric": "pegasus.jobs_failed", "of": "destination", "above": 0, "part": "run0001"}, 0),
        ({"metric": "pegasus.state", "of": "destination", "below": -0.5}, -0.5),
    ],
)
def test_levels_are_in_the_metric_s_unit(when: dict[str, Any], level: float) -> None:
    assert trigger(when=when).when.level == pytest.approx(level)


DEEDS: list[dict[str, Any]] = [
    {"action": "reexamine"},
    {"action": "priority", "by": -100},
    {"action": "capacity", "less": "50 %"},
    {"action": "measure", "metric": "rtt"},
    {"action": "monitor", "of": "source", "metrics": ["host", "queue.length"], "period": "10 s"},
    {"action": "notify", "text": "somebody should look", "level": "error"},
]


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: str(deed["action"]))
def test_every_deed_is_written_and_read_back_equal(deed: dict[str, Any]) -> None:
    found = template({**BURST, "do": deed}, monitoring=[{"of": "source"}])
    assert yamlfile.parse_model(yamlfile.dump(found), Template) == found
    body = found.model_dump(mode="json")
    assert body["triggers"][0]["for"] == "30.0 s", "as people write it, by whatever way it is dumped"
    assert Template.model_validate(body) == found


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"when": {"metric": "beauty", "above": 1}}, "triggers.0.when.metric", "invalid"),
        ({"when": {"metric": "flow.rate", "above": 90}}, "triggers.0.when.above", "no-unit"),
        ({"when": {"metric": "rtt", "above": "90 Mbps"}}, "triggers.0.when.above", "wrong-unit"),
        ({"when": {"metric": "rtt", "above": "1 s", "below": "2 s"}}, "triggers.0.when.above", "invalid"),
        ({"when": {"metric": "rtt", "above": "10 ms", "clear": "11 ms"}}, "triggers.0.when.clear", "invalid"),
        (
            {"when": {"metric": "throughput", "below": "5 Mbps", "clear": "4 Mbps"}},
            "triggers.0.when.clear",
            "invalid",
        ),
        ({"when": {"metric": "rtt", "of": "source", "above": "1 s"}}, "triggers.0.when.of", "invalid"),
        ({"when": {"metric": "rtt", "part": "x", "above": "1 s"}}, "triggers.0.when.part", "invalid"),
        ({"when": {"metric": "host.load_1m", "above": 4}}, "triggers.0.when.of", "invalid"),
        (
            {"when": {"metric": "host.load_1m", "of": "source", "above": "much"}},
            "triggers.0.when.above",
            "invalid",
        ),
        ({"for": "-1 s"}, "triggers.0.for", "out-of-range"),
        ({"hold": "1 s"}, "triggers.0.hold", "out-of-range"),
        ({"do": {"action": "capacity"}}, "triggers.0.do.more", "invalid"),
        ({"do": {"action": "capacity", "less": "100 %"}}, "triggers.0.do.less", "out-of-range"),
    ],
)
def test_what_is_wrong_is_told_with_its_field(changes: dict[str, Any], field: str, code: str) -> None:
    with refused(code, field):
        trigger(**changes)


def test_two_triggers_have_two_names_and_there_are_not_too_many() -> None:
    with refused(InvalidInput, field="triggers.1.name"):
        template(BURST, BURST)
    with refused(InvalidInput, field="triggers.16"):
        template(*({**BURST, "name": f"t{row}"} for row in range(MOST + 1)))
