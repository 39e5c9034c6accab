"""A configuration file, checked as far as it can be without starting anything.

``adon config check`` and a reload use this one function, so that what the one accepts the other does too.
"""

from __future__ import annotations

from pathlib import Path

from adon.config import Configuration, load
from apps.collector import orders
from apps.collector.orders import Plan


def checked(file: Path) -> tuple[Configuration, Plan]:
    """The configuration, and the plan of its tests.

    :raises InvalidInput: with every problem found, each with file, line and field; if its tests fit no
        schedule, which one and why.
    """
    configuration = load(file)
    return configuration, orders.plan(configuration)
