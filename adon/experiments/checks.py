"""What must come out of a run: ratios between bounds, values, orders, decisions; and the paper's own values.

A check never fails a run: it held, did not hold, or cannot be told, and the report says so first.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from adon.experiments.figures import Quantity
from adon.experiments.parts import Name, NodeName, NotEmpty, Part, Scalar
from adon.units import Ratio
from adon.values import Frozen, FrozenMap

Trend = Literal["rising", "falling", "flat"]


class Checking(Part):
    """What all have in common.

    :param check: what is claimed, in words.
    :param discrepancy: why ours is not expected to be as the paper's, if it is not; printed beside it.
    """

    check: str = Field(min_length=1)
    discrepancy: str = ""


class RatioCheck(Checking):
    """The first figure divided by the second lies between two bounds.

    :param between: the lower and the upper bound; null for none.
    :param paper: the paper's ratio.
    """

    ratio: tuple[Name, Name]
    between: tuple[float | None, float | None]
    paper: float | None = None

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        low, high = self.between
        if low is None and high is None:
            raise ValueError("between: both bounds are null: nothing is checked")
        if low is not None and high is not None and low > high:
            raise ValueError(f"between: {low:g} is above {high:g}")
        return self


class ValueCheck(Checking):
    """A figure lies between two bounds.

    Rates and sizes at full scale, as everywhere in the file; times as they are measured.
    """

    value: Name
    between: tuple[Quantity | None, Quantity | None]
    paper: Quantity | None = None

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.between == (None, None):
            raise ValueError("between: both bounds are null: nothing is checked")
        return self


class OrderCheck(Checking):
    """Values rise, fall, or are flat: several figures one after the other, or one figure over a sweep.

    :param order: names of figures in order; or the name of one, with ``over``.
    :param over: the key of ``sweep`` over which that one is read.
    :param trend: ``is``: each is above (below) the one before; ``flat``: all within ``within`` of their mean.
    :param within: for rising and falling, how much of the one before a value may go the wrong way.
    """

    order: tuple[Name, ...] | Name
    over: str | None = None
    trend: Trend = Field(alias="is")
    within: Ratio = 0.0
    paper: str | None = None

    @property
    def figures(self) -> tuple[str, ...]:
        """The names it is about."""
        return (self.order,) if isinstance(self.order, str) else self.order

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if isinstance(self.order, str) and self.over is None:
            raise ValueError("over: is needed for a single figure: the key of sweep over which it is read")
        if not isinstance(self.order, str) and (self.over is not None or len(self.order) < 2):
            raise ValueError("order: is two or more figures, or one figure with over")
        if self.trend == "flat" and self.within == 0:
            raise ValueError("within: is needed: how far from their mean values may be to be flat")
        return self


class Expected(Part):
    """What must be decided of a flow, each time that what becomes of it changes.

    :param outcome: admit, queue, reject, move, expire or end.
    :param path: the path it gets; not checked if it is not said.
    :param site: the compute site it gets; not checked if it is not said.
    """

    flow: Name
    outcome: Literal["admit", "queue", "reject", "move", "expire", "end"]
    path: NodeName | None = None
    site: NodeName | None = None


class DecisionsCheck(Checking):
    """What is decided, in order, in every repetition.

    Per flow the decisions listed are the first ones that change what becomes of it (``end`` may be left
    out); flows that are not listed are free.

    :param where: of trials with these values only, as in a figure.
    :param policy: whose.
    """

    decisions: Annotated[tuple[Expected, ...], NotEmpty]
    policy: str = "ours"
    where: Frozen[str, Scalar] = FrozenMap()


# With a space: no key of the file is called so, and a tag in an error's place is no part of the data.
KINDS = {"ratio": "a ratio", "value": "a value", "order": "an order", "decisions": "the decisions"}


def _kind(check: Any) -> str | None:
    has = check.__contains__ if isinstance(check, dict) else lambda kind: hasattr(check, kind)
    return next((tag for kind, tag in KINDS.items() if has(kind)), None)


Check = Annotated[
    Annotated[RatioCheck, Tag("a ratio")]
    | Annotated[ValueCheck, Tag("a value")]
    | Annotated[OrderCheck, Tag("an order")]
    | Annotated[DecisionsCheck, Tag("the decisions")],
    Discriminator(
        _kind,
        custom_error_type="check_kind",
        custom_error_message="a check has one of the keys ratio, value, order and decisions",
    ),
]
