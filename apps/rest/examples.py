"""Bodies as somebody would send them, by operation, for the API's description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEMPLATE: Mapping[str, Any] = {
    "name": "soykb",
    "title": "SoyKB",
    "qspec": {"throughput": {"min": "7 Mbps", "target": "50 Mbps"}, "rtt": {"max": "100 ms"}},
    "weights": {"throughput": 3, "rtt": 1},
}
TRANSFER: Mapping[str, Any] = {
    "source": "mu-dtn",
    "destination": "osu-dtn",
    "size": "25 GB",
    "template": "soykb",
    "label": "plate 17",
}

EXAMPLES: Mapping[str, Any] = {
    "add_template": TEMPLATE,
    "check_template": {"text": "name: soykb\nweights: {throughput: 1}\n", "form": "yaml"},
    "start_backtest": {"template": TEMPLATE, "since": "2026-11-21T02:00:00Z"},
    "add_user": {
        "name": "ann@example.edu",
        "granted": ["researcher"],
        "identity": {"issuer": "eduPersonPrincipalName", "subject": "ann@example.edu"},
    },
    "change_user": {"granted": ["operator"]},
    "add_token": {"label": "nightly transfers", "scope": ["submit"]},
    "submit_flow": TRANSFER,
    "preview_flow": TRANSFER,
    "report_transfer": {"status": "progress", "bytes": "12 GB"},
    "run_now": {"path": "al2s", "source": "mu", "destination": "osu", "test": "rtt"},
    "subscribe": {"channel": "mail", "target": "ann@example.edu", "filter": {"path": "al2s"}},
    "add_study": {
        "kind": "placement",
        "document": {
            "version": 1,
            "application": "sort",
            "method": "greedy",
            "proven": False,
            "completion_time_s": 12.5,
            "lower_bound_s": 10.0,
            "snapshot_at": 1_700_000_000.0,
            "machines": {"map-1": "vm-a", "reduce-1": "vm-b"},
            "limit": {
                "kind": "path",
                "pairs": [["vm-a", "vm-b"]],
                "carried_bytes": 1_000_000_000.0,
                "waiting_bytes": 0.0,
                "rate_bps": 640_000_000.0,
            },
        },
    },
    "submit_job": {"site": "osu-hpc", "job": "align"},
    "add_window": {
        "scope": "path",
        "name": "al2s",
        "begins": "2026-11-21T02:00:00Z",
        "ends": "2026-11-21T04:00:00Z",
        "note": "new line cards",
    },
    "add_reservation": {"compute": "osu-hpc", "worker_nodes": 2, "ends": "2026-11-21T04:00:00Z"},
    "what_if_advice": {"path": {"rate": "1 Gbps", "rtt": "30 ms"}},
}
