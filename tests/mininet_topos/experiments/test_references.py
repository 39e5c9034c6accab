"""Problems of a document: all at once, each with its field and line."""

from __future__ import annotations

import pytest

from adon.errors import InvalidInput
from mininet_topos.experiments.loading import parse_experiment
from mininet_topos.experiments.references import check_references
from tests.mininet_topos.experiments.synthetic_runs import mu_osu
from tests.support.refusals import refused

DOCUMENT = """\
experiment: one
title: One flow
network: mu_osu
scale: 100
templates: [soykb]
policies: [ours]
measuring: {throughput: 20 s}
workload:
  - {flow: bulk, template: soykb, from: mu, to: osu, size: 1 GB, streams: 1}
  - {flow: late, template: soykb, from: mu, to: osu, lasts: 5 s, after: [bulk, ends]}
events:
  - {event: cut, at: 5 s, link: {path: al2s, state: down, for: 3 s}}
sweep: {bulk.size: [1 GB, 2 GB]}
figures:
  time: {of: completion_time, flow: bulk}
  small: {of: completion_time, flow: bulk, where: {bulk.size: 1 GB}}
  large: {of: completion_time, flow: bulk, where: {bulk.size: 2 GB}}
checks:
  - {check: c, ratio: [large, small], between: [1, null]}
plots:
  - {plot: p, y: time, x: bulk.size}
"""


def problems(*changes: tuple[str, str]) -> set[tuple[str, int | None]]:
    """Return field and line of each problem of a changed document."""
    text = DOCUMENT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    try:
        check_references(parse_experiment(text, "one.yaml"), mu_osu())
    except InvalidInput as error:
        return {(one.field, one.line) for one in error.problems}
    return set()


def test_document_has_no_problem() -> None:
    assert problems() == set()


@pytest.mark.parametrize(
    ("old", "new", "field", "line"),
    [
        ("policies: [ours]", "policies: [always sea]", "policies.0", 6),
        ("policies: [ours]", "policies: [theirs]", "policies.0", 6),
        ("bulk, template: soykb", "bulk, template: soya", "workload.0.template", 9),
        ("from: mu, to: osu, size", "from: mars, to: osu, size", "workload.0.from", 9),
        ("size: 1 GB, streams: 1", "size: 1 GB, path: sea", "workload.0.path", 9),
        ("size: 1 GB, streams: 1", "size: 1 GB, window: 16 kB", "workload.0.window", 9),
        ("size: 1 GB, streams: 1", "size: 1 GB, rate: 200 Gbps", "workload.0.rate", 9),
        ("size: 1 GB, streams: 1", "size: 1 GB, protocol: udp", "workload.0.rate", 9),
        ("to: osu, size", "to: mu-dtn, size", "workload.0.to", 9),
        ("templates: [soykb]", "templates: [soykb, soykb]", "templates", 5),
        ("[bulk, ends]", "[blk, ends]", "workload.1.after.of", 10),
        ("path: al2s, state: down", "path: al2s, rate: 1 Mbps", "events.0.link.rate", 12),
        ("[bulk, ends]", "[late, ends]", "workload.1", 10),
        ("[bulk, ends]", "[cut, admitted]", "workload.1.after", 10),
        ("path: al2s, state", "name: nowhere, state", "events.0.link.name", 12),
        ("bulk.size: [1 GB, 2 GB]", "blk.size: [1 GB, 2 GB]", "sweep.blk.size", 13),
        (
            "{of: completion_time, flow: bulk}",
            "{of: completion_time, where: {policy: theirs}}",
            "figures.time.where.policy",
            15,
        ),
        (
            "{of: completion_time, flow: bulk}",
            "{of: completion_time, flow: bulk, where: {blk.size: 1 GB}}",
            "figures.time.where.blk.size",
            15,
        ),
        ("{of: completion_time, flow: bulk}", "{of: completion_time, flow: blk}", "figures.time.flow", 15),
        ("{of: completion_time, flow: bulk}", "{of: loss, paper: 3 s}", "figures.time.paper", 15),
        ("ratio: [large, small]", "ratio: [lrge, small]", "checks.0.ratio.0", 19),
        ("between: [1, null]", "between: [1 s, null]", "checks.0.between.0", 19),
        ("ratio: [large, small], between: [1", "value: small, between: [1 Gbps", "checks.0.between.0", 19),
        ("ratio: [large, small]", "ratio: [time, small]", "checks.0", 19),
        ("x: bulk.size", "x: policy", "plots.0", 21),
    ],
)
def test_problem_has_field_and_line(old: str, new: str, field: str, line: int) -> None:
    assert (field, line) in problems((old, new))


