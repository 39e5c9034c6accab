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
from adon.experiments.reading import Source, parse, read, schema
from adon.experiments.room import memory_needed
from adon.experiments.scaling import flows_of
from adon.experiments.surroundings import Machine, Way
from apps.cli.experiment_told import told_json
from tests.experiments.synthetic import FIGURE_21, MU_OSU

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


GROUP = """\
  - draw: bulk
    template: soykb
    between: [[mu, osu]]
    arrivals: {poisson: {per_hour: 600}}
    sizes: {chosen: {sizes: [1 GB, 2 GB]}}
    lasts: 1 min
    number: 20"""
WEIGHED = GROUP.replace("2 GB]}", "2 GB], weights: [1.0e308, 1.0e308]}")
LOGNORMAL = GROUP.replace("chosen: {sizes: [1 GB, 2 GB]}", "lognormal: {median: 1 GB, sigma: 1, most: 0 B}")

CASES = [
    # what is written instead of what, words that the line has, what is said there
    ("from: mu", "from: mo", "from: mo", "there is no site or host 'mo'"),
    ("to: osu", "to: mu-dtn", "to: mu-dtn", "'mu-dtn' is the host that it comes from"),
    ("size: 1 GB", "size: 1", "size: 1", "'1' has no unit; write for example '25 GB'"),
    ("size: 1 GB", "size: 0 B", "size: 0 B", "must be above zero"),
    ("size: 1 GB", "siez: 1 GB", "siez", "is not a known key here; did you mean size?"),
    ("size: 1 GB", "lasts: 5", "lasts: 5", "'5' has no unit; write for example '20 ms'"),
    ("size: 1 GB", "size: 1 GB\n    streams: 0", "streams: 0", "greater than or equal to 1"),
    ("size: 1 GB", "size: 1 GB\n    path: al2", "path: al2", "there is no path 'al2'; did you mean al2s?"),
    ("size: 1 GB", "size: 1 GB\n    rate: 900 Gbps", "rate: 900", "is 9 Gbps on the testbed"),
    ("size: 1 GB", "size: 1 GB\n    rate: 1 kbps", "rate: 1", "is 10 bps on the testbed"),
    ("size: 1 GB", "size: 1 GB\n    window: 4 kB", "window", "no system has one below 4096 B"),
    ("size: 1 GB", "size: 1 GB\n    protocol: udp", "flow: soykb", "is needed for UDP"),
    (
        "size: 1 GB",
        "size: 1 GB\n    after: [other, begins]",
        "after",
        "no flow, group or event 'other'",
    ),
    ("size: 1 GB", "size: 1 GB\n    after: [other]", "after", "write [NAME, begins]"),
    ("size: 1 GB", "size: 1 GB\n    after: [soykb, ends]", "flow: soykb", "comes after itself"),
    ("template: soykb", "template: soyb", "template: soyb", "there is no template 'soyb'"),
    ("[soykb]", "[soykbs]", "templates", "there is no built-in template 'soykbs'; did you mean soykb?"),
    ("[soykb]", "[mine.yaml]", "templates", "nobody knows where from"),
    ("[soykb]", "[soykb, soykb]", "templates", "there is a 'soykb' already"),
    ("workload:", "policies: [always al3s]\nworkload:", "policies", "there is no path 'al3s'"),
    ("workload:", "policies: [best]\nworkload:", "policies", "there is no policy 'best'"),
    ("workload:", "policies: [ours, ours]\nworkload:", "policies", "'ours' is there twice"),
    ("workload:", "repetitions: 0\nworkload:", "repetitions: 0", "greater than or equal to 1"),
    ("workload:", "limit: 1 s\nworkload:", "flow: soykb", "10 MB take 1.379 s alone at 58 Mbps"),
    ("workload:", "sweep: {soykb.streams: []}\nworkload:", "sweep", "has no values"),
    (
        "workload:",
        "sweep: {soyk.streams: [1]}\nworkload:",
        "sweep",
        "no flow, group or event 'soyk'",
    ),
    (
        "workload:",
        "sweep: {stream: [1]}\nworkload:",
        "sweep",
        "not a known key here; did you mean streams?",
    ),
    ("workload:", "sweep: {streams: [1, 2, many]}\nworkload:", "sweep", "valid integer"),
    ("workload:", "sweep: {from: [mu, mo]}\nworkload:", "sweep", "there is no site or host 'mo'"),
    ("workload:", "sweep: {flow: [a]}\nworkload:", "sweep", "a name cannot be swept"),
    (
        "workload:",
        "sweep: {soykb.streams: [1, 2], streams: [3, 4]}\nworkload:",
        "sweep",
        "sweep.streams: is set by sweep.soykb.streams too",
    ),
    (
        "workload:",
        "cases: {few: {soykb.streams: 1}}\nsweep: {streams: [3, 4]}\nworkload:",
        "cases",
        "cases.few.soykb.streams: is set by sweep.streams too",
    ),
    (
        "size: 1 GB",
        "size: 1 GB\n    after: [soykb, begins]\ncases: {late: {soykb.after.wait: 1 s, after: null}}",
        "cases",
        "cases.late.after: is set by cases.late.soykb.after.wait too",
    ),
    ("workload:", "sweep: {streams: [3, 4, 3]}\nworkload:", "sweep", "3 is there already"),
    (
        "size: 1 GB",
        f"size: 1 GB\n{GROUP}\nsweep: {{bulk.sizes.chosen.sizes.0: [1 GB]}}",
        "sweep",
        "'sizes' is a list, and of a list nothing can be set",
    ),
    (
        "size: 1 GB",
        f"size: 1 GB\n{GROUP}\ncases: {{one: {{bulk.between.0.1: osu}}}}",
        "cases",
        "'between' is a list",
    ),
    ("workload:", "links: {al2s: {delay: 5 s}}\nworkload:", "links", "5 s is more than 1 s"),
    ("workload:", "links: {al2s: {rate: 1 Tbps}}\nworkload:", "links", "is 10 Gbps on the testbed"),
    ("workload:", "links: {al2s: {loss: 100 %}}\nworkload:", "links", "a link that loses everything is down"),
    ("workload:", "links: {al2: {delay: 5 ms}}\nworkload:", "links", "there is no link or path 'al2'"),
    ("workload:", "links: {al2s: {delay: 5}}\nworkload:", "links", "'5' has no unit"),
    (
        "workload:",
        "events: [{event: cut, link: {path: al2s, state: down}}]\nworkload:",
        "events",
        "say either a time (at), or what it comes after",
    ),
    (
        "workload:",
        "events: [{event: cut, at: 1 s, link: {path: al2s}}]\nworkload:",
        "events",
        "nothing changes",
    ),
    (
        "workload:",
        "events: [{event: cut, at: 1 s, load: {path: al2s}}]\nworkload:",
        "events",
        "either how many TCP streams, or a rate",
    ),
    (
        "workload:",
        "events: [{event: cut, at: 1 s}]\nworkload:",
        "events",
        "exactly one of load, link, controller, move; this one has 0",
    ),
    (
        "workload:",
        "limit: 2 min\nevents:\n  - {event: cut, at: 2 min, link: {path: al2s, state: down}}\nworkload:",
        "event: cut",
        "events.0.at: 'cut' comes after 120 s, when the trial is over (limit 120 s)",
    ),
    (
        "workload:",
        "limit: 9 s\nevents:\n  - {event: cut, at: 1 s, link: {path: al2s, loss: 1 %, for: 9 s}}\nworkload:",
        "event: cut",
        "events.0.link.for: 'cut' lasts until 10 s; a trial may take 9 s (limit)",
    ),
    (
        "size: 1 GB",
        (
            "size: 1 GB\nevents:\n"
            "  - {event: others, after: [soykb, ends, 5 min], load: {path: al2s, streams: 1, for: 3 min}}\n"
            "  - {event: cut, after: [others, ends, 2 min], link: {path: al2s, state: down}}"
        ),
        "event: cut",
        "events.1.after: 'cut' comes after 600 s",
    ),
    (
        "size: 1 GB",
        (
            "after: [cut, ends]\n    size: 1 GB\nlimit: 10 s\nevents:\n"
            "  - {event: cut, at: 1 s, link: {path: al2s, state: down, for: 8 s}}"
        ),
        "flow: soykb",
        "10 MB take 1.379 s alone at 58 Mbps; a trial may take 10 s (limit)",
    ),
    (
        "size: 1 GB",
        "until: [cut, begins, 1 h]\nevents: [{event: cut, at: 1 s, link: {path: al2s, state: down}}]",
        "until",
        "the end of 'soykb' comes after 3601 s",
    ),
    (
        "workload:",
        "events: [{event: go, at: 1 s, move: {flow: soyk, to: al2s}}]\nworkload:",
        "events",
        "there is no flow 'soyk'",
    ),
    (
        "size: 1 GB",
        f"size: 1 GB\n{GROUP}\nevents: [{{event: bulk-20, at: 1 s, controller: kill}}]",
        "events",
        "a flow that 'bulk' draws is called 'bulk-20'",
    ),
    (
        "size: 1 GB",
        f"size: 1 GB\n{WEIGHED}",
        "sizes",
        "their sum is too large",
    ),
    (
        "size: 1 GB",
        f"size: 1 GB\n{GROUP}".replace("2 GB", "0 B"),
        "sizes",
        "sizes.chosen.sizes.1: must be above zero",
    ),
    (
        "size: 1 GB",
        f"size: 1 GB\n{LOGNORMAL}",
        "sizes",
        "sizes.lognormal.most: must be above zero",
    ),
    (
        "workload:",
        "events: [{event: soykb, at: 1 s, controller: kill}]\nworkload:",
        "events",
        "there is a 'soykb' already: workload.0",
    ),
    (
        "workload:",
        "events: [{event: cut, after: [soyk, begins], link: {path: al2s, state: down}}]\nworkload:",
        "events",
        "no flow, group or event 'soyk'",
    ),
    (
        "workload:",
        (
            "events: [{event: cut, at: 1 s, link: {path: al2s, state: down}}]\n"
            "figures: {x: {of: received, during: [[cut, begins], [cut, ends]]}}\nworkload:"
        ),
        "figures",
        "'cut' does not end: it has no 'for' and no 'until'",
    ),
    (
        "workload:",
        (
            "events: [{event: cut, at: 1 s, link: {path: al2s, state: down}}]\n"
            "figures: {x: {of: decision_time, since: [cut, moved]}}\nworkload:"
        ),
        "figures",
        "'cut' is an event: it begins and ends",
    ),
    (
        "workload:",
        (
            "events: [{event: others, at: 1 s, load: {path: al2s, streams: 2}}]\n"
            "figures: {x: {of: received, during: [[others, retested], [soykb, ends]]}}\nworkload:"
        ),
        "figures",
        "'others' does not end: it has no 'for' and no 'until'",
    ),
    (
        "size: 1 GB",
        (
            "until: [cut, begins]\nevents: "
            "[{event: cut, after: [soykb, retested], link: {path: al2s, state: down}}]"
        ),
        "flow: soykb",
        "comes after itself",
    ),
    (
        "workload:",
        (
            "events:\n"
            "  - {event: cut, after: [soykb, begins], link: {path: al2s, state: down}}\n"
            "sweep: {cut.after.of: [soykb, soyk]}\nworkload:"
        ),
        "sweep",
        "there is no flow, group or event 'soyk'",
    ),
    (
        "workload:",
        (
            "events:\n"
            "  - {event: cut, at: 1 s, link: {path: al2s, state: down, for: 2 s}}\n"
            "  - {event: others, after: [cut, ends], load: {path: al2s, streams: 2}}\n"
            "cases: {whole: {soykb.streams: 1}, forever: {cut.link.for: null}}\nworkload:"
        ),
        "event: others",
        "'cut' does not end",
    ),
    (
        "size: 1 GB",
        (
            "size: 1 GB\nmeasuring: {throughput: null}\nevents:\n"
            "  - {event: cut, after: [soykb, tested], link: {path: al2s, state: down}}"
        ),
        "event: cut",
        "throughput is never tested, so nothing is tested",
    ),
    (
        "size: 1 GB",
        (
            "size: 1 GB\nevents:\n"
            "  - {event: cut, after: [soykb, retested], link: {path: al2s, state: down}}\n"
            "sweep: {measuring.throughput: [20 s, null]}"
        ),
        "event: cut",
        "throughput is never tested, so nothing is retested",
    ),
    (
        "workload:",
        (
            "events: [{event: others, at: 1 s, load: {path: al2s, streams: 2}}]\n"
            "figures: {x: {of: decision_time, since: [others, moved]}}\nworkload:"
        ),
        "figures",
        "'others' is an event: it begins and ends, and is tested and retested",
    ),
    (
        "workload:",
        "events: [{event: on, at: 1 s, controller: start}]\nworkload:",
        "events",
        "no event stops or kills it",
    ),
    (
        "size: 1 GB",
        "size: 1 GB\n    protocol: udp\n    rate: 1 Gbps\n    store: disk",
        "store: disk",
        "what comes by UDP is counted only",
    ),
    (
        "workload:",
        (
            "figures: {x: {of: received}, y: {of: makespan}}\n"
            "checks: [{check: a, ratio: [x, y], between: [1, null]}]\nworkload:"
        ),
        "checks",
        "one is in B and the other in s",
    ),
    (
        "workload:",
        ("figures: {x: {of: received}}\nchecks: [{check: a, value: x, between: [2 GB, 1 GB]}]\nworkload:"),
        "checks",
        "2 GB is above 1 GB",
    ),
    (
        "workload:",
        (
            "sweep: {streams: [2]}\nfigures: {x: {of: received}}\n"
            "checks: [{check: a, order: x, over: streams, is: rising}]\nworkload:"
        ),
        "checks",
        "has one value: there is no order",
    ),
    ("workload:", "checks: [{check: a}]\nworkload:", "checks", "one of the keys ratio, value, order and"),
    (
        "workload:",
        "checks: [{check: a, value: speed, between: [1 s, null]}]\nworkload:",
        "checks",
        "no figure 'speed'",
    ),
    (
        "workload:",
        "checks: [{check: a, ratio: [x, x], between: [null, null]}]\nworkload:",
        "checks",
        "nothing is checked",
    ),
    ("workload:", "figures: {x: {of: jitter}}\nworkload:", "figures", "only a receiver of UDP counts jitter"),
    (
        "workload:",
        "figures: {x: {of: throughput, flow: soy}}\nworkload:",
        "figures",
        "flow or group 'soy'",
    ),
    (
        "workload:",
        "figures: {x: {of: measured, path: al2s}}\nworkload:",
        "figures",
        "with of: measured",
    ),
    ("workload:", "figures: {x: {of: throughput, paper: 5}}\nworkload:", "figures", "'5' has no unit"),
    (
        "workload:",
        "figures: {x: {of: throughput, where: {streams: 4}}}\nworkload:",
        "figures",
        "there is no swept value 'streams'",
    ),
    (
        "workload:",
        "measuring: {rtt: null}\nfigures: {x: {of: measured, path: al2s, metric: rtt}}\nworkload:",
        "figures",
        "rtt is never measured",
    ),
    (
        "workload:",
        (
            "measuring: {latency: null, rtt: null}\n"
            "figures: {x: {of: measured, path: al2s, metric: loss}}\nworkload:"
        ),
        "figures",
        "loss is never measured",
    ),
    (
        "workload:",
        "figures: {x: {of: bytes_on_path, path: al2}}\nworkload:",
        "figures",
        "there is no path 'al2'; did you mean al2s?",
    ),
    (
        "workload:",
        "checks: [{check: a, decisions: [{flow: soykb, outcome: admit, path: al3s}]}]\nworkload:",
        "checks",
        "there is no path 'al3s'",
    ),
    (
        "workload:",
        (
            "policies: [ours, always al2s]\nchecks: [{check: a, where: {policy: always al2s}, "
            "decisions: [{flow: soykb, outcome: admit}]}]\nworkload:"
        ),
        "checks",
        "checks.0.where.policy: of a check of decisions 'policy' beside 'where' says whose they are",
    ),
    (
        "workload:",
        (
            "configuration: {compute: {iplant: {site: osu, worker_nodes: 1, throughput_per_node: 1 Gbps}}}\n"
            "checks: [{check: a, decisions: [{flow: soykb, outcome: admit, site: iplnt}]}]\nworkload:"
        ),
        "checks",
        "there is no compute site 'iplnt'; did you mean iplant? (configuration.compute)",
    ),
    (
        "workload:",
        "checks: [{check: a, decisions: [{flow: soykb-1, outcome: admit}]}]\nworkload:",
        "checks",
        "there is no flow 'soykb-1'; did you mean soykb?",
    ),
    (
        "size: 1 GB",
        f"size: 1 GB\n{GROUP}\nchecks: [{{check: a, decisions: [{{flow: bulk-21, outcome: admit}}]}}]",
        "checks",
        "there is no flow 'bulk-21'; 'bulk' draws bulk-1 to -20",
    ),
    (
        "size: 1 GB",
        f"size: 1 GB\n{GROUP}\nchecks: [{{check: a, decisions: [{{flow: bulk, outcome: admit}}]}}]",
        "checks",
        "there is no flow 'bulk'; 'bulk' draws bulk-1 to -20",
    ),
    (
        "workload:",
        "figures: {x: {of: deadlines_missed}}\nworkload:",
        "figures",
        "no flow of it has a deadline",
    ),
    (
        "[soykb]",
        "[{name: soykb, weights: {throughput: 1}}]\nfigures: {x: {of: floors_missed, flow: soykb}}",
        "figures",
        "no flow of it asks for a least throughput",
    ),
    (
        "size: 1 GB",
        "size: 1 GB\n    protocol: udp\n    rate: 1 Gbps\nfigures: {x: {of: delay}}",
        "figures",
        "only a sender of TCP knows round trips",
    ),
    (
        "workload:",
        "plots: [{plot: P, y: speed, x: policy}]\nworkload:",
        "plots",
        "no figure 'speed'",
    ),
    (
        "workload:",
        (
            "sweep: {streams: [1, 2], window: [8 MB, 16 MB]}\nfigures: {x: {of: throughput}}\n"
            "plots: [{plot: P, y: x, x: streams}]\nworkload:"
        ),
        "plots",
        "one point would mix values of window: say it in 'by' or 'where'",
    ),
    ("workload:", "plots: [{plot: P, kind: bar}]\nworkload:", "plots", "every other plot needs one"),
]


