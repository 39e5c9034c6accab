from __future__ import annotations

import json
from typing import Any

import pytest

from measurement.point import owd, views
from measurement.point.children import Completed, ToolFailed
from measurement.point.owd import Packet
from measurement.point.specs import Latency, Rtt, Throughput, Trace, parse_schedule, parse_spec, parse_task
from measurement.point.tools import iperf3, ping, traceroute
from tests.support.refusals import refused

PING = """\
PING 192.0.2.2 (192.0.2.2) from 192.0.2.1 : 56(84) bytes of data.
64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=20.3 ms
64 bytes from 192.0.2.2: icmp_seq=3 ttl=63 time=21.3 ms
64 bytes from 192.0.2.2: icmp_seq=3 ttl=63 time=25.0 ms (DUP!)
64 bytes from 192.0.2.2: icmp_seq=2 ttl=64 time=22.3 ms
From 192.0.2.9 icmp_seq=4 Destination Host Unreachable

--- 192.0.2.2 ping statistics ---
4 packets transmitted, 3 received, +1 duplicates, +1 errors, 25% packet loss, time 405ms
rtt min/avg/max/mdev = 20.3/21.3/22.3/0.1 ms
"""


def test_ping_with_errors_and_duplicates_is_read_like_any_other() -> None:
    found = ping.parse(Completed(0, PING, ""))
    assert {name: found[name] for name in ("sent", "received", "lost", "duplicates", "reorders")} == {
        "sent": 4, "received": 3, "lost": 1, "duplicates": 1, "reorders": 1,
    }  # fmt: skip
    assert (found["loss"], found["mean"], found["min"]) == (0.25, "PT0.0213S", "PT0.0203S")
    assert found["roundtrips"][-1] == {"seq": 4, "ip": "192.0.2.9", "error": "host-unreachable"}


def test_no_reply_at_all_is_a_result_without_times() -> None:
    found = ping.parse(Completed(1, "2 packets transmitted, 0 received, 100% packet loss\n", ""))
    assert found["loss"] == 1
    assert "mean" not in found


def test_a_ping_that_cannot_start_failed() -> None:
    with pytest.raises(ToolFailed, match="nowhere"):
        ping.parse(Completed(2, "", "ping: nowhere: Name or service not known\n"))


def test_ping_is_bound_to_the_measurement_address() -> None:
    spec = parse_spec("rtt", {"source": "192.0.2.1", "dest": "192.0.2.2", "count": 3, "interval": "PT0.2S"})
    assert isinstance(spec, Rtt)
    argv = ping.argv(spec)
    assert argv[argv.index("-I") + 1] == "192.0.2.1"
    assert argv[argv.index("-i") + 1] == "0.2"
    assert argv[-1] == "192.0.2.2"


def stream(socket: int) -> dict[str, Any]:
    sender = {"socket": socket, "start": 0, "end": 1.0, "bytes": 1000, "bits_per_second": 8000.0,
              "retransmits": 1, "mean_rtt": 68}  # fmt: skip
    return {"sender": sender, "receiver": {**sender, "bits_per_second": 7900.0}}


TCP = {
    "intervals": [{
        "streams": [{"socket": 5, "start": 0, "end": 1.0, "bytes": 1000, "bits_per_second": 8000.0,
                     "retransmits": 1, "snd_cwnd": 785796, "rtt": 68, "omitted": False}],
        "sum": {"start": 0, "end": 1.0, "bytes": 1000, "bits_per_second": 8000.0, "retransmits": 1},
    }],
    "end": {
        "streams": [stream(5), stream(7)],
        "sum_sent": {"start": 0, "end": 1.0, "bytes": 2000, "bits_per_second": 16000.0, "retransmits": 2},
        "sum_received": {"start": 0, "end": 1.0, "bytes": 2000, "bits_per_second": 15800.0},
    },
}  # fmt: skip


def udp(socket: int, packets: int, lost: int) -> dict[str, Any]:
    return {"udp": {"socket": socket, "start": 0, "end": 1.0, "bytes": 1000, "bits_per_second": 8000.0,
                    "jitter_ms": 2.0, "lost_packets": lost, "packets": packets}}  # fmt: skip


