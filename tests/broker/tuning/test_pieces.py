"""MTU, queues, congestion control, pacing: each with its reason, and what it says when it does not know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adon.broker.tuning.control import congestion_control, stream_limit
from adon.broker.tuning.facts import HostFacts, Interface, PathFacts
from adon.broker.tuning.frames import common_mtu, frames, present_mtu
from adon.broker.tuning.item import Confidence
from adon.broker.tuning.pacing import bottleneck, in_tc, pacing
from adon.broker.tuning.queues import input_queue, queues
from adon.broker.uncertain import Uncertain
from tests.broker.tuning.values import host, path, unknown


def with_mtu(mtu: int | None, largest: int | None = 9702) -> HostFacts:
    return host(interface=Interface("eth0", mtu, largest))


class TestFrames:
    @pytest.mark.parametrize(
        ("path_mtu", "sender", "receiver", "common"),
        [
            (9000, (9000, 9702), (9000, 9702), 9000),
            (9000, (1500, 9702), (9000, 9702), 9000),
            (9000, (1500, 1500), (9000, 9702), 1500),
            (9216, (9000, 9702), (9000, 9702), 9000),
            (1500, (9000, 9702), (9000, 9702), 1500),
            (9000, (None, None), (None, None), 9000),
            (4000, (9000, 9702), (9000, 9702), 4000),
            (None, (9000, 9702), (9000, 9702), None),
        ],
    )
    def test_jumbo_only_if_all_carry_it(
        self, path_mtu: int | None, sender: Any, receiver: Any, common: int | None
    ) -> None:
        assert common_mtu(path(mtu=path_mtu), with_mtu(*sender), with_mtu(*receiver)) == common

    @pytest.mark.parametrize(
        ("path_mtu", "sender", "receiver", "words", "confidence"),
        [
            (9000, 9000, 9000, "both ends have it already", Confidence.HIGH),
            (9000, 1500, 9000, "to be set on mu-dtn, and on every host of its segment", Confidence.MEDIUM),
            (1500, 9000, 1500, "mu-dtn: a larger frame is lost without a word", Confidence.HIGH),
            (1500, None, None, "the path carries no larger frames", Confidence.MEDIUM),
        ],
    )
    def test_the_reason(
        self, path_mtu: int, sender: int | None, receiver: int | None, words: str, confidence: Confidence
    ) -> None:
        item = frames(path(mtu=path_mtu), with_mtu(sender), with_mtu(receiver)).item
        assert item is not None
        assert words in item.reason
        assert item.confidence is confidence

    def test_discovery_below_jumbo_frames_is_a_net(self) -> None:
        jumbo, plain = (frames(path(mtu=mtu), host(), host()) for mtu in (9000, 1500))
        assert [one.key for one in jumbo.sender] == ["mtu", "net.ipv4.tcp_mtu_probing"]
        assert jumbo.sender == jumbo.receiver
        assert [one.key for one in plain.receiver] == ["mtu"]

    def test_an_unknown_path_is_to_be_measured(self) -> None:
        found = frames(path(mtu=None), host(), host())
        assert found.item is None
        assert found.gaps[0].what == "MTU of the path"
        assert present_mtu(path(mtu=None), with_mtu(1500), with_mtu(9000)) == 1500
        assert present_mtu(path(mtu=None), unknown(), unknown()) is None


class TestQueues:
    @pytest.mark.parametrize(
        ("rate", "packets"),
        [(10e9, 30_000), (1e9, 3_000), (1e6, 1_000), (40e9, 120_000), (100e9, 250_000), (1.7e308, 250_000)],
    )
    def test_in_proportion_within_limits(self, rate: float, packets: int) -> None:
        assert input_queue(rate) == packets

    def test_the_output_queue_counts_for_pfifo_only(self) -> None:
        fast = host(interface=Interface("eth0", 9000, None, 1000, "pfifo_fast", None, 10e9))
        assert [one.key for one in queues(fast, host(), None).sender] == [
            "net.core.netdev_max_backlog",
            "queue",
        ]
        assert [one.key for one in queues(host(), host(), None).sender] == ["net.core.netdev_max_backlog"]

    def test_without_any_rate_nothing_is_said(self) -> None:
        found = queues(unknown(), unknown(), None)
        assert (found.item, found.sender) == (None, ())
        assert found.gaps[0].what == "speed of the interfaces"


class TestControl:
    def control(self, facts: PathFacts, sender: HostFacts | None = None, target: float = 10e9) -> Any:
        return congestion_control(facts, host() if sender is None else sender, target, 8960)

    def test_a_clean_path_keeps_what_is_as_good(self) -> None:
        assert self.control(path()).name == "cubic"
        h_tcp = host(sysctl={"net.ipv4.tcp_congestion_control": "htcp"})
        assert self.control(path(), h_tcp).name == "htcp"
        reno = host(sysctl={"net.ipv4.tcp_congestion_control": "reno"})
        assert self.control(path(), reno).name == "cubic"

    def test_loss_that_holds_cubic_back_asks_for_bbr(self) -> None:
        found = self.control(path(loss=Uncertain(1e-4)))
        assert found.name == "bbr"
        assert "modprobe tcp_bbr" in found.piece.item.reason
        assert [one.value for one in found.piece.sender] == ["bbr"]
        assert found.piece.receiver == ()
        loaded = host(sysctl={"net.ipv4.tcp_available_congestion_control": "reno cubic bbr"})
        assert "modprobe" not in self.control(path(loss=Uncertain(1e-4)), loaded).piece.item.reason

    def test_little_loss_on_a_slow_path_does_not(self) -> None:
        assert self.control(path(loss=Uncertain(1e-4)), target=100e6).name == "cubic"

    def test_shallow_queues_do_not_ask_for_bbr(self) -> None:
        found = self.control(path(shallow=True))
        assert found.name == "cubic"
        assert "pace" in found.piece.item.reason

    @pytest.mark.parametrize("loss", [0.1, 0.5, 1.0])
    def test_a_broken_path_is_to_be_mended(self, loss: float) -> None:
        found = self.control(path(loss=Uncertain(loss)))
        assert found.piece.item is None
        assert "no setting of a host helps" in found.piece.gaps[0].without

    def test_unknown_loss_is_to_be_measured(self) -> None:
        found = self.control(path(loss=None))
        assert (found.name, found.piece.item) == ("cubic", None)
        assert found.piece.gaps[0].what == "packet loss of the path"

    def test_mathis(self) -> None:
        assert stream_limit(path(loss=Uncertain(1e-6)), 1460) == pytest.approx(433.5e6, rel=1e-3)
        assert stream_limit(path(), 1460) == float("inf")
        assert stream_limit(path(rtt=None, loss=Uncertain(0.01)), 1460) == float("inf")


class TestPacing:
    def sender(self, rate: float | None) -> HostFacts:
        return host(interface=Interface("eth0", rate=rate))

    def test_a_fast_sender_and_a_slow_receiver(self) -> None:
        slow = host("osu-dtn", interface=Interface("eth0", rate=10e9))
        found = pacing(path(rate=100e9), self.sender(40e9), slow, 4)
        assert found.item is not None
        assert found.item.value == "fq maxrate 2250000kbit"
        assert "osu-dtn with 10 Gbps" in found.item.reason
        assert [one.value for one in found.sender] == ["fq maxrate 2250000kbit"]

    def test_a_fast_sender_and_a_slow_path(self) -> None:
        found = pacing(path(rate=1e9), self.sender(10e9), host(), 1)
        assert found.item is not None
        assert "the path with 1 Gbps" in found.item.reason

    @pytest.mark.parametrize("rate", [10e9, 10.4e9, 1e9])
    def test_one_that_is_no_faster_is_left_alone(self, rate: float) -> None:
        found = pacing(path(), self.sender(rate), host(), 4)
        assert (found.item, found.gaps) == (None, ())

    def test_unknown_speeds_are_to_be_found_out(self) -> None:
        assert pacing(path(), self.sender(None), host(), 4).gaps
        assert pacing(path(rate=None), self.sender(1e9), unknown(), 4).gaps
        assert bottleneck(replace(path(), rate=None), unknown()) is None

    @pytest.mark.parametrize(("rate", "text"), [(900e6, "900000kbit"), (0.1, "1kbit"), (1234.0, "1kbit")])
    def test_rates_as_tc_takes_them(self, rate: float, text: str) -> None:
        assert in_tc(rate) == text
