"""The configuration file: the example is read whole, and each mistake is named with its line."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from adon import config, yamlfile
from adon.config.policy import QueuePolicy
from adon.errors import InvalidInput
from tests.support.refusals import refused

EXAMPLE = Path(__file__).parent / "data" / "network.yaml"


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def changed(old: str, new: str) -> str:
    text = EXAMPLE.read_text("utf-8")
    assert old in text
    return text.replace(old, new, 1)


def problems_of(text: str) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        yamlfile.parse_model(text, config.Configuration, "net.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_ambiguous_unit_is_refused() -> None:
    with refused("ambiguous-unit", "paths.al2s.capacity"):
        yamlfile.parse_model(changed("capacity: 60.6 Mbps", "capacity: 60.6 mbps"), config.Configuration)


@pytest.mark.parametrize(
    ("old", "new", "code", "field", "suggestion"),
    [
        ("reserve_nodes: 1", "reserve_node: 1", "unknown-key", "policy.reserve_node", "reserve_nodes"),
        ("edge: mu-edge", "edge: mu-egde", "unknown-name", "sites.mu.edge", "mu-edge"),
        ("- path: al2s", "- path: al3s", "unknown-name", "measurements.tests.0.path", "al2s"),
        (
            '"0000000000000a01"}',
            '"0000000000000a01", drift: heel}',
            "unknown-value",
            "switches.mu-edge.drift",
            "heal",
        ),
    ],
)
def test_unknown_word_is_refused_with_the_closest(
    old: str, new: str, code: str, field: str, suggestion: str
) -> None:
    with refused(code, field) as refusal:
        yamlfile.parse_model(changed(old, new), config.Configuration)
    assert suggestion in str(refusal.error)


def test_capacity_in_bytes_is_held_in_bits() -> None:
    found = yamlfile.parse_model(changed("capacity: 60.6 Mbps", "capacity: 80 MB/s"), config.Configuration)
    assert found.paths["al2s"].capacity == 640e6


def test_the_example_is_read_whole() -> None:
    whole = config.load(EXAMPLE)
    assert whole.switches["mu-edge"].dpid == 0xA01
    assert whole.sites["osu"].hosts["osu-dtn"].address == IPv4Address("10.2.0.10")
    assert whole.paths["al2s"].vlan == 1701
    assert whole.paths["al2s"].capacity == pytest.approx(60.6e6)
    assert whole.paths["internet"].ends["mu"].next_hop_mac == "02:00:00:00:0a:01"
    assert {(t.path, t.from_, t.to) for t in whole.measurements.tests} == {
        (path, *ends) for path in ("al2s", "internet") for ends in (("mu", "osu"), ("osu", "mu"))
    }


SHORTEST = """\
network: example
switches: {mu-edge: {dpid: "0000000000000a01"}, osu-edge: {dpid: "0000000000000a02"}}
sites:
  mu: {edge: mu-edge, gateway_mac: "02:00:00:00:0a:01", hosts: {mu-dtn: {address: 10.1.0.10, mac: "02:00:00:00:0a:0a", port: eth1}}}
  osu: {edge: osu-edge, gateway_mac: "02:00:00:00:0b:01", hosts: {osu-dtn: {address: 10.2.0.10, mac: "02:00:00:00:0b:0a", port: eth1}}}
paths:
  al2s: {vlan: 1701, capacity: 10 Gbps, ends: {mu: {port: eth2}, osu: {port: eth2}}}
  internet: {capacity: 1 Gbps, ends: {mu: {port: eth3}, osu: {port: eth3}}}
"""  # noqa: E501
MESH = """\
measurements:
  points: {mu: {url: "https://ps.mu.example/pscheduler"}, osu: {url: "https://ps.osu.example/pscheduler"}}
  mesh: {al2s: {mu: 10.1.0.11, osu: 10.2.0.11}, internet: {mu: 10.1.0.12, osu: 10.2.0.12}}