@pytest.mark.parametrize(("old", "new", "line", "cause"), CASES, ids=[case[1][:40] for case in CASES])
def test_what_is_wrong_is_told_with_its_line_and_cause(old: str, new: str, line: str, cause: str) -> None:
    text = with_line(old, new)
    said = refused(text)
    number = line_of(text, line)
    assert any(cause in one and one.startswith(f"e.yaml:{number}: ") for one in said), said


HOME = {
    "sites": {**MU_OSU.sites, "home": ("home-dtn",)},
    "ways": {**MU_OSU.ways, "cable": Way(("mu", "home"), 1e6)},
}
"""A third site, which only one path leads to."""

ELSEWHERE = [
    # what stands before the workload, what is said at the beginning of its last line
    (
        "events: [{event: go, at: 1 s, move: {flow: soykb, to: cable}}]",
        "events.0.move.to: 'cable' does not lead from 'mu' to 'osu'",
    ),
    (
        (
            "cases: {one: {soykb.absent: false}, none: {soykb.absent: true}}\n"
            "events: [{event: go, at: 1 s, move: {flow: soykb, to: internet}}]"
        ),
        "events.0.move.flow: 'soykb' is absent: there is nothing to move",
    ),
    (
        "figures: {x: {of: bytes_on_path, flow: soykb, path: cable}}",
        "figures.x.path: 'cable' does not lead between the ends of 'soykb'",
    ),
    (
        "checks: [{check: a, decisions: [{flow: soykb, outcome: admit, path: cable}]}]",
        "checks.0.decisions.0.path: 'cable' does not lead between the ends of 'soykb'",
    ),
    (
        (
            "sweep: {to: [osu, home]}\n"
            "checks: [{check: a, decisions: [{flow: soykb, outcome: admit, path: cable}], where: {to: osu}}]"
        ),
        "checks.0.decisions.0.path: 'cable' does not lead between the ends of 'soykb'",
    ),
]


