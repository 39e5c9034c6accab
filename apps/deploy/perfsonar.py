"""What a perfSONAR 5 site needs to measure for ADON: an archive, entries of its limits file, a subscription.

``templates/perfsonar.json`` has the forms of pScheduler 5. Its token is a placeholder, because ADON knows
only the digests of tokens. Its retry policy covers half a day; after that pScheduler drops a result.
"""

from __future__ import annotations

import json
from importlib import resources
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from adon.config import Configuration
from adon.errors import InvalidInput, NotFound


def site_files(configuration: Configuration, site: str, collector: str) -> dict[str, Any]:
    """The archive definition, the entries of the limits file and the command of a site.

    :param site: the site's measurement point.
    :param collector: the address that ADON's requests come from.
    :raises InvalidInput: if the configuration has no ingest server, public address or published plan.
    :raises NotFound: if there is no such measurement point.
    """
    measurements, access = configuration.measurements, configuration.access
    if site not in measurements.points:
        raise NotFound("measurement point", site)
    if measurements.ingest is None:
        example = "{host: 192.0.2.10, port: 8444, certificate: in.pem, key: in.key, trust: points.toml}"
        raise InvalidInput.of(
            "measurements.ingest",
            f"is needed, because sites push results there; for example ingest: {example}",
            code="missing",
        )
    if access is None or access.public_url is None:
        raise InvalidInput.of(
            "access.public_url",
            "is needed, because sites read the plan there; for example public_url: https://adon.example.edu",
            code="missing",
        )
    if not measurements.publish_psconfig:
        raise InvalidInput.of(
            "measurements.publish_psconfig", "must be true, because sites read the plan; the default is false"
        )
    host, scheme = str(urlsplit(access.public_url).hostname), "https"
    if measurements.ingest.certificate is None:  # then it listens on loopback
        host, scheme = measurements.ingest.host, "http"
    host = f"[{host}]" if ":" in host else host
    file = resources.files("apps.deploy").joinpath("templates/perfsonar.json")
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    found["archive"]["data"]["_url"] = f"{scheme}://{host}:{measurements.ingest.port}/results"
    found["limits"]["identifiers"][0]["data"]["cidrs"] = _networks(configuration, site, collector)
    plan = f"{access.public_url.rstrip('/')}/api/v1/psconfig/{configuration.network}"
    return {**found, "subscribe": f'psconfig remote add "{plan}"'}


def _networks(configuration: Configuration, site: str, collector: str) -> list[str]:
    """Whose requests the site answers: the collector's, and those of points that lead a test with it."""
    if _network(collector) is None:
        raise InvalidInput.of("--collector", f"{collector[:60]!r} is no IP address", code="malformed")
    names, points = {collector}, configuration.measurements.points
    for test in configuration.measurements.tests:
        if site in (test.from_, test.to):
            other, address = (test.from_, test.source) if test.to == site else (test.to, test.destination)
            names |= {str(address), str(urlsplit(points[other].url).hostname)}
    return sorted(filter(None, map(_network, names)))


def _network(text: str) -> str | None:
    try:
        return str(ip_network(text))
    except ValueError:
        return None
