"""ADON's REST API from Python: :class:`adon.client.client.Client` over a transport of its choice."""

from adon.client.client import Client, changes
from adon.client.transport import Answer, HttpTransport, Transport

__all__ = ["Answer", "Client", "HttpTransport", "Transport", "changes"]
