from __future__ import annotations

import sys

import pytest

from adon.errors import InvalidInput
from adon.experiments.policies import parse
from apps.experiments.plugins import policy

GOOD = """
from adon.simulation.policy import AtOnce


class Last(AtOnce):
    def __init__(self):
        super().__init__("last")

    def choose(self, transfer, paths):
        return paths[-1]


class Seeded(Last):
    def __init__(self, seed):
        super().__init__()
        self.seed = seed


class NoPolicy:
    name = "none"


class Raises:
    def __init__(self):
        raise RuntimeError("no licence")
"""


@pytest.fixture
def folder(tmp_path, request):
    module = f"mine_{request.node.name.partition('[')[0]}"[:40]
    (tmp_path / f"{module}.py").write_text(GOOD)
    yield tmp_path, module
    sys.modules.pop(module, None)


@pytest.mark.parametrize("name", ["always al2s", "ecmp", "lowest rtt", "best test"])
def test_the_simple_ways_are_called_as_the_file_calls_them(name):
    assert policy(parse(name), 1).name == name


def test_a_class_from_beside_the_file(folder):
    place, module = folder
    path = list(sys.path)
    assert policy(parse(f"{module}:Last"), 1, place).name == "last"
    assert policy(parse(f"{module}:Seeded"), 7, place).seed == 7
    assert sys.path == path


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("Nothing", "has no class Nothing"),
        ("NoPolicy", "is no policy: it has no quiet, wake, happened"),
        ("Raises", "RuntimeError: no licence"),
    ],
)
def test_what_is_wrong_with_a_plugin_is_said(folder, attribute, said):
    place, module = folder
    with pytest.raises(InvalidInput, match=f"{module}:{attribute}: .*{said}"):
        policy(parse(f"{module}:{attribute}"), 1, place)


def test_a_module_that_is_not_there_or_does_not_load(tmp_path):
    with pytest.raises(InvalidInput, match="nowhere_at_all:Policy: ModuleNotFoundError"):
        policy(parse("nowhere_at_all:Policy"), 1, tmp_path)
    (tmp_path / "damaged_plugin.py").write_text("def (")
    with pytest.raises(InvalidInput, match="damaged_plugin:Policy: SyntaxError"):
        policy(parse("damaged_plugin:Policy"), 1, tmp_path)
