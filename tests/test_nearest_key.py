from __future__ import annotations

import pytest

from adon.config import Configuration
from adon.nearest_key import nearest_key
from mininet_topos.experiments.document import Experiment


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (("polcy",), "policy"),
        (("slice",), "slices"),
        (("switches", "mu", "dipd"), "dpid"),
        (("controller", "web-port"), "web_port"),
        (("sites", "mu", "hosts", "dtn", "adress"), "address"),
        (("measurements", "tests", 3, "rtt_perid"), "rtt_period"),
        (("policy", "use_access", 0, "template"), "templates"),
        (("access", "openid", "x", "client_secret_fiel"), "client_secret_file"),
        (("policy", "credentials", "password"), None),
        (("nothing", "like", "it"), None),
    ],
)
def test_the_key_that_was_meant(place: tuple[str | int, ...], expected: str | None) -> None:
    found = nearest_key(Configuration, place)
    assert found == (expected or "")


def test_the_word_itself_is_not_what_was_meant() -> None:
    """A key of a flow, written in a group: the model knows it of the other kind."""
    assert nearest_key(Experiment, ("workload", 1, "priority")) == ""
    assert nearest_key(Experiment, ("workload", 1, "priorities")) == "priority"
