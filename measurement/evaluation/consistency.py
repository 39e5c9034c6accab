"""Whether the steps of a document agree: each is made of what the one before it gave ([CEEM] figure 2).

Each problem is a pair: the field as a dotted path from the document's beginning, and the cause in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from measurement.evaluation.catalogue import CATALOGUE, Catalogue
from measurement.evaluation.document import Analysis, Document, Role
from measurement.evaluation.probing import probe_of, unit_of

Problem = tuple[str, str]


def catalogue_of(document: Document) -> Catalogue:
    """What the document can refer to: the catalogue, and what it adds.

    :raises ValueError: if what it adds is there already, or refers to what is not.
    """
    more = document.supplement
    return CATALOGUE.with_(more.features, more.metrics, more.benchmarks, more.factors)


def problems(document: Document) -> tuple[Problem, ...]:
    """All that is wrong between the steps, in their order; empty if nothing is."""
    try:
        catalogue = catalogue_of(document)
    except ValueError as error:
        return ((f"supplement.{str(error).partition(':')[0]}", str(error).partition(": ")[2]),)
    return (
        *_questions(document),
        *_features(document, catalogue),
        *_listed(document, catalogue),
        *_selected(document),
        *_measured(document, catalogue),
        *_factors(document, catalogue),
        *_probed(document, catalogue),
        *_conclusions(document),
    )


def _questions(document: Document) -> Iterator[Problem]:
    asked = [one.id for one in document.requirement.questions]
    if not asked:
        yield "requirement.questions", "there is none to be answered"
    yield from _twice("requirement.questions", asked)


def _features(document: Document, catalogue: Catalogue) -> Iterator[Problem]:
    asked = [one.id for one in document.requirement.questions]
    served: set[str] = set()
    for number, one in enumerate(document.features.identified):
        place = f"features.identified.{number}"
        yield from _unknown(f"{place}.feature", one.feature, catalogue.features, "feature")
        for question in one.questions:
            yield from _unknown(f"{place}.questions", question, asked, "question of step 1")
        served |= {*one.questions}
    for question in asked:
        if question not in served:
            yield "features.identified", f"no feature is identified for the question {question!r}"


def _listed(document: Document, catalogue: Catalogue) -> Iterator[Problem]:
    identified = {one.feature for one in document.features.identified}
    yield from _twice("metrics_listed", [one.metric for one in document.metrics_listed])
    for number, one in enumerate(document.metrics_listed):
        place = f"metrics_listed.{number}"
        yield from _unknown(f"{place}.metric", one.metric, catalogue.metrics, "metric")
        known = catalogue.metrics.get(one.metric)
        if known is not None and not identified & {*known.features}:
            yield f"{place}.metric", f"{one.metric!r} says nothing about a feature of step 2"
        for name in one.benchmarks:
            yield from _unknown(f"{place}.benchmarks", name, catalogue.benchmarks, "benchmark")
            benchmark = catalogue.benchmarks.get(name)
            if benchmark is not None and known is not None and one.metric not in benchmark.metrics:
                yield f"{place}.benchmarks", f"{name!r} does not measure {one.metric!r}"


def _selected(document: Document) -> Iterator[Problem]:
    listed = {one.metric: one.benchmarks for one in document.metrics_listed}
    yield from _twice("metrics_selected", [one.metric for one in document.metrics_selected])
    for number, one in enumerate(document.metrics_selected):
        place = f"metrics_selected.{number}"
        yield from _unknown(f"{place}.metric", one.metric, listed, "metric listed in step 3")
        if one.benchmark is not None and one.metric in listed:
            known = listed[one.metric]
            yield from _unknown(f"{place}.benchmark", one.benchmark, known, "benchmark listed for it")
        if not one.because.strip():
            yield f"{place}.because", "a reason is required"


def _measured(document: Document, catalogue: Catalogue) -> Iterator[Problem]:
    """Exactly one selected metric is measured; the others are computed from it."""
    measured = [one.metric for one in document.metrics_selected if one.benchmark is not None]
    if len(measured) != 1:
        found = ", ".join(measured) or "none"
        yield "metrics_selected", f"one metric must have a benchmark and be measured; here it is {found}"
    for name in measured:
        known = catalogue.metrics.get(name)
        if known is not None and not known.unit:
            yield "metrics_selected", f"{name!r} has no unit: it is computed, not measured"
    selected = {one.metric for one in document.metrics_selected}
    for number, one in enumerate(document.features.identified):
        about = {name for name, known in catalogue.metrics.items() if one.feature in known.features}
        if one.feature in catalogue.features and not selected & about:
            yield f"features.identified.{number}.feature", f"no metric of {one.feature!r} is selected"


def _factors(document: Document, catalogue: Catalogue) -> Iterator[Problem]:
    yield from _twice("factors_listed", document.factors_listed)
    for number, name in enumerate(document.factors_listed):
        yield from _unknown(f"factors_listed.{number}", name, catalogue.factors, "factor")
    yield from _twice("factors_selected", [one.factor for one in document.factors_selected])
    for number, one in enumerate(document.factors_selected):
        place = f"factors_selected.{number}"
        yield from _unknown(f"{place}.factor", one.factor, document.factors_listed, "factor listed in step 5")
        if not one.because.strip():
            yield f"{place}.because", "a reason is required"
        if one.role is not Role.RESPONSE and not one.levels:
            yield f"{place}.levels", "which levels?"
        if one.role is Role.ENVIRONMENT and len(one.levels) > 1:
            yield f"{place}.levels", "a factor of the environment is held at one level"


def _probed(document: Document, catalogue: Catalogue) -> Iterator[Problem]:
    probing = document.implementation.probe
    if probing is None:
        return
    for place, seconds in (("duration", document.design.duration), ("pilot", document.design.pilot.duration)):
        try:
            probe_of(probing, seconds)
        except ValueError as error:
            yield f"design.{place}", f"no probe agent does that: {error}"
    measured = [one.metric for one in document.metrics_selected if one.benchmark is not None]
    for known in (catalogue.metrics[name] for name in measured if name in catalogue.metrics):
        if known.unit and known.unit != unit_of(probing):
            yield "implementation.probe.kind", f"it is in {unit_of(probing)}, {known.id!r} in {known.unit}"


def _conclusions(document: Document) -> Iterator[Problem]:
    asked = [one.id for one in document.requirement.questions]
    yield from _twice("conclusions.answers", [one.question for one in document.conclusions.answers])
    for number, one in enumerate(document.conclusions.answers):
        place = f"conclusions.answers.{number}"
        yield from _unknown(f"{place}.question", one.question, asked, "question of step 1")
        places = (*document.design.nodes, *document.design.clients)
        if one.of is not None:
            yield from _unknown(f"{place}.of", one.of, places, "place of step 7")
        elif one.by is Analysis.SPEED_TO_CLIENT:
            yield f"{place}.of", "which client?"
    for question in asked:
        if question not in {one.question for one in document.conclusions.answers}:
            yield "conclusions.answers", f"nothing answers the question {question!r}"


def _twice(place: str, names: Sequence[str]) -> Iterator[Problem]:
    for number, name in enumerate(names):
        if name in names[:number]:
            yield f"{place}.{number}", f"{name!r} is there twice"


def _unknown(
    place: str, name: str, known: Mapping[str, object] | Sequence[str], kind: str
) -> Iterator[Problem]:
    if name not in known:
        near = get_close_matches(name, [*known], n=1)
        meant = f"; was {near[0]!r} meant?" if near else ""
        yield place, f"{name[:80]!r} is no {kind}{meant}"