@pytest.mark.parametrize(("lines", "said"), ELSEWHERE)
def test_a_path_that_leads_elsewhere_is_refused(lines: str, said: str) -> None:
    (found,) = refused(with_line("workload:", f"{lines}\nworkload:"), **HOME)
    assert found.endswith(said)


def test_a_path_may_join_the_ends_at_one_combination_only():
    lines = """sweep: {to: [osu, home]}
figures: {x: {of: bytes_on_path, flow: soykb, path: cable}}
checks: [{check: a, decisions: [{flow: soykb, outcome: admit, path: cable}], where: {to: home}}]
workload:"""
    parse(with_line("workload:", lines)).check(replace(MU_OSU, **HOME))


def test_a_template_of_udp_needs_what_udp_needs():
    udp = "[{name: soykb, weights: {throughput: 1}, protocol: udp}]"
    said = refused(SMALL.replace("[soykb]", udp).replace("size: 1 GB", "size: 1 GB\n    window: 8 MB"))
    assert said == [
        "e.yaml:7: workload.0.rate: is needed for UDP, which does not find one by itself",
        "e.yaml:12: workload.0.window: UDP has none",
    ]


def test_loss_is_measured_by_pings_too():
    figure = "figures: {x: {of: measured, path: al2s, metric: loss}}"
    parse(with_line("workload:", f"measuring: {{latency: null}}\n{figure}\nworkload:")).check(MU_OSU)


