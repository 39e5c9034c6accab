"""The document that a report is of, as values and as it was written."""

from __future__ import annotations

from dataclasses import dataclass

from measurement.evaluation.document import Document


@dataclass(frozen=True, slots=True)
class Source:
    """The document that was run.

    :param text: word for word.
    :param digest: of its content, as in the run.
    """

    document: Document
    text: str
    digest: str
