"""What limits a router's guests: classes of Linux's HTB, and the filters that choose among them (tc-htb(8)).

All that guests send passes one device (``shape``).  Octets of their addresses name the classes::

    1:                             the device
    +-- 1:0100                     egress of guest 1, its hose
    |   +-- 1:0102, 1:0103 ...     guest 1 to guests 2, 3 ..., where the path has a limit of its own
    |   +-- 1:01ff                 guest 1 to everybody else: one queue, as in a hose
    +-- 1:0104                     guest 1 to guest 4 of the same machine: not in the hose

The filters are classic BPF programs (bpf(4), as ``tc-bpf(8)`` writes them) that compute the class from the
addresses; thousands of filters, one per path, would each be tried in turn.
Values to ``tc -batch`` lines; nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from measurement.health.model import Pair
from mininet_topos.cloud.description import MAX_RATE, Cloud, Guest, Limit, Path

DEVICE = "shape"
FRAME = 1514
SMALLEST_BURST = 2 * FRAME
BURST_TIME = 100e-6
"""What a limit lets through at once, in seconds at its rate: about as long as the kernel's timer is late.

More would let the beginning of a packet train pass at the speed of memory; less would lose rate.
"""
SMALLEST_QUEUE = 200 * FRAME
"""Bytes: so much can wait anywhere.  [CHOREO] 4.1 found no losses to speak of with bursts of 200."""
QUANTUM = 10_000
"""Bytes that a path may send before the next one of the same hose has its turn."""
LAST_OF_SOURCE = 0xFFF0000F
"""Where the last octet of the source's address is, as classic BPF counts in IP packets (``SKF_NET_OFF``)."""
LAST_OF_DESTINATION = LAST_OF_SOURCE + 4
_LOAD, _SHIFT, _RETURN, _RETURN_A, _EQUAL, _OR = 48, 100, 6, 22, 21, 68
_OTHERS = 0xFF


def minor(source: int, destination: int = 0) -> str:
    """The class of a path, or (without a destination) of a guest's hose."""
    return f"1:{source:02x}{destination:02x}"


def router_lines(cloud: Cloud, guests: Sequence[Guest]) -> Iterator[str]:
    """All of a router's guests' limits, on a device that has none yet."""
    yield f"qdisc add dev {DEVICE} root handle 1: htb default 0"
    to_hose = (
        f"{_LOAD} 0 0 {LAST_OF_SOURCE}",
        f"{_SHIFT} 0 0 8",
        f"{_OR} 0 0 {1 << 16}",
        f"{_RETURN_A} 0 0 0",
    )
    yield _filter("1:", to_hose)
    for guest in guests:
        yield from _guest_lines(cloud, guest)


def changed_lines(cloud: Cloud, guest: Guest, destination: str) -> Iterator[str]:
    """One path's new limit, where it has had one."""
    yield _class("change", cloud, guest, destination)


def limited_device(device: str, rate: float, queue: float) -> Iterator[str]:
    """One limit for all that leaves by a device."""
    yield f"qdisc add dev {device} root handle 1: htb default 1"
    yield f"class add dev {device} parent 1: classid 1:1 htb {_rates(rate)}"
    yield f"qdisc add dev {device} parent 1:1 bfifo limit {queue_bytes(rate, queue)}"


def queue_bytes(rate: float, queue: float) -> int:
    """What can wait for a limit of ``rate`` bits/s for ``queue`` seconds."""
    return int(max(SMALLEST_QUEUE, rate * queue / 8))


