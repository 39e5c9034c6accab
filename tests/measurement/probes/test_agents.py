"""Real agents that probe each other on loopback, and what happens when something is wrong."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.calibrating import trials
from measurement.probes.client import Agent
from measurement.probes.findings import (
    Carried,
    Failed,
    Failure,
    Load,
    ProbeError,
    Report,
    RoundTrips,
    Route,
    TrainFound,
    Widened,
)
from measurement.probes.key import read_key
from measurement.probes.line import Line
from measurement.probes.orders import (
    CrossTraffic,
    Hops,
    IcmpEcho,
    Order,
    Sandwich,
    SandwichBack,
    TcpConnect,
    TcpEcho,
    Throughput,
    Train,
    TrainBack,
    UdpEcho,
)
from measurement.probes.train import Shape
from measurement.probes.udp import Numbers, UdpPath, comes_back
from tests.measurement.probes.running import Running, agent, asked, new_key
from tests.support.refusals import refused

pytestmark = pytest.mark.integration
SHORT = Shape(burst=96, bursts=3)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_key(tmp_path_factory.mktemp("probes"))


@pytest.fixture(scope="module")
def pair(key: Path) -> Iterator[tuple[Running, Running]]:
    with agent("a", key) as one, agent("b", key, "127.0.0.2") as other:
        yield one, other


def probed(pair: tuple[Running, Running], key: Path, *probes: object) -> Report:
    return asyncio.run(asked(pair[0], pair[1].instance, key, *probes))  # type: ignore[arg-type]


class TestFindings:
    def test_round_trips_of_all_kinds(self, pair: tuple[Running, Running], key: Path) -> None:
        probes = (UdpEcho(64, 4), UdpEcho(1024, 4), TcpConnect(64, 4), TcpEcho(64, 4), TcpEcho(2000, 4))
        for finding in probed(pair, key, *probes).findings:
            assert isinstance(finding, RoundTrips), finding
            assert len(finding.answered) == 4
            assert all(0 < time < 1 for time in finding.answered)

    @pytest.mark.parametrize("length", [64, 512, 4096])
    def test_icmp_or_why_not(self, pair: tuple[Running, Running], key: Path, length: int) -> None:
        (finding,) = probed(pair, key, IcmpEcho(length, 3)).findings
        if isinstance(finding, Failed):
            assert os.geteuid() != 0
            assert finding.why == Failure.NOT_PERMITTED
            assert "ping_group_range" in finding.text
        else:
            assert isinstance(finding, RoundTrips)
            assert len(finding.answered) == 3

    def test_sandwich(self, pair: tuple[Running, Running], key: Path) -> None:
        (finding,) = probed(pair, key, Sandwich(count=3, large=1472)).findings
        assert isinstance(finding, Widened)
        assert finding.large == 1472
        assert all(by is not None and abs(by) < 0.1 for by in finding.by)

    def test_throughput_is_counted_where_it_arrives(self, pair: tuple[Running, Running], key: Path) -> None:
        one, two = probed(pair, key, Throughput(3, 0.1), Throughput(2, 0.1, connections=2)).findings
        assert isinstance(one, Carried)
        assert isinstance(two, Carried)
        assert (len(one.received), len(two.received)) == (3, 2)
        assert min(one.rates) > 1e6

    def test_trains(self, pair: tuple[Running, Running], key: Path) -> None:
        """Two in a row: no packet number is used twice, or the second would be taken for a replay."""
        for finding in probed(pair, key, Train(SHORT), Train(SHORT)).findings:
            assert isinstance(finding, TrainFound), finding
            assert finding.shape == SHORT
            assert finding.rate is not None
            assert finding.rtt is not None
            assert len(finding.arrived) == SHORT.bursts
            assert finding.lost < 1

    def test_what_the_target_sends_back(self, pair: tuple[Running, Running], key: Path) -> None:
        """Trains and sandwiches both ways over one connection, in any order; no number is used twice."""
        ways = (TrainBack(SHORT), SandwichBack(count=3, large=1472), Train(SHORT), TrainBack(SHORT, echoes=0))
        back, sandwich, there, again = probed(pair, key, *ways).findings
        for train in (back, there, again):
            assert isinstance(train, TrainFound), train
            assert train.shape == SHORT
            assert train.rate is not None
            assert train.lost < 1
            assert sum(one.count for burst in train.arrived for one in burst if one) > SHORT.burst
        assert (back.rtt is None, again.rtt is None) == (False, True)
        assert isinstance(sandwich, Widened), sandwich
        assert sandwich.large == 1472
        assert len(sandwich.by) == 3
        assert all(by is not None and abs(by) < 0.1 for by in sandwich.by)

    def test_cross_traffic(self, pair: tuple[Running, Running], key: Path) -> None:
        unknown, known = probed(pair, key, CrossTraffic(0.3), CrossTraffic(0.2, link=1e13)).findings
        assert isinstance(unknown, Load)
        assert isinstance(known, Load)
        assert len(unknown.rates) == 30
        assert known.mean is not None
        assert known.mean > 1  # loopback carries far less than that link would

    def test_hops(self, pair: tuple[Running, Running], key: Path) -> None:
        assert probed(pair, key, Hops(), Hops(routers=True)).findings == (Route(1), Route(1))

    def test_both_say_which_address_they_see(self, pair: tuple[Running, Running], key: Path) -> None:
        report = probed(pair, key, UdpEcho())
        assert (report.own, report.seen, report.translated) == ("127.0.0.1", "127.0.0.1", False)
        assert report.began <= report.ended

    def test_version_6(self, key: Path) -> None:
        with agent("a", key, "::1") as one, agent("b", key, "::1") as other:
            report = probed(
                (one, other),
                key,
                *(UdpEcho(), TcpConnect(), TcpEcho(), Sandwich(), Train(SHORT), Hops()),
                *(TrainBack(SHORT), SandwichBack()),
            )
        kinds = [finding.kind for finding in report.findings]
        assert kinds[:6] == ["round-trips", "round-trips", "round-trips", "widened", "train", "route"]
        assert kinds[6:] == ["train", "widened"]

    def test_orders_at_the_same_time(self, pair: tuple[Running, Running], key: Path) -> None:
        async def both() -> list[Report]:
            async with await Agent.connect(pair[0].instance, read_key(key)) as connected:
                orders = [Order(pair[1].instance, (UdpEcho(count=n), Train(SHORT))) for n in range(1, 9)]
                return await asyncio.gather(*map(connected.probe, orders))

        echoes = []
        for number, report in enumerate(asyncio.run(both()), 1):
            assert isinstance(report.findings[0], RoundTrips)
            assert len(report.findings[0].times) == number
            assert isinstance(report.findings[1], TrainFound)
            echoes += report.findings[0].times
        # The socket of the target can drop an echo of one order while the train of another arrives.
        assert sum(time is not None for time in echoes) > len(echoes) / 2

    def test_calibration_tries_all(self, pair: tuple[Running, Running], key: Path) -> None:
        async def calibrated() -> list[Shape]:
            async with await Agent.connect(pair[0].instance, read_key(key)) as connected:
                paths = [(connected, pair[1].instance)]
                found = await trials(paths, [SHORT, Shape()], repeats=2, transfer=Throughput(3, 0.1))
                assert all(len(trial.paths[0].rates) == 2 for trial in found)
                return [trial.shape for trial in found]

        assert asyncio.run(calibrated()) == [SHORT, Shape()]


class TestWrong:
    def test_nobody_there(self, pair: tuple[Running, Running], key: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            nobody = Instance("c", "127.0.0.1", taken.getsockname()[1])
            report = asyncio.run(asked(pair[0], nobody, key, UdpEcho(), TcpConnect(), Train()))
        for finding in report.findings:
            assert isinstance(finding, Failed)
            assert finding.why in (Failure.UNREACHABLE, Failure.VANISHED)
            assert "c" in finding.text

    def test_who_does_not_know_the_key(
        self, pair: tuple[Running, Running], tmp_path: Path, key: Path
    ) -> None:
        other = new_key(tmp_path)
        with pytest.raises(ProbeError) as caught:
            asyncio.run(asked(pair[0], pair[1].instance, other, UdpEcho()))
        assert caught.value.why == Failure.DENIED
        with agent("c", other, "127.0.0.3") as stranger:
            udp, connect = asyncio.run(
                asked(pair[0], stranger.instance, key, UdpEcho(), TcpConnect(count=1))
            ).findings
        assert isinstance(udp, Failed)
        assert udp.why == Failure.DENIED
        assert isinstance(connect, RoundTrips)  # that needs no agent

    @pytest.mark.parametrize(
        ("said", "why"),
        [
            (wire.hello(bytes(32), 7), Failure.VERSION),
            (b"SSH-2.0-OpenSSH_9.2\r\n".ljust(64), Failure.UNREACHABLE),
        ],
    )
    def test_another_version_and_another_service(self, said: bytes, why: Failure) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:

            async def met() -> None:
                loop = asyncio.get_running_loop()
                server.setblocking(False)

                async def answer() -> None:
                    sock, _ = await loop.sock_accept(server)
                    with sock:
                        await loop.sock_recv(sock, 1000)
                        await loop.sock_sendall(sock, said)
                        await asyncio.sleep(0.2)

                answering = asyncio.create_task(answer())
                there = Instance("old", "127.0.0.1", server.getsockname()[1])
                with pytest.raises(ProbeError, match="old") as caught:
                    await Line.connect(there, bytes(32))
                assert caught.value.why == why
                await answering

            asyncio.run(met())

    def test_a_server_that_does_not_prove_itself_is_not_believed(self) -> None:
        """It knows nothing, takes any proof, and goes on as if it knew the key."""
        with socket.create_server(("127.0.0.1", 0)) as server:

            async def met() -> None:
                loop = asyncio.get_running_loop()
                server.setblocking(False)

                async def pretend() -> None:
                    sock, _ = await loop.sock_accept(server)
                    with sock:
                        await loop.sock_recv(sock, 1000)
                        await loop.sock_sendall(sock, wire.hello(bytes(32)))
                        await loop.sock_recv(sock, 1000)
                        await loop.sock_sendall(sock, bytes(wire.PROOF_BYTES))
                        await asyncio.sleep(0.2)

                pretending = asyncio.create_task(pretend())
                there = Instance("false", "127.0.0.1", server.getsockname()[1])
                with refused("denied"):
                    await Line.connect(there, bytes(32))
                await pretending

            asyncio.run(met())

    def test_an_agent_tells_another_version_its_own(self, pair: tuple[Running, Running]) -> None:
        answer = said(pair[1].instance, wire.hello(bytes(32), 7))
        assert len(answer) == wire.HELLO_BYTES
        wire.check_hello(answer)

    @pytest.mark.parametrize(
        "bytes_sent", [b"", b"x", b"GET / HTTP/1.0\r\n\r\n", b"\xa5" * 64, b"\xa5" * 5000]
    )
    def test_strangers_get_no_more_than_they_send(
        self, pair: tuple[Running, Running], bytes_sent: bytes
    ) -> None:
        assert len(said(pair[1].instance, bytes_sent)) <= len(bytes_sent)

    def test_a_proof_without_the_key_ends_it(self, pair: tuple[Running, Running]) -> None:
        sent = wire.hello(bytes(32)) + bytes(wire.PROOF_BYTES)
        assert len(said(pair[1].instance, sent)) == wire.HELLO_BYTES

    def test_a_repeated_message_ends_the_connection(self, pair: tuple[Running, Running], key: Path) -> None:
        async def repeated() -> None:
            line = await Line.connect(pair[1].instance, read_key(key))
            assert await line.ask("status", 5) == {"limited": 0, "forged": 0, "repeated": 0}
            line._sent -= 1
            with pytest.raises(ProbeError) as caught:
                await line.ask("status", 5)
            assert caught.value.why == Failure.VANISHED
            line.close()

        asyncio.run(repeated())

    @pytest.mark.parametrize(
        ("message", "field"),
        [
            ({"do": "fly"}, "do"),
            ({"do": "train-back", "shape": {}, "first": 0}, ""),
            ({"do": "sandwich-back", "sandwich": {}, "first": 0}, ""),
            ({"do": "train"}, "train"),
            ({"do": "arrived", "segments": 1}, "arrived"),
            ({"do": "probe", "order": {"target": {}}}, "order.target.name"),
            ({"do": "drain", "intervals": 10**9, "interval": 1}, "intervals"),
            ({"do": "echo", "length": 10**9}, "length"),
        ],
    )
    def test_what_cannot_be_done_is_answered_by_name(
        self, pair: tuple[Running, Running], key: Path, message: dict[str, object], field: str
    ) -> None:
        async def ask() -> None:
            line = await Line.connect(pair[1].instance, read_key(key))
            more = {name: value for name, value in message.items() if name != "do"}
            with refused("bad-order", field):
                await line.ask(str(message["do"]), 5, **more)
            line.close()

        asyncio.run(ask())

    @pytest.mark.parametrize(
        ("message", "field"),
        [
            ({"do": "train-back", "shape": {"burst": 10**6}, "first": 9}, "shape"),
            ({"do": "train-back", "shape": {"bursts": 9, "pause": 1.0}, "first": 9}, "probe"),
            ({"do": "train-back", "shape": {}, "first": 2**32}, "first"),
            ({"do": "train-back", "shape": {}}, "train-back"),
            ({"do": "sandwich-back", "sandwich": {"count": 9000}, "first": 9}, "probe"),
            ({"do": "sandwich-back", "sandwich": {"large": 10**6}, "first": 9}, "large"),
            ({"do": "sandwich-back", "first": 9}, "sandwich-back"),
        ],
    )
    def test_no_more_comes_back_than_an_order_may_ask_for(
        self, pair: tuple[Running, Running], key: Path, message: dict[str, object], field: str
    ) -> None:
        async def ask() -> None:
            line = await Line.connect(pair[1].instance, read_key(key))
            path = UdpPath(pair[1].instance, line.keys, Numbers())
            assert await asyncio.to_thread(comes_back, path, 64, threading.Event())
            more = {name: value for name, value in message.items() if name != "do"}
            with refused("bad-order", field):
                await line.ask(str(message["do"]), 5, **more)
            path.close()
            line.close()

        asyncio.run(ask())

    @pytest.mark.parametrize(
        "message",
        [
            {"do": "train-back", "shape": {}, "first": 100},
            {"do": "sandwich-back", "sandwich": {}, "first": 100},
        ],
    )
    def test_nothing_is_sent_to_anybody_but_who_asks(
        self, pair: tuple[Running, Running], key: Path, message: dict[str, object]
    ) -> None:
        """Genuine packets from another address than the connection's: who has the key could forge them."""

        async def aside() -> None:
            line = await Line.connect(pair[1].instance, read_key(key))  # from 127.0.0.1
            other = UdpPath(pair[1].instance, line.keys, Numbers(), ("127.0.0.9", 0))
            assert await asyncio.to_thread(comes_back, other, 64, threading.Event())
            more = {name: value for name, value in message.items() if name != "do"}
            with refused("bad-order") as caught:
                await line.ask(str(message["do"]), 5, **more)
            assert "127.0.0.9" in str(caught.error)
            assert not other.timed.readable(0.3), "nothing came there"
            other.close()
            line.close()

        asyncio.run(aside())

    def test_what_comes_back_is_a_load_at_both(self, key: Path, pair: tuple[Running, Running]) -> None:
        shape = Shape(burst=16, bursts=2, pause=0.5)
        with agent("c", key, "127.0.0.3", "--loads", "1") as small:

            async def both(source: Running, target: Running) -> list[Report]:
                async with await Agent.connect(source.instance, read_key(key)) as connected:
                    order = Order(target.instance, (TrainBack(shape), UdpEcho()))
                    return await asyncio.gather(connected.probe(order), connected.probe(order))

            there = asyncio.run(both(pair[0], small))
            here = asyncio.run(both(small, pair[0]))
        for reports in (there, here):
            trains = [report.findings[0] for report in reports]
            assert sorted(each.kind for each in trains) == ["failed", "train"]
            assert {each.why for each in trains if isinstance(each, Failed)} == {Failure.BUSY}
            assert all(isinstance(report.findings[1], RoundTrips) for report in reports)

    def test_an_oversized_order_ends_the_connection(self, pair: tuple[Running, Running], key: Path) -> None:
        async def too_long() -> None:
            line = await Line.connect(pair[1].instance, read_key(key))
            with pytest.raises(ProbeError):
                await line.ask("probe", 5, order="x" * wire.MOST_ORDER)
            line.close()

        asyncio.run(too_long())

    def test_more_loads_than_it_takes(self, key: Path, pair: tuple[Running, Running]) -> None:
        with agent("c", key, "127.0.0.3", "--loads", "1") as small:

            async def both() -> list[Report]:
                async with await Agent.connect(pair[0].instance, read_key(key)) as connected:
                    order = Order(small.instance, (Throughput(5, 0.1), UdpEcho()))
                    return await asyncio.gather(connected.probe(order), connected.probe(order))

            reports = asyncio.run(both())
        transfers = [report.findings[0] for report in reports]
        assert sorted(each.kind for each in transfers) == ["carried", "failed"]
        assert {each.why for each in transfers if isinstance(each, Failed)} == {Failure.BUSY}
        assert all(isinstance(report.findings[1], RoundTrips) for report in reports)

    def test_one_that_vanishes_meanwhile(self, key: Path, pair: tuple[Running, Running]) -> None:
        """What was found before is kept, and the rest is named."""
        with agent("c", key, "127.0.0.3") as mortal:

            async def bereft() -> Report:
                async with await Agent.connect(pair[0].instance, read_key(key)) as connected:
                    order = Order(
                        mortal.instance,
                        (UdpEcho(count=2), Throughput(20, 0.1), UdpEcho(count=2, timeout=0.5), Train()),
                    )
                    asking = asyncio.create_task(connected.probe(order))
                    await asyncio.sleep(0.7)
                    mortal.process.kill()
                    return await asking

            report = asyncio.run(bereft())
        first, *rest = report.findings
        assert isinstance(first, RoundTrips)
        assert all(isinstance(finding, Failed) for finding in rest), rest
        assert {each.why for each in rest if isinstance(each, Failed)} <= {
            Failure.VANISHED,
            Failure.UNREACHABLE,
        }

    def test_the_asked_one_vanishes(self, key: Path, pair: tuple[Running, Running]) -> None:
        with agent("c", key, "127.0.0.3") as mortal:

            async def bereft() -> None:
                async with await Agent.connect(mortal.instance, read_key(key)) as connected:
                    asking = asyncio.create_task(
                        connected.probe(Order(pair[1].instance, (Throughput(50, 0.1),)))
                    )
                    await asyncio.sleep(0.3)
                    mortal.process.kill()
                    with pytest.raises(ProbeError) as caught:
                        await asking
                    assert caught.value.why == Failure.VANISHED
                    with pytest.raises(ProbeError):
                        await connected.probe(Order(pair[1].instance, (UdpEcho(),)))

            asyncio.run(bereft())


