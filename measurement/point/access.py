"""Who may do what, read from the command line and the trust file, and again on SIGHUP."""

from __future__ import annotations

import ipaddress
import logging
from pathlib import Path

from measurement.point import trust_file
from measurement.point.trust import Access, Network

LOG = logging.getLogger(__name__)
PRIVATE: tuple[Network, ...] = tuple(
    ipaddress.ip_network(network)
    for network in (
        "127.0.0.0/8",
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "::1/128",
        "fc00::/7",
    )
)


class Doorkeeper:
    """The access rules as they are now; threads read them while a signal replaces them.

    :param trust: the trust file, if there is one.
    :param opened: whether other hosts may ask without one.
    :raises ValueError: for a trust file that cannot be used, or one together with ``opened``.
    """

    def __init__(self, trust: Path | None, allow: tuple[Network, ...] | None, *, opened: bool) -> None:
        if trust is not None and opened:
            raise ValueError(f"--open and the trust file {trust} exclude each other")
        self._trust = trust
        self._allow = PRIVATE if opened and allow is None else allow
        self._opened = opened
        self._access = self._read()
        self._tell()

    def access(self) -> Access:
        """The rules."""
        return self._access

    def reload(self) -> bool:
        """Read the trust file anew; a file with a mistake changes nothing, and False says so."""
        try:
            self._access = self._read()
        except ValueError as error:
            # One line, no traceback: the error says all there is to know.
            LOG.error('event=trust_not_changed cause="%s"', error)  # noqa: TRY400
            return False
        self._tell()
        return True

    def _read(self) -> Access:
        trust = None if self._trust is None else trust_file.read(self._trust)
        return Access(trust, self._allow, self._opened)

    def _tell(self) -> None:
        trust = self._access.trust
        if trust is not None:
            names = ",".join(known.name for known in trust.known)
            LOG.info("event=trusting file=%s known=%s reading=%s", self._trust, names, trust.reading)
        elif self._opened:
            LOG.warning(
                'event=open cause="--open: every host of %s may start tests here without a token"',
                ",".join(map(str, self._allow or ())),
            )
        else:
            LOG.info('event=loopback_only cause="no trust file: only this host may start tests here"')