def test_a_group_that_draws_nothing_is_refused():
    text = SMALL + textwrap.indent(
        textwrap.dedent("""\
        - draw: none
          template: soykb
          between: [[mu, osu]]
          arrivals: {poisson: {per_hour: 0.001}}
          sizes: {chosen: {sizes: [1 GB]}}
          lasts: 1 s
        """),
        "  ",
    )
    assert refused(text) == ["e.yaml:12: workload.1: draws no request in repetition 1 with seed 1"]


def test_one_wrong_entry_is_one_complaint():
    assert refused(with_line("size: 1 GB", "size: 1")) == [
        "e.yaml:11: workload.0.size: '1' has no unit; write for example '25 GB'"
    ]


def test_a_check_over_several_values_says_which_to_name():
    text = with_line("workload:", "sweep: {streams: [1, 2]}\nfigures: {x: {of: throughput}}\nworkload:")
    text = with_line(
        "workload:", 'checks: [{check: c, value: x, between: ["1 Gbps", null]}]\nworkload:', text
    )
    assert any("figure 'x' is not one number: say streams in its 'where'" in one for one in refused(text))
    good = text.replace("{of: throughput}", "{of: throughput, where: {streams: 2}}")
    parse(good).check(MU_OSU)


def test_an_order_over_a_sweep_reads_one_figure_per_value():
    text = with_line("workload:", "sweep: {streams: [1, 2]}\nfigures: {x: {of: throughput}}\nworkload:")
    parse(
        with_line("workload:", "checks: [{check: c, order: x, over: streams, is: rising}]\nworkload:", text)
    ).check(MU_OSU)
    wrong = with_line("workload:", "checks: [{check: c, order: x, over: size, is: rising}]\nworkload:", text)
    assert any("there is no swept value 'size'" in one for one in refused(wrong))
    flat = with_line("workload:", "checks: [{check: c, order: x, over: streams, is: flat}]\nworkload:", text)
    assert any("within: is needed" in one or "within" in one for one in refused(flat))


