"""Links between switches, for the broker: events in, effects and the links that may be used out.

Holds the :class:`~adon.flowvisor.discovery.link_discovery.Discovery`, or nothing where discovery is not
configured: then no frame is sent, no rule wanted, and no link known.  What a lost or new link means for flows
is decided with their paths (:mod:`adon.broker.flow_placement`); this module only reports that links changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from adon.broker.effects import Announce, Effect, SendPacket
from adon.broker.events import Event, LldpReceived, PortChanged, SwitchDown, SwitchUp
from adon.config import Configuration
from adon.flowvisor.discovery.link import Link, LinkState, Port, Wiring
from adon.flowvisor.discovery.link_discovery import Discovery, LinkEffects
from adon.flowvisor.discovery.lldp import Identity, Neighbour
from adon.flowvisor.topology.network_graph import PortKey


@dataclass(frozen=True, slots=True)
class Heeded:
    """What an event led to.

    :param changed: whether a link came into use or went out of it.
    """

    effects: list[Effect] = field(default_factory=list)
    changed: bool = False


class Links:
    """See the module's text.

    :param identity: who sends hellos, with the key that signs them; None where discovery is off.
    :raises ValueError: if discovery is configured and there is no identity.
    """

    def __init__(self, configuration: Configuration, identity: Identity | None = None) -> None:
        self._discovery: Discovery | None = None
        if not configuration.discovery.enabled:
            return
        if identity is None:
            raise ValueError("discovery is configured, but there is no identity to sign hellos with")
        wiring = Wiring.of(configuration, _wires(configuration))
        self._discovery = Discovery(configuration.discovery, identity, wiring)

    def take(self, event: Event) -> Heeded:
        """Let the discovery have an event; one that is nothing to it lets it do what is due."""
        if self._discovery is None:
            return Heeded()
        found = self._apply_discovery(self._discovery, event)
        effects: list[Effect] = [SendPacket(event.id, f.dpid, f.port, f.data) for f in found.frames]
        effects += [Announce(event.id, report.level, report.code, report.text) for report in found.reports]
        changed = any(LinkState.LIVE in (change.before, change.after) for change in found.changes)
        return Heeded(effects, changed)

    def _apply_discovery(self, discovery: Discovery, event: Event) -> LinkEffects:
        match event:
            case SwitchUp():
                return discovery.switch_up(event.dpid, event.ports, event.at)
            case SwitchDown():
                return discovery.switch_down(event.dpid, event.at)
            case PortChanged():
                return discovery.port_changed(event.dpid, event.name, event.state, event.at)
            case LldpReceived():
                return discovery.lldp_received(event.dpid, event.port, event.data, event.at)
        due = discovery.next_wake()
        return LinkEffects() if due is None or event.at < due else discovery.wake(event.at)

    def next_wake(self) -> float | None:
        """When an event, be it only a tick, is wanted next."""
        return None if self._discovery is None else self._discovery.next_wake()

    # -- what is known ------------------------------------------------------------------------------

    def live_links(self) -> frozenset[tuple[int, int, int, int]]:
        """Datapath id and port number of both ends of each link that may be used, smaller end first."""
        return frozenset() if self._discovery is None else self._discovery.live_links()

    def all(self) -> tuple[Link, ...]:
        """Every link that is known, in use or not."""
        return () if self._discovery is None else self._discovery.links()

    def port(self, key: PortKey) -> Port | None:
        """A port of a connected switch, with its *admin* and *oper* state."""
        return None if self._discovery is None else self._discovery.port(key)

    def neighbours(self, now: float) -> tuple[tuple[Port, Neighbour], ...]:
        """The ports that hear other systems' LLDP."""
        return () if self._discovery is None else self._discovery.neighbours(now)


def _wires(configuration: Configuration) -> list[tuple[tuple[int, str], tuple[int, str]]]:
    """The two ports of each configured link, by datapath id and name."""
    ends = (tuple(link.ends.items()) for link in configuration.links.values())
    dpids = {name: switch.dpid for name, switch in configuration.switches.items()}
    return [((dpids[one], port), (dpids[other], far)) for (one, port), (other, far) in ends]
