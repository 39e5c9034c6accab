"""A run before its first test: what is planned, under which conditions."""

from __future__ import annotations

from collections.abc import Mapping

from measurement.evaluation.blueprint import Blueprint
from measurement.evaluation.consistency import catalogue_of
from measurement.evaluation.document import Document, Role
from measurement.evaluation.run import Reference, Run


def planned(
    document: Document,
    digest: str,
    blueprint: Blueprint,
    name: str,
    began: float,
    environment: Mapping[str, str],
    versions: Mapping[str, str],
) -> Run:
    """The run, still without results.

    :param digest: of the document's content.
    :param began: seconds since 1970.
    """
    measured = next(one for one in document.metrics_selected if one.benchmark is not None)
    design = document.design
    return Run(
        name,
        Reference(document.name, document.version, digest),
        measured.metric,
        catalogue_of(document).metrics[measured.metric].unit,
        design.nodes,
        design.clients,
        began,
        None,
        design.seed,
        blueprint.tests,
        conditions=conditions(document, blueprint),
        environment=dict(environment),
        versions=dict(versions),
        pilot=blueprint.pilot,
    )


def conditions(document: Document, blueprint: Blueprint) -> dict[str, str]:
    """What two runs must have in common to be alike but for time and place."""
    measured = next(one for one in document.metrics_selected if one.benchmark is not None)
    held = {
        one.factor: ", ".join(one.levels) for one in document.factors_selected if one.role is Role.ENVIRONMENT
    }
    return {
        "benchmark": measured.benchmark or "",
        "command": document.implementation.how,
        "duration": f"{blueprint.duration:g} s",
        "pause": f"{blueprint.pause:g} s",
        "at_once": document.design.at_once.value,
        **held,
    }