def test_what_is_wrong_at_one_combination_only_is_told_at_its_setting():
    text = FIGURE_21.replace("layer-3: {soykb.path: internet}", "layer-3: {soykb.path: intranet}")
    said = refused(text)
    place = f"e.yaml:{line_of(text, 'intranet')}: cases.layer-3.soykb.path"
    assert said == [f"{place}: there is no path 'intranet'; did you mean internet?"]


def test_a_flow_that_lasts_until_something_absent_ends_is_refused():
    text = FIGURE_21.replace("neuroblastoma.absent: true", "soykb.absent: true")
    assert any("'soykb' is absent: it never ends" in one for one in refused(text))


def test_what_is_absent_need_not_end():
    events = """events:
  - {event: cut, at: 1 s, link: {path: al2s, state: down, for: 2 s}}
  - {event: others, after: [cut, ends], load: {path: al2s, streams: 2}}
cases:
  whole: {soykb.streams: 1}
  uncut: {cut.link.for: null, cut.absent: true}
  alone: {cut.link.for: null, others.absent: true}
workload:"""
    parse(with_line("workload:", events)).check(MU_OSU)


def test_circles_through_ends_are_found():
    text = FIGURE_21.replace("after: [neuroblastoma, begins, 2 s]", "after: [neuroblastoma, ends]")
    said = refused(text)
    assert any("comes after itself" in one for one in said)


