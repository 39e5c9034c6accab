"""What is chosen, told and cleared around trials; whole runs are in test_run_on_testbed.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.errors import InvalidInput
from adon.experiments.document import Measuring
from adon.experiments.reading import parse
from apps.experiments import around, measuring
from apps.experiments.loads import load_of_event, load_of_flow
from apps.experiments.preparing import chosen
from mininet_topos import networks
from mininet_topos.networks.configuration import refused
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
        ("ours", "'ours'"),
        ("always al2", "al2s?"),
        ("/b.streams=1", "a.streams?"),
        ("/a.streams=3", "'3'"),
        ("/a.streams", "KEY=VALUE"),
        ("/a.streams=1,a.streams=2", "a.streams"),
    ],
)
def test_what_only_cannot_mean_is_told_with_what_there_is(only, said):
    with pytest.raises(InvalidInput) as caught:
        chosen(trials(SWEPT), ("always internet", only))
    assert said in str(caught.value)


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


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("{throughput: null, rtt: 4 s, latency: null}", "measuring.rtt:"),
        ("{throughput: 2 s, rtt: null, latency: null}", "measuring.throughput:"),
        ("{rtt: 20.5 s}", "measuring.rtt:"),
        ("{throughput: 7 s, rtt: null, latency: null}", "measuring:"),
    ],
)
def test_tests_that_do_not_fit_are_refused_before_anything_is_built(said, cause):
    text = file(f"[{FLOW}]").replace("{throughput: null, rtt: null, latency: null}", said)
    source = parse(text, "e.yaml")
    source.check(around.surroundings(MU_OSU))  # the file itself is sound
    with pytest.raises(InvalidInput) as caught:
        around.checked(source, MU_OSU)
    line = text.splitlines().index(f"measuring: {said}") + 1
    assert str(caught.value).startswith(f"e.yaml:{line}: {cause}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("configuration: {policcy: {foo: 3}}", "configuration.policcy:"),
        ("configuration: {policy: {hold: 3}}", "configuration.policy.hold:"),
        (
            "configuration: {compute: {near: {site: nowhere, worker_nodes: 1, throughput_per_node: 1 Gbps}}}",
            "configuration.compute.near.site:",
        ),
    ],
)
def test_what_only_a_run_would_need_is_looked_at_before(line, said):
    text = f"{file(f'[{FLOW}]')}{line}\n"
    with pytest.raises(InvalidInput) as caught:
        around.checked(parse(text, "e.yaml"), MU_OSU)
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"e.yaml:{text.splitlines().index(line) + 1}: {said}")


def test_sections_of_the_configuration_that_adon_takes_are_valid():
    line = "configuration: {policy: {no_test_above_reserved: null}}\n"
    around.checked(parse(file(f"[{FLOW}]") + line, "e.yaml"), MU_OSU)
