"""Whether a host has what was advised."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from adon.broker.tuning.advice import HostAdvice, advise
from adon.broker.tuning.checking import Check, Verdict, check
from adon.broker.tuning.facts import Connection, HostFacts, Interface
from adon.broker.tuning.item import Compare, Setting
from adon.broker.tuning.reading import read_host
from adon.broker.uncertain import Uncertain
from tests.broker.tuning.values import PRINTED, host, path, unknown

OSU = host("osu-dtn")


def one(kind: str, key: str, value: str, compare: Compare, facts: HostFacts) -> Verdict:
    setting = Setting(kind, key, value, compare, "")  # type: ignore[arg-type]
    return check(HostAdvice("h", "sender", (setting,)), facts).findings[0].verdict


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
def test_of_three_numbers_the_maximum_counts(present: str, verdict: Verdict) -> None:
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
def test_of_an_interface(key: str, value: str, verdict: Verdict) -> None:
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
def test_of_pacing(discipline: str, pace: float | None, verdict: Verdict) -> None:
    facts = host(interface=Interface("e", discipline=discipline, pace=pace))
    assert one("interface", "qdisc", "fq maxrate 900000kbit", Compare.EQUAL, facts) is verdict


def tuned(facts: HostFacts, advice: HostAdvice) -> HostFacts:
    """The host after it was given what was advised."""
    sysctl = {setting.key: setting.value for setting in advice.settings if setting.kind == "sysctl"}
    return replace(host(facts.name, sysctl), interface=facts.interface)


def test_only_both_ends_are_enough() -> None:
    advice = advise(path(), host(), OSU)
    before = [check(end, facts) for end, facts in zip(advice.hosts, (host(), OSU), strict=True)]
    assert [found.verdict for found in before] == [Verdict.DIFFERS, Verdict.DIFFERS]
    near, far = (tuned(facts, end) for facts, end in zip((host(), OSU), advice.hosts, strict=True))
    half = (check(advice.sender, near), check(advice.receiver, OSU))
    assert [found.verdict for found in half] == [Verdict.APPLIED, Verdict.DIFFERS]
    whole = (check(advice.sender, near), check(advice.receiver, far))
    assert [found.verdict for found in whole] == [Verdict.APPLIED, Verdict.APPLIED]
    # Asked again, the tuned hosts get the same advice: it is a fixed point.
    again = advise(path(), near, far)
    found = [check(end, facts) for end, facts in zip(again.hosts, (near, far), strict=True)]
    assert [one.verdict for one in found] == [Verdict.APPLIED, Verdict.APPLIED]


def test_what_is_not_known_is_not_applied() -> None:
    advice = advise(path(), host(), OSU)
    found = check(advice.sender, unknown())
    assert found.verdict is Verdict.UNKNOWN
    assert all(finding.present is None for finding in found.findings)
    assert check(HostAdvice("h", "sender", ()), host()).verdict is Verdict.UNKNOWN
    assert Check("h", "sender", ()).verdict is Verdict.UNKNOWN


def test_what_differs_is_told_of_a_real_text() -> None:
    facts = read_host(PRINTED, "mu-dtn")
    found = check(advise(path(), facts, OSU).sender, facts)
    differing = {one.setting.key for one in found.findings if one.verdict is Verdict.DIFFERS}
    assert differing == {
        "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.rmem_max", "net.core.wmem_max",
        "net.core.netdev_max_backlog", "mtu",
    }  # fmt: skip
    assert found.remarks == (
        "10.0.0.2:5201: 40% of its time it waited for the receiver's window: larger buffers there",
        "connections use bbr: a new setting holds for new connections only",
    )


def test_a_full_send_buffer_is_told() -> None:
    waiting = Connection("10.0.0.2:5201", "cubic", held_back=(0.0, 0.25))
    found = check(HostAdvice("h", "sender", ()), host(connections=(waiting,)))
    (remark,) = found.remarks
    assert remark.startswith("10.0.0.2:5201: 25% ")


# --- a real kernel --------------------------------------------------------------------------------------


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace of this test's own."""
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
def test_a_real_kernel_takes_it_and_the_check_says_so(namespace: str) -> None:
    within(namespace, "ip", "link", "add", "dtn0", "type", "veth", "peer", "name", "far0")
    within(namespace, "ip", "link", "set", "dtn0", "up")
    present = read_host(within(namespace, "sh", "-c", SHOW), "mu-dtn", "dtn0")
    assert present.triple("net.ipv4.tcp_wmem") is not None
    found = advise(path(rtt=Uncertain(0.2)), present, host("osu-dtn"))
    before = check(found.sender, present)
    assert before.verdict is Verdict.DIFFERS
    # What is not per namespace (net.core of the whole host) is refused in it; the rest must be taken.
    settings = [f"{one.key}={one.value}" for one in found.sender.settings if one.kind == "sysctl"]
    within(namespace, "sysctl", "-e", *settings)
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
