"""Advice for one path between two hosts: the pieces joined, settings for both ends, what is gained."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from adon.broker.tuning.buffers import Buffers, EndBuffers, buffer_settings, buffers
from adon.broker.tuning.control import congestion_control, is_broken, stream_limit
from adon.broker.tuning.facts import HostFacts, PathFacts
from adon.broker.tuning.frames import common_mtu, frames, present_mtu, segment
from adon.broker.tuning.item import Compare, Confidence, Gap, Item, Piece, Setting
from adon.broker.tuning.missing import missing
from adon.broker.tuning.pacing import pacing
from adon.broker.tuning.prediction import Prediction, Settings, predict
from adon.broker.tuning.queues import queues
from adon.broker.tuning.streams import UNEXPLAINED, Bound, Streams, memory_bound, parallel_streams
from adon.broker.tuning.window import in_mib, send_factor, window_of, window_share
from adon.units import format_duration, format_rate


@dataclass(frozen=True, slots=True)
class HostAdvice:
    """What one end should have.

    :param role: ``sender`` or ``receiver``.
    """

    host: str
    role: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """Everything that can be said, and what cannot.

    :param target: bits/s that path and interfaces carry; None if none of them is known.
    :param window: the largest window that the advised buffers allow one stream, bytes.
    :param buffer: the larger of sender's send and receiver's receive buffer.
    :param streams: None where it cannot be said, as are the others.
    """

    path: PathFacts
    target: float | None
    window: float | None
    buffer: int | None
    streams: int | None
    bounds: tuple[Bound, ...]
    mtu: int | None
    control: str | None
    items: tuple[Item, ...]
    gaps: tuple[Gap, ...]
    sender: HostAdvice
    receiver: HostAdvice
    prediction: Prediction | None

    @property
    def hosts(self) -> tuple[HostAdvice, HostAdvice]:
        """Both ends, the sender first."""
        return self.sender, self.receiver


@dataclass(frozen=True, slots=True)
class _Question:
    """Who asks, with what follows from the facts at once.

    :param mss: the largest segment as it will be, bytes.
    """

    path: PathFacts
    sender: HostFacts
    receiver: HostFacts
    target: float | None
    mtu: int | None
    mss: int
    control: str | None


def target_rate(path: PathFacts, sender: HostFacts, receiver: HostFacts) -> float | None:
    """What there is to fill: the least of path and interfaces; None if none is known."""
    return min((rate for rate in (path.rate, sender.rate, receiver.rate) if rate is not None), default=None)


def advise(
    path: PathFacts,
    sender: HostFacts,
    receiver: HostFacts,
    present_streams: int = 1,
) -> Advice:
    """What to set at both ends so that TCP fills the path, and what that gains.

    :param present_streams: how many the transfer opens now.
    """
    target, mtu = target_rate(path, sender, receiver), common_mtu(path, sender, receiver)
    mss = segment(present_mtu(path, sender, receiver) if mtu is None else mtu)
    control = congestion_control(path, sender, target, mss)
    asked = _Question(path, sender, receiver, target, mtu, mss, control.name)
    sized = buffers(path, sender, receiver, target, control.name)
    streams = None if sized is None else _streams(asked, sized)
    number = present_streams if streams is None else streams.number
    pieces = (
        control.piece,
        frames(path, sender, receiver),
        queues(sender, receiver, target),
        pacing(path, sender, receiver, number),
    )
    said = (
        None if sized is None else sized.item,
        None if streams is None else streams.item,
        *(piece.item for piece in pieces),
    )
    return Advice(
        path=path,
        target=target,
        window=None if sized is None else sized.window,
        buffer=None if sized is None else max(sized.sender.send, sized.receiver.receive),
        streams=None if streams is None else streams.number,
        bounds=() if streams is None else streams.bounds,
        mtu=mtu,
        control=control.name,
        items=tuple(item for item in said if item is not None),
        gaps=(*missing(path, sender, receiver, target), *(gap for piece in pieces for gap in piece.gaps)),
        sender=_host(sender, "sender", None if sized is None else sized.sender, pieces),
        receiver=_host(receiver, "receiver", None if sized is None else sized.receiver, pieces),
        prediction=_prediction(asked, sized, number, present_streams),
    )


def _host(host: HostFacts, role: str, end: EndBuffers | None, pieces: tuple[Piece, ...]) -> HostAdvice:
    settings = [] if end is None else list(buffer_settings(host, end))
    for piece in pieces:
        settings += piece.sender if role == "sender" else piece.receiver
    return HostAdvice(host.name, role, tuple(_no_less(setting, host) for setting in settings))


def _no_less(setting: Setting, host: HostFacts) -> Setting:
    """The setting, or what the host has where that is more: advice never takes anything away."""
    present = host.number(setting.key) if setting.kind == "sysctl" else None
    if setting.compare is Compare.EQUAL or present is None or not setting.value.isdecimal():
        return setting
    return replace(setting, value=str(max(present, int(setting.value))))


def _streams(asked: _Question, sized: Buffers) -> Streams | None:
    path = asked.path
    if asked.target is None or path.rtt is None or path.rtt.mean <= 0 or is_broken(path):
        return None
    by_loss = math.inf if asked.control == "bbr" else stream_limit(path, asked.mss)  # BBR does not go by loss
    per_stream = min(sized.window * 8 / path.rtt.mean, by_loss)
    formula = _per_stream(sized.window, path.rtt.mean, by_loss, asked.mss)
    confidence = Confidence.LOW if path.loss is None else Confidence.MEDIUM
    tested = _tested_stream(asked)
    if tested is not None and tested < per_stream:
        per_stream, confidence = tested, Confidence.LOW
        formula = f"a test reached {format_rate(tested)} per stream, less than the present settings explain"
    return parallel_streams(asked.target, per_stream, _bounds(asked, per_stream), formula, confidence)


def _bounds(asked: _Question, per_stream: float) -> tuple[Bound, ...]:
    rtt = 0.0 if asked.path.rtt is None else asked.path.rtt.mean
    under_way = min(per_stream, math.inf if asked.target is None else asked.target) * rtt / 8
    sender, receiver = asked.sender, asked.receiver
    found = (
        memory_bound(sender.name, sender.memory, under_way * send_factor(asked.control)),
        memory_bound(receiver.name, receiver.memory, under_way / window_share(receiver).value),
    )
    return tuple(bound for bound in found if bound is not None)


def _per_stream(window: float, rtt: float, by_loss: float, mss: int) -> str:
    terms = [f"{in_mib(window)} · 8 / {format_duration(rtt)} = {format_rate(window * 8 / rtt)}"]
    if math.isfinite(by_loss):
        terms.append(f"Mathis with {mss} B = {format_rate(by_loss)}")
    return f"per stream min({'; '.join(terms)})"


def _tested_stream(asked: _Question) -> float | None:
    """What one stream of a test got, if the present settings do not explain that it was no more."""
    path, reached = asked.path, asked.path.reached
    window = window_of(asked.sender, asked.receiver)
    if reached is None or window is None or path.rtt is None:
        return None
    limits = [window * 8 / path.rtt.mean, stream_limit(path, asked.mss)]
    limits += [] if path.rate is None else [path.rate / reached.streams]
    per_stream = reached.rate.mean / reached.streams
    return per_stream if 0 < per_stream < UNEXPLAINED * min(limits) else None


def _prediction(
    asked: _Question, sized: Buffers | None, streams: int, present_streams: int
) -> Prediction | None:
    path, sender, receiver = asked.path, asked.sender, asked.receiver
    if is_broken(path):
        return None
    now = window_of(sender, receiver)
    windows = [window for window in (now, None if sized is None else sized.window) if window is not None]
    # A host whose buffers are larger already keeps them.
    advised = Settings(streams, max(windows, default=None), asked.mss)
    present = Settings(present_streams, now, segment(present_mtu(path, sender, receiver)))
    return predict(replace(path, rate=asked.target), present, advised, loss_driven=asked.control != "bbr")
