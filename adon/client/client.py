"""A client of the REST API (docs/rest-api.md, docs/python-client.md).

Answers are the documents of :mod:`adon.api`; failures are raised as the exceptions they began as
(:mod:`adon.problems`).

What may be repeated without doing anything twice (GET, and POST with an Idempotency-Key) is repeated where
the server says when (:mod:`adon.client.repeating`).  Over HTTP, a client may be used by several threads at
once: each has a connection of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from adon.client import credentials
from adon.client.access import AccessCalls
from adon.client.flows import FlowCalls, changes
from adon.client.measurements import MeasurementCalls, StudyCalls
from adon.client.network import NetworkCalls
from adon.client.repeating import BOUNDS, Bounds, Repeating
from adon.client.sites import SiteCalls
from adon.client.status import StatusCalls
from adon.client.templates import TemplateCalls
from adon.client.transport import TIMEOUT, HttpTransport
from adon.errors import NotAuthenticated

__all__ = ["Client", "changes"]


class Client(
    FlowCalls,
    TemplateCalls,
    MeasurementCalls,
    NetworkCalls,
    SiteCalls,
    StudyCalls,
    AccessCalls,
    StatusCalls,
):
    """The API, as one actor."""

    @classmethod
    def at(
        cls,
        url: str,
        token: str | None,
        *,
        timeout: float = TIMEOUT,
        ca_file: str | None = None,
        bounds: Bounds = BOUNDS,
    ) -> Client:
        """A client of the API at an address, with an access token.

        :param timeout: seconds to wait for an answer.
        :param ca_file: certificates to trust (PEM) and no others, for a server of one's own authority.
        :param bounds: how often it is asked again, and after what.
        """
        return cls(Repeating(HttpTransport(url, token, timeout=timeout, ca_file=ca_file), bounds))

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, *, timeout: float = TIMEOUT
    ) -> Client:
        """A client as the command line makes it.

        The address is in ADON_URL, or where ``adon login`` was last; the token in ADON_TOKEN, in the file
        that ADON_TOKEN_FILE names, or what ``adon login`` stored for this address.  ADON_CA_FILE names
        certificates to trust.

        :raises NotAuthenticated: if there is no token.
        :raises InvalidInput: if a file cannot be read.
        """
        told = os.environ if environment is None else environment
        url = credentials.url(told)
        token = credentials.token(told, url)
        if token is None:
            raise NotAuthenticated(credentials.NOTHING_STORED)
        return cls.at(url, token, timeout=timeout, ca_file=told.get("ADON_CA_FILE") or None)
