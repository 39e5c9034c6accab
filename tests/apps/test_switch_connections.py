"""Who may connect to the OpenFlow port, and what whoever connects can do to it: the real process.

Real Open vSwitch for TLS and versions; sockets for what Open vSwitch would never do.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import ssl
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.apps.authority import Authority
from tests.apps.edge import BRIDGES, LINKS, Controller, Switches, eventually
from tests.apps.openflow_standin import StandInSwitch
from tests.flowvisor.openflow_samples import SAMPLES, message

pytestmark = pytest.mark.integration

MU, OSU = BRIDGES
PORTS = {name: tuple(f"{name}-{link}" for link in LINKS) for name in BRIDGES}


def configure(controller: Controller, section: dict[str, Any], **switches: dict[str, Any]) -> None:
    """Change ``controller`` and ``switches`` in the file that the process will read."""
    document = yaml.safe_load(controller.config.read_text())
    document["controller"] |= section
    for name, keys in switches.items():
        document["switches"][name.replace("_", "-")] |= keys
    controller.config.write_text(yaml.safe_dump(document))


def running(controller: Controller) -> None:
    controller.start()
    eventually(lambda: controller.said("event=ready"), "the controller did not start")


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    built = Controller(tmp_path, consistency_period="1 h", counters_period="1 h")
    yield built
    built.stop()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "pki")


@pytest.fixture
def secured(controller: Controller, authority: Authority) -> Controller:
    """A controller that asks for certificates, and binds each edge to a name."""
    certificate, key = authority.issue("controller", "localhost")
    tls = {"certificate": str(certificate), "key": str(key), "ca": str(authority.file)}
    edges = {"mu_edge": {"certificate": "edge1.mu.example"}, "osu_edge": {"certificate": "edge1.osu.example"}}
    configure(controller, {"tls": tls}, **edges)
    running(controller)
    return controller


@contextmanager
def edges(
    folder: Path, target: str, *, protocols: str = "OpenFlow13", files: tuple[Path, Path, Path] | None = None
) -> Iterator[Switches]:
    """Open vSwitch with both edges, which look for their controller at ``target``."""
    ovs = folder / "ovs"
    ovs.mkdir()
    switches = Switches(ovs)
    with switches.running():
        if files is not None:
            switches.vsctl("set-ssl", *map(str, (files[1], files[0], files[2])))
        for name, dpid in BRIDGES.items():
            switches.add_bridge(name, dpid, 1, PORTS[name])
            switches.vsctl("set", "Bridge", name, f"protocols={protocols}")
            switches.vsctl("set-controller", name, target)
        yield switches


def ours(switches: Switches, version: str = "OpenFlow13") -> int:
    """Rules of ours in both edges."""
    found = 0
    for name in BRIDGES:
        words = ("-O", version, "dump-flows", f"unix:{switches.folder}/{name}.mgmt")
        dump = switches.run("ovs-ofctl", *words, "cookie=0xad00000000000000/0xff00000000000000")
        found += dump.count("cookie=")
    return found


def standin(controller: Controller, name: str) -> StandInSwitch:
    return StandInSwitch(int(BRIDGES[name], 16), PORTS[name], controller.port)


# -- TLS -----------------------------------------------------------------------------------------------


def test_a_switch_with_its_own_certificate_connects_and_gets_its_rules(
    secured: Controller, authority: Authority, tmp_path: Path
) -> None:
    # Both bridges are of one Open vSwitch, which has one certificate: it proves both names.
    files = (*authority.issue("edge1", "edge1.mu.example", "edge1.osu.example"), authority.file)
    with edges(tmp_path, f"ssl:127.0.0.1:{secured.port}", files=files) as switches:
        eventually(lambda: secured.said("code=switch-connected") == 2, "the switches did not connect")
        eventually(lambda: ours(switches) == 8, "it has not its rules")
    assert secured.said("PRIVATE KEY") == 0


def pki(folder: Path, *words: str) -> None:
    """Open vSwitch's own way to make certificates, in a folder of its own."""
    command = ["ovs-pki", "-d", str(folder / "pki"), "-l", str(folder / "log"), "-u", "-B", "2048", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)


