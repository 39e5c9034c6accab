"""Two runs compared as one page that needs no other file: verdict, what else differs, both runs, each path.

A function from values to text: the same runs give the same page.
"""

from __future__ import annotations

from apps.evaluation.rendering import rendered
from apps.figures import evaluation as figures
from apps.figures.embedding import embedded
from measurement.evaluation.comparison import Comparison
from measurement.evaluation.document import Document
from measurement.evaluation.run import Run
from measurement.evaluation.wording import change_columns, change_row

FRAME, ROW = 120, 26
"""Pixels of a figure in height, and of each path in it."""


def page(document: Document, before: Run, after: Run, found: Comparison) -> str:
    """The page (HTML).

    :param document: whose analysis said what is alike, and how sure one must be.
    """
    height = FRAME + ROW * len(found.changes)
    return rendered(
        "comparison.html",
        document=document,
        runs=(before, after),
        found=found,
        verdict=found.verdict,
        columns=change_columns(before, after),
        rows=[change_row(one, after.unit) for one in found.changes],
        means=embedded(
            figures.means(found, before.name, after.name, after.unit), "means", height, first=True
        ),
        changes=embedded(figures.changes(found), "changes", height),
    )
