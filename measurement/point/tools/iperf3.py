"""iperf3 (3.9 or later): throughput over TCP and UDP.  Pure.

The result has pScheduler's form, with two things kept straight that its own plug-in does not:
``throughput-bytes`` is the number of bytes (as there), and the overall ``lost`` and ``jitter`` of a UDP
test are those of its streams, not zero.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from measurement.point.children import ToolFailed
from measurement.point.specs import Throughput

READY = "Server listening on"


def server_argv(spec: Throughput, port: int) -> list[str]:
    """A server for one test.  It prints text, because with ``--json`` it says nothing until its end."""
    return ["iperf3", "-s", "-1", "-B", spec.dest, "-p", str(port), "--forceflush"]


def client_argv(spec: Throughput, port: int) -> list[str]:
    """The client, bound to the measurement address."""
    argv = ["iperf3", "-c", spec.dest, "-p", str(port), "-J", "--connect-timeout", "5000"]
    argv += ["-t", f"{spec.duration:g}", "-P", str(spec.parallel)]
    options: Mapping[str, object] = {
        "-B": spec.source,
        "-i": spec.interval,
        "-b": spec.bandwidth,
        "-w": spec.window_size,
        "-M": spec.mss,
        "-l": spec.buffer_length,
        "-S": spec.ip_tos,
        "-O": spec.omit,
        "-C": spec.congestion,
    }
    for option, value in options.items():
        if value is not None:
            argv += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    flags = {"-u": spec.udp, "-N": spec.no_delay, "-Z": spec.zero_copy, "-R": spec.reverse}
    argv += [flag for flag, wanted in flags.items() if wanted]
    return argv + ([f"-{spec.ip_version}"] if spec.ip_version is not None else [])


def parse(stdout: str, spec: Throughput) -> dict[str, Any]:
    """The client's JSON as a pScheduler throughput result.

    :raises ToolFailed: with iperf3's own error, or when the output is not what it should be.
    """
    try:
        document = json.loads(stdout)
        if document.get("error"):
            raise ToolFailed(f"iperf3: {document['error']}")
        end = document["end"]
        streams = [_udp(s["udp"]) if spec.udp else _tcp(s) for s in end["streams"]]
        return {
            "schema": 1,
            "succeeded": True,
            "summary": {"summary": _overall(end, streams, spec), "streams": streams},
            "intervals": [_interval(interval) for interval in document["intervals"]],
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolFailed(f"iperf3 printed something unexpected ({type(error).__name__}: {error})") from None


def _rates(part: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "start": part["start"],
        "end": part["end"],
        "throughput-bits": part["bits_per_second"],
        "throughput-bytes": part["bytes"],
    }
    return found | ({"retransmits": part["retransmits"]} if "retransmits" in part else {})


def _tcp(stream: Mapping[str, Any]) -> dict[str, Any]:
    sender = stream["sender"]
    found = {"stream-id": sender["socket"], **_rates(sender)}
    return found | ({"rtt": sender["mean_rtt"]} if "mean_rtt" in sender else {})


def _udp(stream: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "stream-id": stream["socket"],
        **_rates(stream),
        "sent": stream["packets"],
        "lost": stream["lost_packets"],
        "jitter": stream["jitter_ms"],
    }


def _overall(
    end: Mapping[str, Any], streams: Sequence[Mapping[str, Any]], spec: Throughput
) -> dict[str, Any]:
    found = _rates(end["sum_sent"] if "sum_sent" in end else end["sum"])
    if not spec.udp:
        return {**found, "receiver-throughput-bits": end["sum_received"]["bits_per_second"]}
    sent = sum(stream["sent"] for stream in streams)
    lost = sum(stream["lost"] for stream in streams)
    arrived = (sent - lost) / sent if sent else 0.0
    jitter = sum(stream["jitter"] for stream in streams) / len(streams) if streams else 0.0
    goodput = found["throughput-bits"] * arrived
    return {**found, "sent": sent, "lost": lost, "jitter": jitter, "receiver-throughput-bits": goodput}


def _interval(interval: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "summary": {**_rates(interval["sum"]), "omitted": interval["sum"].get("omitted", False)},
        "streams": [_interval_stream(stream) for stream in interval["streams"]],
    }


def _interval_stream(stream: Mapping[str, Any]) -> dict[str, Any]:
    found = {"stream-id": stream["socket"], **_rates(stream), "omitted": stream.get("omitted", False)}
    renamed = {"rtt": "rtt", "snd_cwnd": "tcp-window-size", "packets": "sent"}
    return found | {ours: stream[theirs] for theirs, ours in renamed.items() if theirs in stream}