def test_a_workload_larger_than_the_disk_is_refused():
    text = with_line("size: 1 GB", "size: 200 GB\n    store: disk\n    path: al2s")
    text = text.replace("network: mu_osu", "network: mu_osu\nlimit: 1 h")
    said = refused(text, machine=Machine(disk=10**9, memory=10**9))
    place = f"e.yaml:{line_of(text, 'workload:')}: workload"
    stored = "3 trials leave about 15.03 MB, and 2 GB that its flows store, and the disk has 1 GB free"
    assert said == [f"{place}: {stored}"]
    parse(text).check(replace(MU_OSU, machine=Machine(disk=3 * 10**9, memory=10**9)))


def test_a_workload_that_needs_more_memory_than_there_is_is_refused():
    text = with_line("size: 1 GB", "size: 1 GB\n    streams: 128\n    window: 1 GB")
    said = refused(text, machine=Machine(disk=10**12, memory=10**9))
    assert any("of memory at once, and there are 1 GB" in one for one in said)


def test_results_alone_may_be_larger_than_the_disk():
    said = refused(SMALL, machine=Machine(disk=10**7, memory=10**9))
    assert said == ["e.yaml:6: workload: 3 trials leave about 15 MB and the disk has 10 MB free"]


def test_memory_is_needed_for_what_is_under_way_together():
    """Both ends of each stream, 2 x (15 MB + 4 MiB); 10 MB take 1.4 s alone."""
    one = 2 * (15_000_000 + 4 * 2**20)
    for second, together in (("at: 0 s", 2 * one), ("at: 1 s", 2 * one), ("at: 2 s", one)):
        more = f"  - {{flow: b, template: soykb, from: mu, to: osu, size: 1 GB, {second}}}\n"
        its = parse(SMALL + more)
        flows = list(flows_of(its.experiment, its.templates, MU_OSU, 1))
        assert memory_needed(flows, MU_OSU) == together, second