def test_swept_value_has_its_own_line() -> None:
    text = ("sweep: {bulk.size: [1 GB, 2 GB]}", "sweep:\n  bulk.size: [1 GB, 2 GB]\n  bulk.path: [al2s, sea]")
    assert ("sweep.bulk.path.1", 15) in problems(text)


def test_fields_of_links_and_tests_can_be_swept() -> None:
    keys = "sweep: {bulk.size: [1 GB, 2 GB], links.al2s.delay: [1 ms, 2 ms], measuring.throughput: [20 s]}"
    fixed = ("where: {bulk", "where: {links.al2s.delay: 1 ms, bulk")
    time = ("{of: completion_time, flow: bulk}", "{of: completion_time, where: {links.al2s.delay: 1 ms}}")
    assert problems(("sweep: {bulk.size: [1 GB, 2 GB]}", keys), time, fixed) == set()
    wrong = keys.replace("[1 ms, 2 ms]", "[1 ms, 2 parsec]")
    found = problems(("sweep: {bulk.size: [1 GB, 2 GB]}", wrong), time, fixed)
    assert ("sweep.links.al2s.delay.1", 13) in found


def test_circle_through_two_flows_is_found_once() -> None:
    circle = problems(("size: 1 GB, streams: 1}", "size: 1 GB, after: [late, ends]}"))
    assert len(circle) == 1


def test_every_problem_is_reported_at_once() -> None:
    found = problems(
        ("policies: [ours]", "policies: [always sea]"),
        ("from: mu, to: osu, size", "from: mars, to: osu, size"),
        ("[bulk, ends]", "[blk, ends]"),
    )
    assert {("policies.0", 6), ("workload.0.from", 9), ("workload.1.after.of", 10)} <= found


def test_second_event_on_a_circuit_is_refused() -> None:
    events = "events:\n  - {event: slow, at: 1 s, link: {path: al2s, rate: 1 Gbps}}"
    assert ("events.1.link", 13) in problems(("events:", events))


@pytest.mark.parametrize(
    ("old", "new", "field", "line", "code"),
    [
        ("size: 1 GB, streams: 1", "size: 1 parsec", "workload.0.size", 9, "unknown-unit"),
        ("lasts: 5 s, after", "lasts: 5 s, at: 1 s, after", "workload.1.at", 10, "invalid"),
        ("lasts: 5 s, after", "after", "workload.1.size", 10, "invalid"),
        ("throughput: 20 s", "throughputs: 20 s", "measuring.throughputs", 7, "malformed"),
        ("event: cut", "event: bulk", "events.0", 12, "invalid"),
        ("path: al2s, state: down", "path: al2s, delay: 3 s", "events.0.link.delay", 12, "out-of-range"),
        ("ratio: [large", "rate: [large", "checks.0.rate", 19, "unknown-key"),
        ("ratio: [large, small], ", "schedule: conflict-free, ", "checks.0.between", 19, "invalid"),
        ("y: time, x", "kind: line, y: time, x", "plots.0.kind", 21, "unknown-value"),
        ("y: time, x", "x", "plots.0.kind", 21, "invalid"),
    ],
)
def test_wrong_unit_or_name_is_refused_when_the_document_is_read(
    old: str, new: str, field: str, line: int, code: str
) -> None:
    with refused(code, field, line):
        parse_experiment(DOCUMENT.replace(old, new), "one.yaml")


def test_unknown_template_is_refused_with_the_other_names() -> None:
    found = problems(("templates: [soykb]", "templates: [soykb, soya]"), ("to: osu, size", "to: ous, size"))
    assert found == {("templates.1", 5), ("workload.0.to", 9)}
