"""A web server in front of ADON: its configuration, written from ours.

It ends TLS, says in ``X-Forwarded-*`` who asks, takes out whatever a browser itself says there, and passes
event streams on as they come.  ADON believes it if ``controller.web_proxies`` names its address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from adon.config import Configuration
from adon.errors import InvalidInput
from apps.rest.identity.shibboleth import HEADERS, TELLING

Kind = Literal["nginx", "apache"]

SECRET_INCLUDE = "/etc/apache2/adon-proxy-secret.conf"  # noqa: S105 - the file's name
"""Where Apache reads the header with the secret from, which nobody else can read."""
FORWARDED = ("Forwarded", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Real-IP")
"""What else tells of a proxy; nobody reads it here, and a browser's goes no further."""
_TEXT = re.compile(r"[A-Za-z0-9._:/@+,=~ -]+")

# The texts are files of a web server, no HTML: what is filled in was checked to be plain.
_TEMPLATES = Environment(  # noqa: S701
    loader=PackageLoader("apps.deploy"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the web server is to be, as far as ADON's configuration does not say it.

    :param certificate: the PEM file with its certificate and what leads to a known CA; :param key: its key.
    :param listen: the address to listen on; all if None.
    :param secret_include: see :data:`SECRET_INCLUDE`.
    """

    certificate: Path
    key: Path
    listen: str | None = None
    secret_include: str = SECRET_INCLUDE


def web_server_configuration(kind: Kind, configuration: Configuration, place: Place) -> str:
    """The configuration of that web server.

    :raises InvalidInput: if ours does not say at which HTTPS address people find ADON, if nginx is asked for
        Shibboleth, or a path cannot be written.
    """
    access = configuration.access
    if access is None or access.public_url is None:
        raise InvalidInput.of("access.public_url", "is needed: the web server answers at this address")
    url = urlsplit(access.public_url)
    if url.scheme != "https":
        raise InvalidInput.of(
            "access.public_url", "must be https: the web server is there for TLS", code="unprotected"
        )
    if url.path not in ("", "/"):
        raise InvalidInput.of("access.public_url", "must have no path: ADON is at the root of its address")
    if kind == "nginx" and access.shibboleth is not None:
        cause = "mod_shib is Apache's: use adon deploy apache, or sign in by OpenID Connect"
        raise InvalidInput.of("access.shibboleth", cause)
    names = {**HEADERS, **(access.shibboleth.headers if access.shibboleth else {})}
    values: Mapping[str, Any] = {
        "name": _plain("access.public_url", str(url.hostname)),
        "authority": _plain("access.public_url", url.netloc),
        "port": url.port or 443,
        "listen": "" if place.listen is None else f"{_format_host(_address(place.listen))}:",
        "upstream": upstream(configuration),
        "certificate": _plain("certificate", place.certificate),
        "key": _plain("key", place.key),
        "dropped": list(dict.fromkeys([*TELLING, *names.values(), *FORWARDED])),
        "shibboleth": access.shibboleth is not None,
        "secret_include": _plain("secret_include", place.secret_include),
        "told": [(names[attribute], HEADERS[attribute]) for attribute in HEADERS],
    }
    return _TEMPLATES.get_template(f"{kind}.conf").render(values)


def upstream(configuration: Configuration) -> str:
    """Where the web server finds ADON, on the same machine."""
    controller = configuration.controller
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(controller.web_host, controller.web_host)  # noqa: S104
    return f"{_format_host(host)}:{controller.web_port}"


def advice(configuration: Configuration) -> Iterator[str]:
    """What is still to be done in ADON's own configuration, a line each."""
    host = upstream(configuration).rpartition(":")[0].strip("[]")
    try:
        near = ip_address(host)
    except ValueError:
        return
    known = [ip_network(one) for one in configuration.controller.web_proxies]
    if not any(near in network for network in known):
        yield (
            f"controller.web_proxies: name {near}, or ADON takes everybody for one client at this address, "
            "and cookies for unprotected"
        )


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise InvalidInput.of("--listen", f"{text[:60]!r} is not an address") from None


def _format_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _plain(field: str, path: Path | str) -> str:
    if not _TEXT.fullmatch(str(path)):
        raise InvalidInput.of(
            field, f"{str(path)[:100]!r} has characters that a web server may misread", code="malformed"
        )
    return str(path)
