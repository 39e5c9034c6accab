"""What is chosen, told and cleared around trials; whole runs are in test_run_on_testbed.py."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from adon.errors import InvalidInput, Unavailable
from adon.experiments.document import Measuring
from adon.experiments.reading import parse
from apps.experiments import around, edges, measuring, stage
from apps.experiments.loads import load_of_event, load_of_flow
from apps.experiments.preparing import chosen
from apps.experiments.progress import duration_text, left, progressing
from mininet_topos import networks
from mininet_topos.networks.configuration import DEFAULT_SCHEDULE, refused
from tests.apps.experiments.loopback import file, network, trials

FLOW = "{flow: a, template: soykb, from: mu, to: osu, size: 100 MB, streams: 4}"
SWEPT = file(f"[{FLOW}]", policies="[always al2s, always internet]") + "sweep: {a.streams: [1, 2]}\n"


@pytest.mark.parametrize(
    ("only", "count"),
    [
        ((), 4),
        (("always al2s",), 2),
        (("always al2s/a.streams=2",), 1),
        (("/a.streams=2",), 2),
        (("/",), 4),
        (("always al2s/a.streams=2", "always internet"), 3),
        (("/a.streams=2", "always al2s"), 3),  # what two of them mean is carried out once
    ],
)
def test_only_some_of_the_trials_are_carried_out(only, count):
    found = [trial.number for trial in chosen(trials(SWEPT), only)]
    assert (len(found), sorted(set(found))) == (count, found)


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ("ours", "there is no policy 'ours'; there are always al2s, always internet"),
        ("always al2", "there is no policy 'always al2'; did you mean always al2s?"),
        ("/b.streams=1", "there is no swept key 'b.streams'; did you mean a.streams?; there are a.streams"),
        ("/a.streams=3", "'3' is not among the values of a.streams: 1, 2"),
        ("/a.streams", "'a.streams' is no KEY=VALUE"),
        ("/a.streams=1,a.streams=2", "a.streams is there twice"),
    ],
)
def test_what_only_cannot_mean_is_told_with_what_there_is(only, said):
    with pytest.raises(InvalidInput) as caught:
        chosen(trials(SWEPT), ("always internet", only))
    assert said in str(caught.value)


def test_where_nothing_is_swept_only_takes_a_policy():
    with pytest.raises(InvalidInput, match="no swept key 'x'; nothing is swept"):
        chosen(trials(file(f"[{FLOW}]")), ("/x=1",))


def test_what_is_left_is_expected_from_what_there_was():
    assert left([], 5) is None
    assert left([10.0, 20.0], 3) == 45.0
    assert [duration_text(seconds) for seconds in (5, 65, 3_725)] == ["0:05", "1:05", "1:02:05"]


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_is_told_in_a_terminal_and_without_one(terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=150)
    one, other, *_ = trials(SWEPT)
    with progressing(console, quiet=False) as progress:
        progress.begins(one, 1, 2)
        progress.line("soykb [is] given al2s")
        progress.ended(60.0)
        progress.begins(other, 2, 2)
        progress.ended(60.0)
    text = out.getvalue()
    assert one.key in text
    assert "soykb [is] given al2s" in text
    assert ("expected left" if terminal else "about 1:00 left") in text


def test_quiet_tells_the_trials_only():
    out = io.StringIO()
    with progressing(Console(file=out), quiet=True) as progress:
        progress.begins(trials(SWEPT)[0], 1, 4)
        progress.line("soykb is given al2s")
    assert "trial 1 of 4" in out.getvalue()
    assert "given" not in out.getvalue()


def test_the_window_of_a_flow_is_that_of_each_of_its_streams():
    (trial,) = trials(
        file("[{flow: a, template: soykb, from: mu, to: osu, size: 1 GB, window: 64 MB, streams: 4}]")
    )
    assert load_of_flow(trial.flows[0], network(), 5, Path()).window == 640_000


def test_a_load_goes_between_the_addresses_that_are_measured_on_its_path():
    (trial,) = trials(
        file(f"[{FLOW}]", "[{event: x, at: 0 s, load: {path: internet, rate: 200 Mbps, from: osu}}]")
    )
    load = load_of_event(trial.events[0].load, network(), 5)
    assert (load.source[0], load.destination[0], load.protocol, load.rate) == (
        "osu-dtn",
        "mu-dtn",
        "udp",
        2e6,
    )


@pytest.mark.parametrize(
    ("measuring", "policy", "events", "needed"),
    [
        ("{throughput: null, rtt: null, latency: null}", "always al2s", "[]", False),
        ("{throughput: null, rtt: 4 s, latency: null}", "always al2s", "[]", True),
        ("{}", "ecmp", "[]", True),
        ("{throughput: null, rtt: null, latency: null}", "ours", "[]", True),
        (
            "{throughput: null, rtt: null, latency: null}",
            "ecmp",
            "[{event: x, at: 0 s, controller: kill}]",
            True,
        ),
    ],
)
def test_adon_is_started_for_who_needs_it(measuring, policy, events, needed):
    text = file(f"[{FLOW}]", events, f"[{policy}]")
    text = text.replace("{throughput: null, rtt: null, latency: null}", measuring)
    (trial,) = trials(text)
    assert stage.needs_adon(trial) is needed


MU_OSU = networks.named("mu_osu")
NEVER = {"throughput": None, "rtt": None, "latency": None}


@pytest.mark.parametrize(
    ("said", "periods"),
    [
        ({}, (20.0, 20.0, 20.0)),
        (NEVER, (None, None, None)),
        ({**NEVER, "rtt": "5 s"}, (None, 5.0, None)),
        # Only the data's direction is tested for throughput: nothing is planned the other way.
        ({**NEVER, "throughput": "20 s"}, (20.0, None, None)),
        # What is not said is fitted around what is.
        ({"rtt": "10 s"}, (40.0, 10.0, 40.0)),
        ({"throughput": "30 s"}, (30.0, 20.0, 20.0)),
    ],
)
def test_the_plan_of_the_tests_is_the_testbed_s_with_what_the_file_says(said, periods):
    plan = measuring.schedule(MU_OSU, Measuring.model_validate(said))
    assert (plan.throughput_period, plan.rtt_period, plan.latency_period) == periods
    assert refused(MU_OSU, plan) is None  # ADON takes it


def test_the_plan_without_words_of_the_file_is_the_testbed_s():
    assert measuring.schedule(MU_OSU, Measuring()) == DEFAULT_SCHEDULE


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (
            "{throughput: null, rtt: 4 s, latency: null}",
            "measuring.rtt: does not fit on mu_osu: 4 s: one test",
        ),
        ("{throughput: 2 s, rtt: null, latency: null}", "measuring.throughput: does not fit on mu_osu: one"),
        ("{rtt: 20.5 s}", "measuring.rtt: does not fit on mu_osu: 20.5 s is no whole number"),
        ("{throughput: 7 s, rtt: null, latency: null}", "measuring: does not fit on mu_osu: EDF-CE found no"),
    ],
)
def test_tests_that_do_not_fit_are_refused_before_anything_is_built(tmp_path, said, cause):
    text = file(f"[{FLOW}]").replace("{throughput: null, rtt: null, latency: null}", said)
    source = parse(text, "e.yaml")
    source.check(around.surroundings(MU_OSU))  # the file itself is sound
    with pytest.raises(InvalidInput) as caught:
        around.checked(source, MU_OSU, tmp_path)
    line = text.splitlines().index(f"measuring: {said}") + 1
    assert str(caught.value).startswith(f"e.yaml:{line}: {cause}")


def test_a_swept_period_that_does_not_fit_is_refused_where_it_stands(tmp_path):
    source = parse(f"{file(f'[{FLOW}]')}sweep: {{measuring.rtt: [20 s, 4 s]}}\n", "e.yaml")
    with pytest.raises(
        InvalidInput, match=r"sweep\.measuring\.rtt\.1: does not fit on mu_osu: 4 s: one test"
    ):
        around.checked(source, MU_OSU, tmp_path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "configuration: {policcy: {foo: 3}}",
            "configuration.policcy: is not a known key here; did you mean",
        ),
        ("configuration: {policy: {hold: 3}}", "configuration.policy.hold: "),
        (
            "configuration: {compute: {near: {site: nowhere, worker_nodes: 1, throughput_per_node: 1 Gbps}}}",
            "configuration.compute.near.site: there is no site 'nowhere'",
        ),
    ],
)
def test_what_only_a_run_would_need_is_looked_at_before(tmp_path, line, said):
    text = f"{file(f'[{FLOW}]')}{line}\n"
    with pytest.raises(InvalidInput) as caught:
        around.checked(parse(text, "e.yaml"), MU_OSU, tmp_path)
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"e.yaml:{text.splitlines().index(line) + 1}: {said}")


def test_sections_of_the_configuration_that_adon_takes_are_valid(tmp_path):
    line = "configuration: {policy: {no_test_above_reserved: null}}\n"
    around.checked(parse(file(f"[{FLOW}]") + line, "e.yaml"), MU_OSU, tmp_path)


def test_everything_wrong_that_only_a_run_would_need_is_told_together(tmp_path):
    text = file(f"[{FLOW}]", measuring="{rtt: 20.5 s}")
    with pytest.raises(InvalidInput) as caught:
        around.checked(parse(f"{text}configuration: {{policcy: {{}}}}\n", "e.yaml"), MU_OSU, tmp_path)
    fields = [problem.field for problem in caught.value.problems]
    assert fields == ["configuration.policcy", "measuring.rtt"]


def test_a_long_round_is_waited_for():
    short, long = (replace(DEFAULT_SCHEDULE, throughput_period=seconds) for seconds in (20.0, 600.0))
    assert measuring.patience(short) == measuring.FIRST_MEASUREMENTS_S
    assert measuring.patience(long) >= 2 * 600


class Edges:
    """A bed whose edges have rules."""

    def __init__(self, *rules: str) -> None:
        self.network = network()
        self.rules = list(rules)

    def dump_flows(self, switch):
        return "OFPST_FLOW reply (OF1.3) (xid=0x2):\n" + "\n".join(self.rules)

    def ofctl(self, command, switch, cookie):
        if command != "del-flows":
            raise Unavailable(command)
        wanted = cookie.removeprefix("cookie=")[:4]
        self.rules = [rule for rule in self.rules if wanted not in rule]


FIRST = " cookie=0x0, duration=5.1s, table=0, n_packets=7, n_bytes=9, priority=0 actions=NORMAL"
LATER = FIRST.replace("5.1s", "99s").replace("n_packets=7", "n_packets=1234567")
ADONS = " cookie=0xad00000000000001, duration=5s, table=0, n_packets=0, n_bytes=0, priority=5 actions=drop"
OTHERS = " cookie=0x7, duration=5s, table=0, n_packets=0, n_bytes=0, priority=5 actions=drop"


@pytest.mark.parametrize(("left_there", "clear"), [([], True), ([ADONS], True), ([OTHERS], False)])
def test_a_network_is_used_again_if_its_edges_are_as_they_were(left_there, clear):
    first = edges.rules_of(Edges(FIRST))
    assert edges.cleared(Edges(LATER, *left_there), first) is clear


def test_a_network_that_does_not_answer_is_not_used_again():
    bed = SimpleNamespace(network=network(), ofctl=lambda *words: (_ for _ in ()).throw(Unavailable("dead")))
    assert edges.cleared(bed, {}) is False
