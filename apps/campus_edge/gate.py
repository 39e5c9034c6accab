"""What every connection of a switch has to pass, and what is written down about those that do not.

One :class:`Gate` for all connections: the settings that concern them, the certificate we show, the count of
connections in their handshake, and the counters.  :mod:`apps.campus_edge.connections` asks it.
"""

from __future__ import annotations

import logging
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adon.config import Configuration
from adon.config.controller import Connections
from adon.flowvisor.openflow.wire import VERSION_NUMBERS
from apps.campus_edge.limits import HalfOpen, Repeats
from apps.campus_edge.streams import PlainStream, Stream, TlsStream, wait_readable
from apps.campus_edge.tally import Tally
from apps.campus_edge.tls import TLS_RECORD, Credentials, Identity, refusal

log = logging.getLogger(__name__)

WRITE_TIMEOUT_S = 5.0
"""The longest that a switch may leave 64 kB of ours unread."""
REPEAT_AFTER_S = 600.0
"""What is refused again and again is said again after so long, with how often it was."""


class Refused(Exception):
    """A connection that must end; ``kind`` is its label in the metrics."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings that concern connections (``controller``, ``switches``).

    :param versions: of OpenFlow, as numbers of the wire.
    :param paces: flow-mods per second, of the datapath ids that have a limit.
    """

    connections: Connections
    versions: frozenset[int]
    identity: Identity
    paces: Mapping[int, float]

    @classmethod
    def of(cls, configuration: Configuration) -> Terms:
        """Those of a configuration."""
        controller, switches = configuration.controller, configuration.switches.values()
        names = None if controller.tls is None else controller.tls.names
        return cls(
            controller.connections,
            frozenset(VERSION_NUMBERS[version] for version in controller.openflow_versions),
            Identity(
                {switch.dpid: switch.certificate for switch in switches if switch.certificate is not None},
                None if names is None else frozenset(names),
            ),
            {
                switch.dpid: switch.flow_mods_per_second
                for switch in switches
                if switch.flow_mods_per_second is not None
            },
        )


Shown = Callable[[Any, tuple[tuple[int, bytes], ...]], None]
"""Takes a connection, and pairs of port and frame."""


def _nobody(_connection: Any, _packets: tuple[tuple[int, bytes], ...]) -> None:
    """Nobody asks for unannounced packets."""


class Gate:
    """See the module's text.

    :param credentials: None for plain TCP.
    :param shown: takes the packets that a reactive rule of a switch showed, and that came together.
    """

    def __init__(
        self, terms: Terms, credentials: Credentials | None, tally: Tally, shown: Shown = _nobody
    ) -> None:
        self.terms = terms
        self.tally = tally
        self.shown = shown
        self.half_open = HalfOpen(terms.connections.half_open, terms.connections.half_open_per_address)
        self._credentials = credentials
        self._refusals = Repeats(REPEAT_AFTER_S)
        self._malformed = Repeats(REPEAT_AFTER_S)

    def reload(self) -> None:
        """Read certificate, key and CA again, for the connections to come."""
        if self._credentials is not None:
            self._credentials.reload()

    def stream(self, connection: socket.socket, deadline: float) -> tuple[Stream, frozenset[str]]:
        """The bytes of a connection, and the names that its certificate proves.

        :param deadline: of ``time.monotonic``.
        :raises Refused: if TLS is asked for, and the peer does not satisfy it.
        """
        plain = PlainStream(connection, WRITE_TIMEOUT_S)
        if self._credentials is None:
            return plain, frozenset()
        tls = TlsStream(plain, self._credentials.context())
        try:
            wait_readable(connection, deadline - time.monotonic())
            first = connection.recv(1, socket.MSG_PEEK)
            if first and first[0] != TLS_RECORD:
                raise Refused("tls", "it speaks plain TCP, and this port TLS only")
            tls.handshake(deadline)
        except TimeoutError as error:
            raise Refused("handshake", "it did not finish the TLS handshake in time") from error
        except ssl.SSLEOFError as error:
            raise Refused("hung_up", "it hung up during the TLS handshake") from error
        except ssl.SSLError as error:
            raise Refused("tls", refusal(error)) from error
        except OSError as error:
            raise Refused("hung_up", f"the connection broke: {error.strerror}") from error
        stranger = self.terms.identity.stranger(tls.names)
        if stranger is not None:
            raise Refused("certificate", stranger)
        return tls, tls.names

    def record_refusal(self, host: str, refusal: Refused) -> None:
        """Count a connection that must end, and say so unless that was said just now."""
        self.tally.connection_refused(refusal.kind)
        left_out = self._refusals.due((host, refusal.kind, str(refusal)), time.monotonic())
        if left_out is not None:
            # Who connects and hangs up again says nothing: a check whether the port is open.
            level = logging.DEBUG if refusal.kind == "hung_up" else logging.WARNING
            event = "switch.silent" if refusal.kind == "silent" else "switch.refused"
            text = "event=%s kind=%s address=%s reason=%r repeated=%d"
            log.log(level, text, event, refusal.kind, host, str(refusal), left_out)

    def record_malformed(self, host: str, text: str) -> None:
        """Count a message that makes no sense, and say so unless that was said just now."""
        self.tally.count_malformed()
        left_out = self._malformed.due((host, text), time.monotonic())
        if left_out is not None:
            log.warning("event=of.malformed address=%s error=%r repeated=%d", host, text, left_out)
