"""Dry-run mode: everything is decided, recorded and shown, and nothing is sent.

The network, a switch (configuration, ``mode`` and ``switches.NAME.mode``) and the flows of a template
(``mode: dry-run``) can be in this mode; they are called advised here. Rules for a path are of use only if all
its switches have them, so where one of them is advised, the whole path is: all its rules are kept with the
state ``advised`` and none is sent. A flow whose rules are kept so counts as active, marked as advised: what
it is given is what it would be given. What is believed to be in the switches does not change by it.

Rules that were in a switch before it became advised stay there: to take them out would be to send something.
Whatever asks for it, no change passes :meth:`Advice.keep_active_phases` to an advised switch.  Reading a
switch's rules and counters goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from adon.broker.effects import Announce, Effect, RuleState, SaveRules
from adon.broker.flow import Flow
from adon.config import Configuration
from adon.flowvisor.rules.reconcile import Phase
from adon.flowvisor.rules.rule import Entry
from adon.templates_catalog.model import Template


class Advice:
    """The rules that are kept and not sent, per owner.

    :param configuration: says which switches are advised.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.switches = frozenset(
            switch.dpid
            for name, switch in configuration.switches.items()
            if configuration.mode_of(name) == "dry-run"
        )
        self._kept: dict[str, tuple[Entry, ...]] = {}

    def concerns(self, rules: Iterable[Entry]) -> bool:
        """Whether some of these rules belong into an advised switch."""
        return any(rule.dpid in self.switches for rule in rules)

    def of(self, owner: str) -> tuple[Entry, ...] | None:
        """What is kept for an owner; None if nothing is."""
        return self._kept.get(owner)

    def keep(
        self, owner: str, rules: tuple[Entry, ...], installed: Iterable[Entry], cause: str
    ) -> list[Effect]:
        """Keep an owner's rules instead of sending them.

        :param installed: what the owner has in switches from before; what is saved of that stays as it is.
        """
        there = {rule.slot for rule in installed}
        news = tuple(rule for rule in rules if rule.slot not in there)
        effects = self.drop(owner, cause, news)
        self._kept[owner] = rules
        return [*effects, SaveRules(cause, news, RuleState.ADVISED)] if news else effects

    def drop(self, owner: str, cause: str, but: Iterable[Entry] = ()) -> list[Effect]:
        """Keep nothing for an owner any more."""
        stay = set(but)
        gone = tuple(rule for rule in self._kept.pop(owner, ()) if rule not in stay)
        return [SaveRules(cause, gone, RuleState.REMOVED)] if gone else []

    def keep_active_phases(self, phases: Iterable[Phase]) -> list[Phase]:
        """The phases of a plan without what is meant for advised switches."""
        if not self.switches:
            return list(phases)
        left = (
            replace(phase, batches={d: c for d, c in phase.batches.items() if d not in self.switches})
            for phase in phases
        )
        return [phase for phase in left if phase.batches]


def is_dry_run(configuration: Configuration, template: Template, ends: Iterable[str]) -> bool:
    """Whether nothing is sent for a flow: its template says so, or an edge of its paths is advised.

    :param ends: the sites that it goes between.
    """
    edges = (configuration.sites[site].edge for site in ends)
    return "dry-run" in (template.mode, *map(configuration.mode_of, edges))


def announce_activation(flow: Flow, cause: str) -> Announce:
    """What becoming active means for a flow."""
    if flow.advised:
        text = f"flow {flow.id}: its rules are computed and not sent (dry-run mode)"
        return Announce(cause, "info", "flow-dry-run", text, flow.id)
    text = f"flow {flow.id}: its rules are installed; the transfer can start"
    return Announce(cause, "info", "flow-active", text, flow.id)