def _guest_lines(cloud: Cloud, guest: Guest) -> Iterator[str]:
    source = cloud.octet(guest.name)
    others = [other for other in cloud.guests if other.name != guest.name]
    own = [other.name for other in others if has_own_class(cloud, guest, other.name)]
    hose = guest.egress or Limit(MAX_RATE)
    yield f"class add dev {DEVICE} parent 1: classid {minor(source)} htb {_hose(hose)}"
    yield _filter(
        minor(source), _within_hose(source, [cloud.octet(o.name) for o in others if o.name not in own])
    )
    for name in own:
        yield _class("add", cloud, guest, name)
        limit = _ceiling(guest, _path(cloud, guest, name))
        yield _queue(minor(source, cloud.octet(name)), limit, cloud.queue)
    if len(own) < len(others):
        rest = minor(source, _OTHERS)
        share = f"rate {_share(cloud, guest):.0f}bit {_ceil(hose.peak or hose.rate)}"
        yield f"class add dev {DEVICE} parent {minor(source)} classid {rest} htb {share}"
        yield _queue(rest, hose.peak or hose.rate, cloud.queue)


def has_own_class(cloud: Cloud, guest: Guest, destination: str) -> bool:
    """Whether a path has a limit beside its guest's hose."""
    pair = _pair(guest, destination)
    return cloud.path(pair).rate is not None or cloud.neighbours(pair)


def _class(verb: str, cloud: Cloud, guest: Guest, destination: str) -> str:
    source, target = cloud.octet(guest.name), cloud.octet(destination)
    path = _path(cloud, guest, destination)
    start = f"class {verb} dev {DEVICE}"
    if cloud.neighbours(_pair(guest, destination)):
        return f"{start} parent 1: classid {minor(source, target)} htb {_rates(path.rate or MAX_RATE)}"
    ceiling = _ceiling(guest, path)
    share = min(ceiling, _share(cloud, guest))
    return (
        f"{start} parent {minor(source)} classid {minor(source, target)} "
        f"htb rate {share:.0f}bit {_ceil(ceiling)}"
    )


def _ceiling(guest: Guest, path: Path) -> float:
    hose = guest.egress or Limit(MAX_RATE)
    return min(path.rate or MAX_RATE, hose.peak or hose.rate)


def _share(cloud: Cloud, guest: Guest) -> float:
    """What a path of a hose may have without asking: together no more than the hose (tc-htb(8))."""
    return max(8.0, (guest.egress or Limit(MAX_RATE)).rate / len(cloud.guests))


def _pair(guest: Guest, destination: str) -> Pair:
    return Pair(guest.name, destination)


def _path(cloud: Cloud, guest: Guest, destination: str) -> Path:
    return cloud.path(_pair(guest, destination))


def _hose(limit: Limit) -> str:
    if limit.peak is None:
        return _rates(limit.rate)
    return f"rate {limit.rate:.0f}bit burst {max(limit.bucket, SMALLEST_BURST):.0f} {_peak(limit.peak)}"


def _peak(rate: float) -> str:
    return f"ceil {rate:.0f}bit cburst {_burst(rate)} quantum {QUANTUM}"


def _ceil(rate: float) -> str:
    """Of a path within a hose: the burst of its assured share must not let more through than its own."""
    return f"burst {SMALLEST_BURST} {_peak(rate)}"


def _rates(rate: float) -> str:
    return f"rate {rate:.0f}bit burst {_burst(rate)} {_peak(rate)}"


def _burst(rate: float) -> int:
    return int(max(SMALLEST_BURST, rate * BURST_TIME / 8))


def _queue(parent: str, rate: float, queue: float) -> str:
    return f"qdisc add dev {DEVICE} parent {parent} bfifo limit {queue_bytes(rate, queue)}"


def _within_hose(source: int, without_limit: Sequence[int]) -> Iterator[str]:
    yield f"{_LOAD} 0 0 {LAST_OF_DESTINATION}"
    for octet in without_limit:
        yield f"{_EQUAL} 0 1 {octet}"
        yield f"{_RETURN} 0 0 {(1 << 16) | source << 8 | _OTHERS}"
    yield f"{_OR} 0 0 {(1 << 16) | source << 8}"
    yield f"{_RETURN_A} 0 0 0"


def _filter(parent: str, program: Sequence[str] | Iterator[str]) -> str:
    instructions = [*program]
    code = ",".join([str(len(instructions)), *instructions])
    return f'filter add dev {DEVICE} parent {parent} protocol all prio 1 bpf bytecode "{code}"'
