"""From the core's values to plain JSON values and back, exactly.

Models go through pydantic, so that a new field with a default reads old bodies.  Rules have a form of
their own (:mod:`adon.store.entry_codec`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from adon.broker.decision import Decision, finite
from adon.broker.flow import Flow
from adon.broker.maintenance import Window
from adon.broker.outcomes import FlowOutcome
from adon.broker.resources.reservation import Reservation
from adon.broker.sites.jobs import SiteJob
from adon.templates_catalog.model import Template

Json = dict[str, Any]


@cache
def _flows() -> TypeAdapter[Flow]:
    return TypeAdapter(Flow)


@cache
def _decisions() -> TypeAdapter[Decision]:
    return TypeAdapter(Decision)


@cache
def _jobs() -> TypeAdapter[SiteJob]:
    return TypeAdapter(SiteJob)


@cache
def _windows() -> TypeAdapter[Window]:
    return TypeAdapter(Window)


@cache
def _outcomes() -> TypeAdapter[FlowOutcome]:
    return TypeAdapter(FlowOutcome)


def encode_outcome(outcome: FlowOutcome) -> Json:
    """An outcome as JSON values."""
    body: Json = finite(_outcomes().dump_python(outcome, mode="json"))
    return body


def decode_outcome(body: Mapping[str, Any]) -> FlowOutcome:
    """The outcome that :func:`encode_outcome` wrote.

    :raises ValueError: for a body that is no outcome of this version.
    """
    return _outcomes().validate_python(body)


def encode_window(window: Window) -> Json:
    """A maintenance window as JSON values."""
    body: Json = _windows().dump_python(window, mode="json")
    return body


def decode_window(body: Mapping[str, Any]) -> Window:
    """The window that :func:`encode_window` wrote.

    :raises ValueError: for a body that is no window of this version.
    """
    return _windows().validate_python(body)


def encode_job(job: SiteJob) -> Json:
    """A job at a compute site as JSON values."""
    body: Json = _jobs().dump_python(job, mode="json")
    return body


def decode_job(body: Mapping[str, Any]) -> SiteJob:
    """The job that :func:`encode_job` wrote.

    :raises ValueError: for a body that is no job of this version.
    """
    return _jobs().validate_python(body)


@cache
def _reservations() -> TypeAdapter[Reservation]:
    return TypeAdapter(Reservation)


def encode_reservation(reservation: Reservation) -> Json:
    """A reservation as JSON values."""
    body: Json = _reservations().dump_python(reservation, mode="json")
    return body


def decode_reservation(body: Mapping[str, Any]) -> Reservation:
    """The reservation that :func:`encode_reservation` wrote.

    :raises ValueError: for a body that is no reservation of this version.
    """
    return _reservations().validate_python(body)


def encode_flow(flow: Flow) -> Json:
    """A flow as JSON values; its request is written with units, as at the border."""
    body: Json = _flows().dump_python(flow, mode="json")
    return body


def decode_flow(body: Mapping[str, Any]) -> Flow:
    """The flow that :func:`encode_flow` wrote.

    :raises ValueError: for a body that is no flow of this version.
    """
    return _flows().validate_python(body)


def encode_decision(decision: Decision) -> Json:
    """A decision as JSON values: those of :meth:`Decision.body`, but by pydantic, several times faster."""
    body: Json = finite(_decisions().dump_python(decision, mode="json"))
    return body


def decode_decision(body: Mapping[str, Any]) -> Decision:
    """The decision whose body this is; ``"inf"`` is a number again where a number belongs.

    :raises ValueError: for a body that is no decision of this version.
    """
    return _decisions().validate_python(body)


def encode_template(template: Template) -> Json:
    """A template version as JSON values, quantities with their units."""
    return template.model_dump(mode="json")


def decode_template(body: Mapping[str, Any]) -> Template:
    """The template that :func:`encode_template` wrote.

    :raises ValueError: for a body that is no template of this version.
    """
    return Template.model_validate(body)


def flow_number(flow: str) -> int:
    """The number in a flow's id, 17 of ``f-17``.

    :raises ValueError: for another text.
    """
    head, _, digits = flow.partition("-")
    if head != "f" or not digits.isdecimal():
        raise ValueError(f"{flow!r} is not a flow's id such as f-17")
    return int(digits)
