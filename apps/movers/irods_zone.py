"""An iRODS zone, as far as transfers need it: the one place that knows python-irodsclient."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from irods import keywords
from irods.collection import iRODSCollection
from irods.exception import (
    CAT_INVALID_AUTHENTICATION,
    CAT_INVALID_USER,
    CAT_NO_ACCESS_PERMISSION,
    PAM_AUTH_PASSWORD_FAILED,
    CollectionDoesNotExist,
    DataObjectDoesNotExist,
    NetworkException,
    iRODSException,
)
from irods.session import iRODSSession

from adon.config.transfers import Irods

Seen = Callable[[int], None]
"""Told of each piece of a file, with its bytes; what it raises ends the file."""


class ZoneTrouble(Exception):
    """The zone did not do it; in its words.

    :ivar again: whether another try may go better.
    """

    def __init__(self, why: str, *, again: bool = True) -> None:
        super().__init__(why)
        self.again = again


class Zone(Protocol):
    """One connection.  Paths are logical, absolute; every method raises :class:`ZoneTrouble`."""

    def files(self, path: str) -> Iterator[tuple[str, int]]:
        """All below a collection, by relative path, with their bytes; a data object is itself, as ``""``."""

    def size(self, path: str) -> int | None:
        """Bytes of a data object; None if there is none."""

    def checksum(self, path: str) -> str:
        """As the catalog has it, else as the server computes it now: ``sha2:`` and base64."""

    def make(self, path: str) -> None:
        """A collection, with those above it, unless it is there."""

    def put(self, local: str, path: str, seen: Seen) -> None:
        """Write a file over what may be there."""

    def get(self, path: str, local: str, seen: Seen) -> None:
        """Read a data object over what may be there."""


class RealZone:
    """See :class:`Zone`; by python-irodsclient."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def files(self, path: str) -> Iterator[tuple[str, int]]:
        """See :meth:`Zone.files`."""
        with _translated():
            size = self.size(path)
            if size is not None:
                yield "", size
                return
            for collection, _, objects in self._session.collections.get(path).walk():
                below = collection.path[len(path) :].lstrip("/")
                for one in objects:
                    yield f"{below}/{one.name}" if below else one.name, int(one.size)

    def size(self, path: str) -> int | None:
        """See :meth:`Zone.size`."""
        with _translated():
            try:
                return int(self._session.data_objects.get(path).size)
            except (DataObjectDoesNotExist, CollectionDoesNotExist):
                return None

    def checksum(self, path: str) -> str:
        """See :meth:`Zone.checksum`."""
        with _translated():
            # A write clears what the catalog has, so what it tells is of these bytes; to have it computed
            # by force would need leave to write, also for what is only read.
            return str(self._session.data_objects.chksum(path))

    def make(self, path: str) -> None:
        """See :meth:`Zone.make`."""
        with _translated():
            self._session.collections.create(iRODSCollection.normalize_path(path), recurse=True)

    def put(self, local: str, path: str, seen: Seen) -> None:
        """See :meth:`Zone.put`."""
        # One connection per file: its pieces are counted, held back and stopped in this thread.
        with _translated():
            more = {keywords.FORCE_FLAG_KW: ""}
            self._session.data_objects.put(local, path, num_threads=1, updatables=[seen], **more)

    def get(self, path: str, local: str, seen: Seen) -> None:
        """See :meth:`Zone.get`."""
        with _translated():
            more = {keywords.FORCE_FLAG_KW: ""}
            self._session.data_objects.get(path, local, num_threads=1, updatables=[seen], **more)


@contextmanager
def connected(configured: Irods, password: str, trust: str | None, timeout: float) -> Iterator[Zone]:
    """A connection until the end of the context.

    :param trust: a file of certificate authorities; None for the system's.
    :param timeout: of one question, in seconds.
    """
    session = iRODSSession(
        host=configured.host,
        port=configured.port,
        user=configured.user,
        password=password,
        zone=configured.zone,
        **_security(configured, trust),
    )
    session.connection_timeout = timeout
    try:
        yield RealZone(session)
    finally:
        session.cleanup()


def _security(configured: Irods, trust: str | None) -> dict[str, Any]:
    if not configured.tls:
        return {"client_server_policy": "CS_NEG_REFUSE"}
    return {
        "client_server_negotiation": "request_server_negotiation",
        "client_server_policy": "CS_NEG_REQUIRE",
        "encryption_algorithm": "AES-256-CBC",
        "encryption_key_size": 32,
        "encryption_num_hash_rounds": 16,
        "encryption_salt_size": 8,
        "ssl_context": ssl.create_default_context(cafile=trust),
    }


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (CAT_INVALID_AUTHENTICATION, CAT_INVALID_USER, PAM_AUTH_PASSWORD_FAILED):
        raise ZoneTrouble("iRODS refuses our user or password", again=False) from None
    except CAT_NO_ACCESS_PERMISSION:
        raise ZoneTrouble("iRODS: our user has no access there", again=False) from None
    except (CollectionDoesNotExist, DataObjectDoesNotExist):
        raise ZoneTrouble("iRODS has no such collection or data object", again=False) from None
    except NetworkException as error:
        raise ZoneTrouble(f"iRODS cannot be reached: {error}") from None
    except iRODSException as error:
        raise ZoneTrouble(f"iRODS: {type(error).__name__} {error}".strip()) from None
