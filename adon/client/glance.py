"""At a glance: decisions of all flows, the mesh of measurements, policy, slices, and how ADON itself is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adon.api.alarms import SubscriptionView
from adon.api.decisions import DecisionPage, DecisionSummary
from adon.api.maintenance import WindowView
from adon.api.measurements import BoxList, MeshView, SeriesView
from adon.api.network import PolicyItem, SliceView
from adon.api.sites import WorkflowList
from adon.api.status import StandingView, VersionOfAdon
from adon.api.templates import TemplateCheck, TemplateDiff, VersionView
from adon.client.calling import Caller, part


class GlanceCalls(Caller):
    """What is asked about everything at once."""

    def all_decisions(self, **query: Any) -> DecisionPage:
        """A page of the decisions about all flows, the newest first; the query's names are the API's."""
        return self._get(DecisionPage, "/decisions", query)

    def each_decision(self, limit: int | None = None, **query: Any) -> Iterator[DecisionSummary]:
        """Decisions about all flows, the newest first, asked for page by page as they are wanted."""
        return self._pages(DecisionSummary, "/decisions", query, limit)

    def versions(self, template: str) -> list[VersionView]:
        """Every version of a template: who saved it, and when."""
        return list(self._pages(VersionView, f"/templates/{part(template)}/versions", {}, None, "after"))

    def template_diff(
        self, template: str, before: int | None = None, after: int | None = None
    ) -> TemplateDiff:
        """How two versions of a template differ; without any the latest beside the one before it."""
        return self._get(TemplateDiff, f"/templates/{part(template)}/diff", {"from": before, "to": after})

    def check_template(self, text: str, form: str = "yaml") -> TemplateCheck:
        """What is wrong with a text (YAML, JSON, RSpec) as a template, and what it says; saves nothing."""
        return self._post(TemplateCheck, "/template-checks", {"text": text, "form": form})

    def mesh(self, metric: str, path: str | None = None) -> MeshView:
        """From every site to every other: the latest value of a metric, its age, and whether it is good."""
        return self._get(MeshView, "/measurements/mesh", {"metric": metric, "path": path})

    def boxes(self, **query: Any) -> BoxList:
        """Series, each in boxes per hour or day; the query's names are the API's, without ``limit`` all."""
        return self._whole(BoxList, "/measurements/boxes", query)

    def series(self, **query: Any) -> list[SeriesView]:
        """Series of which something is kept."""
        return list(self._pages(SeriesView, "/measurements/series", query, None, "after"))

    def workflows(self, **query: Any) -> WorkflowList:
        """Workflows and the batch systems they run on, as their hosts told them last; at most ``limit``."""
        return self._whole(WorkflowList, "/workflows", query)

    def slices(self) -> list[SliceView]:
        """Slices with what they use."""
        return list(self._pages(SliceView, "/slices", {}, None, "after"))

    def policy(self) -> list[PolicyItem]:
        """Every setting of the policy in force."""
        return list(self._pages(PolicyItem, "/policy", {}, None, "after"))

    def window(self, window: str) -> WindowView:
        """One maintenance window."""
        return self._get(WindowView, f"/maintenance/{part(window)}")

    def subscription(self, subscription: str) -> SubscriptionView:
        """One subscription."""
        return self._get(SubscriptionView, f"/subscriptions/{part(subscription)}")

    def health(self) -> StandingView:
        """How ADON itself is, part by part."""
        return self._get(StandingView, "/health")

    def version(self) -> VersionOfAdon:
        """Which version of ADON answers."""
        return self._get(VersionOfAdon, "/version")