UDP = {
    "intervals": [],
    "end": {
        "streams": [udp(5, 60, 40), udp(7, 40, 15)],
        "sum": {"start": 0, "end": 1.0, "bytes": 2000, "bits_per_second": 16000.0, "lost_packets": 0},
    },
}


def throughput(**fields: Any) -> Throughput:
    spec = parse_spec("throughput", {"source": "192.0.2.1", "dest": "192.0.2.2", **fields})
    assert isinstance(spec, Throughput)
    return spec


def test_tcp_has_the_documented_form() -> None:
    found = iperf3.parse(json.dumps(TCP), throughput(parallel=2))
    summary = found["summary"]["summary"]
    assert summary["throughput-bits"] == 16000
    assert summary["receiver-throughput-bits"] == 15800
    assert summary["throughput-bytes"] == 2000
    assert summary["retransmits"] == 2
    assert [s["stream-id"] for s in found["summary"]["streams"]] == [5, 7]
    assert found["summary"]["streams"][0]["rtt"] == 68
    assert found["intervals"][0]["streams"][0]["tcp-window-size"] == 785796


def test_udp_loss_is_in_the_summary_too_and_goodput_is_what_arrived() -> None:
    found = iperf3.parse(json.dumps(UDP), throughput(udp=True))
    summary = found["summary"]["summary"]
    assert (summary["sent"], summary["lost"], summary["jitter"]) == (100, 55, 2.0)
    assert summary["receiver-throughput-bits"] == pytest.approx(16000 * 0.45)
    assert found["summary"]["streams"][0]["lost"] == 40


@pytest.mark.parametrize(
    "stdout", ["", "iperf3: error", "[]", "{}", '{"end": {}}', '{"error": "unable to connect"}']
)
def test_what_is_no_report_is_a_failure(stdout: str) -> None:
    with pytest.raises(ToolFailed, match="iperf3"):
        iperf3.parse(stdout, throughput())


def test_iperf3_is_bound_at_both_ends() -> None:
    spec = throughput(parallel=4, duration="PT5S", udp=True, bandwidth=10_000_000)
    client, server = iperf3.client_argv(spec, 5201), iperf3.server_argv(spec, 5201)
    assert client[client.index("-B") + 1] == "192.0.2.1"
    assert client[client.index("-t") + 1] == "5"
    assert client[client.index("-P") + 1] == "4"
    assert "-u" in client
    assert server[server.index("-B") + 1] == "192.0.2.2"


def test_traceroute_with_silence_and_a_flag() -> None:
    text = "traceroute to 192.0.2.2, 5 hops max\n 1  10.0.0.1  0.130 ms\n 2  *\n 3  192.0.2.9  1 ms !H\n"
    assert traceroute.parse(Completed(0, text, ""))["paths"] == [
        [
            {"ip": "10.0.0.1", "rtt": "PT0.00013S"},
            {},
            {"ip": "192.0.2.9", "rtt": "PT0.001S", "error": "host-unreachable"},
        ]
    ]
    with pytest.raises(ToolFailed):
        traceroute.parse(Completed(1, "", "cannot bind"))
    trace = parse_spec("trace", {"dest": "192.0.2.2", "whatever": 1})
    assert isinstance(trace, Trace)
    assert traceroute.argv(trace)[-1] == "192.0.2.2"


def latency(**fields: Any) -> Latency:
    spec = parse_spec("latency", {"dest": "192.0.2.2", **fields})
    assert isinstance(spec, Latency)
    return spec


