"""A stage whose switches are joined by the layer-2 path's wire, and find their links by LLDP."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adon.broker.broker import Broker
from adon.broker.effects import Effect, SendPacket
from adon.broker.events import Event, LldpReceived
from adon.config import Configuration
from adon.config.network import LinkDiscovery
from adon.flowvisor.discovery.lldp import Identity
from tests.support.network_factories import make_configuration
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage

WIRE = {(MU_EDGE, 2): (OSU_EDGE, 2), (OSU_EDGE, 2): (MU_EDGE, 2)}


def discovering(**wanted: Any) -> Configuration:
    """Return the example network with discovery."""
    found = LinkDiscovery.model_validate({"enabled": True, **wanted})
    return make_configuration().model_copy(update={"discovery": found})


class WiredStage(Stage):
    """See the module's text; each run of the controller has an identity of its own."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        self.wires = dict(WIRE)
        self.packets: list[SendPacket] = []
        self.runs = 0
        super().__init__(discovering() if configuration is None else configuration)

    def start_broker(self, **more: Any) -> Broker:
        """Return a broker with the saved state and the next identity."""
        self.runs += 1
        return super().start_broker(identity=Identity("mu-osu", self.runs.to_bytes(8, "big"), bytes(32)))

    def carry_out(self, effect: Effect) -> Iterable[Event]:
        """Carry out one effect; probes pass the wires."""
        if not isinstance(effect, SendPacket):
            return super().carry_out(effect)
        self.packets.append(effect)
        end = self.wires.get((effect.dpid, effect.port))
        if end is None or not {effect.dpid, end[0]} <= self.connected:
            return ()
        return (LldpReceived(*self.stamp(), *end, effect.data),)
