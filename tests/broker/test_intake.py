"""Further refusals are in test_broker.py, where a request is submitted as a whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adon.broker.events import FlowSubmitted
from adon.broker.flow import Flow
from adon.broker.intake import new_flow, unservable
from adon.errors import Conflict, InvalidInput
from adon.flowvisor.topology.path import FiveTuple
from adon.flowvisor.topology.topology import Topology
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import QSpec, Template
from tests.support.factories import make_catalog, make_request, make_template
from tests.support.network_factories import make_configuration
from tests.support.refusals import refused

TOPOLOGY = Topology(make_configuration())
CATALOG = make_catalog()


def flow(*others: Flow, templates: Catalog = CATALOG, topology: Topology = TOPOLOGY, **fields: Any) -> Flow:
    event = FlowSubmitted("e1", 5.0, "c1", make_request(**fields), "ann")
    return new_flow(len(others) + 1, event, templates, topology, others)


def computing(asked: dict[str, Any], **rspec: Any) -> Template:
    return make_template(name="computes", cost={}, rspec={"compute": asked, **rspec})


@pytest.mark.parametrize(
    ("asked", "rspec", "fits"),
    [
        ({"worker_nodes": 16}, {}, False),  # osu-hpc has 16, 1 of them kept in reserve
        ({"cores": 300}, {}, False),
        ({"worker_nodes": 4}, {"sites": ["osu"]}, True),
        ({"worker_nodes": 15, "cores": 256}, {}, True),
    ],
)
def test_resources_that_no_site_at_either_end_will_ever_have(
    asked: dict[str, Any], rspec: dict[str, Any], fits: bool
) -> None:
    templates = Catalog.of([computing(asked, **rspec)])
    if fits:
        assert flow(template="computes", templates=templates).template == "computes@1"
        return
    with refused(InvalidInput, "template"):
        flow(template="computes", templates=templates)


def test_sites_of_a_third_campus_are_no_help() -> None:
    """A flow leads from its source to its destination and cannot be computed elsewhere."""
    read = TOPOLOGY.configuration
    far = {"far": read.compute["mu-hpc"].model_copy(update={"site": "chicago"})}
    topology = Topology(read.model_copy(update={"compute": far}))
    with refused(InvalidInput, field="template"):
        flow(template="computes", templates=Catalog.of([computing({})]), topology=topology)


def test_a_bound_that_no_path_can_meet_is_told_with_whose_it_is() -> None:
    fast = make_template(name="fast", qspec={"throughput": {"min": "1 Gbps"}})
    with refused(InvalidInput, field="qspec.throughput.min"):
        flow(template="fast", templates=Catalog.of([fast]))
    mine = QSpec.model_validate({"throughput": {"min": "2 Gbps"}})
    with refused(InvalidInput, field="qspec.throughput.min"):
        flow(template="fast", templates=Catalog.of([fast]), qspec=mine)


def test_a_destination_that_the_rspec_does_not_allow() -> None:
    here_only = make_template(name="here-only", rspec={"sites": ["mu"]})
    with refused(InvalidInput, field="destination"):
        flow(templates=Catalog.of([here_only]), template="here-only")


BACK = {"source": "osu-dtn", "destination": "mu-dtn"}


@pytest.mark.parametrize(
    ("first", "second", "refused"),
    [
        ({"ports": [5001]}, {"ports": [5002]}, False),
        ({"ports": [5001, 5002]}, {"ports": [5002, 5003]}, True),
        ({"ports": [5001]}, {"ports": [5001], **BACK}, False),
        ({"ports": []}, {"ports": []}, True),
        ({"ports": []}, {"ports": [], **BACK}, True),
        ({"ports": []}, {"ports": [5001]}, False),
        (
            {"ports": [5001]},
            {"ports": [5001], "template": "eldercare", "qspec": {"throughput": {"min": "1 Mbps"}}},
            False,
        ),
    ],
)
def test_flows_that_a_switch_could_not_tell_apart(
    first: dict[str, Any], second: dict[str, Any], refused: bool
) -> None:
    other = flow(**first)
    if refused:
        with pytest.raises(Conflict, match="ports"):
            flow(other, **second)
    else:
        flow(other, **second)


def test_a_port_that_another_flow_has_learnt_is_taken() -> None:
    learning = replace(flow(ports=[]), tuples=(FiveTuple(6, 20_001, 40_000),))
    with refused(Conflict, field="ports"):
        flow(learning, ports=[20_001])


def test_what_a_restart_finds_unservable() -> None:
    saved = flow(ports=[5001])
    assert unservable(saved, CATALOG, TOPOLOGY) == ""
    assert "'soykb'" in unservable(saved, Catalog(), TOPOLOGY)
    without_paths = make_configuration().model_copy(update={"paths": {}})
    assert unservable(saved, CATALOG, Topology(without_paths))
    elsewhere = replace(saved, request=saved.request.model_copy(update={"source": "gone"}))
    assert "'gone'" in unservable(elsewhere, CATALOG, TOPOLOGY)
