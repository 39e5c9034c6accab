"""Wrong configurations: exit status 2, and one line with file, line, field, cause and a valid example."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
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

# Rows: an edit, a wrong value, an example that the message must show, the field and the code.
# An edit is a part of the file with the value marked ``<value>``, or ``part -> form`` with ``<>`` for the
# value, or ``+form`` for a new line at the end.
WRONG = {
    "campuses": [
        # Keys and names
        ("+<>: {}", "slcies", "slices", "slcies", "unknown-key"),
        ("<reserve_nodes>: 1", "reserve_node", "reserve_nodes", "policy.reserve_node", "unknown-key"),
        ('<gateway_mac>: "02:00:00:00:0a', "gatewaymac", "gateway_mac", "sites.mu.gatewaymac", "unknown-key"),
        ("network: <mu-osu>", "MU OSU", "soykb", "network", "malformed"),
        ("<network: mu-osu>", "mode: active", "network: soykb", "network", "missing"),
        ("edge: <mu-edge>", "mu-egde", "mu-edge", "sites.mu.edge", "unknown-name"),
        ("edge: <mu-edge>", "switch7", "mu-edge", "sites.mu.edge", "unknown-name"),
        ("<mu>: {port: mu-edge-al2s}", "um", "mu", "paths.al2s.ends.um", "unknown-name"),
        ("- path: <al2s>", "al3s", "al2s", "measurements.tests.0.path", "unknown-name"),
        ("    site: <mu>", "muu", "mu", "compute.mu-hpc.site", "unknown-name"),
        # Modes and other words
        ("network: mu-osu -> network: mu-osu\nmode: <>", "passive", "active", "mode", "unknown-value"),
        ('a01"} -> a01", drift: <>}', "heel", "heal", "switches.mu-edge.drift", "unknown-value"),
        ("reserve_nodes: 1 -> unknown_paths: <>", "skip", "default_path",
         "policy.unknown_paths", "unknown-value"),
        ("reserve_nodes: 1 -> use_access: [{roles: [<>]}]", "boss", "admin",
         "policy.use_access.0.roles.0", "unknown-value"),
        ("cores: 64 -> adapter: <>", "{kind: pbs}", '{"kind": "static"}',
         "compute.mu-hpc.adapter", "unknown-value"),
        # Addresses
        ('<"0000000000000a01">', "2561", '"0000000000000a01"', "switches.mu-edge.dpid", "invalid"),
        ('<"0000000000000a02">', '"0000000000000a01"', '"0000000000000001"',
         "switches.osu-edge.dpid", "duplicate"),
        ('mac: <"02:00:00:00:0a:0a">', "02-00-00-00-0a-0a", "02:00:00:00:0a:01",
         "sites.mu.hosts.mu-dtn.mac", "invalid"),
        ('mac: <"02:00:00:00:0a:0a">', "01:00:5e:00:00:fb", "02:00:00:00:0a:01",
         "sites.mu.hosts.mu-dtn.mac", "invalid"),
        ("address: <10.1.0.10>", "10.1.0.10/24", "10.1.0.10", "sites.mu.hosts.mu-dtn.address", "malformed"),
        ("address: <10.2.0.10>", "10.1.0.10", "10.1.0.13", "sites.osu.hosts.osu-dtn.address", "duplicate"),
        ("      <osu-dtn>:", "mu-dtn", "mu-dtn-2", "sites.osu.hosts.mu-dtn", "duplicate"),
        ("+controller: {web_proxies: [<>]}", "10.0.0.1/8", "192.0.2.0/24",
         "controller.web_proxies.0", "invalid"),
        ("<https://10.1.0.10/pscheduler>", "https://u:p@10.1.0.10", "https://ps.example.edu/pscheduler",
         "measurements.points.mu.url", "invalid"),
        ("source: <10.1.0.11>", "10.1.0.10", "10.1.0.11", "measurements.tests.0.source", "invalid"),
        # Ports and VLANs
        ("port: <mu-edge-dtn>", "TenGigabitEthernet1/0/48", "eth1",
         "sites.mu.hosts.mu-dtn.port", "wrong-length"),
        ("port: <mu-edge-dtn>", "1", "eth1", "sites.mu.hosts.mu-dtn.port", "wrong-type"),
        ("port: <mu-edge-dtn>", "mu-edge-al2s", "eth1", "sites.mu.hosts.mu-dtn.port", "shared-port"),
        ("port: <mu-edge-rtr>", "mu-edge-al2s", "eth1", "paths.internet.ends.mu.port", "shared-port"),
        ("vlan: <1701>", "4095", "1", "paths.al2s.vlan", "out-of-range"),
        ("    <vlan: 1701>\n", "mtu: 1500", "vlan: 1701", "paths.al2s.vlan", "invalid"),
        (("internet: -> x: {vlan: <>, capacity: 1 Mbps, ends: {mu: {port: mu-edge-al2s}, osu: {port: x}}}\n"
          "  internet:"),
         "1701", "1", "paths.x.vlan", "duplicate"),
        # Quantities
        ("capacity: <60.6 Mbps>", "60.6", "700 Mbps", "paths.al2s.capacity", "no-unit"),
        ("capacity: <60.6 Mbps>", "-1 Mbps", "700 Mbps", "paths.al2s.capacity", "out-of-range"),
        ("capacity: <60.6 Mbps>", "60 GB", "700 Mbps", "paths.al2s.capacity", "wrong-unit"),
        ("capacity: <60.6 Mbps>", "60 mbps", "60 Mbps", "paths.al2s.capacity", "ambiguous-unit"),
        ("reserve_nodes: 1 -> aging: <>", "0 s", "60 s", "policy.aging", "out-of-range"),
        ("worker_nodes: <4>", "four", "1", "compute.mu-hpc.worker_nodes", "wrong-type"),
        ("reserve_nodes: 1 -> queue: {reservable: <>}", "80", "0.8",
         "policy.queue.reservable", "out-of-range"),
        ("reserve_nodes: 1 -> ladder: {shares: <>}", "[0.9, 0.3, 0.1]", "[0.6, 0.3, 0.1]",
         "policy.ladder.shares", "invalid"),
        ("    rtt_period: 60 s\n      latency_period: 60 s ->     latency_period: <>", "1 s", "60 s",
         "measurements.tests.0.latency_period", "invalid"),
        ("rtt_period: <60 s>", "1 s", "8 min", "measurements.tests.0.rtt_period", "out-of-range"),
        ("rtt_period: <60 s>", "60.5 s", "60 s", "measurements.tests.0.rtt_period", "invalid"),
        ("throughput_duration: <5 s>", "2 s", "10 s",
         "measurements.tests.0.throughput_duration", "out-of-range"),
        # What is needed with something else
        ("+controller: {openflow_host: 0.0.0.0, tls: <>}",
         "null", "{certificate: c.pem, key: c.key, ca: ca.pem}", "controller.tls", "invalid"),
        ('a01"<}>', ", certificate: e.example.edu}", "}", "switches.mu-edge.certificate", "invalid"),
    ],
    "access": [
        ("<https://adon.example.edu>", "http://adon.example.edu", "https://login.example.edu",
         "access.public_url", "invalid"),
        ('<{affiliation: "*@missouri.edu"}>', "{}", "{affiliation: '*@missouri.edu'}",
         "access.rules.0.when", "invalid"),
        ("roles: <[researcher]>", "[]", "[researcher]", "access.rules.0.roles", "invalid"),
        ("roles: [<researcher>]", "reseacher", "researcher", "access.rules.0.roles.0", "unknown-value"),
        ("  rules: [{ ->   default_roles: [<>]\n  rules: [{", "admin", "researcher",
         "access.default_roles", "invalid"),
    ],
    "slices": [
        ("number: <2>", "1", "2", "slices.phy.number", "duplicate"),
        ("share: <0.4>", "0.8", "{al2s: 0.5}", "slices.phy.share", "invalid"),
        ("{ports: [2811]} -> {ports: [2811], destination: [<>]}", "10.1.0.1/16", "10.1.0.0/16",
         "slices.phy.flowspace.0.destination.0", "invalid"),
        ("{who: <[bob]>}", "[]", '["ann"]', "slices.phy.members.who", "wrong-length"),
    ],
    "triangle": [
        ("{a: to-c, <c>: to-a}", "d", "c", "links.ac.ends.d", "unknown-name"),
        ("{a: <to-c>, c: to-a}", "to-b", "eth1", "links.ac.ends.a", "shared-port"),
        ('<"100-199, 250">', '"199-100"', "100-199", "overlays.core.vlans", "invalid"),
        ('<"100-199, 250">', '"300-310"', "1", "overlays.core.vlans", "duplicate"),
    ],
}  # fmt: skip


def apply(edit: str, text: str) -> str:
    """Return the text with the edit made, and ``<>`` for the value."""
    part, arrow, form = edit.partition(" -> ")
    if edit.startswith("+"):
        return f"{text}{edit[1:]}\n"
    if not arrow:
        part, form = re.sub("[<>]", "", edit), re.sub("<.*>", "<>", edit, flags=re.DOTALL)
    assert part in text
    return text.replace(part, form, 1)


def check(file: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["config", "check", "--offline", str(file), *options])


@pytest.mark.parametrize(
    ("base", "edit", "wrong", "example", "field", "code"),
    [(base, *row) for base, rows in WRONG.items() for row in rows],
)
def test_wrong_configuration_is_named_with_an_example_that_is_valid(
    base: str, edit: str, wrong: str, example: str, field: str, code: str, tmp_path: Path
) -> None:
    file, changed = tmp_path / "network.yaml", apply(edit, BASES[base])
    file.write_text(changed.replace("<>", wrong))
    found = check(file)
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1), found.output
    place, _, cause = found.stderr.strip().partition(f": {field}: ")
    (line,) = re.findall(rf"^{re.escape(str(file))}:(\d+)$", place)
    assert abs(int(line) - changed[: changed.index("<>")].count("\n") - 1) <= 2
    shown = re.escape(re.sub(r"^(vlan|network): ", "", example).strip('"'))
    assert re.search(rf"(for example|known are|did you mean|expected|[Ww]rite) .*{shown}", cause), cause
    (problem,) = json.loads(check(file, "--json").output)["problems"]
    assert (problem["field"], problem["code"], problem["line"]) == (field, code, int(line))
    file.write_text(changed.replace("<>", example))
    assert check(file).exit_code == 0


def no_file(file: Path) -> None:
    """There is none."""


@pytest.mark.parametrize(
    ("content", "cause", "line"),
    [
        (b"", "is empty; known are access, compute", None),
        (b"# nothing\n", "is empty; known are access, compute", None),
        (b"- mu\n- osu\n", "must be a mapping; known are access, compute", 1),
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
        (Path.mkdir, "cannot be read: Is a directory", None),
        (no_file, "cannot be read: No such file or directory", None),
    ],
)
def test_file_that_is_no_configuration_is_named(
    content: bytes | Callable[[Path], None], cause: str, line: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "network.yaml"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        content(file)
    found = check(file)
    place = f"{file}: " if line is None else f"{file}:{line}: "
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1), found.output
    assert found.stderr.startswith(place)
    assert cause in found.stderr


def test_file_without_read_permission_is_named(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(CAMPUSES)
    assert check(file).exit_code == 0
    file.chmod(0)
    user = os.geteuid()
    os.seteuid(user or 65_534)  # root reads every file
    try:
        found = check(file)
    finally:
        os.seteuid(user)
    assert (found.exit_code, found.stderr) == (2, f"{file}: cannot be read: Permission denied\n")
