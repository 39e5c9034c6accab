"""Wrong configurations: exit status 2, and one line with file, line, field, cause and a valid example."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from apps.cli.main import app
from tests.apps.edge import NETWORK

CAMPUSES = NETWORK.read_text()
TRIANGLE = Path(__file__).parents[1].joinpath("data", "triangle.yaml").read_text()
TLS = "controller: {tls: {certificate: c.pem, key: c.key, ca: ca.pem}}\n"
ACCESS = """\
access:
  public_url: https://adon.example.edu
  openid: {campus: {title: Campus, issuer: https://login.example.edu, client_id: adon}}
  rules: [{when: {affiliation: "*@missouri.edu"}, roles: [researcher]}]
"""
SLICES = """\
slices:
  bio: {number: 1, members: {who: [ann]}, flowspace: [{ports: [1247]}], share: 0.5}
  phy: {number: 2, members: {who: [bob]}, flowspace: [{ports: [2811]}], share: 0.4}
"""
BASES = {
    "campuses": CAMPUSES,
    "tls": CAMPUSES + TLS,
    "access": CAMPUSES + ACCESS,
    "slices": CAMPUSES + SLICES,
    "triangle": TRIANGLE,
}

# The text that is changed (without it, a line is appended), what it becomes with the value of a field as <>,
# a wrong value, an example that the message must show, the field and the code.
WRONG = {
    "campuses": [
        # Keys and names
        ("", "<>: {}", "slcies", "slices", "slcies", "unknown-key"),
        ("reserve_nodes: 1", "<>: 1", "reserve_node", "reserve_nodes", "policy.reserve_node", "unknown-key"),
        ("gateway_mac: \"02:00:00:00:0a", "<>: \"02:00:00:00:0a", "gatewaymac", "gateway_mac",
         "sites.mu.gatewaymac", "unknown-key"),
        ("network: mu-osu", "network: <>", "MU OSU", "soykb", "network", "malformed"),
        ("network: mu-osu", "<>", "mode: active", "network: soykb", "network", "missing"),
        ("edge: mu-edge", "edge: <>", "mu-egde", "mu-edge", "sites.mu.edge", "unknown-name"),
        ("edge: mu-edge", "edge: <>", "switch7", "mu-edge", "sites.mu.edge", "unknown-name"),
        ("mu: {port: mu-edge-al2s}", "<>: {port: mu-edge-al2s}", "um", "mu", "paths.al2s.ends.um",
         "unknown-name"),
        ("- path: al2s", "- path: <>", "al3s", "al2s", "measurements.tests.0.path", "unknown-name"),
        ("    site: mu", "    site: <>", "muu", "mu", "compute.mu-hpc.site", "unknown-name"),
        # Modes and other words
        ("network: mu-osu", "network: mu-osu\nmode: <>", "passive", "active", "mode", "unknown-value"),
        ('a01"}', 'a01", drift: <>}', "heel", "heal", "switches.mu-edge.drift", "unknown-value"),
        ("reserve_nodes: 1", "unknown_paths: <>", "skip", "default_path", "policy.unknown_paths",
         "unknown-value"),
        ("reserve_nodes: 1", "use_access: [{roles: [<>]}]", "boss", "admin", "policy.use_access.0.roles.0",
         "unknown-value"),
        ("cores: 64", "adapter: <>", "{kind: pbs}", '{"kind": "static"}', "compute.mu-hpc.adapter",
         "unknown-value"),
        # Addresses
        ('"0000000000000a01"', "<>", "2561", '"0000000000000a01"', "switches.mu-edge.dpid", "invalid"),
        ('"0000000000000a02"', "<>", '"0000000000000a01"', '"0000000000000001"', "switches.osu-edge.dpid",
         "duplicate"),
        ('mac: "02:00:00:00:0a:0a"', "mac: <>", "02-00-00-00-0a-0a", "02:00:00:00:0a:01",
         "sites.mu.hosts.mu-dtn.mac", "invalid"),
        ('mac: "02:00:00:00:0a:0a"', "mac: <>", "01:00:5e:00:00:fb", "02:00:00:00:0a:01",
         "sites.mu.hosts.mu-dtn.mac", "invalid"),
        ("address: 10.1.0.10", "address: <>", "10.1.0.10/24", "10.1.0.10", "sites.mu.hosts.mu-dtn.address",
         "malformed"),
        ("address: 10.2.0.10", "address: <>", "10.1.0.10", "10.1.0.13", "sites.osu.hosts.osu-dtn.address",
         "duplicate"),
        ("      osu-dtn:", "      <>:", "mu-dtn", "mu-dtn-2", "sites.osu.hosts.mu-dtn", "duplicate"),
        ("", "controller: {web_proxies: [<>]}", "10.0.0.1/8", "192.0.2.0/24", "controller.web_proxies.0",
         "invalid"),
        ("https://10.1.0.10/pscheduler", "<>", "https://u:p@10.1.0.10", "https://ps.example.edu/pscheduler",
         "measurements.points.mu.url", "invalid"),
        ("source: 10.1.0.11", "source: <>", "10.1.0.10", "10.1.0.11", "measurements.tests.0.source",
         "invalid"),
        # Ports and VLANs
        ("port: mu-edge-dtn", "port: <>", "TenGigabitEthernet1/0/48", "eth1", "sites.mu.hosts.mu-dtn.port",
         "wrong-length"),
        ("port: mu-edge-dtn", "port: <>", "1", "eth1", "sites.mu.hosts.mu-dtn.port", "wrong-type"),
        ("port: mu-edge-dtn", "port: <>", "mu-edge-al2s", "eth1", "sites.mu.hosts.mu-dtn.port",
         "shared-port"),
        ("port: mu-edge-rtr", "port: <>", "mu-edge-al2s", "eth1", "paths.internet.ends.mu.port",
         "shared-port"),
        ("vlan: 1701", "vlan: <>", "4095", "1", "paths.al2s.vlan", "out-of-range"),
        ("    vlan: 1701\n", "    <>\n", "mtu: 1500", "vlan: 1701", "paths.al2s.vlan", "invalid"),
        ("  internet:\n",
         "  x: {vlan: <>, capacity: 1 Mbps, ends: {mu: {port: mu-edge-al2s}, osu: {port: x}}}\n  internet:\n",
         "1701", "1", "paths.x.vlan", "duplicate"),
        # Quantities
        ("capacity: 60.6 Mbps", "capacity: <>", "60.6", "700 Mbps", "paths.al2s.capacity", "no-unit"),
        ("capacity: 60.6 Mbps", "capacity: <>", "-1 Mbps", "700 Mbps", "paths.al2s.capacity", "out-of-range"),
        ("capacity: 60.6 Mbps", "capacity: <>", "60 GB", "700 Mbps", "paths.al2s.capacity", "wrong-unit"),
        ("capacity: 60.6 Mbps", "capacity: <>", "60 mbps", "60 Mbps", "paths.al2s.capacity",
         "ambiguous-unit"),
        ("reserve_nodes: 1", "aging: <>", "0 s", "60 s", "policy.aging", "out-of-range"),
        ("worker_nodes: 4", "worker_nodes: <>", "four", "1", "compute.mu-hpc.worker_nodes", "wrong-type"),
        ("reserve_nodes: 1", "queue: {reservable: <>}", "80", "0.8", "policy.queue.reservable",
         "out-of-range"),
        ("reserve_nodes: 1", "ladder: {shares: <>}", "[0.9, 0.3, 0.1]", "[0.6, 0.3, 0.1]",
         "policy.ladder.shares", "invalid"),
        ("    rtt_period: 60 s\n      latency_period: 60 s", "    latency_period: <>", "1 s", "60 s",
         "measurements.tests.0.latency_period", "invalid"),
        ("throughput_duration: 5 s", "throughput_duration: <>", "2 s", "10 s",
         "measurements.tests.0.throughput_duration", "out-of-range"),
        # What is needed with something else
        ("", "controller: {openflow_host: 0.0.0.0, tls: <>}", "null",
         "{certificate: c.pem, key: c.key, ca: ca.pem}", "controller.tls", "invalid"),
        ('a01"}', 'a01"<>', ", certificate: e.example.edu}", "}", "switches.mu-edge.certificate", "invalid"),
    ],
    "access": [
        ("https://adon.example.edu", "<>", "http://adon.example.edu", "https://login.example.edu",
         "access.public_url", "invalid"),
        ("{affiliation: \"*@missouri.edu\"}", "<>", "{}", "{affiliation: '*@missouri.edu'}",
         "access.rules.0.when", "invalid"),
        ("roles: [researcher]", "roles: <>", "[]", "[researcher]", "access.rules.0.roles", "invalid"),
        ("roles: [researcher]", "roles: [<>]", "reseacher", "researcher", "access.rules.0.roles.0",
         "unknown-value"),
        ("  rules: [{", "  default_roles: [<>]\n  rules: [{", "admin", "researcher", "access.default_roles",
         "invalid"),
    ],
    "slices": [
        ("number: 2", "number: <>", "1", "2", "slices.phy.number", "duplicate"),
        ("share: 0.4", "share: <>", "0.8", "{al2s: 0.5}", "slices.phy.share", "invalid"),
        ("{ports: [2811]}", "{ports: [2811], destination: [<>]}", "10.1.0.1/16", "10.1.0.0/16",
         "slices.phy.flowspace.0.destination.0", "invalid"),
        ("{who: [bob]}", "{who: <>}", "[]", '["ann"]', "slices.phy.members.who", "wrong-length"),
    ],
    "triangle": [
        ("{a: to-c, c: to-a}", "{a: to-c, <>: to-a}", "d", "c", "links.ac.ends.d", "unknown-name"),
        ("{a: to-c, c: to-a}", "{a: <>, c: to-a}", "to-b", "eth1", "links.ac.ends.a", "shared-port"),
        ('"100-199, 250"', "<>", '"199-100"', "100-199", "overlays.core.vlans", "invalid"),
        ('"100-199, 250"', "<>", '"300-310"', "1", "overlays.core.vlans", "duplicate"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("base", "old", "form", "wrong", "example", "field", "code"),
    [(base, *row) for base, rows in WRONG.items() for row in rows],
)
def test_wrong_configuration_is_named_with_an_example_that_is_valid(
    base: str, old: str, form: str, wrong: str, example: str, field: str, code: str, tmp_path: Path
) -> None:
    text = BASES[base] if old else f"{BASES[base]}<end>\n"
    changed = text.replace(old or "<end>", form, 1)
    assert text != changed
    file = tmp_path / "network.yaml"

    def check(value: str, *options: str) -> Result:
        file.write_text(changed.replace("<>", value))
        return CliRunner().invoke(app, ["config", "check", "--offline", str(file), *options])

    found = check(wrong)
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1), found.output
    place, _, cause = found.stderr.strip().partition(f": {field}: ")
    (line,) = re.findall(rf"^{re.escape(str(file))}:(\d+)$", place)
    assert abs(int(line) - changed[: changed.index("<>")].count("\n") - 1) <= 2
    shown = re.escape(re.sub(r"^(vlan|network): ", "", example).strip('"'))
    assert re.search(rf"(for example|known are|did you mean|expected|[Ww]rite) .*{shown}", cause), cause
    (problem,) = json.loads(check(wrong, "--json").output)["problems"]
    assert (problem["field"], problem["code"], problem["line"]) == (field, code, int(line))
    assert check(example).exit_code == 0


@pytest.mark.parametrize(
    ("content", "cause", "line"),
    [
        (b"", "is empty; known are access, compute", None),
        (b"# nothing\n", "is empty; known are access, compute", None),
        (b"- mu\n- osu\n", "Input should be an object; known are access, compute", 1),
        (b"network: mu\n\tmode: active\n", "write spaces instead of tabs", 2),
        (b"network: [mu\n", "is not YAML", 2),
        (b"network: &name mu\n", "network: anchors are not supported: &name", 1),
        (b"network: *name\n", "network: aliases are not supported: *name", 1),
        (b"network: !!python/name:os.system x\n", "network: tags are not supported", 1),
        (b"network: mu\nnetwork: osu\n", "network: is written twice", 2),
        (b"network: mu\n---\nnetwork: osu\n", "holds a second document", 2),
        (b"\x00\xff\xfe\x01", "is not UTF-8 text", 1),
        (b"network: mu\n#" + b"x" * 10_000_000, "is larger than 1 MB", None),
        (b"a: " + b"[" * 100, "is nested more than 50 levels deep", 1),
    ],
)
def test_file_that_is_no_configuration_is_named(
    content: bytes, cause: str, line: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "network.yaml"
    file.write_bytes(content)
    found = CliRunner().invoke(app, ["config", "check", str(file)])
    place = f"{file}: " if line is None else f"{file}:{line}: "
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1), found.output
    assert found.stderr.startswith(place)
    assert cause in found.stderr


def test_folder_and_missing_file_are_named(tmp_path: Path) -> None:
    for file, cause in ((tmp_path, "Is a directory"), (tmp_path / "none.yaml", "No such file or directory")):
        found = CliRunner().invoke(app, ["config", "check", str(file)])
        assert (found.exit_code, found.stderr) == (2, f"{file}: cannot be read: {cause}\n")
