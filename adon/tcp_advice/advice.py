"""Advice for one path between two hosts: all parts, settings of both hosts, and the expected gain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from adon.tcp_advice.buffers import (
    LONGEST_RTT,
    RECEIVE,
    SEND,
    Buffers,
    planning_rtt,
    present_window,
    size_buffers,
)
from adon.tcp_advice.congestion_control import CongestionControl, choose_congestion_control
from adon.tcp_advice.facts import HostFacts, PathFacts
from adon.tcp_advice.interface_settings import recommend_mtu, recommend_pacing, recommend_queues
from adon.tcp_advice.parts import Compare, Gap, Item, Part, Setting, Transfer
from adon.tcp_advice.prediction import Prediction, TcpSettings, predict
from adon.tcp_advice.streams import count_streams
from adon.units import format_duration


@dataclass(frozen=True, slots=True)
class HostAdvice:
    """Recommended settings of one host.

    :param role: ``sender`` or ``receiver``.
    """

    host: str
    role: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice about a transfer, and the values that are unknown.  A value that cannot be computed is None.

    :param target: rate to reach, bits/s: the least of path and interfaces.
    :param window: the largest window that the recommended buffers allow one stream, bytes.
    :param buffer: the larger of the sender's send buffer and the receiver's receive buffer, bytes.
    """

    path: PathFacts
    target: float | None
    window: float | None
    buffer: int | None
    streams: int | None
    mtu: int | None
    control: str | None
    items: tuple[Item, ...]
    gaps: tuple[Gap, ...]
    sender: HostAdvice
    receiver: HostAdvice
    prediction: Prediction | None

    @property
    def hosts(self) -> tuple[HostAdvice, HostAdvice]:
        """Both hosts, the sender first."""
        return self.sender, self.receiver


def advise(path: PathFacts, sender: HostFacts, receiver: HostFacts, present_streams: int = 1) -> Advice:
    """Recommend settings of both hosts with which TCP fills the path, and predict the gain.

    :param present_streams: number of streams that the transfer opens now.
    """
    transfer = Transfer(path, sender, receiver)
    control = choose_congestion_control(transfer)
    buffers = size_buffers(transfer, control.name)
    streams = count_streams(transfer, control, buffers)
    number = present_streams if streams is None else streams.number
    parts = [
        Part() if buffers is None else buffers.part,
        Part() if streams is None else Part(streams.item),
        control.part,
        recommend_mtu(transfer),
        recommend_queues(transfer),
        recommend_pacing(transfer, number),
    ]
    return Advice(
        path=path,
        target=transfer.target,
        window=None if buffers is None else buffers.window,
        buffer=None if buffers is None else max(buffers.sender.send, buffers.receiver.receive),
        streams=None if streams is None else streams.number,
        mtu=transfer.mtu,
        control=control.name,
        items=tuple(part.item for part in parts if part.item is not None),
        gaps=(*_missing_inputs(transfer), *(gap for part in parts for gap in part.gaps)),
        sender=_host_advice(sender, "sender", [one for part in parts for one in part.sender]),
        receiver=_host_advice(receiver, "receiver", [one for part in parts for one in part.receiver]),
        prediction=_prediction(transfer, control, buffers, number, present_streams),
    )


def _host_advice(host: HostFacts, role: str, settings: list[Setting]) -> HostAdvice:
    return HostAdvice(host.name, role, tuple(_keep_larger(setting, host) for setting in settings))


def _keep_larger(setting: Setting, host: HostFacts) -> Setting:
    """The setting, or the present value where that is larger: advice never lowers a limit."""
    present = host.integer(setting.key) if setting.kind == "sysctl" else None
    if setting.compare is Compare.EQUAL or present is None or not setting.value.isdecimal():
        return setting
    return replace(setting, value=str(max(present, int(setting.value))))


def _missing_inputs(transfer: Transfer) -> Iterator[Gap]:
    """Unknown values that no single part reports."""
    rtt, without = transfer.path.rtt, "buffers and the number of streams"
    if rtt is None:
        yield Gap("RTT of the path", without, "a test with rtt_period, or ping between the hosts")
    elif rtt.mean <= 0:
        yield Gap("RTT of the path: 0 s was measured, which no path has", without, "measure it again")
    elif planning_rtt(rtt) is None:
        what = f"RTT of the path: {format_duration(rtt.mean)} is longer than {format_duration(LONGEST_RTT)}"
        yield Gap(
            what, without, "measure it again on an idle path; if it stays, a queue on the path is always full"
        )
    if transfer.target is None:
        how = "the capacity in the configuration, or a throughput test"
        yield Gap("capacity of the path", without, how)
    for host in (transfer.sender, transfer.receiver):
        if host.buffer_sizes(RECEIVE) is None or host.buffer_sizes(SEND) is None:
            how = (
                f"adon advice check FILE --host {host.name}, or the metric host.tcp of its measurement point"
            )
            yield Gap(f"present buffers of {host.name}", "the gain, and whether they must change", how)
        if host.memory is None:
            yield Gap(f"memory of {host.name}", "how many buffers it holds", "the metric host of its point")


def _prediction(
    transfer: Transfer,
    control: CongestionControl,
    buffers: Buffers | None,
    streams: int,
    present_streams: int,
) -> Prediction | None:
    if transfer.is_broken:
        return None
    window = present_window(transfer.sender, transfer.receiver)
    windows = [one for one in (window, None if buffers is None else buffers.window) if one is not None]
    # A host whose buffers are larger already keeps them.
    advised = TcpSettings(streams, max(windows, default=None), transfer.mss)
    present = TcpSettings(present_streams, window, transfer.present_mss)
    path = replace(transfer.path, rate=transfer.target)
    return predict(path, present, advised, loss_based=control.is_loss_based)
