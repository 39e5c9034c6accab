"""What the API's modules share: the blueprint's settings, addresses, pages."""

from __future__ import annotations

import re
from typing import Any

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, ConfigDict, Field

from adon.errors import NotFound
from apps.rest import guard, repeating, throttling
from apps.rest.json_body import check_body
from apps.rest.query import Query, check_query

__all__ = ["Query"]

PREFIX = "/api/v1"
SECURITY: list[dict[str, list[str]]] = [{"token": []}]


def blueprint(name: str, text: str, *, anonymous: bool = False) -> APIBlueprint:
    """A part of the API; ``anonymous`` for what needs no token."""
    api = APIBlueprint(
        name,
        __name__,
        url_prefix=PREFIX,
        abp_tags=[Tag(name=name, description=text)],
        abp_security=[] if anonymous else SECURITY,
        abp_responses=problem_responses(*((422, 429, 503) if anonymous else (401, 403, 404, 422, 429, 503))),
    )
    api.before_request(guard.identify)
    api.before_request(throttling.gate)  # a refusal counts like an answer
    api.before_request(guard.gate_api)
    api.before_request(check_query)
    api.before_request(check_body)
    api.before_request(repeating.begin)
    api.after_request(repeating.finish)
    return api


CAUSES = {
    400: "Not JSON",
    401: "No valid token",
    403: "Not allowed",
    404: "Not found",
    406: "Not offered in this form",
    409: "Contradicts what is there",
    412: "Changed since it was read",
    413: "Too large",
    415: "Not application/json",
    422: "An input is wrong",
    429: "Too many requests",
    503: "A part of ADON does not answer",
}


def problem_responses(*statuses: int) -> dict[str | int, Any]:
    """Failures of these statuses, for the API's description: all are problem documents (RFC 9457)."""
    schema = {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
    return {
        str(status): {"description": CAUSES[status], "content": {"application/problem+json": schema}}
        for status in statuses
    }


def answers(status: int, model: Any, *failures: int) -> dict[str | int, Any]:
    """What an operation answers with: its success, and failures beyond those every one has."""
    return {str(status): model, **problem_responses(*failures)}


class Address(BaseModel):
    """Base of the parts of an address."""

    model_config = ConfigDict(extra="forbid")


class FlowAddress(Address):
    """Which flow."""

    id: str = Field(max_length=20, description="as in f-17")

    @property
    def number(self) -> int:
        """The flow's number.

        :raises NotFound: for what cannot be a flow's id.
        """
        return flow_number(self.id)


def flow_number(text: str) -> int:
    """``17`` of ``f-17``.

    :raises NotFound: for what cannot be a flow's id.
    """
    found = re.fullmatch(r"f-([1-9][0-9]{0,14})", text)
    if found is None:
        raise NotFound("flow", text)
    return int(found[1])