def test_one_way_delay_counts_lost_duplicated_and_reordered() -> None:
    ms = 10**6
    packets = [
        Packet(0, 0, 2 * ms, 64),
        Packet(2, 0, 3 * ms, 64),
        Packet(1, 0, 3 * ms, 63),
        Packet(1, 0, 9 * ms, 63),
    ]
    found = owd.result(packets, latency(**{"packet-count": 4, "output-raw": True}))
    assert found["packets-lost"] == 1
    assert found["packets-duplicated"] == 1
    assert found["packets-reordered"] == 1
    assert found["histogram-latency"] == {"2.00": 1, "3.00": 2}
    assert found["histogram-ttl"] == {"64": 2, "63": 1}
    assert [packet["dst-ts"] == 0 for packet in found["raw-packets"]] == [False, False, False, True]
    tenth = owd.result(packets, latency(**{"packet-count": 4, "bucket-width": 0.01}))
    assert tenth["histogram-latency"] == {"0.20": 1, "0.30": 2}


def test_a_datagram_of_another_session_is_no_packet() -> None:
    token, other = bytes(16), b"x" * 16
    assert owd.unpack(owd.pack(token, 7, 123), token) == (7, 123)
    assert owd.unpack(owd.pack(other, 7, 123), token) is None
    assert owd.unpack(b"short", token) is None


def test_ntp_time() -> None:
    assert owd.ntp(0) == 2_208_988_800 * 2**32
    assert owd.ntp(500_000_000) - owd.ntp(0) == 2**31


@pytest.mark.parametrize(
    ("test", "spec", "field"),
    [
        ("rtt", {}, "dest"),
        ("rtt", {"dest": "--flood"}, "dest"),
        ("rtt", {"dest": "a b"}, "dest"),
        ("rtt", {"dest": "192.0.2.2", "count": 0}, "count"),
        ("rtt", {"dest": "192.0.2.2", "count": "5"}, "count"),
        ("rtt", {"dest": "192.0.2.2", "interval": "P0D"}, "interval"),
        ("rtt", {"dest": "192.0.2.2", "interval": "fast"}, "interval"),
        ("rtt", {"dest": "192.0.2.2", "flood": True}, "flood"),
        ("throughput", {"dest": "a", "duration": "P1D"}, "duration"),
        ("throughput", {"dest": "a", "dest-node": "a/b"}, "dest-node"),
        ("throughput", {"dest": "a", "congestion": "-x"}, "congestion"),
        ("latency", {"dest": "a", "packet-interval": 0}, "packet-interval"),
        ("sing", {}, ""),
        ("rtt", [], "document"),
    ],
)
def test_a_bad_specification_names_its_field(test: str, spec: Any, field: str) -> None:
    with refused(ValueError, field):
        parse_spec(test, spec)


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        ({"repeat": "P0D"}, "schedule.repeat"),
        ({"until": "PT1H"}, ""),
        ({"until": "2001-01-01T00:00:00Z"}, "schedule.until"),
        ({"start": "soonest"}, ""),
        ({"repeat-cron": "* * * * *"}, "schedule.repeat-cron"),
        ({"max-runs": 0}, "schedule.max-runs"),
    ],
)
def test_a_bad_schedule_names_its_field(schedule: Any, field: str) -> None:
    body = {"test": {"type": "rtt", "spec": {}}, "schedule": schedule}
    with refused(ValueError, field):
        parse_schedule(parse_task(body).schedule, 2e9)


def test_starts_relative_absolute_and_aligned() -> None:
    def start(text: str) -> float:
        body = {
            "test": {"type": "rtt", "spec": {}},
            "schedule": {"start": text, "repeat": "PT10S", "slip": "PT1H"},
        }
        schedule = parse_schedule(parse_task(body).schedule, 2_000_000_100.0)
        assert schedule.slip == 10  # cut to the repeat
        return schedule.start

    assert start("PT10S") == 2_000_000_110
    assert start("@PT1H") % 3600 == 0
    assert start("1999-01-01T00:00:00Z") == 2_000_000_100


def test_private_items_are_hidden_at_any_depth() -> None:
    assert views.hidden({"_key": "k", "a": [{"_url": "u", "b": 1}]}) == {
        "_key": None,
        "a": [{"_url": None, "b": 1}],
    }


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": [1, 2]}, {"a": [2]}, True),
        ({"a": 1}, {"a": [1]}, False),
    ],
)
def test_containment(value: Any, pattern: Any, expected: bool) -> None:
    assert views.contains(value, pattern) is expected
