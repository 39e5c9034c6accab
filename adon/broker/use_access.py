"""Who may use which template, path, site and priority: ``policy.use_access`` of the configuration.

Without an entry everybody may use everything, as far as roles and slices go.  With at least one, a flow may
have exactly what some entry grants: its template, its two sites and its priority by one entry together, and
of the paths and compute sites those of the entries that grant the rest.  Administrators always may: they
write the configuration.  Refused at the door is what no path could mend; a path or compute site that is not
granted is left out of the candidates, with the reason.  Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adon.config.policy import UseGrant
from adon.flowvisor.rules.slices import Requester

ADMIN = "admin"
"""The role of those whom no entry binds."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a flow uses whatever path it gets.

    :param template: its name.
    :param ends: the sites that it goes from and to.
    :param priority: 0..999.
    """

    template: str
    ends: tuple[str, str]
    priority: int


def refusal(who: Requester, use: Use, grants: Sequence[UseGrant]) -> str:
    """Why somebody may not have such a flow on any path; empty if they may.

    :param grants: ``policy.use_access`` of the configuration.
    """
    if not bound(who, grants):
        return ""
    left = [grant for grant in grants if grant.includes(who.name, who.roles, who.groups)]
    if not left:
        return f"no entry of policy.use_access is about {who.name}"
    left = [grant for grant in left if _holds(grant.templates, use.template)]
    if not left:
        return f"no entry of policy.use_access lets {who.name} use template {use.template}"
    left = [grant for grant in left if all(_holds(grant.sites, site) for site in use.ends)]
    if not left:
        return (
            f"no entry of policy.use_access lets {who.name} use template {use.template} "
            f"from {use.ends[0]} to {use.ends[1]}"
        )
    highest = max(999 if grant.priority is None else grant.priority for grant in left)
    if use.priority > highest:
        return f"policy.use_access lets {who.name} have priority {highest} at most here, not {use.priority}"
    return ""


def barred_path(who: Requester, use: Use, grants: Sequence[UseGrant], path: str) -> str:
    """Why a flow may not have this path; empty if it may."""
    if not bound(who, grants) or any(_holds(grant.paths, path) for grant in _granting(who, use, grants)):
        return ""
    return f"no entry of policy.use_access lets {who.name} use path {path} for this"


def barred_compute(who: Requester, use: Use, grants: Sequence[UseGrant], site: str) -> str:
    """Why a flow may not be computed at this site; empty if it may."""
    if not bound(who, grants) or any(_holds(grant.compute, site) for grant in _granting(who, use, grants)):
        return ""
    return f"no entry of policy.use_access lets {who.name} use compute site {site} for this"


def barred_place(who: Requester, grants: Sequence[UseGrant], path: str | None, compute: str | None) -> str:
    """Why somebody may not have a path or a compute site for a reservation or a job; empty if they may."""
    if not bound(who, grants):
        return ""
    for grant in grants:
        if (
            grant.includes(who.name, who.roles, who.groups)
            and (path is None or _holds(grant.paths, path))
            and (compute is None or _holds(grant.compute, compute))
        ):
            return ""
    thing = f"path {path}" if path is not None else f"compute site {compute}"
    return f"no entry of policy.use_access lets {who.name} use {thing}"


def _granting(who: Requester, use: Use, grants: Sequence[UseGrant]) -> list[UseGrant]:
    return [
        grant
        for grant in grants
        if grant.includes(who.name, who.roles, who.groups)
        and _holds(grant.templates, use.template)
        and all(_holds(grant.sites, site) for site in use.ends)
        and (grant.priority is None or use.priority <= grant.priority)
    ]


def bound(who: Requester, grants: Sequence[UseGrant]) -> bool:
    """Whether entries decide about somebody."""
    return bool(grants) and ADMIN not in who.roles


def _holds(patterns: Sequence[str] | None, name: str) -> bool:
    return patterns is None or any(_means(pattern, name) for pattern in patterns)


def _means(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
