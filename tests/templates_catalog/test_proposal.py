from __future__ import annotations

import pytest

from adon.errors import Conflict, InvalidInput
from adon.frozenmap import FrozenMap
from adon.store import codec
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.proposal import NOTES, ProposalState, applied
from measurement.model import Metric
from tests.templates_catalog.experience import a_finding, a_proposal, a_template


def test_an_accepted_proposal_changes_the_scoring_and_nothing_else() -> None:
    before = a_template(title="SoyKB", priority=600, notes="as it was")
    after = applied(before, a_proposal())
    assert after.weights == {Metric.THROUGHPUT: 0.9, Metric.LOSS: 0.1}
    assert after.tables[Metric.THROUGHPUT].points == ((7e8, 1.0), (4e9, 10.0))
    assert "version" not in after.model_fields_set, "the catalog gives it"
    assert after.notes == "as it was\nScoring from proposal p-1, 240 outcomes."
    same = {"weights", "tables", "notes"}
    assert after.model_dump(exclude=same) == before.model_dump(exclude=same)


def test_long_notes_give_way() -> None:
    assert len(applied(a_template(notes="x" * NOTES), a_proposal()).notes) == NOTES


def test_a_proposal_about_another_version_is_not_applied() -> None:
    with pytest.raises(Conflict, match="soykb@2 was saved since soykb@1"):
        applied(a_template(version=2), a_proposal())


def test_what_makes_no_template_is_refused() -> None:
    falling = LookupTable(points=((1.0, 10.0), (2.0, 1.0)))
    with pytest.raises(InvalidInput, match="throughput"):
        applied(a_template(), a_proposal(finding=a_finding(tables=FrozenMap({"throughput": falling}))))


def test_a_proposal_is_decided_on_once() -> None:
    refused = a_proposal().decided(ProposalState.REFUSED, "pia", "too few", 5.0)
    assert (refused.state, refused.decided_by, refused.reason, refused.decided_at) == (
        "refused",
        "pia",
        "too few",
        5.0,
    )
    with pytest.raises(Conflict, match="p-1 is refused already"):
        refused.decided(ProposalState.ACCEPTED, "pia", "", 6.0)


def test_it_is_kept_as_json_and_read_back_equal() -> None:
    proposal = a_proposal().decided(ProposalState.ACCEPTED, "pia", "", 5.0).becoming("soykb@2")
    assert codec.decode_proposal(codec.encode_proposal(proposal)) == proposal
    assert codec.decode_finding(codec.encode_finding(proposal.finding)) == proposal.finding
