"""Captures: bytes between tasks in files that tcpdump and Wireshark would write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import dpkt
import pytest

from measurement.profiling.capture import captured
from measurement.profiling.packets import End
from measurement.profiling.tasks import Tasks
from tests.measurement.profiling.frames import ICMP, UDP, ethernet, ip
from tests.support.refusals import refused

A, B, ELSE = End("10.0.0.1", 1000), End("10.0.0.2", 2000), End("10.9.9.9", 1)
TASKS = Tasks.of({"a": [A.address], "b": [B.address]})
FRAMES = [
    (10.5, ethernet(ip(A, B, 1000))),
    (11.0, ethernet(ip(B, A, 0))),
    (12.0, ethernet(ip(B, A, 10, UDP))),
    (12.5, ethernet(ip(A, B, 0, ICMP))),
    (13.25, ethernet(ip(A, ELSE, 70))),
]


def written(
    file: Path, frames: Sequence[tuple[float, bytes]], kind: object = dpkt.pcap, **options: object
) -> Path:
    with file.open("wb") as stream:
        writer = kind.Writer(stream, **options)  # type: ignore[attr-defined]
        for at, frame in frames:
            writer.writepkt(frame, ts=at)
    return file


@pytest.mark.parametrize(
    ("kind", "options"), [(dpkt.pcap, {}), (dpkt.pcap, {"nano": True}), (dpkt.pcapng, {})]
)
def test_bytes_in_both_directions(tmp_path: Path, kind: object, options: dict[str, object]) -> None:
    found = captured([written(tmp_path / "a.pcap", FRAMES, kind, **options)], TASKS)
    assert found.profile.sent == {("a", "b"): 1000, ("b", "a"): 10}
    assert found.profile.errors == {}
    assert (found.profile.began, found.profile.ended) == pytest.approx((10.5, 13.25))
    assert (found.frames, found.others, found.outside) == (5, 1, 70)


def test_a_packet_that_was_captured_at_both_ends_counts_once(tmp_path: Path) -> None:
    both = [written(tmp_path / name, FRAMES[:count]) for name, count in (("a", 3), ("b", 5))]
    assert captured(both, TASKS).profile.sent == {("a", "b"): 1000, ("b", "a"): 10}


def test_other_links_than_ethernet(tmp_path: Path) -> None:
    file = written(tmp_path / "raw", [(1.0, ip(A, B, 5))], linktype=101)
    assert captured([file], TASKS).profile.sent == {("a", "b"): 5}


@pytest.mark.parametrize("content", [b"", b"hello, this is no capture at all" * 3, b"\n\r\r\n" + bytes(40)])
def test_what_is_no_capture_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "what.pcap"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"what\.pcap:"):
        captured([file], TASKS)


def test_a_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "cut.pcap", FRAMES)
    whole = file.read_bytes()
    file.write_bytes(whole[: 24 + 16 + len(FRAMES[0][1]) + 7])
    with pytest.raises(ValueError, match=r"cut\.pcap:"):
        captured([file], TASKS)


def test_an_unknown_link_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="radio:"):
        captured([written(tmp_path / "radio", FRAMES, linktype=127)], TASKS)


def test_a_capture_of_nothing_is_refused(tmp_path: Path) -> None:
    with refused(ValueError):
        captured([written(tmp_path / "empty", [])], TASKS)
