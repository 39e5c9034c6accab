"""What tests read of the answers of the REST API."""

from __future__ import annotations

from typing import Any

from tests.support.web_world import World


def problem_fields(answer: Any) -> dict[str, str]:
    """Return the cause of each problem of a refusal, by field."""
    assert answer.mimetype == "application/problem+json"
    document = answer.json
    assert document["status"] == answer.status_code
    assert {"type", "title", "detail"} <= set(document)
    return {problem["field"]: problem["cause"] for problem in document.get("problems", [])}


BAD_REQUESTS: list[tuple[dict[str, Any], int, str]] = [
    ({"source": "nowhere"}, 422, "source"),
    ({"size": "0 B"}, 422, "size"),
    ({"size": f"{10**30} B"}, 422, "size"),
    ({"size": 25}, 422, "size"),
    ({"size": "25"}, 422, "size"),
    ({"weights": {"throughput": 0, "rtt": 0}}, 422, "weights"),
    ({"weights": {"beauty": 1}}, 422, "weights"),
    ({"weights": {"throughput": -1}}, 422, "weights"),
    ({"colour": "blue"}, 422, "colour"),
    ({"priority": 1000}, 422, "priority"),
    ({"ports": [0]}, 422, "ports.0"),
    ({"priority": "500"}, 422, "priority"),
]
"""Fields of a request for a flow, the status of the answer, and the field it names."""


def audit_entries(world: World, **query: Any) -> list[dict[str, Any]]:
    """Return the entries of the audit log, as the auditor reads them."""
    world.audit.flush()
    found = world.ask("GET", "/audit", "auditor", query_string=query)
    assert found.status_code == 200, found.text
    items: list[dict[str, Any]] = found.json["items"]
    return items
