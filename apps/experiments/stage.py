"""What a trial needs on a running network: ADON with fresh state, or none, and who decides.

A network is used for many trials, ADON for one: its archive, its alarms and what it has learnt would make
the next trial another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adon.client import Client
from adon.errors import AdonError, Unavailable
from adon.experiments.document import Experiment
from adon.experiments.events import Controller
from adon.experiments.planned import PlannedFlow, Trial
from adon.experiments.policies import Kind, parse
from adon.timestamps import format_time
from adon.values import Role
from apps.experiments import baseline_policies
from apps.experiments.deciding import Decider, Sight
from apps.experiments.driving import Driven, unmeasured
from apps.experiments.edges import pin_measured
from apps.experiments.kept import KeptPaths
from apps.experiments.measuring import await_first, planned, schedule
from apps.experiments.ours import Ours
from apps.experiments.pinned import WithPinned
from measurement.model import PathKey
from mininet_topos.networks import Network
from mininet_topos.old_platforms.bed import Bed
from mininet_topos.old_platforms.controlled import configuration_of
from mininet_topos.serving import Adon, prepared
from mininet_topos.waiting import wait_until

CONNECTED_S = 60.0
MOST_RESULTS = "10000"
OVERLAP_S = 30.0
"""Results may arrive so long after they were observed."""


@dataclass(slots=True)
class Staged:
    """A network ready for one trial.

    :param adon: None where the trial needs none.
    :param client: of ADON, as somebody who may submit flows, add templates and close paths.
    :param down: whether ADON was ended by order.
    """

    bed: Bed
    trial: Trial
    adon: Adon | None = None
    client: Client | None = None
    ours: Ours | None = None
    down: bool = False
    asked_since: float = 0.0

    def healthy(self) -> None:
        """Look whether everything still runs, and has run all the time, but for what was ordered.

        :raises Unavailable: naming what does not, with the end of its log.
        """
        if not _alive(self.bed.pid):
            raise Unavailable("the test network has died", code="not-running")
        if self.adon is not None and not self.down:
            self.adon.require_running()
            if self.adon.died:
                raise Unavailable(
                    f"a part of adon serve has died and was started again: {self.adon.died}",
                    code="not-running",
                )

    def control(self, what: Controller) -> None:
        """Stop, start or kill ADON.

        :raises AdonError: if it does not come up.
        """
        assert self.adon is not None  # noqa: S101 - who calls has one
        if what is Controller.START:
            self.adon.start()
            self.adon.overlook()  # what was killed by order may have been in its way at first
            self.down = False
            if self.ours is not None:
                self.ours.client = self.client
            return
        self.down = True
        if self.ours is not None:
            self.ours.leave()
        self.adon.stop() if what is Controller.STOP else self.adon.kill()

    def tests(self, began_at: float) -> Sequence[Mapping[str, Any]]:
        """New results since the trial began, the oldest first; may repeat some that were told before."""
        if self.client is None or self.down:
            return ()
        since = max(began_at, self.asked_since - OVERLAP_S)
        found = self.client.measurements(since=format_time(since), limit=MOST_RESULTS)
        self.asked_since = max([self.asked_since, *(one.observed_at for one in found)])
        return [one.body() for one in reversed(found)]


def needs_adon(trial: Trial) -> bool:
    """Whether anything of a trial is ADON's: decisions, tests, or that it is stopped and started."""
    ours = parse(trial.policy).kind is Kind.OURS and any(flow.path is None for flow in trial.flows)
    return (
        ours or bool(planned(trial.measuring)) or any(event.controller is not None for event in trial.events)
    )


