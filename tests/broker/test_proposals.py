"""Proposals through the broker: numbered, superseded, accepted into the catalog, refused."""

from __future__ import annotations

import pytest

from adon.broker.events import ProposalDecided, ProposalMade, TemplateSaved
from adon.errors import Conflict, InvalidInput, NotFound
from adon.templates_catalog.proposal import ProposalState
from measurement.model import Metric
from tests.broker.stage import Stage
from tests.templates_catalog.experience import a_finding, a_template


def learnt(stage: Stage, reference: str = "soykb@1") -> int:
    return int(stage.command(ProposalMade, a_finding(reference), "pia")["number"])


def test_a_proposal_gets_a_number_and_is_kept() -> None:
    stage = Stage()
    assert learnt(stage) == 1
    assert stage.proposals[1].proposer == "pia"
    assert stage.proposals[1].at == stage.now
    assert "proposal p-1: new scoring for soykb@1, from 240 outcomes" in stage.said


def test_an_accepted_one_becomes_the_next_version() -> None:
    stage = Stage()
    number = learnt(stage)
    stage.command(ProposalDecided, number, True, "eve", "")
    assert stage.proposals[number].state is ProposalState.ACCEPTED
    assert (stage.proposals[number].saved, stage.proposals[number].decided_by) == ("soykb@2", "eve")
    saved = stage.broker.world.catalog.get("soykb")
    assert saved.weights[Metric.THROUGHPUT] == 0.9
    assert stage.needs, "what is measured follows the catalog"
    with pytest.raises(Conflict, match="decided on already"):
        stage.command(ProposalDecided, number, True, "eve", "")


def test_a_refusal_needs_a_reason() -> None:
    stage = Stage()
    number = learnt(stage)
    with pytest.raises(InvalidInput, match="say why"):
        stage.command(ProposalDecided, number, False, "eve", "  ")
    stage.command(ProposalDecided, number, False, "eve", "the path was being rebuilt")
    assert stage.proposals[number].state is ProposalState.REFUSED
    assert stage.broker.world.catalog.get("soykb").version == 1


def test_a_newer_one_takes_the_place_of_an_open_one() -> None:
    stage = Stage()
    first, second = learnt(stage), learnt(stage)
    assert stage.proposals[first].state is ProposalState.SUPERSEDED
    assert stage.proposals[first].reason == f"p-{second} rests on newer outcomes"
    with pytest.raises(Conflict):
        stage.command(ProposalDecided, first, True, "eve", "")


def test_what_is_about_an_older_version_is_not_taken_in_and_not_accepted() -> None:
    stage = Stage()
    number = learnt(stage)
    stage.command(TemplateSaved, stage.broker.world.catalog.get("soykb").model_copy(update={"version": 2}))
    with pytest.raises(Conflict, match="saved since"):
        stage.command(ProposalDecided, number, True, "eve", "")
    assert stage.proposals[number].state is ProposalState.OPEN, "it is as it was"
    with pytest.raises(Conflict, match="saved since"):
        learnt(stage)
    assert learnt(stage, "soykb@2") == 2


def test_what_nobody_knows() -> None:
    stage = Stage()
    with pytest.raises(NotFound):
        stage.command(ProposalDecided, 7, True, "eve", "")
    with pytest.raises(NotFound):
        learnt(stage, "nothing@1")
    assert stage.proposals == {}


def test_open_ones_survive_a_restart_and_numbers_go_on() -> None:
    stage = Stage()
    stage.command(ProposalDecided, learnt(stage), False, "eve", "no")
    number = learnt(stage)
    stage.restart_controller()
    with pytest.raises(Conflict):
        stage.command(ProposalDecided, 1, True, "eve", "")
    stage.command(ProposalDecided, number, True, "eve", "")
    assert learnt(stage, "soykb@2") == 3


def test_the_same_scoring_again_is_no_version() -> None:
    """A template saved meanwhile under the same version cannot be: the reference names one content."""
    stage = Stage()
    assert a_template().reference == "soykb@1"
    number = learnt(stage)
    stage.command(ProposalDecided, number, True, "eve", "")
    assert len(stage.broker.world.catalog.versions("soykb")) == 2
