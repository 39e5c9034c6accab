"""What a file may say, and what is refused: each with its line and a cause that names it."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from adon import yamlfile
from adon.errors import InvalidInput
from adon.experiments.document import Experiment
from adon.experiments.reading import parse, read, schema
from apps.cli.experiment_told import told_json
from tests.experiments.synthetic import FIGURE_21, MU_OSU
from tests.support import refusals

SMALL = """\
experiment: small
title: One flow
network: mu_osu
scale: 100
templates: [soykb]
workload:
  - flow: soykb
    template: soykb
    from: mu
    to: osu
    size: 1 GB
"""


def refused(text: str, **surroundings: object) -> list[str]:
    """What is said of a file, by line."""
    with pytest.raises(InvalidInput) as caught:
        parse(text, "e.yaml").check(replace(MU_OSU, **surroundings))
    return [str(problem) for problem in caught.value.problems]


def with_line(old: str, new: str, text: str = SMALL) -> str:
    assert old in text
    return text.replace(old, new, 1)


def line_of(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


def test_a_whole_file_is_read_and_written_as_the_same():
    for text in (SMALL, FIGURE_21):
        one = parse(text)
        one.check(MU_OSU)
        for defaults in (True, False):
            again = parse(yamlfile.dump(one.experiment, defaults=defaults))
            assert again.experiment == one.experiment
            assert again.digest() == one.digest()


def test_a_file_with_its_templates_in_it_says_the_same(tmp_path):
    (tmp_path / "mine.yaml").write_text("name: mine\nweights: {throughput: 1}\nstreams: 3\n")
    (tmp_path / "e.yaml").write_text(
        SMALL.replace("soykb]", "mine.yaml]").replace("template: soykb", "template: mine")
    )
    one = read(tmp_path / "e.yaml")
    alone = parse(yamlfile.dump(one.whole(), defaults=False))
    assert alone.templates == one.templates
    assert alone.digest() == one.digest()
    assert one.templates["mine"].streams == 3


def test_the_example_of_the_documentation_is_one():
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()
    block = re.search(r"## A whole file\n\n((?: {4}.*\n)+)", page)
    assert block is not None
    parse(textwrap.dedent(block[1])).check(MU_OSU)


def test_digest_depends_on_what_is_said_and_not_on_how():
    one = parse(SMALL)
    assert parse("# a comment\n" + SMALL.replace("1 GB", "1000 MB")).digest() == one.digest()
    assert parse(SMALL.replace("1 GB", "2 GB")).digest() != one.digest()


def test_what_is_never_measured_is_another_experiment():
    never = with_line("workload:", "measuring: {throughput: null, rtt: null, latency: null}\nworkload:")
    assert parse(never).digest() != parse(SMALL).digest()
    assert "measuring: {}" in yamlfile.dump(parse(SMALL).experiment)
    assert told_json(parse(never))["measuring"] == {"throughput": None, "rtt": None, "latency": None}
    assert told_json(parse(SMALL))["measuring"] == {}


CASES = [
    # what is written instead of what, words that the line has, what is said there
    ("from: mu", "from: mo", "from: mo", "invalid", "workload.0.from"),
    ("size: 1 GB", "size: 1", "size: 1", "no-unit", "workload.0.size"),
    ("size: 1 GB", "siez: 1 GB", "siez", "unknown-key", "workload.0.siez"),
    ("[soykb]", "[soykbs]", "templates", "unknown-name", "templates.0"),
    (
        "workload:",
        "sweep: {soykb.streams: [1, 2], streams: [3, 4]}\nworkload:",
        "sweep",
        "invalid",
        "sweep.streams",
    ),
    ("size: 1 GB", "size: 1 GB\n    after: [soykb, ends]", "flow: soykb", "invalid", "workload.0"),
    ("workload:", "events: [{event: cut, at: 1 s}]\nworkload:", "events", "invalid", "events.0.event"),
    (
        "workload:",
        (
            "figures: {x: {of: received}, y: {of: makespan}}\n"
            "checks: [{check: a, ratio: [x, y], between: [1, null]}]\nworkload:"
        ),
        "checks",
        "invalid",
        "checks.0.ratio",
    ),
]


@pytest.mark.parametrize(("old", "new", "line", "code", "field"), CASES, ids=[case[1][:40] for case in CASES])
def test_mistake_is_refused_with_line_code_and_field(
    old: str, new: str, line: str, code: str, field: str
) -> None:
    text = with_line(old, new)
    with refusals.refused(code, field, line_of(text, line)):
        parse(text, "e.yaml").check(MU_OSU)


def test_a_template_of_udp_needs_what_udp_needs():
    udp = "[{name: soykb, weights: {throughput: 1}, protocol: udp}]"
    said = refused(SMALL.replace("[soykb]", udp).replace("size: 1 GB", "size: 1 GB\n    window: 8 MB"))
    assert [line.split(": ")[:2] for line in said] == [
        ["e.yaml:7", "workload.0.rate"],
        ["e.yaml:12", "workload.0.window"],
    ]


def test_loss_is_measured_by_pings_too():
    figure = "figures: {x: {of: measured, path: al2s, metric: loss}}"
    parse(with_line("workload:", f"measuring: {{latency: null}}\n{figure}\nworkload:")).check(MU_OSU)


def test_too_many_trials_are_refused():
    text = with_line("workload:", f"sweep: {{streams: {list(range(1, 101))}}}\nrepetitions: 100\nworkload:")
    assert any("10000" in one for one in refused(text))


def test_the_schema_knows_every_key():
    keys = schema()["properties"]
    assert set(keys) == {field.alias or name for name, field in Experiment.model_fields.items()}