@contextmanager
def staged(
    bed: Bed,
    trial: Trial,
    experiment: Experiment,
    folder: Path,
    leaving: Callable[[Any], Any],
    tell: Callable[[str], None],
) -> Iterator[Staged]:
    """The network with what the trial needs; ADON's paths have been measured once.

    :param folder: for ADON's files.
    :param leaving: wraps contexts whose leaving nothing may interrupt.
    :raises AdonError: if something does not come up.
    """
    if not needs_adon(trial):
        if any(event.load is not None for event in trial.events):
            pin_measured(bed)
        yield Staged(bed, trial)
        return
    extra = {name: _plain(section) for name, section in experiment.configuration.items()}
    tests = schedule(bed.network, trial.measuring)
    text = configuration_of(bed, schedule=tests, extra=extra)
    with leaving(prepared(bed, text, folder)) as adon:
        tell("starting ADON")
        adon.launch()
        adon.listening()
        bed.reconnect()
        administrator = adon.answering()
        with _said_if_it_ends(adon):
            client = _somebody(administrator, adon.url)
            _await_switches(client, adon, bed)
            for template in trial.templates:
                client.add_template(template.model_dump(mode="json", exclude={"version"}))
            if planned(trial.measuring):
                tell("measuring the paths for the first time")
                await_first(client, adon, tests, bed.network)
        adon.overlook()
        yield Staged(bed, trial, adon, client)


@contextmanager
def _said_if_it_ends(adon: Adon) -> Iterator[None]:
    """Whatever fails because ADON has ended fails with that as its reason."""
    try:
        yield
    except AdonError:
        adon.require_running()
        raise


def decider(stage: Staged, sight: Sight) -> Decider:
    """Who decides in a trial."""
    network, trial = stage.bed.network, stage.trial

    def clock() -> float:
        return sight.now

    def size_of(flow: PlannedFlow) -> int:
        return asked_size(flow, network, trial.limit)

    kept = KeptPaths(stage.bed.ofctl, network, clock)
    name = parse(trial.policy)
    rest: Decider
    if name.kind is Kind.OURS and stage.client is not None:
        rest = stage.ours = Ours(stage.client, sight, size_of, sight.now + trial.limit)
    elif name.kind is Kind.OURS:
        # Nothing is left to decide: every flow is pinned.
        rest = Driven(baseline_policies.AlwaysPath("nobody"), network, kept, sight, size_of, unmeasured)
    else:
        policy = baseline_policies.policy(name, trial.policy_seed)
        rest = Driven(policy, network, kept, sight, size_of, _measure(stage))
    return WithPinned(rest, kept)


def asked_size(flow: PlannedFlow, network: Network, limit: float) -> int:
    """Bytes that are asked for: of a flow that lasts a time, what it can send in it at most."""
    if flow.size is not None:
        return flow.size
    ends = (network.site_of(host).name for host in (flow.source, flow.destination))
    rate = flow.rate or max((path.goodput for path in network.between(*ends)), default=1e6)
    return max(1, round(rate / 8 * (limit if flow.lasts is None else flow.lasts)))


def _measure(stage: Staged) -> Callable[[PathKey, str], object]:
    def measure(key: PathKey, test: str) -> object:
        if stage.client is None:
            unmeasured(key, test)
            return None
        if stage.down:
            return None  # nobody tests while ADON is stopped by order: this one is left out as the plan's are
        return stage.client.measure(key.path, key.source, key.destination, test)

    return measure


def _somebody(administrator: Client, url: str) -> Client:
    """A person with the roles that an experiment needs."""
    administrator.add_user("experimenter", [Role.RESEARCHER, Role.PERFORMANCE_ENGINEER, Role.OPERATOR])
    made = administrator.add_token({"owner": "experimenter", "label": "experiment", "expires": "1 day"})
    return Client.at(url, made.secret)


def _await_switches(client: Client, adon: Adon, bed: Bed) -> None:
    """Until every edge has our rules: what is measured before has taken the campus's own way."""
    edges = {site.edge for site in bed.network.sites}

    def ready() -> bool:
        adon.require_running()  # first: once it has ended, its socket takes questions that nobody answers
        there = {one.name for one in client.network().switches if one.connected and one.rules}
        return edges <= there

    if not wait_until(ready, CONNECTED_S):
        raise Unavailable(f"not every switch has its rules within {CONNECTED_S:g} s: {adon.last_words}")


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def _plain(value: Any) -> Any:
    """A section as YAML has it: what was frozen is plain again."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value
