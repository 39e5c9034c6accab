"""What the REST API takes and answers, as types.  GENERATED: do not edit.

Written by ``python scripts/client_documents.py`` from the API's own description (OpenAPI).  A key that is
``NotRequired`` may be left out of what is sent.  Where something is impossible a time span is ``"inf"``;
moments are text (RFC 3339, UTC).
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class TemplateSummary(TypedDict):
    """
    A template in a list; its parts are at its own address.
    """

    name: str
    version: int
    """
    the latest
    """
    title: str
    description: str
    priority: int
    author: str
    """
    who saved the latest version
    """
    saved_at: str
    versions: list[int]
    """
    all there are, the first first
    """


class ComputeRequirement(TypedDict):
    """
    What the application asks of a compute site, all worker nodes together.
    """

    worker_nodes: NotRequired[int]
    cores: NotRequired[int]
    memory: NotRequired[str]
    gpus: NotRequired[int]


class CostModel(TypedDict):
    """
    How local and remote computation are compared ([ADON] 4.3, algorithm 4; spec section 3).
    """

    function: NotRequired[Literal["total_time", "money", "weighted"]]
    result_ratio: NotRequired[float]
    """
    result size over raw size
    """
    local_copy: NotRequired[bool]
    """
    the result must come home too (B.3)
    """
    time_weight: NotRequired[float]
    """
    cost per second, for 'weighted'
    """
    money_weight: NotRequired[float]
    """
    cost per currency unit, for 'weighted'
    """


class DelayBound(TypedDict):
    """
    ``delay <= max`` (one-way delay, RTT or jitter); better down to ``target``.
    """

    max: str
    target: NotRequired[str | None]


class HealthBound(TypedDict):
    """
    ``health >= min`` (H-ALL of [HEALTH], 0 to 100 %); better up to ``target``.
    """

    min: str
    target: NotRequired[str | None]


class LossBound(TypedDict):
    """
    ``loss <= max`` (ratio of packets); better down to ``target``.
    """

    max: str
    target: NotRequired[str | None]


class MatchRule(TypedDict):
    """
    Which requests this template is for: by application type, by port, by DSCP.
    """

    applications: NotRequired[list[str]]
    ports: NotRequired[list[int | str]]
    dscp: NotRequired[list[int]]


Metric: TypeAlias = Literal["throughput", "rtt", "one_way_delay", "jitter", "loss", "health"]
"""
What is measured on a transit path; ``higher_is_better`` tells its good direction.
"""


class Monitor(TypedDict):
    """
    What is watched at one of a flow's ends from its deployment until its end ([ADON] 3.1).
    """

    of: Literal["source", "destination"]
    metrics: NotRequired[list[str]]
    period: NotRequired[str]


class RSpec(TypedDict):
    """
    The resources an application may use and needs ([ADON] 3.1; GENI RSpec v3 in ``rspec_xml``).
    """

    bandwidth_ceiling: NotRequired[str | None]
    sites: NotRequired[list[str]]
    compute: NotRequired[ComputeRequirement | None]
    storage: NotRequired[str]
    software: NotRequired[list[str]]
    document: NotRequired[str]
    """
    the GENI RSpec v3 that it was drafted from; exported with this template's values
    """
    link: NotRequired[str]
    """
    client_id of the link in that document
    """


class Scitags(TypedDict):
    """
    Which experiment or community a transfer belongs to, and what it does for it.

    :param experiment: 1 to 511; 0 would say nobody.
    :param activity: 0 to 63; 0 says that it is not known.
    """

    experiment: int
    activity: NotRequired[int]


class SelectionPolicy(TypedDict):
    """
    How eager the broker is to move a running flow, and how old a value may be (spec section 2).
    """

    max_age: NotRequired[str]
    switch_margin: NotRequired[float]
    """
    difference of Q needed to move
    """
    patience: NotRequired[int]
    """
    consecutive misses before a move
    """
    min_dwell: NotRequired[str]
    default_path: NotRequired[str | None]
    queue_patience: NotRequired[str]
    idle_timeout: NotRequired[str]


class ThroughputBound(TypedDict):
    """
    ``throughput >= min``, measured with ``streams`` parallel TCP streams; better up to ``target``.
    """

    min: str
    target: NotRequired[str | None]
    streams: NotRequired[int]


class ChangeCapacity(TypedDict):
    """
    Announce that the path should have so much more, or less, capacity.
    """

    action: Literal["capacity"]
    more: NotRequired[str | None]
    less: NotRequired[str | None]


class ChangePriority(TypedDict):
    """
    From now on the flow's priority is what was asked and so much more (or less), within 0 to 999.
    """

    action: Literal["priority"]
    by: int


class Condition(TypedDict):
    """
    ``metric`` is ``above``, or ``below``, a level; over once it is beyond ``clear`` (hysteresis).

    :param of: whose host, for a metric of a host; none for a metric of the path or the flow itself.
    :param part: which disk, interface, workflow or batch system of that host; empty for any.
    """

    metric: str
    of: NotRequired[Literal["source", "destination"] | None]
    part: NotRequired[str]
    above: NotRequired[str | float | None]
    below: NotRequired[str | float | None]
    clear: NotRequired[str | float | None]


class LookupTable(TypedDict):
    """
    A scoring table of one metric; ``points`` are (value, score), by value.

    Values are in the metric's unit; written, they have it with them.
    """

    points: list[list[Any]]
    step: NotRequired[bool]
    generated: NotRequired[bool]


class Notify(TypedDict):
    """
    Tell people: in the log and on the event stream.
    """

    action: Literal["notify"]
    text: str
    level: NotRequired[Literal["info", "warning", "error"]]


class Reexamine(TypedDict):
    """
    Look again at the flow's paths now; patience is waived, its dwell on a path is not.
    """

    action: Literal["reexamine"]


class RequestTest(TypedDict):
    """
    Have one metric of the flow's path measured now, where the schedule has room for it.
    """

    action: Literal["measure"]
    metric: Metric


class StartMonitoring(TypedDict):
    """
    Watch more at one of the flow's ends until it ends.
    """

    action: Literal["monitor"]
    of: Literal["source", "destination"]
    metrics: list[str]
    period: NotRequired[str]


class VersionView(TypedDict):
    """
    A version of a template: who saved it, and when.
    """

    name: str
    version: int
    title: str
    author: str
    saved_at: str


class ChangeView(TypedDict):
    """
    A value that differs; null where it is not there.
    """

    field: str
    before: Any
    after: Any


class CurveView(TypedDict):
    """
    A lookup table as a line to draw: from a value of the metric to a score.
    """

    metric: Metric
    unit: str
    weight: float
    """
    of all weights together 1
    """
    generated: bool
    """
    the template has none: made of its bound and target
    """
    points: list[list[Any]]
    """
    value and score; drawn straight between them
    """


class LinkDraftView(TypedDict):
    """
    What a link of a GENI RSpec asks for.
    """

    link: str
    """
    its client_id
    """
    qspec: dict[str, Any]
    rspec: dict[str, Any]
    remarks: list[str]
    """
    what is not kept, and what has no effect in ADON
    """


class ProblemItem(TypedDict):
    """
    One thing that is wrong.
    """

    field: str
    cause: str
    code: str
    """
    stable name of the cause
    """
    file: NotRequired[str | None]
    line: NotRequired[int | None]
    column: NotRequired[int | None]


State: TypeAlias = Literal["running", "done", "failed", "cancelled"]
"""
How far a backtest is.
"""


class HappenedView(TypedDict):
    """
    What really became of a flow.
    """

    paths: list[str]
    took_seconds: float | None


class ReplayedView(TypedDict):
    """
    What becomes of a flow with one version of the template.
    """

    template: str
    state: str
    refused: str
    paths: list[str]
    moves: int
    violations: int
    violated_seconds: float
    took_seconds: float | None


class Connection(TypedDict):
    """
    A transport connection of a flow; no source port means any.
    """

    protocol: int
    destination_port: int
    source_port: NotRequired[int | None]


class FiredView(TypedDict):
    """
    What a trigger of a flow's template saw and did, the last time.
    """

    name: str
    at: str
    count: int
    """
    how often it has fired for this flow
    """
    on: bool
    """
    its condition was not over since
    """
    text: str


FlowState: TypeAlias = Literal[
    "requested",
    "queued",
    "installing",
    "active",
    "finished",
    "failed",
    "cancelled",
    "expired",
]
"""
Where a flow is in its life.
"""


class ForecastView(TypedDict):
    """
    When a transfer was expected to be over, in seconds from its admission on.
    """

    expected_seconds: float | Literal["inf"]
    low_seconds: float | Literal["inf"]
    high_seconds: float | Literal["inf"]
    coverage: float
    """
    the share of such intervals that should hold the truth
    """
    terms: dict[str, float | Literal["inf"]]
    """
    what the expectation is the sum of, in seconds
    """


Quality: TypeAlias = Literal["met", "degraded", "violated", "unknown"]
"""
How a running flow's path keeps its QSpec (spec section 1).
"""


class FlowJob(TypedDict):
    """
    A program to run on the data where it arrives, by its name at a compute site there.
    """

    job: str
    arguments: NotRequired[list[str]]


class ReportBody(TypedDict):
    """
    What a transfer says about itself; ``finished`` and ``failed`` end the flow.
    """

    status: Literal["started", "progress", "finished", "failed"]
    bytes: int
    """
    bytes the receiver has
    """
    detail: NotRequired[str]


class HistoryEntry(TypedDict):
    """
    One step of a flow's life.
    """

    at: str
    state: FlowState
    reason: str
    path: str | None


class WaitingView(TypedDict):
    """
    What a waiting flow waits for.
    """

    id: str
    at: str
    phase: str
    """
    asleep, calm, hurried (its deadline is near) or due (reserved)
    """
    before: int
    """
    flows that are before it
    """
    waiting: int
    """
    all flows that wait
    """
    expires_at: str | None
    not_overtaken_from: str | None
    """
    no flow that comes later than this is ever before it
    """
    claims: bool
    """
    what it waits for is kept for it
    """
    waits_for: list[str]


class MetricView(TypedDict):
    """
    One metric of one candidate: value, origin, bound and score, or why there is no value.
    """

    metric: str
    unit: str
    value: float | None
    observed_at: str | None
    age_seconds: float | None
    source: str
    basis: str
    unknown: str
    bound: float | None
    bound_met: bool | None
    score: float | None
    weight: float


class SiteCostView(TypedDict):
    """
    Algorithm 4 for one compute site, every term by its name in the paper's table 3.
    """

    site: str
    local: bool
    cost: float | Literal["inf"]
    total_seconds: float | Literal["inf"]
    queue_seconds: float | Literal["inf"]
    compute_seconds: float | Literal["inf"]
    network_seconds: float | Literal["inf"]
    duplication_seconds: float | Literal["inf"]
    compute_size_bytes: int
    transfer_size_bytes: int
    nodes: int
    node_rate_bps: float | Literal["inf"]
    theoretical_bps: float | Literal["inf"]
    available_bps: float | Literal["inf"]
    path: str | None
    why: str
    campus: NotRequired[str]
    available_basis: NotRequired[str]
    """
    what the available rate rests on; empty: unknown
    """
    deviations: NotRequired[dict[str, float]]
    """
    standard deviations of terms, in their units; none: not observed
    """
    origins: NotRequired[dict[str, str]]
    """
    who says what a term is
    """


class BookingView(TypedDict):
    """
    What would be reserved in advance.
    """

    path: str
    rate_bps: float
    begins: str
    ends: str


class ForeseenEndView(TypedDict):
    """
    When a transfer would be over.
    """

    earliest: str
    expected: str
    latest: str


class MeanRateView(TypedDict):
    """
    How fast a transfer is expected to be on average, in bits/s.
    """

    expected_bps: float
    low_bps: float
    high_bps: float
    coverage: float
    """
    the share of such intervals that should hold the truth
    """


class PushedView(TypedDict):
    """
    What would become of a running flow by the one that is asked for.
    """

    flow: str
    path: str
    to: str | None
    """
    the path that it would move to; none if it would wait
    """
    why: str


class DecisionSummary(TypedDict):
    """
    What was decided about one flow at one time.
    """

    id: str
    flow: str
    at: str
    cause: str
    outcome: Literal["admit", "queue", "move", "stay"]
    path: str | None
    previous_path: str | None
    code: str
    """
    the rule that led to the outcome
    """
    reason: str
    template: str
    compute_site: str | None
    candidates: int
    """
    paths that it chose among
    """
    alarm: str | None
    """
    the alarm that led to it, if one did
    """
    trigger: str | None
    """
    the template's trigger that led to it, if one did
    """
    slice: str | None


class FlipView(TypedDict):
    """
    A change of one quantity by which the alternative would have been taken; decided on, not estimated.
    """

    kind: str
    name: str
    path: str | None
    unit: str
    value: float | None
    needed: float
    """
    the nearest value with which it would have been taken
    """
    short_of: float | None
    """
    the value beside that, with which it would not
    """
    told: float
    """
    about the needed one, with few digits; it would have been taken too
    """
    size: float | None
    """
    the logarithm of the ratio of needed and value; none: no ratio
    """
    text: str


class QuantityView(TypedDict):
    """
    A quantity that was looked at, and how far it was changed.
    """

    kind: str
    """
    metric, weight, bound, priority, size, wait, switch_margin, patience, dwell or closed
    """
    name: str
    """
    the metric's; of what was closed, why
    """
    path: str | None
    unit: str
    value: float | None
    """
    none if it was not known
    """
    low: float
    high: float


class ConditionView(TypedDict):
    """
    What the admitting decision saw on the path.
    """

    metric: str
    value: float
    unit: str


class StayView(TypedDict):
    """
    So long was a flow on one path.
    """

    path: str
    since: str
    until: str
    seconds: float


class EstimateView(TypedDict):
    """
    How far off the throughput expected of a path was: relative errors, above zero for too much.

    ``median`` and ``spread`` (interquartile range) are of the latest ``count`` flows that were decided on
    this basis.
    """

    path: str
    source: str
    destination: str
    basis: str
    count: int
    median: float
    spread: float


class PathAlarm(TypedDict):
    """
    An alarm in force on a path, in short; all of it is at ``/alarms/{id}``.
    """

    id: str
    metric: str
    kind: str
    direction: str | None
    bad: bool
    severity: str
    raised_at: str
    text: str
    acted_on: bool
    """
    whether values before it are no longer trusted
    """


class Reading(TypedDict):
    """
    The latest value of one metric on one directed path.
    """

    value: float
    unit: str
    observed_at: str
    age_seconds: float
    source: NotRequired[str]
    basis: NotRequired[str]


class SwitchView(TypedDict):
    """
    A campus-edge switch as the controller sees it.
    """

    name: str
    dpid: str
    connected: bool
    rules: int
    foreign_rules: NotRequired[int]
    table: NotRequired[dict[str, Any] | None]
    """
    rules that it holds and may hold
    """
    tables: NotRequired[dict[str, Any]]
    """
    rules in each table of ours, and its limit, as the switch says
    """
    lacks: NotRequired[list[str]]
    """
    what it needs and cannot, by its own account
    """
    mode: Literal["dry-run", "active"]
    """
    dry-run: decided, recorded and shown; nothing is sent
    """


class CircuitView(TypedDict):
    """
    A path between two sites, configured or computed, and over what it leads.
    """

    name: str
    overlay: str | None
    """
    null for a configured path
    """
    layer: str
    source: str
    destination: str
    vlan: int | None
    links: list[str]
    switches: list[str]
    """
    of ours, from source to destination
    """
    capacity_bps: float | None
    usable: bool
    reason: str
    flows: list[str]


class LinkEnd(TypedDict):
    """
    Where a link meets a switch; what is not known is null.
    """

    switch: str | None
    port: str | None
    dpid: NotRequired[str | None]
    number: NotRequired[int | None]
    admin: NotRequired[bool | None]
    """
    whether the port is switched on
    """
    oper: NotRequired[bool | None]
    """
    whether it has carrier
    """


class LinkView(TypedDict):
    """
    A link between two of our switches, or a port that leads to something else (``foreign``).
    """

    name: str | None
    """
    of a configured link
    """
    state: str
    """
    live, settling, penalised, one-way, down, unknown, unheard, foreign, …
    """
    reason: str
    since: NotRequired[str | None]
    penalised_until: NotRequired[str | None]
    ends: list[LinkEnd]
    delays_seconds: NotRequired[list[float | None]]
    """
    one way, from each end, by discovery
    """
    capacity_bps: NotRequired[float | None]
    neighbour: NotRequired[str | None]
    """
    what a foreign system says it is (LLDP)
    """


class PortView(TypedDict):
    """
    A port of a switch.
    """

    number: int
    live: bool


class SiteView(TypedDict):
    """
    A campus: its edge switch and its DTNs.
    """

    name: str
    edge: str
    hosts: list[str]


class SwitchDetail(TypedDict):
    """
    A switch with how we drive it and its ports.
    """

    name: str
    dpid: str
    connected: bool
    rules: int
    foreign_rules: NotRequired[int]
    table: NotRequired[dict[str, Any] | None]
    """
    rules that it holds and may hold
    """
    tables: NotRequired[dict[str, Any]]
    """
    rules in each table of ours, and its limit, as the switch says
    """
    lacks: NotRequired[list[str]]
    """
    what it needs and cannot, by its own account
    """
    mode: Literal["dry-run", "active"]
    """
    dry-run: decided, recorded and shown; nothing is sent
    """
    pipeline: NotRequired[str]
    control: NotRequired[str]
    drift: NotRequired[str]
    ports: NotRequired[dict[str, PortView]]


class HostView(TypedDict):
    """
    A data transfer node.
    """

    name: str
    site: str
    """
    the campus that it is at
    """


class RuleView(TypedDict):
    """
    A rule that should be in a switch, and how far it has come.
    """

    dpid: str
    state: str
    error: str
    owner: str
    kind: str
    text: str
    """
    as ovs-ofctl -O OpenFlow13 prints it
    """


class SwitchDifference(TypedDict):
    """
    How one switch differed from what should be when its rules were last read.
    """

    name: str
    dpid: str
    connected: bool
    missing: list[str]
    wrong: list[str]
    """
    what should stand in a slot that holds something else of ours
    """
    extra: list[str]
    blocked: list[str]
    """
    what cannot be put in: a rule that is not ours is in its place
    """


class Synchronised(TypedDict):
    """
    The switches that are being compared and repaired now.
    """

    switches: list[str]
    """
    by name
    """


class ExplainedRule(TypedDict):
    """
    A rule with what it is for, which packets it takes and what it does with them.
    """

    dpid: str
    state: str
    error: str
    owner: str
    kind: str
    text: str
    """
    as ovs-ofctl -O OpenFlow13 prints it
    """
    purpose: str
    packets: str
    deeds: list[str]


class SentView(TypedDict):
    """
    One change that was sent to a switch, and what led to it.
    """

    at: str
    dpid: str
    op: str
    owner: str
    cause: str
    batch: str
    text: str


class ControllerView(TypedDict):
    """
    A controller that is active, or was the last to be.
    """

    name: str
    active: bool
    generation: int
    """
    grows at every change of the active controller
    """
    lease_s: float | None
    """
    how long its lease still runs; null without high availability
    """


class SlicePath(TypedDict):
    """
    What a slice may use, and uses, of one direction of a path.
    """

    path: str
    source: str
    destination: str
    share: float
    """
    of the path's capacity
    """
    allowed_bps: float
    reserved_bps: float
    """
    by the throughput bounds of its running flows
    """


class SliceRules(TypedDict):
    """
    Rules of a slice in one switch.
    """

    dpid: str
    rules: int
    budget: int | None
    """
    null: no limit
    """


class SliceView(TypedDict):
    """
    A tenant: what is its, and what it uses now.
    """

    name: str
    number: int
    shared: bool
    priorities: list[Any]
    dscp: list[int] | None
    """
    what its flows may be marked with; null: anything
    """
    mark: int | None
    flowspace: list[dict[str, Any]]
    members: dict[str, Any] | None
    """
    null for whoever does not run the network
    """
    rules: list[SliceRules]
    paths: list[SlicePath]


class Marking(TypedDict):
    """
    What a template or a request wants its packets and flows to say; what is None says nothing.
    """

    dscp: NotRequired[int | None]
    scitags: NotRequired[Scitags | None]


class QSpec(TypedDict):
    """
    The quality a flow needs: per metric a hard bound and optionally a target (spec section 1).
    """

    throughput: NotRequired[ThroughputBound | None]
    rtt: NotRequired[DelayBound | None]
    one_way_delay: NotRequired[DelayBound | None]
    jitter: NotRequired[DelayBound | None]
    loss: NotRequired[LossBound | None]
    health: NotRequired[HealthBound | None]


Trigger = TypedDict(
    "Trigger",
    {
        "name": str,
        "when": Condition,
        "for": NotRequired[str],
        "do": Reexamine | ChangePriority | ChangeCapacity | RequestTest | StartMonitoring | Notify,
        "hold": NotRequired[str],
    },
)


class TemplateDiff(TypedDict):
    """
    How two versions of a template differ.
    """

    name: str
    before: int
    after: int
    changes: list[ChangeView]
    text: str
    """
    a unified diff of both as YAML; empty if they do not differ
    """


class TemplateCheck(TypedDict):
    """
    What was found in a template's text; nothing was saved.
    """

    ok: bool
    problems: list[ProblemItem]
    template: dict[str, Any] | None
    """
    as it would be saved; null if something is wrong
    """
    next_version: int | None
    """
    the version it would become
    """
    curves: list[CurveView]
    """
    how its metrics would be scored
    """
    links: list[LinkDraftView]
    """
    of a GENI RSpec: what each of its links asks for
    """


class BacktestSummary(TypedDict):
    """
    A backtest without what came of it.
    """

    id: str
    template: str
    requester: str
    asked_at: str
    since: str
    until: str
    state: State
    ended_at: str | None
    cause: str


class ComparedView(TypedDict):
    """
    One flow: as it was, with today's version, with the one that is tried.
    """

    flow: str
    template: str
    size_bytes: int
    submitted_at: str
    happened: HappenedView
    present: ReplayedView
    proposed: ReplayedView
    moved: bool
    saved_seconds: float | None
    """
    below zero: lost; none where one of the two did not finish
    """


class FoundView(TypedDict):
    """
    The comparison of the two versions.
    """

    present: str
    proposed: str
    model: str
    moved: int
    saved_seconds: float
    model_off_by: float | None
    """
    median of |replayed - real| / real, with today's version
    """
    flows: list[ComparedView]


class FlowView(TypedDict):
    """
    A flow, and where it is in its life.
    """

    id: str
    state: FlowState
    final: bool
    reason: str
    quality: Quality
    requester: str
    template: str
    source: str
    destination: str
    label: str
    request: dict[str, Any]
    submitted_at: str
    state_since: str
    path: str | None
    path_since: str | None
    compute_site: str | None
    size_bytes: int
    transfer_size_bytes: int
    bytes_sent: int
    bytes_delivered: int
    bytes_reported: int | None
    bytes_moved: int
    """
    what is known to have arrived, at most what was to be moved
    """
    evidence: str
    started_at: str | None
    ended_at: str | None
    moves: int
    advised: NotRequired[bool]
    """
    active on paper: nothing was sent to a switch
    """
    decision: str | None
    slice: str | None
    granted: dict[str, Any] | None
    """
    by the queue ladder, beside what was asked; bits/s
    """
    not_before: NotRequired[str | None]
    deadline: NotRequired[str | None]
    booking: NotRequired[dict[str, Any] | None]
    """
    what it has reserved: path, rate_bps, begins, ends
    """
    aggregated: bool
    """
    its connections share one pair of rules: a switch has no room
    """
    forecast: NotRequired[ForecastView | None]
    """
    told when it was admitted
    """
    forecast_at: NotRequired[str | None]
    connections: list[Connection]
    triggers: list[FiredView]
    """
    those of its template that have fired, the latest last
    """


class FlowBody(TypedDict):
    """
    What a researcher asks for; quantities with units, as ``25 GB``.
    """

    source: str
    destination: str
    size: str
    template: NotRequired[str | None]
    application: NotRequired[str | None]
    ports: NotRequired[list[int]]
    dscp: NotRequired[int | None]
    weights: NotRequired[dict[str, float] | None]
    qspec: NotRequired[QSpec | None]
    priority: NotRequired[int | None]
    streams: NotRequired[int | None]
    queue_patience: NotRequired[str | None]
    not_before: NotRequired[str | None]
    deadline: NotRequired[str | None]
    label: NotRequired[str]
    slice: NotRequired[str | None]
    marking: NotRequired[Marking | None]
    job: NotRequired[FlowJob | None]
    pausable: NotRequired[bool | None]


class CandidateView(TypedDict):
    """
    One candidate path as the decision saw it; ``q`` is the weighted score, equation 3.
    """

    path: str
    layer: str
    verdict: str
    code: str
    """
    the reason of the verdict
    """
    why: str
    q: float | None
    metrics: list[MetricView]


class DecisionView(TypedDict):
    """
    The recorded outcome for one flow at one time, with everything it was based on.
    """

    id: str
    flow: str
    at: str
    cause: str
    outcome: str
    path: str | None
    previous_path: str | None
    code: str
    """
    the rule that led to the outcome
    """
    reason: str
    template: str
    weights: dict[str, float]
    candidates: list[CandidateView]
    tables: dict[str, Any] | None
    compute: list[SiteCostView]
    compute_site: str | None
    alarm: str | None
    """
    the alarm that led to it, if one did
    """
    slice: str | None
    granted: dict[str, Any] | None
    """
    by the queue ladder, beside what was asked; bits/s
    """
    trigger: NotRequired[str | None]
    """
    the template's trigger that led to it, if one did
    """
    forecast: NotRequired[ForecastView | None]


class PreviewView(TypedDict):
    """
    What would be decided about a request if it were made now; nothing is kept of it.
    """

    at: str
    outcome: str
    """
    admit or queue; a request that would be refused is answered with 422
    """
    decision: DecisionView
    """
    as it would be recorded; its id and its flow are 'preview'
    """
    path: str | None
    compute_site: str | None
    transfer_size_bytes: int
    """
    what would travel
    """
    forecast: ForecastView | None
    """
    how long that would take; none if nobody can say
    """
    throughput: MeanRateView | None
    """
    by the forecast, on average
    """
    waits_for: list[str]
    end: ForeseenEndView | None
    """
    now and its forecast together; none if it would wait
    """
    displaced: int
    """
    running flows that would go back to the queue
    """
    moved: int
    """
    running flows that would get another path
    """
    pushed: list[PushedView]
    """
    those flows
    """
    replaced: list[str]
    """
    flows that were seen but not announced, and would end; counted as still there
    """
    booking: BookingView | None
    advised: bool
    """
    decided and shown only: no switch would be told
    """


class DecisionPage(TypedDict):
    """
    Decisions about all flows, the newest first.
    """

    next: NotRequired[str | None]
    """
    what the following page is asked with; null on the last
    """
    items: list[DecisionSummary]


class AlternativeView(TypedDict):
    """
    A path, or a compute site by a path, that was not taken.
    """

    path: str
    site: str | None
    """
    none: whatever site goes with the path
    """
    verdict: str | None
    q: float | None
    why: str
    """
    what was said of it then
    """
    text: str
    """
    the smallest change in words, or that there is none
    """
    flips: list[FlipView]
    """
    the smallest change first
    """


class OutcomeView(TypedDict):
    """
    What a flow leaves behind: what it was promised, what it got, and what it met on its way.
    """

    flow: str
    template: str
    source: str
    destination: str
    state: str
    """
    how it ended
    """
    slice: str | None
    priority: int
    streams: int
    submitted_at: str
    admitted_at: str | None
    started_at: str | None
    ended_at: str
    waited_seconds: float
    duration_seconds: float | None
    requested_bytes: int
    transferred_bytes: int
    throughput_bps: float | None
    measured_by: str
    """
    who says so
    """
    promised_bps: float | None
    error: float | None
    """
    (promised - achieved) / achieved; above zero: too much
    """
    kept: bool
    """
    whether its QSpec was kept all the time that it was known
    """
    quality_seconds: dict[str, float]
    moves: int
    stays: list[StayView]
    conditions: list[ConditionView]
    decision: str | None
    """
    the one that admitted it
    """
    compute_site: str | None
    forecast: ForecastView | None
    foretold: bool | None
    """
    whether the forecast's interval held
    """


class PathView(TypedDict):
    """
    One direction of one transit path, with what is known about it now.
    """

    path: str
    source: str
    destination: str
    layer: str
    capacity_bps: float
    mtu: int
    usable: bool
    reason: str
    metrics: dict[str, Reading]
    flows: list[str]
    alarms: list[PathAlarm]


class NetworkView(TypedDict):
    """
    What the network is made of, and the state of each part at one moment.
    """

    at: str
    network: str
    sites: list[SiteView]
    switches: list[SwitchDetail]
    links: list[LinkView]
    circuits: list[CircuitView]
    reconcile: dict[str, int]
    """
    differences found since the controller's start, by kind
    """


class QueueView(TypedDict):
    """
    The waiting flows, first to be served first; of very many the first 1 000.
    """

    next: NotRequired[str | None]
    """
    what the following page is asked with; null on the last
    """
    at: str
    waiting: NotRequired[int]
    """
    all that wait, anybody's
    """
    items: list[FlowView]


class Explanation(TypedDict):
    """
    Why some rules are there.

    :param because: the decision's reason in words; None if no decision is behind them.
    """

    owner: str
    because: str | None
    decision: str | None
    requester: str | None
    items: list[ExplainedRule]


class TemplateBody(TypedDict):
    """
    A template; without a ``version`` it is saved as the next one.
    """

    name: str
    version: NotRequired[int]
    title: NotRequired[str]
    description: NotRequired[str]
    match: NotRequired[MatchRule]
    qspec: NotRequired[QSpec]
    rspec: NotRequired[RSpec]
    weights: dict[str, float]
    tables: NotRequired[dict[str, LookupTable]]
    priority: NotRequired[int]
    selection: NotRequired[SelectionPolicy]
    cost: NotRequired[CostModel | None]
    protocol: NotRequired[Literal["tcp", "udp"]]
    streams: NotRequired[int]
    """
    parallel streams its transfers use
    """
    pausable: NotRequired[bool]
    """
    its transfers stop while their flow waits, and go on where they were
    """
    mode: NotRequired[Literal["dry-run", "active"]]
    """
    dry-run: its flows are decided, recorded and shown, and no rule is sent
    """
    notes: NotRequired[str]
    marking: NotRequired[Marking | None]
    triggers: NotRequired[list[Trigger]]
    monitoring: NotRequired[list[Monitor]]


class BacktestView(TypedDict):
    """
    A backtest, and what came of it.
    """

    id: str
    template: str
    requester: str
    asked_at: str
    since: str
    until: str
    state: State
    ended_at: str | None
    cause: str
    """
    why it failed
    """
    found: FoundView | None


class BacktestBody(TypedDict):
    """
    Which version of a template is to be tried on which past.
    """

    template: TemplateBody
    since: str
    until: NotRequired[str | None]
    """
    now, if it is left out
    """


class FlowList(TypedDict):
    """
    Flows, the newest first.
    """

    next: NotRequired[str | None]
    """
    what the following page is asked with; null on the last
    """
    items: list[FlowView]


class WhyNotView(TypedDict):
    """
    Per alternative the nearest changes that would have had it taken.
    """

    decision: str
    outcome: str
    path: str | None
    compute_site: str | None
    alternatives: list[AlternativeView]
    searched: list[QuantityView]
    left_out: list[QuantityView]
    """
    not looked at: that would have taken too long
    """
    decisions_made: int
    """
    how often the decision was made again
    """
    code: str
    """
    the version of the code that made the decision
    """
    this_code: str
    as_recorded: bool
    """
    whether this code makes the same decision of what it saw
    """


class PathList(TypedDict):
    """
    All directed paths and the edge switches at one moment.
    """

    next: NotRequired[str | None]
    """
    what the following page is asked with; null on the last
    """
    at: str
    items: list[PathView]
    switches: list[SwitchView]
    estimates: list[EstimateView]
