"""What is carried out, as values: flows, trials, the plan of a run; everything divided, nothing left open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from adon.experiments.document import Measuring, Need
from adon.experiments.events import Event, LinkSetting
from adon.experiments.parts import Moment, Scalar
from adon.templates_catalog.model import QSpec, Template


@dataclass(frozen=True, slots=True)
class PlannedFlow:
    """A flow as it is asked for on the testbed: everything divided, nothing left open.

    :param at: seconds after the trial's beginning; None where it comes after something.
    :param source: the host that sends.
    :param destination: the host that receives.
    :param size: bytes; None where it lasts (``lasts``, ``until``).
    :param streams: parallel connections.
    :param window: socket buffer of each connection in bytes; None for the system's own.
    :param rate: bits/s that its application sends at most; None for all it can.
    :param deadline: seconds after it was asked for.
    :param qspec: bounds that replace the template's.
    :param floor: bits/s that its bounds ask for at least; None if they say nothing of it.
    :param path: the transit path that it is pinned to; None where the policy decides.
    """

    name: str
    template: str
    source: str
    destination: str
    at: float | None
    after: Moment | None
    size: int | None
    lasts: float | None
    until: Moment | None
    protocol: Literal["tcp", "udp"]
    streams: int
    window: int | None
    rate: float | None
    priority: int
    deadline: float | None
    qspec: QSpec | None
    floor: float | None
    path: str | None
    store: Literal["memory", "disk"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of the workload under one policy.

    :param number: in the order in which they are carried out, from 1.
    :param key: what it is, in words; the same in every plan that has it.
    :param point: values of what is swept, and the ``case``.
    :param seed: its own: of ports.
    :param policy_seed: of what its policy leaves to chance: the same in every repetition.
    :param flows: in the order of the file; those that are absent are not there.
    :param events: with the testbed's rates.
    :param links: what they are like from the beginning on, with the testbed's rates.
    :param templates: with the testbed's rates.
    :param limit: seconds after which it is ended.
    """

    number: int
    key: str
    policy: str
    point: Mapping[str, Scalar]
    repetition: int
    seed: int
    policy_seed: int
    flows: tuple[PlannedFlow, ...]
    events: tuple[Event, ...]
    links: Mapping[str, LinkSetting]
    templates: tuple[Template, ...]
    measuring: Measuring
    limit: float


@dataclass(frozen=True, slots=True)
class Plan:
    """All trials, in order.

    :param scale: what rates and windows were divided by.
    :param sizes: what sizes were divided by.
    :param needs: what the platform must be able to do: what the file says, and what it does.
    """

    trials: tuple[Trial, ...]
    scale: float
    sizes: float
    needs: frozenset[Need]
