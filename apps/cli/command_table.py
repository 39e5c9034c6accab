"""Table of the commands that call one route each, by groups of users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api import routes
from adon.api.route import Route
from apps.cli.common import ADMINISTRATION, ENGINEER, OPERATOR, RESEARCHER
from apps.cli.rest_command import REQUIRED, RestCommand

RESERVED = {"begins": "--from", "ends": "--until"}
NO_PATHS = "No path is configured; see: adon config check FILE"
SCHEDULE = "No measurements; see: adon measure schedule"

RESEARCHER_COMMANDS = (
    RestCommand(
        "flow list",
        routes.LIST_FLOWS,
        "List flows, the newest first",
        "id state advised template source destination bytes_moved transfer_size_bytes path requester reason",
        none="No flows; submit one with: adon flow submit --help",
    ),
    RestCommand(
        "flow outcome", routes.GET_OUTCOME, "Compare what a finished flow was promised with what it got"
    ),
    RestCommand(
        "flow why", routes.GET_WAITING, "Show what a queued flow waits for, and its place in the queue"
    ),
    RestCommand(
        "flow cancel", routes.CANCEL_FLOW, "Cancel a flow and remove its rules", line="{id} {state}: {reason}"
    ),
    RestCommand(
        "flow report",
        routes.REPORT_TRANSFER,
        "Report the state of a transfer",
        line="{id} {state}, {bytes_moved} of {transfer_size_bytes}: {reason}",
        arguments=("status",),
    ),
    RestCommand(
        "queue",
        routes.GET_QUEUE,
        "List queued flows in the order of service",
        tables={"items": "id state template source destination transfer_size_bytes requester submitted_at"},
        none="No queued flows.",
    ),
    RestCommand("host list", routes.LIST_HOSTS, "List data transfer nodes", "name site"),
    RestCommand(
        "decision list",
        routes.LIST_DECISIONS,
        "List decisions about all flows, the newest first",
        "id at flow outcome path reason",
    ),
    RestCommand(
        "outcome list",
        routes.LIST_OUTCOMES,
        "List finished flows with promised and achieved values",
        "flow state template source destination transferred_bytes waited_seconds duration_seconds"
        " throughput_bps promised_bps error moves kept",
    ),
    RestCommand(
        "site list",
        routes.LIST_SITES,
        "List compute sites with state, free resources and T_q",
        "name site adapter state capacity.cores_free capacity.cores queue_wait_seconds honesty.factor why",
    ),
    RestCommand("site show", routes.GET_SITE, "Show a compute site, its T_q, predictions and observations"),
    RestCommand(
        "job submit",
        routes.SUBMIT_JOB,
        "Run a configured program at a compute site",
        line="{id} {state}: {reason}",
        arguments=("site", "job", "arguments"),
    ),
    RestCommand(
        "job list",
        routes.LIST_JOBS,
        "List jobs, the newest first",
        "id state site job requester predicted_seconds waited_seconds ran_seconds reason",
    ),
    RestCommand("job show", routes.GET_JOB, "Show a job: state, predicted and observed waiting time"),
    RestCommand("job cancel", routes.CANCEL_JOB, "Cancel a job", line="{id} {state}: {reason}"),
    RestCommand(
        "reserve compute",
        routes.ADD_RESERVATION,
        "Reserve resources of a compute site",
        line="{id} {stage}: {words}",
        arguments=("compute",),
        fields=("begins", "ends", "worker_nodes", "cores", "gpus", "memory", "storage", "flow", "note"),
        options={**RESERVED, "worker_nodes": "--nodes", "compute": "SITE"},
    ),
    RestCommand(
        "reserve path",
        routes.ADD_RESERVATION,
        "Reserve bandwidth of a path in one direction",
        line="{id} {stage}: {words}",
        arguments=("path", "source", "destination"),
        fields=("bandwidth", "begins", "ends", "flow", "note"),
        options=RESERVED,
        defaults={"bandwidth": REQUIRED},
    ),
    RestCommand(
        "reserve list",
        routes.LIST_RESERVATIONS,
        "List announced and active reservations",
        "id stage owner words note",
    ),
    RestCommand("reserve show", routes.GET_RESERVATION, "Show one reservation"),
    RestCommand(
        "reserve release",
        routes.RELEASE_RESERVATION,
        "Release a reservation, also an active one",
        line="{id} is released",
    ),
    RestCommand(
        "reserve free",
        routes.LIST_RESOURCES,
        "List compute sites with held and free resources",
        "name campus limits held free flows why overdrawn",
    ),
    RestCommand(
        "workflow list",
        routes.LIST_WORKFLOWS,
        "List workflows and batch systems as their hosts reported them",
        tables={
            "items": "host name state stale percent_done jobs.failed age_seconds",
            "users": "host name workflows",
            "batch_systems": "host name system values.cores_free values.cores_total values.jobs_running"
            " values.jobs_pending age_seconds",
        },
    ),
)

ENGINEER_COMMANDS = (
    RestCommand(
        "template list",
        routes.LIST_TEMPLATES,
        "List the latest version of every template",
        "name version priority title",
        none="No templates; add one with: adon template add FILE",
    ),
    RestCommand(
        "template versions",
        routes.LIST_VERSIONS,
        "List the versions of a template with author and time",
        "name version saved_at author title",
    ),
    RestCommand(
        "backtest list",
        routes.LIST_BACKTESTS,
        "List the server's backtests, the newest first",
        "id state template since until requester asked_at cause",
        none="No backtests; start one with: adon backtest start --help",
    ),
    RestCommand(
        "backtest show", routes.GET_BACKTEST, "Show one backtest: flows with another path, and time saved"
    ),
    RestCommand(
        "backtest cancel",
        routes.CANCEL_BACKTEST,
        "Cancel a backtest, or delete a finished one",
        line="{id} is {state}",
    ),
    RestCommand(
        "forecast calibration",
        routes.GET_CALIBRATION,
        "Compare forecasts of completion with the observed times",
        "flows count nominal covered least most bias error",
    ),
    RestCommand(
        "measure list",
        routes.LIST_MEASUREMENTS,
        "List measurements with their tools, the newest first",
        "observed_at path source destination metric value tool",
        defaults={"limit": 50},
        none=SCHEDULE,
    ),
    RestCommand(
        "measure history",
        routes.PLOT,
        "Show one series as statistics of equal time spans",
        tables={"items": "start count minimum mean maximum quantiles.0.95"},
        arguments=("path", "source", "destination"),
        defaults={"metric": "throughput", "since": "1 d", "until": "0 s", "points": 60},
        none=SCHEDULE,
    ),
    RestCommand(
        "measure runs",
        routes.LIST_EXECUTIONS,
        "List planned runs with their results, the newest first",
        "planned_start task outcome started ended",
        defaults={"limit": 50},
    ),
    RestCommand(
        "measure mesh",
        routes.GET_MESH,
        "Show the latest value of a metric between all sites",
        tables={"items.paths": "source destination path value age_seconds verdict why"},
    ),
    RestCommand(
        "measure series",
        routes.LIST_SERIES,
        "List the series of the archive",
        "path source destination metric",
        none=SCHEDULE,
    ),
    RestCommand(
        "measure boxes",
        routes.LIST_BOXES,
        "Show minimum, quartiles and maximum per hour or day",
        tables={
            "items.boxes": "series.path series.source series.destination series.metric start count minimum"
            " quantiles.0.25 quantiles.0.5 quantiles.0.75 maximum"
        },
        none="No such series; see: adon measure series",
    ),
    RestCommand(
        "measure overlaps",
        routes.GET_OVERLAPS,
        "List conflicting test runs that overlapped",
        "first.task first.started first.ended second.task second.started second.ended",
    ),
    RestCommand("measure points", routes.LIST_POINTS, "List measurement points", "name url ignored"),
    RestCommand(
        "measure schedule",
        routes.GET_SCHEDULE,
        "Show the conflict-free plan (EDF-CE) and its next runs",
        tables={
            "tasks": "task tool period_seconds slot_seconds",
            "upcoming": "start task",
            "spend": "name allowed_bps peak_bps mean_bps",
        },
        none="No tests are configured, or another collector is active.",
    ),
    RestCommand(
        "study list",
        routes.LIST_STUDIES,
        "List studies, the latest first",
        "id at kind title summary",
        none="No studies; submit one with: adon study submit",
    ),
    RestCommand("study delete", routes.DELETE_STUDY, "Delete a study", line="{id} is deleted"),
)

OPERATOR_COMMANDS = (
    RestCommand(
        "alarm list",
        routes.LIST_ALARMS,
        "List the open alarms, the newest first",
        "id raised_at severity bad cleared_at acknowledged_by text",
        options={"open": "--open/--all"},
        defaults={"open": True},
    ),
    RestCommand("alarm show", routes.GET_ALARM, "Show one alarm with its evidence"),
    RestCommand(
        "alarm ack",
        routes.ACKNOWLEDGE,
        "Acknowledge an alarm",
        line="{id} is acknowledged by {acknowledged_by}",
    ),
    RestCommand(
        "alarm subscriptions",
        routes.LIST_SUBSCRIPTIONS,
        "List subscriptions to alarms",
        "id owner channel target",
        none="No subscriptions; see: adon alarm subscribe --help",
    ),
    RestCommand(
        "alarm subscription",
        routes.GET_SUBSCRIPTION,
        "Show one subscription: owner, channel, target and filter",
    ),
    RestCommand("alarm unsubscribe", routes.UNSUBSCRIBE, "Delete a subscription", line="{id} is deleted"),
    RestCommand(
        "path list",
        routes.LIST_PATHS,
        "List paths with their latest values, ages and alarms",
        "path layer source destination usable reason capacity_bps metrics.throughput metrics.rtt"
        " metrics.one_way_delay metrics.jitter metrics.loss metrics.health flows alarms",
        tables={"estimates": "path source destination basis count median spread"},
        none=NO_PATHS,
    ),
    RestCommand(
        "link list",
        routes.GET_NETWORK,
        "List links, configured and discovered, with state and reason",
        "name state ends capacity_bps penalised_until neighbour reason",
        items="links",
    ),
    RestCommand(
        "circuit list",
        routes.GET_NETWORK,
        "List paths with VLAN, links, switches and flows",
        "name overlay layer source destination vlan capacity_bps usable reason links switches flows",
        items="circuits",
        none=NO_PATHS,
    ),
    RestCommand(
        "rules explain",
        routes.EXPLAIN_RULES,
        "Explain the rules of a flow, a path or a cookie",
        arguments=("of",),
    ),
    RestCommand(
        "rules sent",
        routes.LIST_SENT,
        "List rule changes with their events, the newest first",
        "at dpid op owner cause text",
        defaults={"limit": 50},
    ),
    RestCommand("rules sync", routes.RULES_SYNC, "Compare and repair every connected switch now"),
    RestCommand(
        "maintenance add",
        routes.ADD_WINDOW,
        "Announce a maintenance window",
        line="{id} {stage}: {scope} {name}, {begins} to {ends}",
        arguments=("scope", "name"),
        options=RESERVED,
    ),
    RestCommand(
        "maintenance list",
        routes.LIST_WINDOWS,
        "List announced and active maintenance windows",
        "id stage scope name begins ends requester note",
    ),
    RestCommand("maintenance show", routes.GET_WINDOW, "Show one maintenance window"),
    RestCommand(
        "maintenance cancel",
        routes.CANCEL_WINDOW,
        "Cancel a maintenance window, also an active one",
        line="{id} is cancelled",
    ),
    RestCommand(
        "slice list",
        routes.LIST_SLICES,
        "List slices with their limits and their present use",
        tables={
            "items.paths": "name shared path source destination reserved_bps allowed_bps",
            "items.rules": "name dpid rules budget",
        },
    ),
    RestCommand(
        "policy show",
        routes.LIST_POLICY,
        "Show every setting of the policy with its meaning",
        "name value configured meaning",
    ),
    RestCommand(
        "controllers",
        routes.LIST_CONTROLLERS,
        "Show which controller is active, and its lease",
        "name active generation lease_s",
    ),
    RestCommand("version", routes.GET_VERSION, "Show the version of the server and of its database schema"),
)

ADMINISTRATION_COMMANDS = (
    RestCommand(
        "token list",
        routes.LIST_TOKENS,
        "List tokens; of all users for administrators and auditors",
        "id owner label scope roles expires revoked last_used",
        options={"owner": "--user"},
    ),
    RestCommand("token revoke", routes.REVOKE_TOKEN, "Revoke a token", line="{id} is revoked"),
    RestCommand("token show", routes.GET_TOKEN, "Show one token without its secret"),
    RestCommand(
        "session list",
        routes.LIST_SESSIONS,
        "List browser sessions; of all users for administrators",
        "id owner how began last_seen address browser",
        options={"owner": "--user"},
    ),
    RestCommand("session show", routes.GET_SESSION, "Show one browser session"),
    RestCommand("session end", routes.END_SESSION, "End one browser session", line="{ended} signed out"),
    RestCommand(
        "session end-others",
        routes.END_SESSIONS,
        "End all browser sessions of a user",
        line="{ended} signed out",
        options={"owner": "--user"},
    ),
    RestCommand("user show", routes.GET_USER, "Show one user: roles with their origin, and groups"),
    RestCommand(
        "user list",
        routes.LIST_USERS,
        "List users with their roles",
        "name display roles issuer disabled_since last_seen",
    ),
    RestCommand(
        "role list",
        routes.LIST_ROLES,
        "List roles with their permissions, and the scopes of tokens",
        tables={"items.may": "name action scope"},
    ),
    RestCommand(
        "audit list",
        routes.LIST_AUDIT,
        "List lines of the audit log, the newest first",
        "number at actor via address action object outcome times detail",
        defaults={"limit": 50},
    ),
)

COMMANDS: Mapping[str, tuple[RestCommand, ...]] = {
    RESEARCHER: RESEARCHER_COMMANDS,
    ENGINEER: ENGINEER_COMMANDS,
    OPERATOR: OPERATOR_COMMANDS,
    ADMINISTRATION: ADMINISTRATION_COMMANDS,
}
"""Commands by the panel of the help."""

OTHER_COMMANDS: Mapping[str, tuple[Route[Any], ...]] = {
    "advice show": (routes.GET_ADVICE, routes.WHAT_IF_ADVICE),
    "alarm subscribe": (routes.SUBSCRIBE,),
    "backtest start": (routes.START_BACKTEST,),
    "decision show": (routes.GET_DECISION, routes.LIST_FLOW_DECISIONS),
    "decision why-not": (routes.GET_WHY_NOT,),
    "events": (routes.EVENTS,),
    "flow show": (routes.GET_FLOW, routes.GET_HISTORY),
    "flow submit": (routes.SUBMIT_FLOW, routes.PREVIEW_FLOW),
    "measure gantt": (routes.GET_GANTT,),
    "measure psconfig": (routes.GET_PSCONFIG,),
    "measure run": (routes.RUN_NOW,),
    "metrics": (routes.METRICS,),
    "openapi": (routes.OPENAPI,),
    "rules diff": (routes.RULES_DIFF,),
    "rules show": (routes.LIST_RULES,),
    "status": (routes.HEALTHZ, routes.READYZ, routes.GET_HEALTH),
    "study show": (routes.GET_STUDY,),
    "study submit": (routes.ADD_STUDY,),
    "template add": (routes.ADD_TEMPLATE,),
    "template check": (routes.CHECK_TEMPLATE,),
    "template diff": (routes.COMPARE_VERSIONS,),
    "template show": (routes.GET_TEMPLATE, routes.GET_TEMPLATE_VERSION),
    "token create": (routes.ADD_TOKEN,),
    "user add": (routes.ADD_USER,),
    "user grant": (routes.CHANGE_USER,),
    "what-if": (routes.WHAT_IF,),
    "whoami": (routes.GET_MYSELF,),
}
"""Routes of the commands that are functions."""


def command_of_route() -> Mapping[str, str]:
    """Return the words of a command for each route, by the route's name."""
    rows = {row.route.name: row.name for commands in COMMANDS.values() for row in commands}
    others = {route.name: name for name, found in OTHER_COMMANDS.items() for route in found}
    return {**rows, **others}
