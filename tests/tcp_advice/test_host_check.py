"""Comparison of hosts with their advice."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from adon.tcp_advice.advice import HostAdvice, advise
from adon.tcp_advice.facts import Connection, HostFacts, Interface
from adon.tcp_advice.host_check import Check, Verdict, check_host
from adon.tcp_advice.host_output import read_host
from adon.tcp_advice.parts import Compare, Setting
from adon.uncertain import Uncertain
from tests.tcp_advice.values import PRINTED, host, path, unknown

OSU = host("osu-dtn")


def one(kind: str, key: str, value: str, compare: Compare, facts: HostFacts) -> Verdict:
    setting = Setting(kind, key, value, compare, "")  # type: ignore[arg-type]
    return check_host(HostAdvice("h", "sender", (setting,)), facts).findings[0].verdict


RMEM = "net.ipv4.tcp_rmem"


@pytest.mark.parametrize(
    ("present", "verdict"),
    [
        ("4096 131072 67108864", Verdict.APPLIED),
        ("4096 131072 67108865", Verdict.APPLIED),
        ("8192 1 67108864", Verdict.APPLIED),
        ("4096 131072 67108863", Verdict.DIFFERS),
        ("many", Verdict.UNKNOWN),
        ("", Verdict.UNKNOWN),
    ],
)
def test_maximum_of_three_numbers_is_compared(present: str, verdict: Verdict) -> None:
    facts = host(sysctl={RMEM: present})
    assert one("sysctl", RMEM, "4096 131072 67108864", Compare.AT_LEAST, facts) is verdict


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ("mtu", "9000", Verdict.APPLIED),
        ("mtu", "1500", Verdict.DIFFERS),
        ("queue", "1000", Verdict.DIFFERS),
        ("nothing", "1", Verdict.UNKNOWN),
    ],
)
def test_interface_setting(key: str, value: str, verdict: Verdict) -> None:
    assert (
        one("interface", key, value, Compare.EQUAL, host(interface=Interface("e", 9000, queue=500)))
        is verdict
    )


@pytest.mark.parametrize(
    ("discipline", "pace", "verdict"),
    [
        ("fq", 900e6, Verdict.APPLIED),
        ("fq", 905e6, Verdict.APPLIED),
        ("fq", 500e6, Verdict.APPLIED),
        ("fq", 1e9, Verdict.DIFFERS),
        ("fq", None, Verdict.UNKNOWN),
        ("fq_codel", None, Verdict.DIFFERS),
        ("", None, Verdict.UNKNOWN),
    ],
)
def test_pace(discipline: str, pace: float | None, verdict: Verdict) -> None:
    facts = host(interface=Interface("e", discipline=discipline, pace=pace))
    assert one("interface", "qdisc", "fq maxrate 900000kbit", Compare.EQUAL, facts) is verdict


def tuned(facts: HostFacts, advice: HostAdvice) -> HostFacts:
    """The host with the recommended settings."""
    sysctl = {setting.key: setting.value for setting in advice.settings if setting.kind == "sysctl"}
    return replace(host(facts.name, sysctl), interface=facts.interface)


def test_applied_only_if_both_hosts_have_it() -> None:
    advice = advise(path(), host(), OSU)
    before = [check_host(end, facts) for end, facts in zip(advice.hosts, (host(), OSU), strict=True)]
    assert [found.verdict for found in before] == [Verdict.DIFFERS, Verdict.DIFFERS]
    near, far = (tuned(facts, end) for facts, end in zip((host(), OSU), advice.hosts, strict=True))
    half = (check_host(advice.sender, near), check_host(advice.receiver, OSU))
    assert [found.verdict for found in half] == [Verdict.APPLIED, Verdict.DIFFERS]
    whole = (check_host(advice.sender, near), check_host(advice.receiver, far))
    assert [found.verdict for found in whole] == [Verdict.APPLIED, Verdict.APPLIED]
    # The tuned hosts get the same advice again.
    again = advise(path(), near, far)
    found = [check_host(end, facts) for end, facts in zip(again.hosts, (near, far), strict=True)]
    assert [one.verdict for one in found] == [Verdict.APPLIED, Verdict.APPLIED]


def test_unknown_setting_is_not_applied() -> None:
    advice = advise(path(), host(), OSU)
    found = check_host(advice.sender, unknown())
    assert found.verdict is Verdict.UNKNOWN
    assert all(finding.present is None for finding in found.findings)
    assert check_host(HostAdvice("h", "sender", ()), host()).verdict is Verdict.UNKNOWN
    assert Check("h", "sender", ()).verdict is Verdict.UNKNOWN


def test_differences_and_remarks_of_a_real_output() -> None:
    facts = read_host(PRINTED, "mu-dtn")
    found = check_host(advise(path(), facts, OSU).sender, facts)
    differing = {one.setting.key for one in found.findings if one.verdict is Verdict.DIFFERS}
    assert differing == {
        "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.rmem_max", "net.core.wmem_max",
        "net.core.netdev_max_backlog", "mtu",
    }  # fmt: skip
    assert found.remarks == (
        (
            "10.0.0.2:5201: the receiver's window limited it in 40% of its time; "
            "the receiver needs larger buffers"
        ),
        "connections use bbr: a new setting applies to new connections only",
    )


def test_full_send_buffer_is_a_remark() -> None:
    waiting = Connection("10.0.0.2:5201", "cubic", send_limited=0.25)
    found = check_host(HostAdvice("h", "sender", ()), host(connections=(waiting,)))
    (remark,) = found.remarks
    assert remark.startswith("10.0.0.2:5201: the send buffer limited it in 25% ")


@pytest.fixture
def namespace() -> Iterator[str]:
    """Name of a new network namespace."""
    name = f"adon-test-{uuid.uuid4().hex[:8]}"
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
def test_real_kernel_accepts_the_settings(namespace: str) -> None:
    within(namespace, "ip", "link", "add", "dtn0", "type", "veth", "peer", "name", "far0")
    within(namespace, "ip", "link", "set", "dtn0", "up")
    present = read_host(within(namespace, "sh", "-c", SHOW), "mu-dtn", "dtn0")
    assert present.buffer_sizes("net.ipv4.tcp_wmem") is not None
    found = advise(path(rtt=Uncertain(0.2)), present, host("osu-dtn"))
    before = check_host(found.sender, present)
    assert before.verdict is Verdict.DIFFERS
    # Settings of the whole host (net.core) are refused in a namespace; the others must be accepted.
    settings = [f"{one.key}={one.value}" for one in found.sender.settings if one.kind == "sysctl"]
    within(namespace, "sysctl", "-e", *settings)
    within(namespace, "ip", "link", "set", "dev", "dtn0", "mtu", "9000")
    after = read_host(within(namespace, "sh", "-c", SHOW), "mu-dtn", "dtn0")
    verdicts = {one.setting.key: one.verdict for one in check_host(found.sender, after).findings}
    # These belong to the whole host: read-only here, or restricted (tcp_allowed_congestion_control).
    others = ("net.core.", "net.ipv4.tcp_congestion_control")
    own = {key: verdict for key, verdict in verdicts.items() if not key.startswith(others)}
    assert set(own) > {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mtu_probing", "mtu"}
    assert own == dict.fromkeys(own, Verdict.APPLIED)
    wanted = {one.key: one.value for one in found.sender.settings}
    assert after.sysctl["net.ipv4.tcp_wmem"] == wanted["net.ipv4.tcp_wmem"]
