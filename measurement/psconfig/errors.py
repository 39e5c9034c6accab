"""What can be wrong with a pSConfig template."""

from __future__ import annotations

from collections.abc import Sequence

from measurement.errors import MeasurementError, shorten


class TemplateError(MeasurementError):
    """A template that cannot be used.

    :ivar problems: one line each: the place in the document, and what is wrong there.
    """

    code = "bad-template"

    def __init__(self, problems: Sequence[str], *, code: str | None = None) -> None:
        self.problems = tuple(shorten(problem) for problem in problems)
        super().__init__("; ".join(self.problems[:5]), code=code)

    @classmethod
    def at(cls, place: str, cause: str, code: str | None = None) -> TemplateError:
        """One problem."""
        return cls([f"{place}: {cause}"], code=code)
