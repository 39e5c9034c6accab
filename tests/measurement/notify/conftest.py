from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from measurement.point import certificate


class Tls:
    """Both sides of a connection to ``hooks.example`` (and localhost), and somebody who trusts another CA."""

    def __init__(self, folder: Path) -> None:
        pem, key = certificate.ensure(folder, ["hooks.example", "localhost", "127.0.0.1"])
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.load_cert_chain(pem, key)
        self.client = ssl.create_default_context(cafile=str(pem))
        self.stranger = ssl.create_default_context()


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    return Tls(tmp_path_factory.mktemp("tls"))
