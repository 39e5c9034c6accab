from __future__ import annotations

import pytest

from adon.flowvisor.rules.cookie import Kind, cookie_owner
from tests.support.network_factories import make_configuration
from tests.support.stage import make_stage


@pytest.mark.parametrize(("standby", "deliveries"), [(None, 4), (1, 4), (0, 2)])
def test_so_many_paths_stand_ready_as_the_policy_says(standby: int | None, deliveries: int) -> None:
    stage = make_stage(make_configuration(standby_paths=standby))
    rules = stage.rules_of(stage.submit(ports=[7000]))
    assert sum(cookie_owner(rule.cookie)[0] is Kind.FLOW_DELIVERY for rule in rules) == deliveries
