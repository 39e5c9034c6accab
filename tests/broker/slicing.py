"""Networks with slices, ladders and budgets, for transcripts."""

from __future__ import annotations

from typing import Any

from adon.config import Configuration, LadderPolicy, Slice
from adon.flowvisor.rule import MeterEntry, Rule
from adon.frozenmap import FrozenMap
from tests.broker.stage import Stage, configuration, know


def part(number: int, *ports: int | str, who: str = "ann", **fields: Any) -> Slice:
    """A slice of one member, for connections to these ports."""
    return Slice.model_validate(
        {
            "number": number,
            "members": {"who": [who]},
            "flowspace": [{"protocols": ["tcp"], "ports": list(ports)}],
            "share": 0.5,
            **fields,
        }
    )


def network(
    slices: dict[str, Slice] | None = None,
    ladder: dict[str, Any] | None = None,
    budgets: dict[str, int] | None = None,
    **policy: Any,
) -> Configuration:
    """The example network with these parts."""
    if ladder is not None:
        policy["ladder"] = LadderPolicy.model_validate(ladder)
    read = configuration(**policy)
    switches = {
        name: switch.model_copy(update={"rule_budget": (budgets or {}).get(name)})
        for name, switch in read.switches.items()
    }
    parts = {"slices": FrozenMap(slices or {}), "switches": FrozenMap(switches)}
    return read.model_copy(update=parts)


def rules_in(stage: Stage, dpid: int | None = None) -> list[Rule]:
    """Our rules in the switches, without groups and meters."""
    return [entry for entry in stage.installed(dpid) if isinstance(entry, Rule)]


def meters(stage: Stage, dpid: int) -> dict[int, MeterEntry]:
    """The meters in one switch, by number."""
    return {e.number: e for e in stage.switches[dpid].equipment() if isinstance(e, MeterEntry)}


def staged(read: Configuration) -> Stage:
    """Both switches connected, both paths measured."""
    stage = Stage(read)
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    return stage
