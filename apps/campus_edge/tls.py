"""Who a switch must prove to be before a byte of OpenFlow is read, and what we show it.

Both sides present a certificate; a switch's must be signed by the configured CA.  TLS 1.2 is the least,
and a peer cannot ask for a new negotiation in the middle of a connection.  A certificate's *names* are its
common name and its DNS names; a configured switch may be bound to one of them.

Certificate, key and CA are read again when one of the files has changed, and on SIGHUP; connections that
exist keep what they agreed on.  A file that is broken then changes nothing: one line says so.
"""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adon.config.controller import ControllerTls
from adon.errors import InvalidInput, Problem

log = logging.getLogger(__name__)

TLS_RECORD = 0x16
"""The first byte of a TLS handshake (RFC 8446, 5.1); OpenFlow's is its version."""

Stamp = tuple[tuple[int, int, int], ...]


class Credentials:
    """Our certificate and the CA, as an ``SSLContext`` that follows the files.

    :raises InvalidInput: if they cannot be used.
    """

    def __init__(self, settings: ControllerTls) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        try:
            self._stamp: Stamp | None = self._files()
            self._context = self._read()
        except OSError as error:  # an ssl.SSLError is one too
            raise InvalidInput(Problem("controller.tls", self._complaint(error))) from error

    def context(self) -> ssl.SSLContext:
        """What a new connection is to use."""
        with self._lock:
            try:
                stamp = self._files()
                if stamp != self._stamp:
                    self._stamp = stamp
                    self._context = self._read()
                    log.info("event=tls.reloaded certificate=%s", self._settings.certificate)
            except OSError as error:
                log.warning("event=tls.not-reloaded reason=%r", self._complaint(error))
            return self._context

    def reload(self) -> None:
        """Read the files again, changed or not."""
        with self._lock:
            self._stamp = None
        self.context()

    def _files(self) -> Stamp:
        paths = (self._settings.certificate, self._settings.key, self._settings.ca)
        stats = [Path(path).stat() for path in paths]
        return tuple((stat.st_mtime_ns, stat.st_size, stat.st_ino) for stat in stats)

    def _read(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
        context.verify_mode = ssl.CERT_REQUIRED
        # A key that asks for a password must fail here, not wait at a terminal for somebody to type it.
        context.load_cert_chain(self._settings.certificate, self._settings.key, password=_no_password)
        context.load_verify_locations(cafile=self._settings.ca)
        return context

    def _complaint(self, error: OSError) -> str:
        if isinstance(error, ssl.SSLError):
            return f"certificate, key and CA cannot be used together: {error.reason or error}"
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)


def _no_password() -> str:
    raise OSError("the private key is encrypted; a controller that restarts by itself needs one that is not")


@dataclass(frozen=True, slots=True)
class Identity:
    """Which certificate names may connect, and as which switch.

    :param bound: the certificate name of a datapath id.
    :param allowed: other names that may connect; None: any that our CA signed.
    """

    bound: Mapping[int, str]
    allowed: frozenset[str] | None = None

    def stranger(self, names: frozenset[str]) -> str | None:
        """Why a certificate with these names may not connect at all; None if it may."""
        if self.allowed is None or names & (self.allowed | frozenset(self.bound.values())):
            return None
        return f"no name of its certificate ({_list(names)}) is allowed by controller.tls.names"

    def impostor(self, dpid: int, names: frozenset[str]) -> str | None:
        """Why a certificate with these names is not this switch's; None if nothing is against it."""
        wanted = self.bound.get(dpid)
        if wanted is not None and wanted not in names:
            return f"its certificate is of {_list(names)}, not of {wanted}"
        others = names & {name for other, name in self.bound.items() if other != dpid}
        if wanted is None and others:
            return f"its certificate is of {_list(others)}, which is another switch"
        return None

    def proven(self, dpid: int, names: frozenset[str]) -> bool:
        """Whether a certificate with these names proves that it is this switch."""
        return self.bound.get(dpid) in names


def _list(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "nobody"


def refusal(error: ssl.SSLError) -> str:
    """A failed handshake in a few words that an engineer can act on."""
    text = (error.reason or str(error)).replace("_", " ").lower()
    if "peer did not return a certificate" in text:
        return "it shows no certificate"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    if "unknown ca" in text or "alert bad certificate" in text or "certificate unknown" in text:
        return f"it does not accept our certificate: {text}"
    if "unsupported protocol" in text or "version too low" in text:
        return f"it offers no TLS of version 1.2 or later: {text}"
    return text
