"""Execution of an order: one probe after the other, each with a finding or the cause why there is none."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from measurement.probes import findings as results
from measurement.probes import probe_types as types
from measurement.probes.findings import FailureCause, Finding, ProbeError, ProbeReport, RoundTrips
from measurement.probes.icmp_echo import IcmpChannel
from measurement.probes.packet_sequence import (
    LONGEST_SEND,
    Arrivals,
    PacketGroup,
    PacketPlan,
    SentSequence,
    run_sequence,
)
from measurement.probes.round_trip import StopSignal, measure_round_trips
from measurement.probes.secure_channel import ANSWER_TIMEOUT, SecureChannel
from measurement.probes.sequence_analysis import (
    analyse_train,
    competing_connections,
    find_shared_link,
    sandwich_delays,
)
from measurement.probes.tcp_probes import TcpEchoChannel, measure_connect_times, send_stream
from measurement.probes.udp_path import Direction, UdpPath

_SLOW_START = 0.1
"""The share of a bulk connection's time that does not count: it has not found its rate yet."""


class LoadSlots:
    """Limit of the trains and transfers that are under way, to or from this instance.

    :param limit: more are refused.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def take(self, count: int = 1) -> Iterator[None]:
        """Use so many slots within the context.

        :raises ProbeError: ``busy``.
        """
        with self._lock:
            if self._used + count > self._limit:
                cause = f"{self._used} trains and transfers are under way; the limit is {self._limit}"
                raise ProbeError(FailureCause.BUSY, cause)
            self._used += count
        try:
            yield
        finally:
            with self._lock:
                self._used -= count


class Prober:
    """Carries out orders.

    :param key: shared with the agents of the targets.
    """

    def __init__(self, key: bytes, slots: LoadSlots) -> None:
        self._key = key
        self._slots = slots

    def carry_out(self, order: types.ProbeOrder, stop: StopSignal) -> ProbeReport:
        """Carry out all probes of an order; a probe that fails does not prevent the others."""
        began = time.time()
        with contextlib.closing(OrderExecution(order, self._key, self._slots, stop)) as execution:
            findings = execution.run()
            return ProbeReport(findings, began, time.time(), execution.own_address, execution.seen_address)


class OrderExecution:
    """One order under way.  The first probe that needs the target's agent connects to it."""

    def __init__(self, order: types.ProbeOrder, key: bytes, slots: LoadSlots, stop: StopSignal) -> None:
        self._order = order
        self._target = order.target
        self._key = key
        self._slots = slots
        self._stop = stop
        self._is_last = False
        self._connection: SecureChannel | None = None
        self._udp_path: UdpPath | None = None
        self._failure: ProbeError | None = None
        self.own_address = self.seen_address = ""
        """This instance's address, and the one that the target sees; empty without a connection."""

    def run(self) -> tuple[Finding, ...]:
        """Return a finding for each probe."""
        findings = list[Finding]()
        for probe in self._order.probes:
            self._is_last = len(findings) + 1 == len(self._order.probes)
            try:
                findings.append(_PROBES[type(probe)](self, probe))
            except Exception as error:  # noqa: BLE001 - reported as the finding of this probe
                findings.append(results.failure_from_error(error, probe, self._target.name))
                if self._udp_path is not None:
                    self._udp_path.close()  # errors of the network may arrive late
        return tuple(findings)

    def close(self) -> None:
        """Close the connection and the path."""
        if self._udp_path is not None:
            self._udp_path.close()
        if self._connection is not None:
            self._connection.close()

    def _channel(self) -> SecureChannel:
        """Return the connection with the target's agent.

        :raises ProbeError: the cause why there is none.
        """
        if self._failure is not None:
            raise ProbeError(self._failure.why, str(self._failure))
        if self._connection is None:
            try:
                self._connection = SecureChannel.connect(self._target, self._key)
            except ProbeError as error:
                self._failure = error
                raise
            self.seen_address = self._connection.client_address
            self.own_address = str(self._connection.socket.getsockname()[0])
        return self._connection

    def _another_channel(self) -> SecureChannel:
        """Return a connection for one probe, which closes it."""
        self._channel()
        return SecureChannel.connect(self._target, self._key)

    def _path(self) -> UdpPath:
        channel = self._channel()
        if self._udp_path is None:
            self._udp_path = UdpPath(self._target, channel.keys)
        return self._udp_path

    def _check_limit(self) -> None:
        """Ask the target whether probes were silent because it answers only so many.

        :raises ProbeError: ``limited`` if so; ``vanished``.
        """
        limited = int(self._channel().request("status", ANSWER_TIMEOUT)["limited"])
        if limited > 0:
            raise ProbeError(FailureCause.LIMITED, f"{limited} packets exceeded the target's limit")

    def _verify_path(self, echoes: int, direction: Direction, length: int) -> tuple[float, ...]:
        """Return round trips on the path; afterwards the target knows where it begins.

        :raises ProbeError: ``unreachable`` or ``limited`` if there are none, ``too-large``.
        """
        round_trips = self._path().verify(echoes, direction, length, self._stop)
        if not round_trips:
            self._check_limit()
            cause = "its agent takes connections, but no UDP packets"
            raise ProbeError(FailureCause.UNREACHABLE, cause)
        return round_trips

    def _icmp_echo(self, probe: types.IcmpEcho) -> RoundTrips:
        with contextlib.closing(IcmpChannel(self._target.address, probe.length)) as channel:
            times = measure_round_trips(channel, probe.count, probe.interval, probe.timeout, self._stop)
            return RoundTrips(times)

    def _udp_echo(self, probe: types.UdpEcho) -> RoundTrips:
        result = self._path().measure_echoes(
            probe.length, probe.count, probe.interval, probe.timeout, self._stop
        )
        if None in result.times:
            self._check_limit()
        return result

    def _tcp_connect(self, probe: types.TcpConnect) -> RoundTrips:
        return RoundTrips(measure_connect_times(self._target, probe, self._stop))

    def _tcp_echo(self, probe: types.TcpEcho) -> RoundTrips:
        # The probe takes the connection over, so the last probe of an order needs no other.
        channel = self._channel() if self._is_last else self._another_channel()
        with contextlib.closing(channel):
            channel.request("echo", ANSWER_TIMEOUT, length=probe.length)
            echoes = TcpEchoChannel(channel.socket, channel.keys, probe.length)
            times = measure_round_trips(echoes, probe.count, probe.interval, probe.timeout, self._stop)
            return RoundTrips(times)

    def _sandwich(self, probe: types.Sandwich | types.SandwichBack) -> results.SandwichDelays:
        direction = Direction.BACK if isinstance(probe, types.SandwichBack) else Direction.FORWARD
        groups = (
            PacketGroup(probe.length, 1, probe.gap),
            PacketGroup(probe.large, 1, 0.0),
            PacketGroup(probe.length, 1, probe.interval),
        )
        self._verify_path(1, direction, 0)
        sent, arrivals = self._run_sequence(PacketPlan(groups, probe.count), direction)
        result = sandwich_delays(probe, sent.largest, sent.times_ns, arrivals.times_ns)
        if None in result.by:
            self._path().close()
        else:
            self._path().note_length(direction, result.large)
        return result

    def _train(self, probe: types.Train | types.TrainBack) -> results.TrainResult:
        direction = Direction.BACK if isinstance(probe, types.TrainBack) else Direction.FORWARD
        shape = probe.shape
        plan = PacketPlan((PacketGroup(shape.packet, shape.burst, shape.pause),), shape.bursts)
        with self._slots.take():
            # Single long packets first: virtual links let several at a time through, whatever their length.
            round_trips = self._verify_path(max(1, probe.echoes), direction, shape.packet)
            sent, arrivals = self._run_sequence(plan, direction)
        if sent.groups == 0:
            cause = f"a burst of {shape.burst} packets takes this path above {LONGEST_SEND:g} s"
            raise ProbeError(FailureCause.BAD_ORDER, cause)
        rtt = min(round_trips) if probe.echoes else None
        shape = replace(shape, bursts=sent.groups)
        return analyse_train(shape, arrivals.seconds(), probe.segments, rtt, arrivals.overflowed)

    def _run_sequence(self, plan: PacketPlan, direction: Direction) -> tuple[SentSequence, Arrivals]:
        sent, arrivals = run_sequence(self._channel(), self._path(), plan, direction, self._stop)
        if arrivals.stepped:
            raise ProbeError(FailureCause.CLOCK_STEPPED, "the receiver's clock was set during the sequence")
        return sent, arrivals

    def _throughput(self, probe: types.Throughput) -> results.TransferResult:
        received = self._transfer(probe.intervals, probe.interval, probe.connections)
        return results.TransferResult(probe.interval, tuple(received))

    def _cross_traffic(self, probe: types.CrossTraffic) -> results.CrossTrafficResult:
        intervals = max(1, round(probe.duration / probe.sample))
        rates = tuple(8 * count / probe.sample for count in self._transfer(intervals, probe.sample, 1))
        alone = _mean_rate(rates)
        link = probe.link
        if link is None and alone > 0:
            both = self._transfer(intervals, probe.sample, 2)
            each = _mean_rate(tuple(4 * count / probe.sample for count in both))
            shared = find_shared_link(alone, each) if each > 0 else None
            link = None if shared is None else shared.rate
        if link is None or alone <= 0:
            return results.CrossTrafficResult(rates, probe.sample, link, (), None)
        others = tuple(competing_connections(link, rate) if rate > 0 else None for rate in rates)
        return results.CrossTrafficResult(
            rates, probe.sample, link, others, competing_connections(link, alone)
        )

    def _transfer(self, intervals: int, interval: float, connections: int) -> list[int]:
        """Return bytes per interval of all connections together."""
        with self._slots.take(connections), contextlib.ExitStack() as stack:
            channels = [self._another_channel() for _ in range(connections)]
            for channel in channels:
                stack.callback(channel.close)
            for channel in channels:
                channel.request("count", ANSWER_TIMEOUT, intervals=intervals, interval=interval)
            pool = stack.enter_context(ThreadPoolExecutor(connections))
            counts = pool.map(lambda channel: self._send_stream(channel, intervals * interval), channels)
            return [sum(each) for each in zip(*counts, strict=True)]

    def _send_stream(self, channel: SecureChannel, seconds: float) -> list[int]:
        send_stream(channel.socket, seconds, self._stop)
        return [int(count) for count in channel.receive_answer(ANSWER_TIMEOUT + seconds)]

    def _hops(self, probe: types.Hops) -> Finding:
        return self._path().count_hops(probe, self._stop)


_PROBES: Mapping[type[types.Probe], Callable[[OrderExecution, Any], Finding]] = {
    types.IcmpEcho: OrderExecution._icmp_echo,
    types.UdpEcho: OrderExecution._udp_echo,
    types.Sandwich: OrderExecution._sandwich,
    types.SandwichBack: OrderExecution._sandwich,
    types.TcpConnect: OrderExecution._tcp_connect,
    types.TcpEcho: OrderExecution._tcp_echo,
    types.Throughput: OrderExecution._throughput,
    types.Train: OrderExecution._train,
    types.TrainBack: OrderExecution._train,
    types.CrossTraffic: OrderExecution._cross_traffic,
    types.Hops: OrderExecution._hops,
}


def _mean_rate(rates: tuple[float, ...]) -> float:
    settled = rates[int(_SLOW_START * len(rates)) :]
    return sum(settled) / len(settled)
