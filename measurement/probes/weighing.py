"""What a train says, given what came of it.  Values and functions only."""

from __future__ import annotations

from measurement.probes.findings import TrainFound
from measurement.probes.train import Arrived, Estimate, Shape, estimate, joined, limited, settled, tcp_payload
from measurement.probes.train_sockets import Came


def weighed(shape: Shape, came: Came, rtt: float | None) -> TrainFound:
    """What a train says, as the paper has it and with the refinements of :mod:`measurement.probes.train`.

    :param shape: of what was really sent.
    """
    segments = came.segments[: shape.bursts]
    paper = estimate(shape, [joined(each) for each in segments], rtt)
    found = settled(segments, shape.packet)
    refined = paper
    if paper.rate is not None and found is not None:
        refined = limited(tcp_payload(found, shape.packet), _lost_on_the_way(shape, paper, came), rtt)
    return TrainFound(
        refined.rate,
        paper.rate,
        paper.lost,
        refined.limited,
        paper.why,
        shape,
        rtt,
        _took(segments),
        came.overflowed,
        segments,
    )


def _lost_on_the_way(shape: Shape, paper: Estimate, came: Came) -> float:
    """The share lost by the network; what the receiver's socket had no place for says nothing of TCP."""
    return max(0.0, paper.lost - came.overflowed / (shape.burst * shape.bursts))


def _took(bursts: tuple[tuple[Arrived | None, ...], ...]) -> float:
    came = [segment for each in bursts for segment in each if segment is not None]
    return max(one.ended for one in came) - min(one.began for one in came) if came else 0.0
