"""Real agents that probe each other on loopback, and their answers to clients that are wrong or hostile."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.agent_client import AgentClient
from measurement.probes.findings import (
    CrossTrafficResult,
    FailureCause,
    HopCount,
    ProbeError,
    ProbeFailure,
    ProbeReport,
    RoundTrips,
    SandwichDelays,
    TrainResult,
    TransferResult,
)
from measurement.probes.probe_types import (
    CrossTraffic,
    Hops,
    IcmpEcho,
    Probe,
    ProbeOrder,
    Sandwich,
    SandwichBack,
    TcpConnect,
    TcpEcho,
    Throughput,
    Train,
    TrainBack,
    TrainShape,
    UdpEcho,
)
from measurement.probes.secure_channel import SecureChannel, read_key
from measurement.probes.udp_path import UdpPath
from measurement.snapshot.calibration import try_shapes
from tests.measurement.probes.agent_processes import AgentProcess, make_key, request_probes, run_agent
from tests.support.refusals import refused

pytestmark = pytest.mark.integration
SHORT = TrainShape(burst=96, bursts=3)
Pair = tuple[AgentProcess, AgentProcess]


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_key(tmp_path_factory.mktemp("probes"))


@pytest.fixture(scope="module")
def pair(key: Path) -> Iterator[Pair]:
    with run_agent("a", key) as one, run_agent("b", key, "127.0.0.2") as other:
        yield one, other


def probe(pair: Pair, key: Path, *probes: Probe) -> ProbeReport:
    return asyncio.run(request_probes(pair[0], pair[1].instance, key, *probes))


def probe_at_once(source: AgentProcess, key: Path, *orders: ProbeOrder) -> list[ProbeReport]:
    async def probe_all() -> list[ProbeReport]:
        async with await AgentClient.connect(source.instance, read_key(key)) as client:
            return await asyncio.gather(*map(client.probe, orders))

    return asyncio.run(probe_all())


class TestFindings:
    def test_round_trips_of_all_kinds(self, pair: Pair, key: Path) -> None:
        probes = (UdpEcho(64, 4), UdpEcho(1024, 4), TcpConnect(64, 4), TcpEcho(64, 4), TcpEcho(2000, 4))
        for finding in probe(pair, key, *probes).findings:
            assert isinstance(finding, RoundTrips), finding
            assert len(finding.answered) == 4
            assert all(0 < time < 1 for time in finding.answered)

    @pytest.mark.parametrize("length", [64, 512, 4096])
    def test_icmp_echoes_or_the_missing_privilege(self, pair: Pair, key: Path, length: int) -> None:
        (finding,) = probe(pair, key, IcmpEcho(length, 3)).findings
        if isinstance(finding, ProbeFailure):
            assert os.geteuid() != 0
            assert finding.why == FailureCause.NOT_PERMITTED
            assert "ping_group_range" in finding.text
        else:
            assert isinstance(finding, RoundTrips)
            assert len(finding.answered) == 3

    def test_throughput_is_counted_at_the_receiver(self, pair: Pair, key: Path) -> None:
        one, two = probe(pair, key, Throughput(3, 0.1), Throughput(2, 0.1, connections=2)).findings
        assert isinstance(one, TransferResult)
        assert isinstance(two, TransferResult)
        assert (len(one.received), len(two.received)) == (3, 2)
        # A busy receiver can read nothing in one interval.
        assert max(one.rates) > 1e6
        assert max(two.rates) > 1e6

    def test_sequences_of_both_directions_share_a_connection(self, pair: Pair, key: Path) -> None:
        """No packet number is used twice, or the second sequence would be taken for a replay."""
        trains = (Train(SHORT), TrainBack(SHORT), Train(SHORT), TrainBack(SHORT, echoes=0))
        sandwiches = (Sandwich(count=3, large=1472), SandwichBack(count=3, large=1472))
        probes = (sandwiches[0], *trains[:2], sandwiches[1], *trains[2:])
        findings = probe(pair, key, *probes).findings
        for finding in (findings[1], findings[2], findings[4], findings[5]):
            assert isinstance(finding, TrainResult), finding
            assert finding.shape == SHORT
            assert finding.rate is not None
            assert finding.lost < 1
            assert len(finding.arrived) == SHORT.bursts
            assert (finding.rtt is None) == (finding is findings[5])
        for finding in (findings[0], findings[3]):
            assert isinstance(finding, SandwichDelays), finding
            assert (finding.large, len(finding.by)) == (1472, 3)
            assert any(by is not None for by in finding.by)
            assert all(by is None or abs(by) < 0.1 for by in finding.by)

    def test_cross_traffic(self, pair: Pair, key: Path) -> None:
        unknown, known = probe(pair, key, CrossTraffic(0.3), CrossTraffic(0.2, link=1e13)).findings
        assert isinstance(unknown, CrossTrafficResult)
        assert isinstance(known, CrossTrafficResult)
        assert len(unknown.rates) == 30
        assert known.mean is not None
        assert known.mean > 1  # loopback carries far less than that link would

    def test_hops(self, pair: Pair, key: Path) -> None:
        assert probe(pair, key, Hops()).findings == (HopCount(1),)

    def test_report_has_the_addresses_that_both_see(self, pair: Pair, key: Path) -> None:
        report = probe(pair, key, UdpEcho())
        assert (report.own, report.seen, report.translated) == ("127.0.0.1", "127.0.0.1", False)
        assert report.began <= report.ended

    def test_ipv6(self, key: Path) -> None:
        with run_agent("a", key, "::1") as one, run_agent("b", key, "::1") as other:
            probes = (UdpEcho(), TcpConnect(), TcpEcho(), Sandwich(), Train(SHORT), Hops(), TrainBack(SHORT))
            report = probe((one, other), key, *probes, SandwichBack())
        kinds = [finding.kind for finding in report.findings]
        assert kinds[:6] == ["round-trips", "round-trips", "round-trips", "widened", "train", "route"]
        assert kinds[6:] == ["train", "widened"]

    def test_orders_at_the_same_time(self, pair: Pair, key: Path) -> None:
        target = pair[1].instance
        orders = [ProbeOrder(target, (UdpEcho(count=n), Train(SHORT))) for n in range(1, 9)]
        echoes = list[float | None]()
        for number, report in enumerate(probe_at_once(pair[0], key, *orders), 1):
            assert isinstance(report.findings[0], RoundTrips)
            assert len(report.findings[0].times) == number
            assert isinstance(report.findings[1], TrainResult)
            echoes += report.findings[0].times
        # The socket of the target can drop an echo of one order while the train of another arrives.
        assert sum(time is not None for time in echoes) > len(echoes) / 2

    def test_calibration_tries_all_shapes(self, pair: Pair, key: Path) -> None:
        async def calibrate() -> None:
            async with await AgentClient.connect(pair[0].instance, read_key(key)) as client:
                paths, shapes = [(client, pair[1].instance)], [SHORT, TrainShape()]
                trials = await try_shapes(paths, shapes, repeats=2, transfer=Throughput(3, 0.1))
                assert [trial.shape for trial in trials] == shapes
                assert all(len(trial.paths[0].rates) == 2 for trial in trials)

        asyncio.run(calibrate())


@pytest.fixture
def channel(pair: Pair, key: Path) -> Iterator[SecureChannel]:
    with closing(SecureChannel.connect(pair[1].instance, read_key(key))) as channel:
        yield channel


def plan(length: int = 1472, count: int = 1, pause: float = 0.0, repeats: int = 1) -> dict[str, Any]:
    return {"groups": [{"length": length, "count": count, "pause": pause}], "repeats": repeats}


def send_bytes(there: Instance, data: bytes) -> bytes:
    """Return all bytes that an agent sends to a client that sends these and no more."""
    answer = b""
    with socket.create_connection((there.address, there.port), timeout=10) as sock:
        try:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            while received := sock.recv(65_536):
                answer += received
        except TimeoutError:
            raise
        except OSError:
            return answer  # the agent ended it without reading everything
    return answer


class TestAuthentication:
    def test_neither_side_accepts_another_key(self, pair: Pair, tmp_path: Path, key: Path) -> None:
        other = make_key(tmp_path)
        with refused("denied"):
            asyncio.run(request_probes(pair[0], pair[1].instance, other, UdpEcho()))
        with run_agent("c", other, "127.0.0.3") as stranger:
            udp, connect = probe((pair[0], stranger), key, UdpEcho(), TcpConnect(count=1)).findings
        assert isinstance(udp, ProbeFailure)
        assert udp.why == FailureCause.DENIED
        assert isinstance(connect, RoundTrips)  # that needs no agent

    @pytest.mark.parametrize(
        ("answers", "why"),
        [
            ([wire.pack_hello(bytes(32), 7)], "version"),
            ([b"SSH-2.0-OpenSSH_9.2\r\n".ljust(64)], "unreachable"),
            # It accepts any proof, and goes on as if it knew the key.
            ([wire.pack_hello(bytes(32)), bytes(wire.PROOF_BYTES)], "denied"),
        ],
        ids=["version", "service", "impostor"],
    )
    def test_server_that_is_no_agent_is_refused(self, answers: list[bytes], why: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:

            def serve() -> None:
                with server.accept()[0] as sock:
                    for answer in answers:
                        sock.recv(1000)
                        sock.sendall(answer)
                    sock.recv(1000)

            serving = threading.Thread(target=serve)
            serving.start()
            with refused(why):
                SecureChannel.connect(Instance("c", "127.0.0.1", server.getsockname()[1]), bytes(32))
            serving.join()

    def test_agent_reports_its_version_to_another_version(self, pair: Pair) -> None:
        answer = send_bytes(pair[1].instance, wire.pack_hello(bytes(32), 7))
        assert len(answer) == wire.HELLO_BYTES
        wire.check_hello(answer)

    @pytest.mark.parametrize("data", [b"", b"x", b"GET / HTTP/1.0\r\n\r\n", b"\xa5" * 64, b"\xa5" * 5000])
    def test_stranger_gets_no_more_bytes_than_it_sends(self, pair: Pair, data: bytes) -> None:
        assert len(send_bytes(pair[1].instance, data)) <= len(data)

    def test_wrong_proof_ends_the_connection(self, pair: Pair) -> None:
        data = wire.pack_hello(bytes(32)) + bytes(wire.PROOF_BYTES)
        assert len(send_bytes(pair[1].instance, data)) == wire.HELLO_BYTES

    def test_repeated_message_ends_the_connection(self, channel: SecureChannel) -> None:
        assert channel.request("status", 5) == {"limited": 0, "forged": 0, "repeated": 0}
        channel._sent -= 1
        with refused("vanished"):
            channel.request("status", 5)

    def test_oversized_request_ends_the_connection(self, channel: SecureChannel) -> None:
        with refused("vanished"):
            channel.request("probe", 5, order="x" * wire.MAX_REQUEST)


class TestRequests:
    @pytest.mark.parametrize(
        ("what", "fields", "field"),
        [
            ("fly", {}, "do"),
            ("sent", {}, "do"),
            ("send", {"plan": plan(), "first": 0}, None),  # no packet has arrived from the client
            ("receive", {"plan": plan(), "first": 0}, None),
            ("receive", {}, "receive"),
            ("probe", {"order": {"target": {}}}, "order.target.name"),
            ("count", {"intervals": 10**9, "interval": 1}, "intervals"),
            ("echo", {"length": 10**9}, "length"),
        ],
    )
    def test_invalid_request_is_refused(
        self, channel: SecureChannel, what: str, fields: dict[str, Any], field: str | None
    ) -> None:
        with refused("bad-order", field):
            channel.request(what, 5, **fields)

    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({"plan": plan(count=10**6), "first": 9}, "count"),
            ({"plan": plan(repeats=10**6), "first": 9}, "packets"),
            ({"plan": plan(length=10**6), "first": 9}, "length"),
            ({"plan": plan(pause=1.0, repeats=9), "first": 9}, "seconds"),
            ({"plan": plan(), "first": 2**32 - 1}, "first"),
            ({"plan": plan()}, "send"),
            ({"first": 9}, "send"),
        ],
    )
    def test_target_sends_no_more_than_an_order_may_request(
        self, pair: Pair, channel: SecureChannel, fields: dict[str, Any], field: str
    ) -> None:
        with closing(UdpPath(pair[1].instance, channel.keys)) as path:
            assert path.packets_return(64, threading.Event())
            with refused("bad-order", field):
                channel.request("send", 5, **fields)

    def test_target_sends_only_to_the_client(self, pair: Pair, channel: SecureChannel) -> None:
        """A holder of the key could otherwise flood another host, by a false source."""
        with closing(UdpPath(pair[1].instance, channel.keys, 0, ("127.0.0.9", 0))) as path:
            assert path.packets_return(64, threading.Event())
            with refused("bad-order") as caught:
                channel.request("send", 5, plan=plan(), first=100)
            assert "127.0.0.9" in str(caught.error)
            assert not path.timed.wait_readable(0.3), "a packet arrived"

    @pytest.mark.parametrize(
        "load", [TrainBack(TrainShape(burst=16, bursts=4, pause=0.9)), Throughput(3, 1.0)]
    )
    @pytest.mark.parametrize("limited", ["source", "target"])
    def test_loads_above_the_limit_are_refused(
        self, key: Path, pair: Pair, load: Probe, limited: str
    ) -> None:
        with run_agent("c", key, "127.0.0.3", "--loads", "1") as small:
            source, target = (small, pair[0]) if limited == "source" else (pair[0], small)
            order = ProbeOrder(target.instance, (load, UdpEcho()))
            reports = probe_at_once(source, key, order, order)
        loads = [report.findings[0] for report in reports]
        assert {each.why for each in loads if isinstance(each, ProbeFailure)} == {FailureCause.BUSY}
        assert len([each for each in loads if not isinstance(each, ProbeFailure)]) == 1
        assert all(isinstance(report.findings[1], RoundTrips) for report in reports)


class TestFailures:
    def test_target_without_an_agent_is_unreachable(self, pair: Pair, key: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            target = Instance("c", "127.0.0.1", taken.getsockname()[1])
            report = asyncio.run(request_probes(pair[0], target, key, UdpEcho(), TcpConnect(), Train()))
        for finding in report.findings:
            assert isinstance(finding, ProbeFailure)
            assert finding.why in (FailureCause.UNREACHABLE, FailureCause.VANISHED)
            assert "c" in finding.text

    def test_findings_before_the_target_vanished_are_kept(self, key: Path, pair: Pair) -> None:
        with run_agent("c", key, "127.0.0.3") as mortal:
            transfer = (Throughput(100, 0.1), UdpEcho(count=2, timeout=0.5), Train())
            order = ProbeOrder(mortal.instance, (UdpEcho(count=2), *transfer))
            threading.Timer(4.0, mortal.process.kill).start()
            (report,) = probe_at_once(pair[0], key, order)
        first, *rest = report.findings
        assert isinstance(first, RoundTrips)
        assert all(isinstance(finding, ProbeFailure) for finding in rest), rest
        causes = {each.why for each in rest if isinstance(each, ProbeFailure)}
        assert causes <= {FailureCause.VANISHED, FailureCause.UNREACHABLE}

    def test_client_notices_that_its_agent_vanished(self, key: Path, pair: Pair) -> None:
        with run_agent("c", key, "127.0.0.3") as mortal:

            async def probe_until_killed() -> None:
                async with await AgentClient.connect(mortal.instance, read_key(key)) as client:
                    order = ProbeOrder(pair[1].instance, (Throughput(50, 0.1),))
                    probing = asyncio.create_task(client.probe(order))
                    await asyncio.sleep(0.3)
                    mortal.process.kill()
                    with refused("vanished"):
                        await probing
                    with pytest.raises(ProbeError):
                        await client.probe(order)

            asyncio.run(probe_until_killed())

    def test_cancelled_order_frees_the_agent(self, key: Path, pair: Pair) -> None:
        with run_agent("c", key, "127.0.0.3", "--loads", "1") as small:

            async def cancel() -> ProbeReport:
                async with await AgentClient.connect(small.instance, read_key(key)) as client:
                    long = ProbeOrder(pair[1].instance, (Throughput(100, 1.0),))
                    with pytest.raises(TimeoutError):
                        await asyncio.wait_for(client.probe(long), 0.5)
                    short = ProbeOrder(pair[1].instance, (Throughput(1, 0.1),))
                    async with asyncio.timeout(30):
                        while True:
                            report = await client.probe(short)
                            if not isinstance(report.findings[0], ProbeFailure):
                                return report

            assert isinstance(asyncio.run(cancel()).findings[0], TransferResult)


class TestProcess:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_signal_ends_it_even_under_load(self, key: Path, pair: Pair, number: int) -> None:
        with run_agent("c", key, "127.0.0.3") as ending:

            async def interrupt() -> None:
                async with await AgentClient.connect(ending.instance, read_key(key)) as client:
                    order = ProbeOrder(pair[1].instance, (Throughput(100, 0.1),))
                    probing = asyncio.create_task(client.probe(order))
                    await asyncio.sleep(0.3)
                    ending.process.send_signal(number)
                    assert await asyncio.to_thread(ending.process.wait, 20) == 0
                    with pytest.raises(ProbeError):
                        await probing

            asyncio.run(interrupt())

    def test_port_has_one_agent(self, key: Path, pair: Pair) -> None:
        taken = pair[0].instance
        done = run_command("--host", taken.address, "--port", str(taken.port), "--key", str(key))
        assert done.returncode == 1
        assert "in use" in done.stderr

    def test_key_that_others_may_read_is_refused(self, tmp_path: Path) -> None:
        path = make_key(tmp_path)
        path.chmod(0o644)
        done = run_command("--key", str(path), "--port", "0")
        assert done.returncode == 1
        assert "mode 644" in done.stderr
        assert path.read_text().strip() not in done.stderr

    def test_new_key_is_made_once(self, tmp_path: Path) -> None:
        assert run_command("--key", str(tmp_path / "key"), "--new-key").returncode == 0
        assert len(read_key(tmp_path / "key")) == 32
        assert run_command("--key", str(tmp_path / "key"), "--new-key").returncode == 1


def run_command(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "measurement.probes.main", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