BESIDE = "  - {{flow: {0}, template: soykb, from: mu, to: osu, size: 1 GB, after: [{1}], streams: {2}}}\n"


@pytest.mark.parametrize(
    ("after", "needed"),
    [
        # Each flow: what it comes after, and its streams; then the streams and processes' ends at once.
        ([("soykb, begins", 1)], (2, 2)),
        ([("soykb, ends", 1)], (1, 1)),
        ([("soykb, retested", 1)], (1, 1)),
        ([("soykb, ends", 1), ("b0, ends", 7), ("b1, ends", 3)], (7, 1)),
        ([("soykb, begins", 1), ("b0, ends", 7)], (8, 2)),
        ([("soykb, ends", 2), ("soykb, ends", 3), ("b1, ends", 1)], (5, 2)),
    ],
)
def test_what_comes_after_an_end_does_not_need_its_memory_beside_it(after, needed):
    more = [BESIDE.format(f"b{number}", of, streams) for number, (of, streams) in enumerate(after)]
    its = parse(SMALL + "".join(more))
    flows = list(flows_of(its.experiment, its.templates, MU_OSU, 1))
    streams, ends = needed
    assert memory_needed(flows, MU_OSU) == 2 * (ends * 15_000_000 + streams * 4 * 2**20)


def test_what_comes_after_a_group_s_end_comes_after_its_last_flow():
    its = parse(f"{SMALL}{GROUP}\n{BESIDE.format('b', 'bulk, ends', 99)}")
    flows = list(flows_of(its.experiment, its.templates, MU_OSU, 1))
    assert memory_needed(flows, MU_OSU) == 2 * (15_000_000 + 99 * 4 * 2**20)


def test_a_transfer_that_comes_late_has_less_time():
    late = with_line("size: 1 GB", "size: 1 GB\n    at: 9 s").replace("scale: 100", "scale: 100\nlimit: 10 s")
    assert any("10 MB take 1.379 s alone at 58 Mbps; a trial may take 10 s" in one for one in refused(late))
    parse(late.replace("at: 9 s", "at: 8 s")).check(MU_OSU)


def test_a_transfer_that_cannot_end_in_time_is_refused():
    text = with_line("size: 1 GB", "size: 900 GB\n    path: internet").replace(
        "network: mu_osu", "network: mu_osu\nsizes: 100"
    )
    assert any("take 3.077 h alone at 6.5 Mbps" in one for one in refused(text)), refused(text)


def test_too_many_trials_are_refused():
    text = with_line("workload:", f"sweep: {{streams: {list(range(1, 101))}}}\nrepetitions: 100\nworkload:")
    assert any("makes 10000 trials" in one for one in refused(text))


def test_another_seed_is_the_same_file_otherwise():
    one = parse(SMALL)
    other = one.changed(seed=9, repetitions=5)
    assert isinstance(other, Source)
    assert (other.experiment.seed, other.experiment.repetitions) == (9, 5)
    assert other.experiment.workload == one.experiment.workload
    with pytest.raises(InvalidInput):
        one.changed(repetitions=0)


def test_the_schema_knows_every_key():
    keys = schema()["properties"]
    assert set(keys) == {field.alias or name for name, field in Experiment.model_fields.items()}
