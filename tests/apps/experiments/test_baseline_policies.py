from __future__ import annotations

import pytest

from adon.experiments.policies import parse
from apps.experiments.baseline_policies import policy


@pytest.mark.parametrize("name", ["always al2s", "ecmp", "lowest rtt", "best test"])
def test_a_baseline_policy_has_the_name_that_the_file_gives_it(name):
    assert policy(parse(name), 1).name == name
