"""The configuration of one ADON installation, parsed once into immutable values.

One YAML file describes the network (switches, sites with their DTNs, transit paths), where
measurements come from, the compute sites, and the policy.  The same parser serves ``adon serve`` and
``adon config check``: unknown keys are refused and every problem is reported with file, line and
field.  See ``docs/configuration.md`` for a commented example.
"""

from adon.config.access import Access, AccessRule, Condition, OpenIdProvider, Shibboleth
from adon.config.availability import HighAvailability
from adon.config.compute_sites import (
    Adapter,
    AnyAdapter,
    ConfiguredJob,
    HTCondorAdapter,
    SlurmAdapter,
    StaticAdapter,
)
from adon.config.configuration import Configuration, load
from adon.config.connecting import Connections, ControllerTls
from adon.config.credentials import Credentials
from adon.config.discovery import LinkDiscovery
from adon.config.health import HealthRounds
from adon.config.links import Cost, NetworkLink, Overlay
from adon.config.measuring import (
    BackgroundTest,
    HostMetrics,
    Ingest,
    Mail,
    MeasurementPoint,
    Measurements,
    MeasurementTest,
    Notify,
    RabbitQueue,
    ResultArchive,
    Retention,
)
from adon.config.network import Host, PathEndpoint, Site, Switch, TransitPath
from adon.config.operation import ComputeSite, Controller, CookieRange, MeasurementGrant, Policy
from adon.config.queueing import QueuePolicy
from adon.config.slices import (
    DscpByPriority,
    FireflyCollector,
    Flowspace,
    LadderPolicy,
    Members,
    ReactiveEntry,
    Slice,
)
from adon.config.use import UseGrant
from adon.config.web import Rate, WebLimits

__all__ = [
    "Access",
    "AccessRule",
    "Adapter",
    "AnyAdapter",
    "BackgroundTest",
    "ComputeSite",
    "Condition",
    "Configuration",
    "ConfiguredJob",
    "Connections",
    "Controller",
    "ControllerTls",
    "CookieRange",
    "Cost",
    "Credentials",
    "DscpByPriority",
    "FireflyCollector",
    "Flowspace",
    "HTCondorAdapter",
    "HealthRounds",
    "HighAvailability",
    "Host",
    "HostMetrics",
    "Ingest",
    "LadderPolicy",
    "LinkDiscovery",
    "Mail",
    "MeasurementGrant",
    "MeasurementPoint",
    "MeasurementTest",
    "Measurements",
    "Members",
    "NetworkLink",
    "Notify",
    "OpenIdProvider",
    "Overlay",
    "PathEndpoint",
    "Policy",
    "QueuePolicy",
    "RabbitQueue",
    "Rate",
    "ReactiveEntry",
    "ResultArchive",
    "Retention",
    "Shibboleth",
    "Site",
    "Slice",
    "SlurmAdapter",
    "StaticAdapter",
    "Switch",
    "TransitPath",
    "UseGrant",
    "WebLimits",
    "load",
]
