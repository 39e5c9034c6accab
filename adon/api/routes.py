"""Table of the routes of the REST API, grouped by noun.

The id of an operation is the name of its constant in lower case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adon.access.policy import Action
from adon.api import (
    access,
    advice,
    alarms,
    base,
    decisions,
    flows,
    maintenance,
    measurements,
    network,
    queue,
    rules,
    sites,
    status,
    studies,
    templates,
)
from adon.api.base import InOrder, NewestFirst, ObjectId
from adon.api.route import Route, Subject, Tag

SUBJECTS: Mapping[str, Subject] = {
    "/alarms/{id}": Subject("alarm", ObjectId),
    "/decisions/{id}": Subject("decision", ObjectId, owned=True),
    "/flows/{id}": Subject("flow", ObjectId, owned=True),
    "/jobs/{id}": Subject("job", ObjectId, owned=True),
    "/maintenance/{id}": Subject("maintenance", ObjectId),
    "/psconfig/{network}": Subject("network", measurements.NetworkName),
    "/reservations/{id}": Subject("reservation", ObjectId, owned=True),
    "/sessions/{id}": Subject("session", ObjectId, owned=True),
    "/sites/{name}": Subject("compute site", sites.SiteName),
    "/studies/{id}": Subject("study", ObjectId),
    "/subscriptions/{id}": Subject("subscription", ObjectId, owned=True),
    "/template-backtests/{id}": Subject("backtest", ObjectId),
    "/templates/{name}": Subject("template", templates.TemplateName),
    "/templates/{name}/versions/{version}": Subject("template", templates.TemplateVersion),
    "/tokens/{id}": Subject("token", ObjectId, owned=True),
    "/users/{name}": Subject("user", access.UserName, owned=True),
}
"""Objects by the path that names them."""

_TEMPLATES = Tag("templates", "Application templates, their versions and backtests")
LIST_TEMPLATES = _TEMPLATES.get("/templates", Action.TEMPLATE_READ, templates.TemplateList, InOrder)
GET_TEMPLATE = _TEMPLATES.get(
    "/templates/{name}", Action.TEMPLATE_READ, templates.TemplateBody, failures=(406,)
)
GET_TEMPLATE_VERSION = _TEMPLATES.get(
    "/templates/{name}/versions/{version}", Action.TEMPLATE_READ, templates.TemplateBody, failures=(406,)
)
ADD_TEMPLATE = _TEMPLATES.create(GET_TEMPLATE_VERSION, Action.TEMPLATE_ADD, templates.TemplateBody)
LIST_VERSIONS = _TEMPLATES.get(
    "/templates/{name}/versions", Action.TEMPLATE_READ, templates.VersionList, InOrder
)
COMPARE_VERSIONS = _TEMPLATES.get(
    "/templates/{name}/diff", Action.TEMPLATE_READ, templates.TemplateDiff, templates.DiffQuery
)
CHECK_TEMPLATE = _TEMPLATES.post(
    "/template-checks", Action.TEMPLATE_CHECK, templates.TemplateCheck, templates.CheckBody, asks=True
)
LIST_BACKTESTS = _TEMPLATES.get(
    "/template-backtests", Action.TEMPLATE_BACKTEST, templates.BacktestList, NewestFirst
)
GET_BACKTEST = _TEMPLATES.get("/template-backtests/{id}", Action.TEMPLATE_BACKTEST, templates.BacktestView)
START_BACKTEST = _TEMPLATES.create(GET_BACKTEST, Action.TEMPLATE_BACKTEST, templates.BacktestBody, status=202)
CANCEL_BACKTEST = _TEMPLATES.delete(
    "/template-backtests/{id}", Action.TEMPLATE_BACKTEST, templates.BacktestView
)

_FLOWS = Tag("flows", "Flows, their previews, outcomes, forecasts and advice")
LIST_FLOWS = _FLOWS.get("/flows", Action.FLOW_READ, flows.FlowList, flows.FlowQuery)
GET_FLOW = _FLOWS.get("/flows/{id}", Action.FLOW_READ, flows.FlowView)
SUBMIT_FLOW = _FLOWS.create(GET_FLOW, Action.FLOW_SUBMIT, flows.FlowBody, status=202, keyed=True)
CANCEL_FLOW = _FLOWS.delete("/flows/{id}", Action.FLOW_CANCEL, flows.FlowView)
REPORT_TRANSFER = _FLOWS.post(
    "/flows/{id}/reports",
    Action.FLOW_REPORT,
    flows.FlowView,
    flows.TransferReport,
    status=202,
    created=GET_FLOW,
)
GET_HISTORY = _FLOWS.get("/flows/{id}/history", Action.FLOW_READ, flows.FlowHistory, flows.HistoryQuery)
GET_WAITING = _FLOWS.get("/flows/{id}/waiting", Action.FLOW_READ, queue.WaitingView, failures=(409,))
LIST_FLOW_DECISIONS = _FLOWS.get(
    "/flows/{id}/decisions", Action.DECISION_READ, decisions.DecisionList, InOrder
)
PREVIEW_FLOW = _FLOWS.post("/flow-previews", Action.FLOW_SUBMIT, flows.PreviewView, flows.FlowBody, asks=True)
GET_CALIBRATION = _FLOWS.get(
    "/forecasts/calibration", Action.FORECAST_READ, decisions.CalibrationList, decisions.ForecastQuery
)
LIST_OUTCOMES = _FLOWS.get("/outcomes", Action.FLOW_READ, flows.OutcomeList, flows.OutcomeQuery)
GET_OUTCOME = _FLOWS.get("/flows/{id}/outcome", Action.FLOW_READ, flows.OutcomeView)
GET_ADVICE = _FLOWS.get(
    "/flows/{id}/advice", Action.FLOW_READ, advice.AdviceView, advice.AdviceQuery, failures=(409,)
)
WHAT_IF_ADVICE = _FLOWS.post("/advice", Action.FLOW_READ, advice.AdviceView, advice.AdviceBody, asks=True)

_DECISIONS = Tag("decisions", "Decisions with candidates, scores and reasons")
LIST_DECISIONS = _DECISIONS.get(
    "/decisions", Action.DECISION_READ, decisions.DecisionPage, decisions.DecisionQuery
)
GET_DECISION = _DECISIONS.get("/decisions/{id}", Action.DECISION_READ, decisions.DecisionView)
GET_WHY_NOT = _DECISIONS.get("/decisions/{id}/why-not", Action.DECISION_READ, decisions.WhyNotView)

_NETWORK = Tag("network", "Paths, topology, queue, hosts, policy and slices")
LIST_PATHS = _NETWORK.get("/paths", Action.PATH_READ, network.PathList, InOrder)
GET_NETWORK = _NETWORK.get("/network", Action.NETWORK_READ, network.NetworkView)
GET_QUEUE = _NETWORK.get("/queue", Action.FLOW_READ, queue.QueueView, InOrder)
LIST_HOSTS = _NETWORK.get("/hosts", Action.PATH_READ, network.HostList, InOrder)
LIST_POLICY = _NETWORK.get("/policy", Action.NETWORK_READ, network.PolicyList, InOrder)
LIST_SLICES = _NETWORK.get("/slices", Action.PATH_READ, network.SliceList, InOrder)

_RULES = Tag("rules", "OpenFlow rules: desired, present, explained, repaired")
LIST_RULES = _RULES.get("/rules", Action.RULE_READ, rules.RuleList, rules.RuleQuery)
EXPLAIN_RULES = _RULES.get("/rules/explain", Action.RULE_READ, rules.RuleExplanationList, rules.ExplainQuery)
RULES_DIFF = _RULES.get("/rules/diff", Action.NETWORK_READ, rules.DifferenceList, InOrder)
RULES_SYNC = _RULES.post("/rules/sync", Action.NETWORK_SYNC, rules.SynchronisationView, status=202)
LIST_SENT = _RULES.get("/rules/sent", Action.NETWORK_READ, rules.SentMessageList, rules.SentMessageQuery)

_MAINTENANCE = Tag("maintenance", "Maintenance windows and what-if analysis")
LIST_WINDOWS = _MAINTENANCE.get(
    "/maintenance", Action.MAINTENANCE_READ, maintenance.WindowList, maintenance.WindowQuery
)
GET_WINDOW = _MAINTENANCE.get("/maintenance/{id}", Action.MAINTENANCE_READ, maintenance.WindowView)
ADD_WINDOW = _MAINTENANCE.create(GET_WINDOW, Action.MAINTENANCE_ADD, maintenance.WindowBody, keyed=True)
CANCEL_WINDOW = _MAINTENANCE.delete("/maintenance/{id}", Action.MAINTENANCE_CANCEL, maintenance.WindowView)
WHAT_IF = _MAINTENANCE.get("/what-if", Action.WHAT_IF, maintenance.RehearsalList, maintenance.WhatIfQuery)

_MEASUREMENTS = Tag("measurements", "Measurements, tests and their schedule, workflows")
LIST_MEASUREMENTS = _MEASUREMENTS.get(
    "/measurements", Action.MEASUREMENT_READ, measurements.MeasurementList, measurements.MeasurementQuery
)
RUN_NOW = _MEASUREMENTS.post(
    "/measurements", Action.MEASUREMENT_START, measurements.RunStart, measurements.RunBody, status=202
)
PLOT = _MEASUREMENTS.get(
    "/measurements/plot", Action.MEASUREMENT_READ, measurements.Plot, measurements.PlotQuery
)
LIST_POINTS = _MEASUREMENTS.get("/points", Action.NETWORK_READ, measurements.PointList, InOrder)
GET_MESH = _MEASUREMENTS.get(
    "/measurements/mesh", Action.MEASUREMENT_READ, measurements.MeshView, measurements.MeshQuery
)
LIST_SERIES = _MEASUREMENTS.get(
    "/measurements/series", Action.MEASUREMENT_READ, measurements.SeriesList, measurements.SeriesQuery
)
LIST_BOXES = _MEASUREMENTS.get(
    "/measurements/boxes", Action.MEASUREMENT_READ, measurements.BoxList, measurements.BoxQuery
)
LIST_WORKFLOWS = _MEASUREMENTS.get(
    "/workflows", Action.MEASUREMENT_READ, sites.WorkflowList, sites.WorkflowQuery
)
GET_SCHEDULE = _MEASUREMENTS.get("/schedule", Action.MEASUREMENT_READ, measurements.ScheduleView)
GET_GANTT = _MEASUREMENTS.get("/schedule/gantt", Action.MEASUREMENT_READ, str, media="text/html")
LIST_EXECUTIONS = _MEASUREMENTS.get(
    "/executions", Action.MEASUREMENT_READ, measurements.ExecutionList, measurements.ExecutionQuery
)
GET_OVERLAPS = _MEASUREMENTS.get(
    "/overlaps", Action.MEASUREMENT_READ, measurements.OverlapList, measurements.OverlapQuery
)
GET_PSCONFIG = _MEASUREMENTS.get(
    "/psconfig/{network}", Action.PSCONFIG_READ, measurements.PsconfigTemplate, failures=(404,)
)

_ALARMS = Tag("alarms", "Alarms and subscriptions to them")
LIST_ALARMS = _ALARMS.get("/alarms", Action.ALARM_READ, alarms.AlarmList, alarms.AlarmQuery)
GET_ALARM = _ALARMS.get("/alarms/{id}", Action.ALARM_READ, alarms.AlarmView)
ACKNOWLEDGE = _ALARMS.post("/alarms/{id}/acknowledge", Action.ALARM_ACKNOWLEDGE, alarms.AlarmView)
LIST_SUBSCRIPTIONS = _ALARMS.get(
    "/subscriptions", Action.SUBSCRIPTION_READ, alarms.SubscriptionList, NewestFirst
)
GET_SUBSCRIPTION = _ALARMS.get("/subscriptions/{id}", Action.SUBSCRIPTION_READ, alarms.SubscriptionView)
SUBSCRIBE = _ALARMS.create(GET_SUBSCRIPTION, Action.SUBSCRIPTION_ADD, alarms.SubscriptionBody)
UNSUBSCRIBE = _ALARMS.delete("/subscriptions/{id}", Action.SUBSCRIPTION_DELETE, base.DeletionView)

_SITES = Tag("sites", "Compute sites, jobs and reservations")
LIST_SITES = _SITES.get("/sites", Action.COMPUTE_READ, sites.ComputeSiteList, InOrder)
GET_SITE = _SITES.get("/sites/{name}", Action.COMPUTE_READ, sites.ComputeSiteView)
LIST_JOBS = _SITES.get("/jobs", Action.JOB_READ, sites.JobList, sites.JobQuery)
GET_JOB = _SITES.get("/jobs/{id}", Action.JOB_READ, sites.JobView)
SUBMIT_JOB = _SITES.create(GET_JOB, Action.JOB_SUBMIT, sites.JobBody, status=202, keyed=True)
CANCEL_JOB = _SITES.delete("/jobs/{id}", Action.JOB_CANCEL, sites.JobView, status=202)
LIST_RESOURCES = _SITES.get("/resources", Action.COMPUTE_READ, sites.SiteResourcesList, InOrder)
LIST_RESERVATIONS = _SITES.get(
    "/reservations", Action.RESERVATION_READ, queue.ReservationList, queue.ReservationQuery
)
GET_RESERVATION = _SITES.get("/reservations/{id}", Action.RESERVATION_READ, queue.ReservationView)
ADD_RESERVATION = _SITES.create(GET_RESERVATION, Action.RESERVATION_ADD, queue.ReservationBody, keyed=True)
RELEASE_RESERVATION = _SITES.delete("/reservations/{id}", Action.RESERVATION_RELEASE, queue.ReservationView)

_STUDIES = Tag("studies", "Studies of instances: health rounds, snapshots, placements, evaluations")
LIST_STUDIES = _STUDIES.get("/studies", Action.STUDY_READ, studies.StudyList, studies.StudyQuery)
GET_STUDY = _STUDIES.get("/studies/{id}", Action.STUDY_READ, studies.StudyDetail)
ADD_STUDY = _STUDIES.post(
    "/studies", Action.STUDY_ADD, studies.StudyView, studies.StudyBody, status=201, created=GET_STUDY
)
DELETE_STUDY = _STUDIES.delete("/studies/{id}", Action.STUDY_DELETE, base.DeletionView)

_ACCESS = Tag("access", "Users, roles, tokens, sessions and the audit log")
LIST_USERS = _ACCESS.get("/users", Action.USER_READ, access.UserList, InOrder)
GET_MYSELF = _ACCESS.get("/users/me", Action.USER_READ, access.UserView)
GET_USER = _ACCESS.get("/users/{name}", Action.USER_READ, access.UserView)
ADD_USER = _ACCESS.create(GET_USER, Action.USER_CHANGE, access.UserBody)
CHANGE_USER = _ACCESS.patch("/users/{name}", Action.USER_CHANGE, access.UserView, access.UserChange)
LIST_ROLES = _ACCESS.get("/roles", Action.ROLE_READ, access.RoleList)
LIST_TOKENS = _ACCESS.get("/tokens", Action.TOKEN_READ, access.TokenList, access.CredentialQuery)
GET_TOKEN = _ACCESS.get("/tokens/{id}", Action.TOKEN_READ, access.TokenView)
ADD_TOKEN = _ACCESS.post(
    "/tokens",
    Action.TOKEN_CREATE,
    access.NewTokenView,
    access.TokenBody,
    status=201,
    created=GET_TOKEN,
)
REVOKE_TOKEN = _ACCESS.delete("/tokens/{id}", Action.TOKEN_REVOKE, access.TokenView)
LIST_SESSIONS = _ACCESS.get("/sessions", Action.SESSION_READ, access.SessionList, access.CredentialQuery)
GET_SESSION = _ACCESS.get("/sessions/{id}", Action.SESSION_READ, access.SessionView)
END_SESSION = _ACCESS.delete("/sessions/{id}", Action.SESSION_END, access.SessionEndView)
END_SESSIONS = _ACCESS.delete("/sessions", Action.SESSION_END, access.SessionEndView, query=access.OwnerQuery)
LIST_AUDIT = _ACCESS.get("/audit", Action.AUDIT_READ, access.AuditList, access.AuditQuery)

_SYSTEM = Tag("system", "Events, controllers, health, metrics and this description")
EVENTS = _SYSTEM.get(
    "/events", Action.ALARM_READ, str, status.EventQuery, media="text/event-stream", live=True
)
LIST_CONTROLLERS = _SYSTEM.get("/controllers", Action.NETWORK_READ, status.ControllerList, InOrder)
GET_HEALTH = _SYSTEM.get("/health", Action.METRICS_READ, status.StatusView)
GET_VERSION = _SYSTEM.get("/version", Action.PATH_READ, status.VersionOfAdon)
METRICS = _SYSTEM.get("/metrics", Action.METRICS_READ, str, media="text/plain", live=True)
HEALTHZ = _SYSTEM.get("/healthz", Action.HEALTH_READ, status.Health)
READYZ = _SYSTEM.get("/readyz", Action.HEALTH_READ, status.Health)
OPENAPI = _SYSTEM.get("/openapi.json", Action.HEALTH_READ, dict)


def _routes(constants: Mapping[str, object]) -> Iterator[Route[Any]]:
    """Yield the routes, each with its constant's name and the subject that its path names."""
    for name, route in constants.items():
        if isinstance(route, Route):
            route.name = name.lower()
            route.subject = SUBJECTS.get(route.path[: route.path.rfind("}") + 1])
            yield route


ROUTES: Mapping[str, Route[Any]] = {route.name: route for route in _routes(dict(globals()))}
"""All routes by name."""