def test_certificates_made_by_ovs_pki_do(controller: Controller, tmp_path: Path) -> None:
    pki(tmp_path, "init")
    pki(tmp_path, "req+sign", "edge1.mu.example", "switch")
    pki(tmp_path, "req+sign", "controller", "controller")
    tls = {
        "certificate": str(tmp_path / "controller-cert.pem"),
        "key": str(tmp_path / "controller-privkey.pem"),
        "ca": str(tmp_path / "pki/switchca/cacert.pem"),
        "names": ["edge1.mu.example"],
    }
    configure(controller, {"tls": tls})
    running(controller)
    own = (tmp_path / "edge1.mu.example-cert.pem", tmp_path / "edge1.mu.example-privkey.pem")
    files = (*own, tmp_path / "pki/controllerca/cacert.pem")
    with edges(tmp_path, f"ssl:127.0.0.1:{controller.port}", files=files):
        eventually(lambda: controller.said("code=switch-connected") == 2, "the switches did not connect")


@pytest.mark.parametrize(
    ("who", "kind"),
    [("wrong name", "certificate"), ("wrong CA", "tls"), ("plain TCP", "tls")],
)
def test_open_vswitch_with_another_certificate_or_none_is_refused(
    secured: Controller, authority: Authority, tmp_path: Path, who: str, kind: str
) -> None:
    other = Authority(tmp_path / "other", "somebody else's CA") if who == "wrong CA" else authority
    name = "edge1" if who == "wrong CA" else "edge9"
    files = (*other.issue(name, f"{name}.mu.example"), authority.file)
    transport = "tcp" if who == "plain TCP" else "ssl"
    with edges(tmp_path, f"{transport}:127.0.0.1:{secured.port}", files=files) as switches:
        eventually(lambda: secured.said(f"event=switch.refused kind={kind}"), "it was not refused")
        assert secured.said("event=switch.refused") <= len(BRIDGES), "a line for each attempt"
        assert secured.said("code=switch-connected") == 0
        assert ours(switches) == 0


def tls_client(authority: Authority, files: tuple[Path, Path] | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority.file))
    if files is not None:
        context.load_cert_chain(*files)
    return context


