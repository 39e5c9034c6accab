"""A template for tests, in the manner of perfSONAR's documentation."""

from __future__ import annotations

import copy
import json
from typing import Any

SMALL: dict[str, Any] = {
    "addresses": {
        "a": {"address": "ps-a.example.net"},
        "b": {"address": "192.0.2.2", "pscheduler-address": "ps-b.example.net:8443"},
        "c": {"address": "2001:db8::3"},
    },
    "groups": {"all": {"type": "mesh", "addresses": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}},
    "tests": {
        "rtt": {
            "type": "rtt",
            "spec": {
                "source": "{% address[0] %}", "dest": "{% address[1] %}",
                "source-node": "{% pscheduler_address[0] %}", "count": 10,
            },
        }
    },
    "schedules": {"m5": {"repeat": "PT5M", "slip": "PT5M", "sliprand": True}},
    "archives": {"col": {"archiver": "http", "data": {"_url": "https://{% scheduled_by_address %}/results"}}},
    "tasks": {"mesh-rtt": {"group": "all", "test": "rtt", "schedule": "m5", "archives": ["col"]}},
}  # fmt: skip


def changed(**sections: Any) -> dict[str, Any]:
    """The small template with some sections replaced."""
    return {**copy.deepcopy(SMALL), **sections}


def encoded(document: Any) -> bytes:
    """As a file holds it."""
    return json.dumps(document).encode()