class TestProcess:
    def test_it_ends_when_told_even_under_load(self, key: Path, pair: tuple[Running, Running]) -> None:
        with agent("c", key, "127.0.0.3") as ending:

            async def interrupted() -> None:
                async with await Agent.connect(ending.instance, read_key(key)) as connected:
                    order = Order(pair[1].instance, (Throughput(100, 0.1),))
                    asking = asyncio.create_task(connected.probe(order))
                    await asyncio.sleep(0.3)
                    assert await asyncio.to_thread(ending.end) == 0
                    with pytest.raises(ProbeError):
                        await asking

            asyncio.run(interrupted())

    def test_a_port_has_one_agent(self, key: Path, pair: tuple[Running, Running]) -> None:
        taken = replace(pair[0].instance)
        done = started("--host", taken.address, "--port", str(taken.port), "--key", str(key))
        assert done.returncode == 1
        assert "in use" in done.stderr

    def test_a_key_that_others_may_read_is_refused(self, tmp_path: Path) -> None:
        path = new_key(tmp_path)
        path.chmod(0o644)
        done = started("--key", str(path), "--port", "0")
        assert done.returncode == 1
        assert "mode 644" in done.stderr
        assert path.read_text().strip() not in done.stderr

    def test_it_makes_a_key(self, tmp_path: Path) -> None:
        assert started("--key", str(tmp_path / "key"), "--new-key").returncode == 0
        assert len(read_key(tmp_path / "key")) == 32
        assert started("--key", str(tmp_path / "key"), "--new-key").returncode == 1

    def test_sigint_too(self, key: Path) -> None:
        with agent("c", key, "127.0.0.3") as ending:
            ending.process.send_signal(signal.SIGINT)
            assert ending.process.wait(20) == 0


def started(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "measurement.probes.main", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def said(there: Instance, sent: bytes) -> bytes:
    """All that an agent says to who sends this and no more."""
    answer = b""
    with socket.create_connection((there.address, there.port), timeout=10) as sock:
        try:
            sock.sendall(sent)
            sock.shutdown(socket.SHUT_WR)
            while got := sock.recv(65_536):
                answer += got
        except TimeoutError:
            raise
        except OSError:
            return answer  # it ended it, without reading everything
    return answer
