from __future__ import annotations

from apps.experiments import links
from mininet_topos import networks
from mininet_topos.shaping import Change


def test_a_link_without_a_shape_was_built_without_delay_and_loss():
    network = networks.named("mu_osu")
    (plain, *_) = [link for link in network.links if link.shape is None]
    assert links.built(plain) == Change(True, None, 0.0, 0.0)
    shaped = network.link("line")
    assert links.built(shaped).rate == shaped.shape.rate
