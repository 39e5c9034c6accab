"""Conflict-free scheduling of active measurements: EDF-CE, on-demand admission, and the check of what ran.

Sources: spec section 5; [ADON] algorithm 1; Calyam et al., RTSS 2005.  Pure: values in, values out.
"""

from measurement.scheduling.admission import Admitted, Refused, admit
from measurement.scheduling.agreement import Agreement, Spend
from measurement.scheduling.execution import Excess, Execution, Overlap, excesses, overlaps
from measurement.scheduling.fit import Flexible, fit_periods
from measurement.scheduling.graph import ConflictGraph
from measurement.scheduling.horizon import Horizon, Placed, Start, timetable
from measurement.scheduling.hyperperiod import HyperperiodTooLong, harmonise_periods, hyperperiod
from measurement.scheduling.planner import schedule
from measurement.scheduling.task import Footprint, Request, Task, conflicts
from measurement.scheduling.values import Job, NoSchedule, Proof, Schedule

__all__ = [
    "Admitted",
    "Agreement",
    "ConflictGraph",
    "Excess",
    "Execution",
    "Flexible",
    "Footprint",
    "Horizon",
    "HyperperiodTooLong",
    "Job",
    "NoSchedule",
    "Overlap",
    "Placed",
    "Proof",
    "Refused",
    "Request",
    "Schedule",
    "Spend",
    "Start",
    "Task",
    "admit",
    "conflicts",
    "excesses",
    "fit_periods",
    "harmonise_periods",
    "hyperperiod",
    "overlaps",
    "schedule",
    "timetable",
]
