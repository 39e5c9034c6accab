"""Template catalog: immutable versions of templates, and the match of a request to a template.

[ADON] 3.1: a successfully configured template is saved for re-use, and requests are matched to it.  A
:class:`Catalog` is a value: adding a template yields a new catalog.  :mod:`adon.store` saves templates, and
:mod:`adon.access.policy` states the roles that may add them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from adon.errors import Conflict, InvalidInput, NotFound
from adon.templates_catalog.model import MatchRule, Template, port_range
from adon.values import FrozenMap
from measurement.model import Metric
from measurement.psconfig.mesh import Need

_REFERENCE = re.compile(r"(?P<name>[^@]+)(?:@(?P<version>[1-9][0-9]{0,8}))?")


@dataclass(frozen=True, slots=True)
class Catalog:
    """All versions of all templates, in ascending order of version per name."""

    _versions: Mapping[str, tuple[Template, ...]] = field(default_factory=FrozenMap)

    @classmethod
    def of(cls, templates: Iterable[Template]) -> Catalog:
        """Return a catalog of saved templates, each with its saved version.

        :raises Conflict: if two of them have the same name and version and differ.
        """
        catalog = cls()
        for template in sorted(templates, key=lambda one: (one.name, one.version)):
            catalog = catalog._with(template)
        return catalog

    def add(self, template: Template) -> tuple[Catalog, Template]:
        """Return the catalog with a template, and the template with its version.

        A template without ``version`` gets the next version, unless it equals the latest version, which is
        then returned.  A template with ``version`` is saved as that version.

        :raises Conflict: if its own version exists with other content, or is below one that exists.
        """
        present = self._versions.get(template.name, ())
        if "version" in template.model_fields_set:
            saved = template
        elif present and _same(present[-1], template):
            saved = present[-1]
        else:
            saved = template.model_copy(update={"version": present[-1].version + 1 if present else 1})
        return self._with(saved), saved

    def _with(self, template: Template) -> Catalog:
        present = self._versions.get(template.name, ())
        known = next((one for one in present if one.version == template.version), None)
        if known == template:
            return self
        if known is not None:
            raise Conflict(
                "version",
                f"{template.reference} exists with other content and never changes",
                code="duplicate",
            )
        if present and template.version < present[-1].version:
            raise Conflict("version", f"{template.reference} would come after {present[-1].reference}")
        return Catalog(FrozenMap({**self._versions, template.name: (*present, template)}))

    def get(self, name: str, version: int | None = None) -> Template:
        """Return one version of a template; the latest if ``version`` is None.

        :raises NotFound: if there is no such template or version.
        """
        present = self.versions(name)
        if version is None:
            return present[-1]
        for template in present:
            if template.version == version:
                return template
        raise NotFound("template", f"{name}@{version}")

    def resolve(self, reference: str) -> Template:
        """Return the template of a reference: ``soykb`` (its latest version) or ``soykb@3``.

        :raises InvalidInput: for a text of another form.
        :raises NotFound: if there is no such template or version.
        """
        found = _REFERENCE.fullmatch(reference)
        if found is None:
            raise InvalidInput.of("template", f"{reference[:80]!r} is not a name such as soykb or soykb@3")
        return self.get(found["name"], None if found["version"] is None else int(found["version"]))

    def versions(self, name: str) -> tuple[Template, ...]:
        """Return all versions of a template, the oldest first.

        :raises NotFound: if there is no such template.
        """
        if name not in self._versions:
            raise NotFound("template", name)
        return self._versions[name]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all templates."""
        return tuple(self._versions)

    @property
    def latest(self) -> tuple[Template, ...]:
        """Latest version of every template, by name."""
        return tuple(self._versions[name][-1] for name in sorted(self._versions))

    def match(
        self,
        application: str | None = None,
        ports: Iterable[int] = (),
        dscp: int | None = None,
        protocol: str | None = None,
    ) -> Template:
        """Return the template of a request: by application type, else by ports, else by DSCP.

        The first stated criterion that matches a template decides; later criteria do not overrule it.
        An application type that no template lists matches the template of that name.

        :param ports: the request's ports; a template matches if its rule contains all of them.
        :param protocol: ``tcp`` or ``udp``, which excludes templates of the other protocol; None for both.
        :raises NotFound: if no template matches the stated application type.
        :raises InvalidInput: if no criterion is stated, no template matches, or several match.
        """
        offered = [one for one in self.latest if protocol is None or one.protocol == protocol]
        if application is not None:
            found = _filter_templates(offered, lambda rule: application in rule.applications)
            found = found or [one for one in offered if one.name == application]
            if not found:
                raise NotFound("template for application", application)
            return _only(found, "application", application)
        wanted = tuple(ports)
        by_ports = _filter_templates(offered, lambda rule: _covers(rule, wanted)) if wanted else []
        if by_ports:
            return _only(by_ports, "ports", ", ".join(map(str, wanted)))
        by_dscp = [] if dscp is None else _filter_templates(offered, lambda rule: dscp in rule.dscp)
        if by_dscp:
            return _only(by_dscp, "dscp", str(dscp))
        raise _nothing_answers(offered, wanted, dscp)


def _same(saved: Template, other: Template) -> bool:
    return saved == other.model_copy(update={"version": saved.version})


def _filter_templates(templates: Iterable[Template], answers: Callable[[MatchRule], bool]) -> list[Template]:
    return [template for template in templates if answers(template.match)]


def _covers(rule: MatchRule, ports: tuple[int, ...]) -> bool:
    ranges = [port_range(port) for port in rule.ports]
    return all(any(first <= port <= last for first, last in ranges) for port in ports)


def _only(found: list[Template], name: str, stated: str) -> Template:
    if len(found) == 1:
        return found[0]
    names = ", ".join(template.name for template in found)
    raise InvalidInput.of(name, f"{stated} matches several templates: {names}; name one as template")


def _nothing_answers(offered: list[Template], ports: tuple[int, ...], dscp: int | None) -> InvalidInput:
    names = ", ".join(template.name for template in offered) or "none"
    if ports:
        listed = ", ".join(map(str, ports))
        return InvalidInput.of("ports", f"no template matches {listed}; known are: {names}")
    if dscp is not None:
        return InvalidInput.of("dscp", f"no template matches {dscp}; known are: {names}")
    return InvalidInput.of(
        "template", f"name a template, an application, ports or a DSCP; known are: {names}"
    )


def needs(templates: Iterable[Template]) -> dict[Metric, Need]:
    """Return the combined requirement of these templates per metric; unused metrics are absent."""
    found: dict[Metric, Need] = {}
    for template in templates:
        for metric in _relevant_metrics(template):
            need = _read_need(template, metric)
            found[metric] = need if metric not in found else _merge_needs(found[metric], need, metric)
    return found


def _relevant_metrics(template: Template) -> Iterable[Metric]:
    weighed = {Metric(name) for name, weight in template.weights.items() if weight > 0}
    return [metric for metric in Metric if metric in weighed or metric in template.qspec.metrics]


def _read_need(template: Template, metric: Metric) -> Need:
    streams = template.qspec.streams if metric is Metric.THROUGHPUT else 1
    return Need(template.selection.max_age, streams, template.qspec.bound(metric))


def _merge_needs(one: Need, other: Need, metric: Metric) -> Need:
    bounds = [need.bound for need in (one, other) if need.bound is not None]
    tightest = max if metric.higher_is_better else min
    return Need(
        min(one.max_age, other.max_age),
        min(one.streams, other.streams),
        tightest(bounds) if bounds else None,
    )
