from __future__ import annotations

import os
import socket
import subprocess
from contextlib import closing

import pytest

from mininet_topos.listening import listed, listens

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:19FD 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1
   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 4712 1
   2: 0A01010A:0016 0B01010A:19FE 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1
"""


@pytest.mark.parametrize(
    ("port", "there"),
    [
        (6653, True),
        (8080, False),  # connected, not listening
        (22, True),
        (6654, False),  # the other end's port
    ],
)
def test_who_listens_by_a_table(port: int, there: bool) -> None:
    assert listed(TABLE, port) is there


def test_nobody_by_a_table_that_is_empty() -> None:
    assert not listed("", 6653)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_socket_of_ours_while_it_listens(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with closing(socket.create_server((address, 0), family=family)) as listener:
        port = listener.getsockname()[1]
        assert listens(port)
        assert listens(port, os.getpid())
    assert not listens(port)


def test_a_process_that_is_gone() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert not listens(6653, ended.pid)
