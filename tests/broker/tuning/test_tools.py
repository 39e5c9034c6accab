"""Advice in the words of transfer tools: within their limits, with options that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.tuning.tools import TOOLS, Chosen, tool_named
from adon.errors import InvalidInput
from tests.broker.tuning.values import MIB

MANY = Chosen(40, 64 * MIB, "bbr")


def texts(name: str, chosen: Chosen = MANY) -> list[str]:
    return [snippet.text for snippet in tool_named(name).snippets(chosen)]


def test_irods_stays_within_its_sixteen_threads_at_both_places() -> None:
    server, put, get = texts("irods")
    assert json.loads(server) == {"advanced_settings": {"default_number_of_transfer_threads": 16}}
    assert (put, get) == ("iput -N 16 FROM TO", "iget -N 16 FROM TO")


def test_an_irods_server_keeps_what_it_is_delivered_with() -> None:
    server, put, _ = texts("irods", Chosen(1, None, None))
    assert json.loads(server) == {"advanced_settings": {"default_number_of_transfer_threads": 4}}
    assert put == "iput -N 1 FROM TO"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "globus",
            (
                "globus gcs endpoint update ENDPOINT --network-use custom --max-concurrency 10 "
                "--preferred-concurrency 10 --max-parallelism 4 --preferred-parallelism 4"
            ),
        ),
        ("rclone", "rclone copy FROM TO --transfers 1 --multi-thread-streams 40 --multi-thread-cutoff 64M"),
        ("gridftp", f"globus-url-copy -fast -p 40 -tcp-bs {32 * MIB} FROM TO"),
        ("iperf3", "iperf3 -c TO -P 40 -C bbr -t 30 -O 5"),
        ("bbcp", "bbcp -P 10 -s 40 -w 32768k FROM TO"),
        ("fdt", "java -jar fdt.jar -c TO -P 40 -ss 32768K -d FOLDER FILE"),
    ],
)
def test_options(name: str, text: str) -> None:
    assert texts(name)[0] == text


def test_what_is_not_known_is_left_out() -> None:
    bare = Chosen(2, None, None)
    assert texts("gridftp", bare) == ["globus-url-copy -fast -p 2 FROM TO"]
    assert texts("iperf3", bare) == ["iperf3 -c TO -P 2 -t 30 -O 5"]
    assert texts("bbcp", bare) == ["bbcp -P 10 -s 2 FROM TO"]


def test_every_row_has_its_source_and_names_differ() -> None:
    assert all(tool.source for tool in TOOLS)
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)
    with pytest.raises(InvalidInput, match=r"tool: 'scp' is not known; there are irods, globus"):
        tool_named("scp")


@given(st.integers(1, 10**6), st.none() | st.integers(1, 2**31 - 1))
def test_never_above_a_tool_s_limit(streams: int, buffer: int | None) -> None:
    for tool in TOOLS:
        for snippet in tool.snippets(Chosen(streams, buffer, "cubic")):
            found = re.search(r" (?:-N|-P|-p|-s|--multi-thread-streams) (\d+)", snippet.text)
            if found is not None and tool.most is not None:
                assert int(found[1]) <= tool.most


@pytest.mark.integration
def test_iperf3_here_knows_the_options() -> None:
    if shutil.which("iperf3") is None:
        pytest.fail("iperf3 is not installed: run scripts/setup.sh", pytrace=False)
    told = subprocess.run(["iperf3", "--help"], capture_output=True, text=True, timeout=20, check=False)
    options = set(re.findall(r"(?<!\S)-[A-Za-z](?=\s|,)", " ".join(texts("iperf3"))))
    assert options == {"-c", "-P", "-C", "-t", "-O", "-w"}
    for option in options:
        assert re.search(rf"^\s+{option}\b", told.stdout + told.stderr, re.MULTILINE), option
