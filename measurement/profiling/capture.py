"""A profile from captures of packets (pcap and pcapng files, as tcpdump and Wireshark write them)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import dpkt

from measurement.profiling.model import Profile
from measurement.profiling.packets import Link, dissect
from measurement.profiling.tally import Tally, profile
from measurement.profiling.tasks import Tasks


@dataclass(frozen=True, slots=True)
class Captured:
    """What came of some captures.

    :param frames: in all files; :param others: of them, that were neither TCP nor UDP over IP.
    :param outside: bytes whose sender or receiver is no task, in the file that has most of them.
    """

    profile: Profile
    frames: int
    others: int
    outside: int


def captured(files: Sequence[Path], tasks: Tasks) -> Captured:
    """Bytes between tasks in some captures of the same time, such as one at each host.

    A pair counts in the file that has most of it, for its packets may be in several.

    :raises ValueError: for what is no capture, is cut off, or begins its frames in an unknown way; or if
        there is not one frame.  It names the file.
    """
    tallies, times, others = [], list[float](), 0
    for file in files:
        tally = Tally(tasks)
        with file.open("rb") as stream:
            for at, frame, link in _frames(stream, file):
                times.append(at)
                packet = dissect(frame, len(frame), link)
                if packet is None:
                    others += 1
                else:
                    tally.add(packet)
        tallies.append(tally)
    if not times:
        raise ValueError(f"{', '.join(str(file) for file in files)}: there is not one frame")
    found = profile(tasks, (tally.sums for tally in tallies), min(times), max(times))
    return Captured(found, len(times), others, round(max(tally.outside for tally in tallies)))


def _frames(stream: BinaryIO, file: Path) -> Iterator[tuple[float, bytes, Link]]:
    """Times (seconds since 1970) and frames of a file."""
    try:
        reader = dpkt.pcap.UniversalReader(stream)
        link = Link(reader.datalink())
        for at, frame in reader:
            yield float(at), frame, link
    except dpkt.dpkt.Error as error:
        raise ValueError(f"{file}: is no capture, or is cut off: {error or 'too short'}") from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
