"""What docs/network-description.md shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adon.errors import InvalidInput
from mininet_topos.networks import described
from mininet_topos.networks.description import LinkPart, SitePart

PAGE = (Path(__file__).parents[3] / "docs" / "network-description.md").read_text()
EXAMPLE = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]


def test_the_example_is_a_network():
    network = described(EXAMPLE, "lab.yaml")
    assert [path.name for path in network.paths] == ["overlay", "internet"]
    assert network.path("overlay").goodput == 50e6
    assert network.path("internet").loss == pytest.approx(0.0005)
    assert network.dtn("lab-dtn2").port == "lab-edge-1"  # lab-edge-lab-hall has 17 characters


@pytest.mark.parametrize(
    ("old", "new"), [("goodput: 5 Gbps", "rate: 500 Gbps"), ("[lab, t1, t2, dc]", "[lab, t1, dc]")]
)
def test_what_is_refused_is_told_in_the_page_s_words(old, new):
    with pytest.raises(InvalidInput) as refused:
        described(EXAMPLE.replace(old, new), "lab.yaml")
    assert f"    {refused.value}\n" in PAGE


@pytest.mark.parametrize("part", [SitePart, LinkPart])
def test_every_key_is_told(part):
    assert [key for key in part.model_fields if f"| `{key}` |" not in PAGE] == []
