from __future__ import annotations

import socket
from itertools import islice

import pytest

from tests import ports


def test_a_port_that_is_taken_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", ports.free_port())) as taken:
        first = taken.getsockname()[1]
        monkeypatch.setattr(ports, "_next", iter([first, first + ports.ROW]))
        assert ports.free_ports() == range(first + ports.ROW, first + 2 * ports.ROW)


def test_processes_of_one_run_are_given_different_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[set[int]] = []
    for worker in ("gw0", "gw1", "gw5", ""):  # the last: the testbed's tests, which run beside those
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
        given.append({number + more for number in islice(ports._rows(), 1000) for more in range(ports.ROW)})
    assert len(set.union(*given)) == sum(map(len, given))
    # No browser refuses to go there, and no outgoing connection takes them (ip_local_port_range).
    assert all(10080 < number < 32768 for those in given for number in those)
