"""The addresses that an address class of a pSConfig template selects: pure.

Filters by tag, host, address version, network and class are evaluated. Not evaluated are jq scripts, the data
source ``requesting-agent`` (ADON is no agent of one host), and filters by network or version for host names,
which would need the domain name system.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import TypeVar

from measurement.psconfig.errors import CannotPlan, SkipReason
from measurement.psconfig.model import Address, AddressClass, Filter, HostPart, Template

_Part = TypeVar("_Part")


def find_part(template: Template, section: str, parts: Mapping[str, _Part], name: str) -> _Part:
    """Return an entry of a section.

    :raises CannotPlan: if the entry cannot be read, or would be in an include.
    """
    if name in parts:
        return parts[name]
    text = template.unread.get(section, {}).get(name)
    if text is not None:
        raise CannotPlan(SkipReason.UNREADABLE, text)
    raise CannotPlan(SkipReason.INCLUDE, f"{section}.{name} is not here, and includes are not loaded")


def select_addresses(template: Template, name: str) -> list[str]:
    """Return the names of the addresses of a class, in the order of the template.

    :raises CannotPlan: for a class that cannot be evaluated.
    """
    found = _class(template, name)
    if found.data_source.type == "requesting-agent":
        raise _unsupported_error(name, "the addresses of the requesting agent are not known")
    return [
        address_name
        for address_name, address in template.addresses.items()
        if _is_member(template, name, address, {})
    ]


def _class(template: Template, name: str) -> AddressClass:
    return find_part(template, "address-classes", template.address_classes, name)


def _unsupported_error(name: str, text: str, reason: SkipReason = SkipReason.ADDRESS_CLASS) -> CannotPlan:
    return CannotPlan(reason, f"address-classes.{name}: {text}")


def _is_member(template: Template, name: str, address: Address, known: dict[str, bool | None]) -> bool:
    """Whether the filters of a class accept an address.

    :param known: the classes that were evaluated for this address; None while one is being evaluated.
    """
    if name not in known:
        known[name] = None
        found = _class(template, name)
        wanted, unwanted = found.match_filter, found.exclude_filter
        accepted = wanted is None or _matches(template, wanted, address, name, known)
        known[name] = accepted and (
            unwanted is None or not _matches(template, unwanted, address, name, known)
        )
    evaluated = known[name]
    if evaluated is None:
        raise _unsupported_error(name, "refers to itself")
    return evaluated


def _matches(
    template: Template, condition: Filter, address: Address, name: str, known: dict[str, bool | None]
) -> bool:
    """Whether an address meets a condition of the class with this name."""
    host = None
    if address.host is not None:
        host = find_part(template, "hosts", template.hosts, address.host)
    inner = (_matches(template, one, address, name, known) for one in condition.filters or ())
    match condition.type:
        case "and":
            return all(inner)
        case "or":
            return any(inner)
        case "not" if condition.filter is not None:
            return not _matches(template, condition.filter, address, name, known)
        case "address-class":
            return _is_member(template, str(condition.class_), address, known)
        case "tag":
            return _has_tag((*address.tags, *(() if host is None else host.tags)), condition.tag)
        case "host":
            return host is not None and _host_matches(condition, host, name)
        case "ip-version":
            return _ip(address, name).version == condition.ip_version
        case "netmask":
            return _ip(address, name) in _network(condition, name)
    raise _unsupported_error(name, "jq scripts are not run", SkipReason.JQ)


def _host_matches(condition: Filter, host: HostPart, name: str) -> bool:
    if condition.jq is not None:
        raise _unsupported_error(name, "jq scripts are not run", SkipReason.JQ)
    if condition.tag is not None and not _has_tag(host.tags, condition.tag):
        return False
    return condition.no_agent == host.no_agent and condition.site in (None, host.site)


def _has_tag(tags: Iterable[str], tag: str | None) -> bool:
    return str(tag).lower() in {each.lower() for each in tags}


def _ip(address: Address, name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(address.address)
    except ValueError:
        raise _unsupported_error(
            name, f"{address.address} is no IP address, and names are not resolved"
        ) from None


def _network(condition: Filter, name: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(str(condition.netmask), strict=False)
    except ValueError:
        raise _unsupported_error(name, f"{condition.netmask} is no network") from None
