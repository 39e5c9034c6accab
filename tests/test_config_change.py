"""What counts as a change of the configuration, and what does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from adon.config import Configuration, fingerprint, list_changed_fields, load
from adon.yamlfile import dump, parse_model

NETWORK = Path(__file__).parent / "data" / "network.yaml"
TEXT = NETWORK.read_text()
DOCUMENT = yaml.safe_load(TEXT)
READ = load(NETWORK)


def parsed(text: str) -> Configuration:
    return parse_model(text, Configuration)


def shuffled(value: Any, order: list[int], at: tuple[str, ...] = ()) -> Any:
    """The same document with the keys of its mappings in another order, but not where it means something."""
    if isinstance(value, list):
        return [shuffled(one, order, (*at, "-")) for one in value]
    if not isinstance(value, dict):
        return value
    items = [(key, shuffled(one, order, (*at, key))) for key, one in value.items()]
    if at not in (("switches",), ("paths",)):
        items.sort(key=lambda item: order[crc32(item[0].encode()) % len(order)])
    return dict(items)


@given(st.lists(st.integers(0, 99), min_size=3, max_size=9))
def test_the_order_of_keys_does_not_count(order: list[int]) -> None:
    other = parsed(yaml.safe_dump(shuffled(DOCUMENT, order), sort_keys=False))
    assert list_changed_fields(READ, other) == ()
    assert fingerprint(other) == fingerprint(READ)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("network: mu-osu", "# our network\n\nnetwork:   mu-osu   # MU and OSU"),
        ("capacity: 60.6 Mbps", "capacity: 60600 kbps"),
        ("window: 7 d", "window: 168 h"),
        ("  reserve_nodes: 1", "  reserve_nodes: 1\n  preemption: true\n  drain: 200 ms"),
        ('dpid: "0000000000000a01"', 'dpid: "0000000000000A01", control: exclusive'),
    ],
)
def test_what_is_only_written_differently_is_no_change(old: str, new: str) -> None:
    assert old in TEXT
    other = parsed(TEXT.replace(old, new))
    assert (list_changed_fields(READ, other), fingerprint(other)) == ((), fingerprint(READ))


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("network: mu-osu", "network: other", ("network",)),
        ("capacity: 60.6 Mbps", "capacity: 60.5 Mbps", ("paths.al2s",)),
        ("  reserve_nodes: 1", "  reserve_nodes: 2\n  drain: 1 s", ("policy.reserve_nodes", "policy.drain")),
        ("rtt_period: 60 s", "rtt_period: 120 s", ("measurements.tests",)),
        ("  mu-hpc:", "  hpc:", ("compute.mu-hpc", "compute.hpc")),
        (
            "policy:",
            "slices: {a: {number: 1, members: {who: [a]}, flowspace: [{ports: [5001]}], share: 1}}\npolicy:",
            ("slices.a",),
        ),
        ("policy:", "controller: {web_port: 8081}\npolicy:", ("controller.web_port",)),
    ],
)
def test_what_differs_is_named(old: str, new: str, names: tuple[str, ...]) -> None:
    assert old in TEXT
    other = parsed(TEXT.replace(old, new))
    assert list_changed_fields(READ, other) == tuple(sorted(names, key=names.index))
    assert list_changed_fields(other, READ)
    assert fingerprint(other) != fingerprint(READ)


@pytest.mark.parametrize("section", ["paths", "switches"])
def test_the_order_counts_where_a_position_is_a_number(section: str) -> None:
    turned = {**DOCUMENT, section: dict(reversed(DOCUMENT[section].items()))}
    other = parsed(yaml.safe_dump(turned, sort_keys=False))
    assert list_changed_fields(READ, other) == (section,)
    assert fingerprint(other) != fingerprint(READ)


def test_the_fingerprint_is_the_same_in_every_process(tmp_path: Path) -> None:
    file = tmp_path / "sliced.yaml"
    members = {"who": [f"user-{n}" for n in range(9)], "groups": [f"group-{n}" for n in range(9)]}
    tenant = {"number": 1, "members": members, "flowspace": [{"source": ["10.1.0.0/16"]}], "share": 0.5}
    file.write_text(yaml.safe_dump({**DOCUMENT, "slices": {"a": tenant}}))
    program = (
        "import sys; from pathlib import Path; from adon.config import load; "
        "from adon.config import fingerprint; print(fingerprint(load(Path(sys.argv[1]))))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program, str(file)],
            env={"PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert said == {fingerprint(load(file))}


def test_a_configuration_that_is_written_out_is_read_back_as_the_same() -> None:
    assert parsed(dump(READ)) == READ
