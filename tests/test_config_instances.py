"""The instances file: what it gives, and what it refuses with line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.config.instances import Instances, load_instances
from adon.errors import InvalidInput
from adon.yamlfile import parse_model
from measurement.instances import PORT, Instance
from tests.support.refusals import refused

WHOLE = """
key_file: keys/agents
between_zones: 4
instances:
  - {name: a1, address: 10.0.0.1, zone: us-east-1a, cores: 4, memory: 16 GiB}
  - {name: b1, address: "2001:db8::1", port: 9000}
"""


def test_it_gives_instances_and_where_the_key_is(tmp_path: Path) -> None:
    file = tmp_path / "instances.yaml"
    file.write_text(WHOLE)
    found = load_instances(file)
    assert found.members == (
        Instance("a1", "10.0.0.1", PORT, "us-east-1a", 4, 16 * 2**30),
        Instance("b1", "2001:db8::1", 9000),
    )
    assert found.key_file == tmp_path / "keys" / "agents"
    assert found.between_zones == 4


@pytest.mark.parametrize(
    ("entry", "code", "field"),
    [
        ("{name: a, address: example.org}", "invalid", "instances.0.address"),
        ("{name: a b, address: 10.0.0.1}", "invalid", "instances.0.name"),
        ("{name: a, address: 10.0.0.1, memory: 16}", "no-unit", "instances.0.memory"),
        ("{name: a, address: 10.0.0.1, cores: 0}", "invalid", "instances.0.cores"),
        ("{name: a, address: 10.0.0.1, port: 0}", "out-of-range", "instances.0.port"),
        ("{name: a, address: 10.0.0.1, core: 4}", "unknown-key", "instances.0.core"),
        ("{name: a}", "missing", "instances.0.address"),
    ],
)
def test_what_is_wrong_is_told_by_line_and_field(entry: str, code: str, field: str) -> None:
    with refused(code, field, 2):
        parse_model(f"instances:\n  - {entry}\n", Instances, "f")


@pytest.mark.parametrize(
    ("other", "field"),
    [
        ("{name: a, address: 10.0.0.2}", "instances.1.name"),
        ("{name: b, address: 10.0.0.1}", "instances.1.address"),
    ],
)
def test_an_instance_is_there_once(other: str, field: str) -> None:
    with refused(InvalidInput, field):
        parse_model(f"instances:\n  - {{name: a, address: 10.0.0.1}}\n  - {other}\n", Instances)


def test_two_spellings_of_an_address_are_one() -> None:
    both = '[{name: a, address: "2001:db8::1"}, {name: b, address: "2001:0db8:0::1"}]'
    with refused(InvalidInput, field="instances.1.address"):
        parse_model(f"instances: {both}", Instances)


def test_nobody_is_no_file() -> None:
    with pytest.raises(InvalidInput, match="instances"):
        parse_model("instances: []", Instances)