"""


@pytest.mark.parametrize(("text", "count"), [(SHORTEST, 20), (SHORTEST + MESH, 26)])
def test_two_campuses_need_few_values(text: str, count: int) -> None:
    def values(node: object) -> int:
        return sum(map(values, node.values())) if isinstance(node, dict) else 1

    assert values(yamlfile.read_yaml(text)[0]) == count
    whole = yamlfile.parse_model(text, config.Configuration)
    assert [path.layer for path in whole.paths.values()] == [2, 3]
    assert yamlfile.parse_model(yamlfile.dump(whole), config.Configuration) == whole


def test_mesh_tests_both_directions_unless_an_entry_says_otherwise() -> None:
    entry = "{path: al2s, from: mu, to: osu, source: 10.1.0.11, destination: 10.2.0.11, rtt_period: 9 s}"
    text = f"{SHORTEST}{MESH}  tests: [{entry}]\n"
    found = yamlfile.parse_model(text, config.Configuration).measurements
    periods = {
        test.key: (test.throughput_period, test.rtt_period, test.latency_period) for test in found.tests
    }
    assert periods == {
        ("al2s", "mu", "osu"): (None, 9.0, None),
        ("al2s", "osu", "mu"): (14_400.0, 60.0, 60.0),
        ("internet", "mu", "osu"): (14_400.0, 60.0, 60.0),
        ("internet", "osu", "mu"): (14_400.0, 60.0, 60.0),
    }


@pytest.mark.parametrize(
    ("old", "new", "field", "code"),
    [
        ("mesh: {al2s:", "mesh: {al3s:", "measurements.mesh.al3s", "unknown-name"),
        ("osu: 10.2.0.12", "ous: 10.2.0.12", "measurements.mesh.internet", "invalid"),
        ("osu: 10.2.0.12", "osu: 10.1.0.12", "measurements.mesh.internet", "invalid"),
        ("mu: 10.1.0.12", "mu: 10.1.0.10", "measurements.mesh.internet.mu", "invalid"),
        (', osu: {url: "https://ps.osu.example/pscheduler"}', "", "measurements.mesh.al2s.osu", "invalid"),
    ],
)
def test_wrong_mesh_is_named(old: str, new: str, field: str, code: str) -> None:
    with refused(code, field):
        yamlfile.parse_model((SHORTEST + MESH).replace(old, new), config.Configuration)


def test_what_is_written_keeps_its_order_and_cannot_be_changed() -> None:
    whole = config.load(EXAMPLE)
    assert list(whole.paths) == ["al2s", "internet"]
    assert list(whole.paths["al2s"].ends) == ["mu", "osu"]
    with pytest.raises(TypeError):
        whole.paths.clear()  # type: ignore[attr-defined]


@pytest.mark.parametrize("defaults", [True, False])
def test_a_configuration_is_written_back_equal(defaults: bool) -> None:
    whole = config.load(EXAMPLE)
    again = yamlfile.parse_model(yamlfile.dump(whole, defaults=defaults), config.Configuration)
    assert again == whole
    assert (again.policy.model_fields_set == whole.policy.model_fields_set) is not defaults


@pytest.mark.parametrize(
    ("old", "new", "field", "code"),
    [
        ("capacity: 60.6 Mbps", "capacity: 60.6", "paths.al2s.capacity", "no-unit"),
        ("capacity: 60.6 Mbps", "capacity: 0 bps", "paths.al2s.capacity", "out-of-range"),
        ("vlan: 1701", "vlan: 4095", "paths.al2s.vlan", "out-of-range"),
        ("vlan: 1701", "mtu: 1500", "paths.al2s.vlan", "invalid"),
        ("    layer: 3", "    vlan: 7\n    layer: 3", "paths.internet.vlan", "invalid"),
        (
            "port: mu-edge-al2s",
            'port: x, next_hop_mac: "02:00:00:00:00:09"',
            "paths.al2s.ends.mu.next_hop_mac",
            "invalid",
        ),
        ('"0000000000000a01"', "a01", "switches.mu-edge.dpid", "invalid"),
        ('"0000000000000a02"', '"0000000000000a01"', "switches.osu-edge.dpid", "duplicate"),
        ("edge: mu-edge", "edge: mu-egde", "sites.mu.edge", "unknown-name"),
        ("mu: {port: mu-edge-al2s}", "mo: {port: mu-edge-al2s}", "paths.al2s.ends.mo", "unknown-name"),
        ('mac: "02:00:00:00:0a:0a"', 'mac: "02:00"', "sites.mu.hosts.mu-dtn.mac", "invalid"),
        ('mac: "02:00:00:00:0a:0a"', 'mac: "03:00:00:00:0a:0a"', "sites.mu.hosts.mu-dtn.mac", "invalid"),
        ('mac: "02:00:00:00:0b:0a"', 'mac: "02:00:00:00:0A:0A"', "sites.osu.hosts.osu-dtn.mac", "duplicate"),
        ("address: 10.2.0.10", "address: 10.1.0.10", "sites.osu.hosts.osu-dtn.address", "duplicate"),
        ("      osu-dtn:", "      mu-dtn:", "sites.osu.hosts.mu-dtn", "duplicate"),
        (
            "throughput_period: 240 s",
            "throughput_period: 5 s",
            "measurements.tests.0.throughput_period",
            "invalid",
        ),
        ("latency_period: 60 s", "latency_period: 1 s", "measurements.tests.0.latency_period", "invalid"),
        (
            "latency_period: 60 s",
            "latency_interval: 0 s",
            "measurements.tests.0.latency_interval",
            "out-of-range",
        ),
        ("    - path: al2s", "    - path: al3s", "measurements.tests.0.path", "unknown-name"),
        ("      to: osu", "      to: uso", "measurements.tests.0.to", "unknown-name"),
        ("      to: osu", "      to: mu", "measurements.tests.0.path", "invalid"),
        ("source: 10.1.0.11", "source: 10.1.0.10", "measurements.tests.0.source", "invalid"),
        ("source: 10.1.0.11", "source: 10.2.0.11", "measurements.tests.0.destination", "invalid"),
        ("    osu: {url", "    uso: {url", "measurements.points.uso", "unknown-name"),
        ("https://10.1.0.10", "ftp://10.1.0.10", "measurements.points.mu.url", "invalid"),
        ("https://10.1.0.10", "https://u:p@10.1.0.10", "measurements.points.mu.url", "invalid"),
        ("    site: osu", "    site: uso", "compute.osu-hpc.site", "unknown-name"),
        (
            "throughput_per_node: 8 Mbps",
            "throughput_per_node: 0 bps",
            "compute.mu-hpc.throughput_per_node",
            "out-of-range",
        ),
        ("reserve_nodes: 1", "reserve_noodles: 1", "policy.reserve_noodles", "unknown-key"),
        ("reserve_nodes: 1", "aging: 0 s", "policy.aging", "out-of-range"),
        ("network: mu-osu", "network: MU OSU", "network", "malformed"),
        (
            "network: mu-osu",
            "network: mu-osu\nignored_cookies: [{value: -1}]",
            "ignored_cookies.0.value",
            "out-of-range",
        ),
        (
            "network: mu-osu",
            "network: mu-osu\nignored_cookies: [{value: 0xff, mask: 0xf0}]",
            "ignored_cookies.0.value",
            "invalid",
        ),
        ("reserve_nodes: 1", "priority_offset: 30000", "policy.priority_offset", "out-of-range"),
    ],
)
def test_a_mistake_is_named_with_line_and_field(old: str, new: str, field: str, code: str) -> None:
    with refused(code, field) as refusal:
        yamlfile.parse_model(changed(old, new), config.Configuration, "net.yaml")
    (line,) = [problem.line for problem in refusal.error.problems if problem.field == field]
    # The line of the change, or of what the field should have stood in.
    assert abs(line - line_of(EXAMPLE.read_text("utf-8"), old)) <= 2


BACKGROUND = "measurements:\n  background: [{path: al2s, from: mu, to: osu"


def test_what_goes_on_beside_the_plan_is_read() -> None:
    hosts = "}]\n  host_metrics: {mu: {}, osu: {metrics: [host, soykb], period: 10 s}}\n"
    text = changed("measurements:\n", f"{BACKGROUND}{hosts}").replace("latency_period", "#")
    whole = yamlfile.parse_model(text, config.Configuration)
    (background,) = whole.measurements.background
    assert (background.period, background.from_) == (60.0, "mu")
    assert whole.measurements.host_metrics["mu"].metrics == ("host",)
    assert whole.measurements.host_metrics["mu"].period == 5.0
    assert whole.measurements.one_way == {("al2s", "mu", "osu")}
    assert yamlfile.parse_model(yamlfile.dump(whole), config.Configuration) == whole


@pytest.mark.parametrize(
    ("section", "field", "code"),
    [
        (BACKGROUND.replace("al2s", "al3s") + "}]", "background.0.path", "invalid"),
        (BACKGROUND.replace("to: osu", "to: mu") + "}]", "background.0.path", "invalid"),
        (BACKGROUND + "}, {path: al2s, from: mu, to: osu}]", "background.1.path", "duplicate"),
        (BACKGROUND + ", packets: 10, interval: 10 ms}]", "background.0.interval", "invalid"),
        (BACKGROUND + ", packets: 100000, interval: 1 s}]", "background.0.interval", "invalid"),
        (BACKGROUND + ", packets: 5}]", "background.0.packets", "out-of-range"),
        ("measurements:\n  host_metrics: {um: {}}", "host_metrics.um", "unknown-name"),
        ("measurements:\n  host_metrics: {mu: {period: 0.5 s}}", "host_metrics.mu.period", "out-of-range"),
        ("measurements:\n  host_metrics: {mu: {metrics: []}}", "host_metrics.mu.metrics", "wrong-length"),
    ],
)
def test_a_mistake_in_what_goes_on_beside_the_plan_is_named(section: str, field: str, code: str) -> None:
    with refused(code, f"measurements.{field}"):
        yamlfile.parse_model(changed("measurements:\n", f"{section}\n"), config.Configuration)


def test_two_paths_cannot_share_a_vlan_on_a_port_nor_measurement_addresses() -> None:
    text = (
        changed(
            "  internet:\n    layer: 3",
            "  twin:\n    layer: 2\n    vlan: 1701\n    capacity: 1 Mbps\n"
            "    ends:\n      mu: {port: mu-edge-al2s}\n      osu: {port: osu-other}\n"
            "  internet:\n    layer: 3",
        )
        .replace("10.1.0.12", "10.1.0.11")
        .replace("10.2.0.12", "10.2.0.11")
    )
    assert [problem.split(": ")[1] for problem in problems_of(text)] == [
        "paths.twin.vlan",
        "measurements.tests.2.source",
        "measurements.tests.3.source",
    ]


def test_all_mistakes_are_reported_at_once() -> None:
    text = changed("capacity: 60.6 Mbps", "capacity: fast")
    text = text.replace("worker_nodes: 4", "worker_nodes: -4").replace('"0000000000000a02"', "7")
    assert [problem.split(": ")[1] for problem in problems_of(text)] == [
        "switches.osu-edge.dpid",
        "paths.al2s.capacity",
        "compute.mu-hpc.worker_nodes",
    ]


TLS = "  tls: {certificate: c.pem, key: c.key, ca: ca.pem}\n"


@pytest.mark.parametrize(
    ("lines", "code", "field"),
    [
        ("  openflow_host: 0.0.0.0\n", "invalid", "controller.tls"),
        ("  openflow_host: edge.example\n", "invalid", "controller.tls"),
        ("  plain_tcp: true\n" + TLS, "invalid", "controller.plain_tcp"),
        ('  openflow_versions: ["1.4"]\n', "invalid", "controller.openflow_versions"),
        ('  openflow_versions: ["1.3", "1.0"]\n', "unknown-value", "controller.openflow_versions.1"),
        ("  tls: {certificate: c.pem, key: c.key}\n", "missing", "controller.tls.ca"),
        (TLS.replace("}", ", names: ['*.example']}"), "malformed", "controller.tls.names.0"),
        ("  connections: {echo_interval: 0 s}\n", "out-of-range", "controller.connections.echo_interval"),
        (
            "  connections: {packet_ins_per_second: 0}\n",
            "out-of-range",
            "controller.connections.packet_ins_per_second",
        ),
    ],
)
def test_how_switches_must_not_connect(lines: str, code: str, field: str) -> None:
    with refused(code, field):
        yamlfile.parse_model(EXAMPLE.read_text("utf-8") + "\ncontroller:\n" + lines, config.Configuration)


@pytest.mark.parametrize(
    "lines",
    [
        "  openflow_host: 127.0.0.1\n",
        '  openflow_host: "::1"\n',
        "  openflow_host: 0.0.0.0\n  plain_tcp: true\n",
        "  openflow_host: 0.0.0.0\n" + TLS,
        "  connections: {packet_ins_per_second: null, packet_ins_per_port: null}\n",
    ],
)
def test_how_switches_may_connect(lines: str) -> None:
    text = EXAMPLE.read_text("utf-8") + "\ncontroller:\n" + lines
    assert yamlfile.parse_model(text, config.Configuration, "net.yaml").network == "mu-osu"


def test_a_certificate_name_is_of_one_switch_and_needs_tls() -> None:
    one = '{dpid: "0000000000000a01"}'
    bound = changed(one, '{dpid: "0000000000000a01", certificate: Edge.example}')
    (found,) = problems_of(bound)
    assert "switches.mu-edge.certificate:" in found
    with_tls = bound + "\ncontroller:\n" + TLS
    whole = yamlfile.parse_model(with_tls, config.Configuration, "net.yaml")
    assert whole.switches["mu-edge"].certificate == "edge.example"
    two = with_tls.replace(
        '{dpid: "0000000000000a02"}', '{dpid: "0000000000000a02", certificate: edge.example}'
    )
    (found,) = problems_of(two)
    assert "switches.mu-edge.certificate" in found


def test_high_availability_and_how_switches_are_driven() -> None:
    whole = config.load(EXAMPLE)
    assert whole.controller.ha is None
    assert {switch.control for switch in whole.switches.values()} == {"exclusive"}
    text = changed('"0000000000000a01"}', '"0000000000000a01", control: shared}')
    text += "controller: {ha: {name: mu-1}}\n"
    found = yamlfile.parse_model(text, config.Configuration, "net.yaml")
    assert found.switches["mu-edge"].control == "shared"
    assert found.controller.ha is not None
    assert (found.controller.ha.name, found.controller.ha.lease) == ("mu-1", 5.0)


@pytest.mark.parametrize(("key", "cause"), [("lease: 0.5 s", "ha.lease"), ("nmae: x", "ha.nmae")])
def test_a_wrong_ha_section_is_refused(key: str, cause: str) -> None:
    (problem,) = problems_of(EXAMPLE.read_text() + f"controller: {{ha: {{{key}}}}}\n")
    assert cause in problem


def test_how_the_queue_is_served(tmp_path: Path) -> None:
    plain = EXAMPLE.read_text()

    def read(queue: str) -> QueuePolicy:
        file = tmp_path / "network.yaml"
        file.write_text(f"{plain}  queue: {queue}\n")
        return config.load(file).policy.queue

    assert read("{}") == QueuePolicy()
    assert read("{overtaken_for: 5 min}").overtaken_for == 300.0
    for wrong, code, field in (
        ("{overtaken_for: 300}", "no-unit", "overtaken_for"),
        ("{reservable: 1.5}", "out-of-range", "reservable"),
        ("{fair: true}", "unknown-key", "fair"),
    ):
        with refused(code, f"policy.queue.{field}"):
            read(wrong)


def test_what_a_compute_site_has_is_not_limited_unless_it_is_said() -> None:
    text = EXAMPLE.read_text().replace(
        "    cores: 64\n", "    memory: 2 TB\n    gpus: 8\n    storage: 1 PB\n"
    )
    text = text.replace("    queue_wait: 20 s\n", "    queue_wait: 20 s\n    queue_wait_deviation: 3 s\n")
    site = yamlfile.parse_model(text, config.Configuration).compute["mu-hpc"]
    assert (site.cores, site.memory, site.gpus, site.storage) == (None, 2 * 10**12, 8, 10**15)
    assert (site.queue_wait, site.queue_wait_deviation) == (20.0, 3.0)


@pytest.mark.parametrize("duration", ["1 s", "3 s"])
def test_throughput_test_that_no_pscheduler_server_finishes_is_refused(duration: str) -> None:
    text = changed("throughput_duration: 5 s", f"throughput_duration: {duration}")
    with refused("out-of-range", "measurements.tests.0.throughput_duration") as refusal:
        yamlfile.parse_model(text, config.Configuration)
    assert "10 s" in str(refusal.error)


def test_short_throughput_test_between_points_of_ours_is_accepted() -> None:
    """A point with a ``token_file`` is one of ours: pScheduler has no tokens."""
    text = changed("throughput_duration: 5 s", "throughput_duration: 3 s")
    text = text.replace("verify: system", "verify: system, token_file: controller.token")
    whole = yamlfile.parse_model(text, config.Configuration)
    assert whole.measurements.tests[0].throughput_duration == 3.0
