"""The proposals that are open, by number: what the broker holds of them between two events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from adon.errors import Conflict, NotFound
from adon.templates_catalog.proposal import Finding, Proposal, ProposalState


@dataclass(slots=True)
class Proposals:
    """See the module's text.

    :param last: the highest number ever given.
    """

    last: int = 0
    _open: dict[int, Proposal] = field(default_factory=dict)

    @classmethod
    def of(cls, known: Iterable[Proposal], last: int = 0) -> Proposals:
        """Those that were saved.

        :param known: at least the open ones.
        :param last: the highest number ever given.
        """
        found = {one.number: one for one in known if one.state is ProposalState.OPEN}
        return cls(max([last, *found]), found)

    def get(self, number: int) -> Proposal:
        """One that is open.

        :raises Conflict: if it was decided on.
        :raises NotFound: if there never was one of this number.
        """
        if number in self._open:
            return self._open[number]
        if 1 <= number <= self.last:
            raise Conflict("state", f"proposal p-{number} was decided on already")
        raise NotFound("proposal", f"p-{number}")

    def about(self, name: str) -> list[Proposal]:
        """The open ones about a template, whatever the version."""
        return [one for one in self._open.values() if name_of(one.finding) == name]

    def following(self, finding: Finding, proposer: str, at: float) -> Proposal:
        """The next one; :meth:`put` keeps it."""
        return Proposal(self.last + 1, at, proposer, finding)

    def put(self, proposal: Proposal) -> None:
        """Keep a proposal as it is now; one that was decided on is no longer held."""
        self.last = max(self.last, proposal.number)
        if proposal.state is ProposalState.OPEN:
            self._open[proposal.number] = proposal
        else:
            self._open.pop(proposal.number, None)


def name_of(finding: Finding) -> str:
    """The name of the template that a finding is about, without the version."""
    return finding.template.partition("@")[0]
