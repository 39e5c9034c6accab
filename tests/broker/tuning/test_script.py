"""The file for sysctl.d: what it says, and that a real kernel takes it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from adon.broker.tuning.advice import Advice, advise
from adon.broker.tuning.checking import Verdict, check
from adon.broker.tuning.facts import Interface
from adon.broker.tuning.item import Compare, Setting
from adon.broker.tuning.reading import read_host
from adon.broker.tuning.script import command, sysctl_file, verify
from adon.broker.uncertain import Uncertain
from tests.broker.tuning.values import MIB, host, path, unknown

NEAR = host(interface=Interface("ens1f0", 1500, 9702, 1000, "pfifo_fast", None, 40e9, True))


def advice(**changes: object) -> Advice:
    return advise(path(**changes), NEAR, host("osu-dtn"))


def test_every_line_is_a_comment_or_a_setting() -> None:
    text = sysctl_file(advice(), advice().sender, "ens1f0", "f-17")
    lines = [line for line in text.splitlines() if line]
    assert all(re.fullmatch(r"#.*|[a-z0-9_.]+ = [a-z0-9_ ]+", line) for line in lines)
    assert lines[1] == "# TCP settings of mu-dtn, the sender, for flow f-17; by ADON."
    assert f"net.ipv4.tcp_rmem = 4096 131072 {79 * MIB}" in lines
    assert "#   ip link set dev ens1f0 mtu 9000" in lines
    assert "#   ip link set dev ens1f0 txqueuelen 10000" in lines
    assert "#   tc qdisc replace dev ens1f0 root fq maxrate 9000000kbit" in lines
    assert "#   adon advice check mu-dtn.txt --host mu-dtn --flow f-17" in lines


def test_an_unknown_interface_is_left_to_be_filled_in() -> None:
    setting = Setting("interface", "mtu", "9000", Compare.EQUAL, "")
    assert command(setting, None) == "ip link set dev INTERFACE mtu 9000"
    assert "ethtool INTERFACE" in verify(advice(), "mu-dtn", None, None)[0]
    assert verify(advice(), "mu-dtn", None, None)[1].endswith("--host mu-dtn --rate '10 Gbps' --rtt '33 ms'")


def test_a_text_from_outside_cannot_end_its_comment() -> None:
    text = sysctl_file(advice(), advice().sender, None, "x\nkernel.panic = 1\u2028\r")
    assert not re.search(r"^kernel", text, re.MULTILINE)


def test_without_settings_it_is_a_comment() -> None:
    found = advise(path(rtt=None, mtu=None, loss=None, rate=None), unknown(), unknown("osu-dtn"))
    text = sysctl_file(found, found.receiver)
    assert all(line.startswith("#") or not line for line in text.splitlines())


# --- a real kernel --------------------------------------------------------------------------------------


@pytest.fixture
def namespace(testbed_name: str) -> Iterator[str]:
    """A network namespace of this test's own."""
    name = f"adon-{testbed_name}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


def within(namespace: str, *words: str) -> str:
    done = subprocess.run(
        ["ip", "netns", "exec", namespace, *words], capture_output=True, text=True, timeout=30, check=False
    )
    return done.stdout


SHOW = "(sysctl -a; ip -d link; tc qdisc; ss -tin; grep MemTotal /proc/meminfo) 2>/dev/null"


@pytest.mark.testbed
def test_a_real_kernel_takes_it_and_the_check_says_so(namespace: str, tmp_path: Path) -> None:
    within(namespace, "ip", "link", "add", "dtn0", "type", "veth", "peer", "name", "far0")
    within(namespace, "ip", "link", "set", "dtn0", "up")
    present = read_host(within(namespace, "sh", "-c", SHOW), "mu-dtn", "dtn0")
    assert present.triple("net.ipv4.tcp_wmem") is not None
    found = advise(path(rtt=Uncertain(0.2)), present, host("osu-dtn"))
    before = check(found.sender, present)
    assert before.verdict is Verdict.DIFFERS
    file = tmp_path / "90-adon.conf"
    file.write_text(sysctl_file(found, found.sender, "dtn0"))
    # What is not per namespace (net.core of the whole host) is refused in it; the rest must be taken.
    within(namespace, "sysctl", "-e", "-p", str(file))
    within(namespace, "ip", "link", "set", "dev", "dtn0", "mtu", "9000")
    after = read_host(within(namespace, "sh", "-c", SHOW), "mu-dtn", "dtn0")
    verdicts = {one.setting.key: one.verdict for one in check(found.sender, after).findings}
    # Of the whole host, so read-only here or not even shown; and a namespace may use no control that the
    # host keeps for itself (tcp_allowed_congestion_control).
    others = ("net.core.", "net.ipv4.tcp_congestion_control")
    own = {key: verdict for key, verdict in verdicts.items() if not key.startswith(others)}
    assert set(own) > {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mtu_probing", "mtu"}
    assert own == dict.fromkeys(own, Verdict.APPLIED)
    wanted = {one.key: one.value for one in found.sender.settings}
    assert after.sysctl["net.ipv4.tcp_wmem"] == wanted["net.ipv4.tcp_wmem"]
