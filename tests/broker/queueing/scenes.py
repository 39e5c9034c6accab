"""Stages on which flows wait, for transcripts of the queue."""

from __future__ import annotations

from typing import Any

from adon.broker.events import WaitingAsked
from adon.broker.flow import Flow
from tests.support.network_factories import make_configuration
from tests.support.stage import Stage, know, make_stage

EIGHT = {"throughput": {"min": "8 Mbps"}}
HOUR = 3600.0


def full(**policy: Any) -> tuple[Stage, Flow, Flow]:
    """Layer 2 is full of one flow of many streams, layer 3 too narrow: a second flow waits."""
    stage = make_stage(make_configuration(**policy))
    running = stage.submit("neuroblastoma", streams=12, size="700 MB")
    stage.pass_time(20)
    know(stage, al2s=5.0, internet=6.5)
    waiting = stage.submit(qspec=EIGHT)
    assert (running.path, waiting.path) == ("al2s", None)
    return stage, stage.flow(running), waiting


def why(stage: Stage, flow: Flow) -> Any:
    """What a waiting user is told."""
    return stage.command(WaitingAsked, flow.number)


TONIGHT: dict[str, Any] = {"not_before": "1 h", "deadline": "3 h"}


def reserve_tonight(stage: Stage, **fields: Any) -> Any:
    """20 Mbit/s from an hour on."""
    wish = {"size": "9 GB", "qspec": {"throughput": {"min": "20 Mbps"}}, **TONIGHT, **fields}
    return stage.submit(**wish)
