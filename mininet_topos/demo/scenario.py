"""The story of figure 18 ([ADON] 5.2, spec section 11) as data, at the scale of the testbed.

=====  ==================================================================  ======================
time   what happens                                                        what must follow
=====  ==================================================================  ======================
t1     SoyKB asks for >= 700 Mbps of single TCP                            layer 2; computed remotely
t2     its transfer ends
t3     Neuroblastoma, higher priority, 12 parallel streams                 layer 2
t4     SoyKB-2 asks for >= 600 Mbps; a test sees ~500 Mbps on layer 2      layer 3; computed locally
t5     its transfer ends
t6     SoyKB-3 asks for >= 700 Mbps                                        nobody qualifies: queued
t7     Neuroblastoma ends
t8     a test sees layer 2 free again                                      SoyKB-3: layer 2, by itself
t9     its transfer ends
t10    a flow that steers a simulation needs a round trip of <= 5 ms       layer 2
t11    load that ADON did not admit begins on layer 2                      an alarm
t12    ADON acts on the alarm                                              layer 3
t13    its transfer ends, every byte counted
=====  ==================================================================  ======================

The thesis names t2 and t5 without saying what they are; here they are the ends of the transfers before.
The rates are the thesis's divided by the scale, the sizes are ours: small enough for a few minutes, large
enough that every transfer outlasts a measurement.  Sites (spec section 3, [ADON] 3.2): where layer 2 is
free the raw data goes to the faster remote site; where only layer 3 is left it is cheaper to compute at
home and to send the result, a tenth of it.

t10 to t13 are not the thesis's figure but its sequel ([ADON] 2.2.2: anomaly detection for the controller):
a plan of its own that measures the round trip every four seconds, so that the detector has learnt its level
after forty.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from adon.templates_catalog.builtin_templates import builtin_templates, scaled
from adon.templates_catalog.model import LossBound, Template
from adon.units import format_rate

L2, L3 = "al2s", "internet"
SOURCE, DESTINATION = "mu-dtn", "osu-dtn"
MB = 1_000_000

CONTENDING_STREAMS = 14
"""Streams of a transfer beside which a single-stream test on layer 2 gets less than 5 Mbit/s at scale 100
(measured: 3.2 to 4.5; with 12 streams 3.5 to 5.0; a fair share would be 58/15 = 3.9)."""
NEUROBLASTOMA_STREAMS = 12
"""So many that one more stream gets a thirteenth of the path: below SoyKB's 600 Mbps with a margin."""

LOSS_BOUND = "5 %"
"""The scaled queues hold tens of packets, not thousands: a probe beside a busy TCP stream is lost a hundred
times as often as on the thesis's path.  The bound is widened to that, and the report says so."""


@dataclass(frozen=True, slots=True)
class Request:
    """One flow of the story.

    :param name: how the report calls it.
    :param rate: QSpec bound in bits/s at full scale; None leaves the template's own.
    :param size: bytes of raw data.
    :param port: the data port, chosen by the seed.
    :param path: the transit path it must get, once it is admitted.
    :param site: the compute site it must get; None where its template has no cost model.
    """

    name: str
    template: str
    size: int
    streams: int
    path: str
    site: str | None
    rate: float | None = None
    port: int = 0


SOYKB_1 = Request("SoyKB", "soykb", 100 * MB, 1, L2, "osu-hpc", 700e6)
NEUROBLASTOMA = Request("Neuroblastoma", "neuroblastoma", 450 * MB, NEUROBLASTOMA_STREAMS, L2, None)
SOYKB_2 = Request("SoyKB-2", "soykb", 80 * MB, 1, L3, "mu-hpc", 600e6)
SOYKB_3 = Request("SoyKB-3", "soykb", 25 * MB, 1, L2, "osu-hpc", 700e6)
STORY = (SOYKB_1, NEUROBLASTOMA, SOYKB_2, SOYKB_3)

STEERING = Request("RIVVIR steering", "rivvir-steering", 6 * MB, 1, L2, None)
STEERING_PACE = 1e6
"""Bits/s: what its sender keeps to, far below what either path carries."""
STEERING_RTT = 0.005
"""Seconds.  Idle, both paths take about 1 ms; the queue of a full layer 2 holds 8 ms."""
STEERING_PATIENCE = 10
"""Misses that it would wait for without an alarm: 40 s of tests."""


def seeded(seed: int) -> dict[str, Request]:
    """The requests with ports that the seed chooses; everything else is fixed."""
    chance = random.Random(seed)  # noqa: S311 - a reproducible choice, not a secret
    requests = (*STORY, STEERING)
    ports = chance.sample(range(20_000, 20_200), len(requests))
    return {r.name: replace(r, port=port) for r, port in zip(requests, ports, strict=True)}


def templates(scale: float) -> tuple[Template, ...]:
    """The built-in templates that the story uses, at the testbed's scale."""
    factor = 1 / scale
    used = [t for t in builtin_templates() if t.name in (SOYKB_1.template, NEUROBLASTOMA.template)]
    return tuple(_at_scale(template, factor) for template in used)


def _at_scale(template: Template, factor: float) -> Template:
    small = scaled(template, factor)
    loss = None if small.qspec.loss is None else LossBound.model_validate({"max": LOSS_BOUND})
    changes = {
        "qspec": small.qspec.model_copy(update={"loss": loss}),
        "title": f"{template.title} (testbed, {factor:g} of the rates)",
    }
    return small.model_copy(update=changes)


def steering_template(scale: float) -> Template:
    """RIVVIR's other half: its user steers the simulation, and waits for one round trip with each move.

    One bound, on the round trip.  Up to 4 ms all paths are equally good, so the configuration's first, layer
    2, is taken; a better Q alone moves nothing.
    """
    rivvir = next(t for t in builtin_templates() if t.name == "rivvir")
    document = {
        "name": STEERING.template,
        "title": f"{rivvir.title}: steering (testbed, {1 / scale:g} of the rates)",
        "description": "Commands of a researcher to a running simulation, and its answers.",
        "qspec": {"rtt": {"max": f"{STEERING_RTT * 1e3:g} ms"}},
        "weights": {"rtt": 1},
        "tables": {"rtt": {"points": [["4 ms", 10], ["20 ms", 1]]}},
        "priority": rivvir.priority,
        "selection": {"patience": STEERING_PATIENCE, "switch_margin": 10, "min_dwell": "10 s"},
    }
    return Template.model_validate(document)


def body(request: Request, scale: float) -> dict[str, object]:
    """The request as JSON for ``POST /flows``."""
    sent: dict[str, object] = {
        "template": request.template,
        "source": SOURCE,
        "destination": DESTINATION,
        "size": f"{request.size} B",
        "ports": [request.port],
        "streams": request.streams,
        "label": request.name,
    }
    if request.rate is not None:
        bound = {"min": f"{request.rate / scale:.0f} bps", "streams": 1}
        sent["qspec"] = {"throughput": bound}
    return sent


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a step must lead to: the flow's state and path, and where it is computed."""

    step: str
    flow: str
    state: str
    path: str | None
    site: str | None = None


def expectation(step: str, request: Request, state: str) -> Expectation:
    """What must follow a request at a step; a queued flow has no path and no site yet."""
    if state == "queued":
        return Expectation(step, request.name, state, None)
    return Expectation(step, request.name, state, request.path, request.site)


def title(request: Request) -> str:
    """``SoyKB-2 (>= 600 Mbps)``, at full scale as in the thesis."""
    return request.name if request.rate is None else f"{request.name} (>= {format_rate(request.rate)})"
