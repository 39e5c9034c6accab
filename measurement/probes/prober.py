"""Carrying out an order: one probe after the other, each with a finding or why there is none."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from measurement.probes import light, orders
from measurement.probes.contact import ANSWER_TIMEOUT, Contact
from measurement.probes.failing import failed
from measurement.probes.findings import Finding, ProbeError, Report, RoundTrips, Route
from measurement.probes.round_trips import round_trips
from measurement.probes.streams import TcpChannel
from measurement.probes.threads import Loads, Threads
from measurement.probes.tracing import routers
from measurement.probes.trains import sandwich_back, train, train_back
from measurement.probes.transfers import cross_traffic, throughput
from measurement.probes.udp import hops
from measurement.probes.way import Way


class Prober:
    """Probes other instances.

    :param key: shared with their agents.
    """

    def __init__(self, key: bytes, threads: Threads, loads: Loads) -> None:
        self._key = key
        self._threads = threads
        self._loads = loads

    async def carry_out(self, order: orders.Order) -> Report:
        """All probes of an order; what one cannot do does not keep the others from it."""
        began = time.time()
        findings = list[Finding]()
        async with Contact(order.target, self._key) as contact:
            for part in light.grouped(order.probes):
                if isinstance(part, tuple):
                    findings += await self._light(part, contact)
                else:
                    last = len(findings) + 1 == len(order.probes)
                    findings.append(await self._found(part, contact, last=last))
            return Report(tuple(findings), began, time.time(), contact.own, contact.seen)

    async def _light(self, probes: Sequence[light.Light], contact: Contact) -> list[Finding]:
        way = await self._way(probes, contact)
        found = await self._threads.run(light.found, probes, contact.target, way)
        silent = [
            place
            for place, (probe, finding) in enumerate(zip(probes, found, strict=True))
            if isinstance(probe, orders.UdpEcho) and isinstance(finding, RoundTrips) and None in finding.times
        ]
        if silent:
            try:
                await contact.must_not_be_limited()
            except ProbeError as error:
                for place in silent:
                    found[place] = failed(error, probes[place], contact.target)
        return found

    async def _way(self, probes: Sequence[light.Light], contact: Contact) -> Way | ProbeError | None:
        """Where those probes go that its agent answers, or why they cannot; None if there are none."""
        if not any(isinstance(probe, light.BY_ITS_AGENT) for probe in probes):
            return None
        try:
            return await contact.way()
        except ProbeError as error:
            return error

    async def _found(self, probe: orders.Probe, contact: Contact, *, last: bool) -> Finding:
        try:
            return await self._probed(probe, contact, last=last)
        except Exception as error:  # noqa: BLE001 - one probe's fault is named, the others are still tried
            return failed(error, probe, contact.target)

    async def _probed(self, probe: orders.Probe, contact: Contact, *, last: bool) -> Finding:
        match probe:
            case orders.TcpEcho():
                async with contact.handed_over(last=last) as line:
                    await line.ask("echo", ANSWER_TIMEOUT, length=probe.length)
                    channel = TcpChannel(line.socket, line.keys, probe.length)
                    arguments = (channel, probe.count, probe.interval, probe.timeout)
                    return RoundTrips(await self._threads.run(round_trips, *arguments))
            case orders.Throughput():
                return await throughput(probe, contact, self._threads, self._loads)
            case orders.CrossTraffic():
                return await cross_traffic(probe, contact, self._threads, self._loads)
            case orders.Train():
                with self._loads.one():
                    return await train(probe, contact, self._threads)
            case orders.TrainBack():
                with self._loads.one():
                    return await train_back(probe, contact, self._threads)
            case orders.SandwichBack():
                with self._loads.one():
                    return await sandwich_back(probe, contact, self._threads)
            case orders.Hops():
                return await self._route(probe, contact)
        raise AssertionError(f"{probe.kind} is a light probe")

    async def _route(self, probe: orders.Hops, contact: Contact) -> Route:
        with contextlib.closing((await contact.way()).another()) as path:
            found: Route = await self._threads.run(hops, path, probe.most, probe.timeout)
            if not probe.routers:
                return found
            if found.count is not None:
                return await self._threads.run(routers, path, found.count, probe.timeout)
            farthest = await self._threads.run(routers, path, probe.most + 1, probe.timeout)
            return Route(None, farthest.routers)