def test_without_a_certificate_nobody_is_let_in(secured: Controller, authority: Authority) -> None:
    context = tls_client(authority, None)
    with (
        socket.create_connection(("127.0.0.1", secured.port), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
        pytest.raises(ssl.SSLError),
    ):
        connection.recv(100)
    eventually(lambda: secured.said("event=switch.refused kind=tls"), "it was not refused")


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_old_tls_is_refused(secured: Controller, authority: Authority) -> None:
    context = tls_client(authority, authority.issue("edge1", "edge1.mu.example"))
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with (
        socket.create_connection(("127.0.0.1", secured.port), timeout=60) as plain,
        pytest.raises(OSError, match=r"."),
    ):
        context.wrap_socket(plain, server_hostname="localhost")
    eventually(lambda: secured.said("event=switch.refused kind=tls"), "it was not refused")


def presented(authority: Authority, port: int) -> bytes | None:
    """The certificate that the controller shows now."""
    context = tls_client(authority, authority.issue("probe"))
    with (
        socket.create_connection(("127.0.0.1", port), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        return connection.getpeercert(binary_form=True)


def test_bytes_that_are_no_tls_leave_nothing_behind(secured: Controller) -> None:
    before = threads_and_descriptors(secured)
    chance = random.Random(1)
    for _ in range(100):
        pour(secured.port, b"\x16" + chance.randbytes(chance.randrange(300)))
    eventually(lambda: threads_and_descriptors(secured) <= before, "threads or descriptors are left")
    assert secured.alive
    assert secured.said("Traceback") == 0


def test_a_new_certificate_is_used_without_a_restart_and_a_broken_one_is_not(
    secured: Controller, authority: Authority
) -> None:
    first = presented(authority, secured.port)
    certificate, _ = authority.issue("controller", "localhost", "controller.example")
    second = presented(authority, secured.port)
    assert first != second
    certificate.write_text("not a certificate")
    assert presented(authority, secured.port) == second
    assert secured.said("event=tls.not-reloaded") == 1
    authority.issue("controller", "localhost")
    assert secured.process is not None
    secured.process.send_signal(signal.SIGHUP)
    eventually(lambda: secured.said("event=tls.reloaded") == 2, "SIGHUP did not read it again")
    assert presented(authority, secured.port) not in (first, second)
    assert secured.alive


def test_a_certificate_that_is_not_there_is_wrong_input(controller: Controller, authority: Authority) -> None:
    tls = {"certificate": "/nowhere/c.pem", "key": "/nowhere/c.key", "ca": str(authority.file)}
    configure(controller, {"tls": tls})
    assert controller.start().wait(60) == 2
    (line,) = controller.log.read_text().splitlines()
    assert line.startswith("controller.tls: /nowhere/c.pem:")


# -- versions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("protocols", "versions", "spoken"),
    [
        ("OpenFlow13", ["1.3"], 4),
        ("OpenFlow10,OpenFlow13,OpenFlow14,OpenFlow15", ["1.3", "1.4"], 4),
        ("OpenFlow14,OpenFlow15", ["1.3", "1.4"], 5),
        ("OpenFlow14", ["1.3"], None),
        ("OpenFlow15", ["1.3", "1.4"], None),
    ],
)
def test_the_version_that_open_vswitch_speaks(
    controller: Controller, tmp_path: Path, protocols: str, versions: list[str], spoken: int | None
) -> None:
    configure(controller, {"openflow_versions": versions})
    running(controller)
    with edges(tmp_path, f"tcp:127.0.0.1:{controller.port}", protocols=protocols) as switches:
        if spoken is None:
            eventually(lambda: controller.said("event=switch.refused kind=version"), "it was not refused")
            assert controller.said("event=switch.refused") == 1
            heard = (switches.folder / "ovs-vswitchd.out").read_text
            eventually(lambda: "version negotiation failed" in heard(), "the switch was not told")
        else:
            eventually(lambda: controller.said(f"version=1.{spoken - 1}"), "it did not connect so")
            eventually(lambda: ours(switches, f"OpenFlow1{spoken - 1}") == 8, "it has not its rules")


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def received(connection: socket.socket) -> list[tuple[int, int, bytes]]:
    """Version, type and body of every message until the end of the connection."""
    data = b""
    while part := connection.recv(4096):
        data += part
    found = []
    while data:
        version, kind, length = struct.unpack_from("!BBH", data)
        found.append((version, kind, data[8:length]))
        data = data[length:]
    return found


def test_a_switch_without_a_common_version_is_told_by_the_error_of_the_specification(
    controller: Controller,
) -> None:
    running(controller)
    with connected(controller.port) as connection:
        connection.sendall(message(0, version=1))
        hello, refusal = received(connection)
    assert hello[:2] == (5, 0)
    assert refusal[:2] == (1, 1)
    assert refusal[2] == struct.pack("!HH", 0, 0) + b"no common version: it offers 1.0, and we speak 1.3, 1.4"


def test_a_switch_that_waits_for_our_hello_gets_it(controller: Controller) -> None:
    running(controller)
    with connected(controller.port) as connection:
        assert connection.recv(8)[:2] == b"\x04\x00"


# -- limits --------------------------------------------------------------------------------------------


def test_a_silent_client_and_one_that_drips_hold_their_place_no_longer_than_the_deadline(
    controller: Controller,
) -> None:
    configure(controller, {"connections": {"handshake": "3 s", "half_open_per_address": 4}})
    running(controller)
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(connected(controller.port))
        with connected(controller.port) as fifth:
            assert fifth.recv(100) == b"", "more are half open than allowed"
        eventually(lambda: controller.said("event=switch.refused kind=half_open"))
        eventually(lambda: controller.said("event=switch.refused kind=handshake"))
    with connected(controller.port) as dripping, pytest.raises(ConnectionError):
        drip(dripping, message(0) + message(2, bytes(10_000)))
    with standin(controller, MU):
        eventually(lambda: controller.said("code=switch-connected"), "nobody comes in any more")


def drip(connection: socket.socket, data: bytes) -> None:
    for byte in data:
        connection.sendall(bytes([byte]))
        time.sleep(0.01)


def threads_and_descriptors(controller: Controller) -> tuple[int, int]:
    assert controller.process is not None
    process = Path(f"/proc/{controller.process.pid}")
    return len(list((process / "task").iterdir())), len(list((process / "fd").iterdir()))


def resident_mb(controller: Controller) -> float:
    assert controller.process is not None
    pages = int(Path(f"/proc/{controller.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_echoes_are_asked_for_and_timed_and_a_silent_switch_is_given_up(controller: Controller) -> None:
    configure(controller, {"connections": {"echo_interval": "250 ms", "echo_misses": 20}})
    running(controller)
    with standin(controller, MU) as switch, controller.client() as link:
        eventually(lambda: link.call("tally", {})["echoes"][-1][1] >= 3, "no echo was timed")
        assert not switch.dropped
        switch.answers_echoes = False
        eventually(lambda: switch.dropped, "it was not given up")
        eventually(lambda: controller.said("event=switch.silent") == 1, "it was not logged")


def packet_in(cookie: int, port: int) -> bytes:
    data = bytearray(SAMPLES["packet in"])
    data[16:24] = struct.pack("!Q", cookie)
    data[32:36] = struct.pack("!I", port)
    return bytes(data)


def test_a_flood_of_packet_ins_is_dropped_and_counted_and_decisions_go_on(controller: Controller) -> None:
    configure(controller, {"connections": {"packet_ins_per_second": 50, "packet_ins_per_port": 20}})
    running(controller)
    learn = 0xAD12_0000_0000_0001
    with standin(controller, OSU), standin(controller, MU) as switch, controller.client() as link:
        eventually(lambda: len(switch.flow_mods) == 4, "no measurement rules")
        for _ in range(20):
            switch.say(packet_in(learn, 1) * 500)
            switch.say(packet_in(5, 1) * 50)
        counted = eventually(lambda: _all_counted(link.call("tally", {})["packet_ins"], 11_000))
        assert counted["cookie"] == 1_000
        assert counted["port_rate"] > 9_000
        assert counted.get("taken", 0) + counted.get("inbox", 0) <= 20 + 20 * 20
        assert not switch.dropped
        assert link.call("snapshot", {})["network"] == "mu-osu"


def _all_counted(packet_ins: dict[str, int], wanted: int) -> dict[str, int] | None:
    return packet_ins if sum(packet_ins.values()) == wanted else None


# -- switches that misbehave -----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["refuses every rule", "answers no barrier", "hangs up at each rule"])
def test_a_switch_that_never_does_what_it_is_told_is_not_asked_for_ever(tmp_path: Path, how: str) -> None:
    controller = Controller(tmp_path, consistency_period="1 s", counters_period="1 h")
    with ExitStack() as stack:
        stack.callback(controller.stop)
        running(controller)
        stack.enter_context(standin(controller, OSU))
        eventually(lambda: controller.said("code=switch-connected"), "it did not connect")
        before = threads_and_descriptors(controller)
        asked = connections = 0
        begun = time.monotonic()
        deadline = begun + 8
        while time.monotonic() < deadline:
            with standin(controller, MU) as switch:
                connections += 1
                switch.answers_barriers = how != "answers no barrier"
                if how == "refuses every rule":
                    switch.on_flow_mod = lambda _: (5, 1)
                elif how == "hangs up at each rule":
                    switch.on_flow_mod = lambda _, leaver=switch: leaver.hang_up()
                eventually(lambda switch=switch: switch.dropped or time.monotonic() > deadline)
                asked += len(switch.flow_mods)
        # 4 rules are wanted; again after each comparison, of which there is one a second, or connection.
        assert 0 < asked <= 4 * (time.monotonic() - begun + 1 + connections)
        assert controller.said("event=of.error") <= 2
        eventually(lambda: threads_and_descriptors(controller) <= before, "threads or descriptors are left")
        assert controller.alive


def test_a_paced_switch_gets_its_rules_one_by_one_and_delays_nobody(controller: Controller) -> None:
    configure(controller, {}, mu_edge={"flow_mods_per_second": 0.4})
    running(controller)
    with standin(controller, MU) as slow, standin(controller, OSU) as other, controller.client() as link:
        eventually(lambda: len(other.flow_mods) == 4, "the other switch has not its rules")
        assert len(slow.flow_mods) < 4, "they were not paced"
        # 7.5 s and more for its rules, and yet the barrier, which has 5 s, is not late.
        eventually(lambda: len(slow.flow_mods) == 4, "the slow switch has not its rules")
        answered = len(slow.barriers) + len(other.barriers)
        eventually(lambda: link.call("tally", {})["barriers"][-1][1] >= answered, "a barrier is not answered")
        assert slow.barriers
        assert controller.said("code=install-failed") == 0


# -- malformed messages ------------------------------------------------------------------------------------


def mutants(seed: int, count: int, version: int) -> Iterator[bytes]:
    """Messages with a few bytes or lengths replaced, cut off, or of another type; the header may lie."""
    chance = random.Random(seed)
    names = sorted(SAMPLES)
    for _ in range(count):
        data = bytearray(SAMPLES[chance.choice(names)])
        for _ in range(chance.randint(0, 4)):
            at = chance.randrange(8, len(data)) if len(data) > 8 else 1
            size = chance.choice([1, 2, 2, 4])
            data[at : at + size] = chance.choice([bytes(size), b"\xff" * size, chance.randbytes(size)])
        if chance.random() < 0.2:
            del data[chance.randint(8, len(data)) :]
        if chance.random() < 0.1:
            data[1] = chance.randrange(256)
        data[0] = version
        data[2:4] = struct.pack("!H", len(data))
        if chance.random() < 0.05:
            data[2:4] = chance.randbytes(2)
        yield bytes(data)


def handshake_of(dpid: int, version: int) -> bytes:
    """What a switch says until it is known, without waiting for the questions."""
    features = message(6, struct.pack("!QIBBxxII", dpid, 0, 254, 0, 0, 0), version=version)
    ports = SAMPLES["port desc"]
    if version > 4:  # a port without properties
        port = struct.pack("!IH2x6s2x16sII", 1, 40, bytes([2, 0, 0, 0, 0, 1]), b"mu-edge-dtn", 0, 0)
        ports = message(19, struct.pack("!HH4x", 13, 0) + port, version=version)
    hello = struct.pack("!HHI", 1, 8, 1 << version)
    return message(0, hello, version=version) + features + ports


def pour(port: int, data: bytes) -> None:
    """Connect, send, and read until the controller hangs up or has taken everything."""
    with connected(port) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):
                pass
        except ConnectionError:
            return


def test_hundreds_of_connections_of_mutated_messages_change_nothing(controller: Controller) -> None:
    configure(controller, {"openflow_versions": ["1.3", "1.4"]})
    running(controller)
    assert controller.process is not None
    pid = controller.process.pid
    with standin(controller, OSU) as bystander, controller.client() as link:
        with standin(controller, MU):
            eventually(lambda: len(bystander.flow_mods) == 4, "no measurement rules")

        def attack(seeds: range) -> None:
            for seed in seeds:
                version = 4 + seed // 4 % 2
                known = handshake_of(0xA01, version)
                prefix = [b"", message(0, version=version), known, known][seed % 4]
                pour(controller.port, prefix + b"".join(mutants(seed, 20, version)))

        attack(range(100))
        eventually(lambda: link.call("snapshot", {})["network"])
        threads, descriptors = threads_and_descriptors(controller)
        megabytes = resident_mb(controller)
        attack(range(100, 500))
        assert controller.alive
        assert controller.process.pid == pid
        assert not bystander.dropped
        assert controller.said("event=bug") == 0
        assert controller.said("Traceback") == 0

        def as_before() -> bool:
            now = threads_and_descriptors(controller)
            return now[0] <= threads and now[1] <= descriptors

        eventually(as_before, "threads or descriptors are left")
        assert resident_mb(controller) < megabytes + 20
        with standin(controller, MU) as returned:
            eventually(lambda: len(returned.flow_mods) >= 4, "a sound switch is not served any more")
        assert link.call("tally", {})["malformed"] > 100
