"""A profile from a real Open vSwitch's sFlow, received on a real socket, beside transfers of known sizes."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.lab import UNSHARE
from measurement.document import loads
from measurement.profiling.model import Profile
from measurement.profiling.packets import End
from measurement.profiling.sflow_collector import listen, open_socket
from measurement.profiling.tasks import Tasks
from tests.measurement.profiling.frames import datagram, ethernet, header, ip, sample
from tests.measurement.profiling.sflow_lab import TRANSFERS


@pytest.mark.testbed
def test_what_was_sent_is_within_the_bound_that_is_told(tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    argv = [
        *UNSHARE,
        sys.executable,
        "-m",
        "tests.measurement.profiling.sflow_lab",
        str(tmp_path),
        str(answer),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(answer.read_text())
    assert (told["refused"], told["lost_datagrams"], told["lost_samples"]) == (0, 0, 0)
    assert told["agents"] == ["127.0.0.1"]
    found = loads(Profile, json.dumps(told["profile"]))
    for source, destination, size in TRANSFERS:
        sent, error = found.sent[source, destination], found.errors[source, destination]
        assert error < 0.2
        # Three times what holds 95 of 100: chance alone does not fail this once in a million.
        assert abs(sent - size) <= 3 * error * sent, (source, destination, sent, error)
    # Acknowledgements carry no payload.
    assert found.sent.get(("b", "a"), 0) == 0


@pytest.mark.integration
def test_what_is_no_sflow_is_counted_and_passed_over() -> None:
    one, other = End("10.0.0.1", 1), End("10.0.0.2", 2)
    tasks = Tasks.of({"a": [one.address], "b": [other.address]})
    data = [datagram(1, [sample(1, [header(ethernet(ip(one, other, 1000)))])]), b"what?", b""]
    with open_socket("127.0.0.1", 0) as listener, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for each in data:
            sender.sendto(each, listener.getsockname())
        looks = iter([False] * len(data) + [True])
        sampled, refused = listen(listener, tasks, lambda: next(looks))
    assert (sampled.profile.sent, refused) == ({("a", "b"): 100_000}, 2)
    assert sampled.profile.began <= sampled.profile.ended
