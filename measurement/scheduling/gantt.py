"""A schedule as one self-contained HTML page: who measures when, the waits, the spend, the conflicts.

Points are rows.  A run is a bar on the row of each point that takes part; a thin line before it is its wait
since its release.  Below, per link or domain of the agreement, what is spent and what is allowed.  No script
and nothing fetched: it prints, and opens anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from measurement.scheduling.agreement import Spend
from measurement.scheduling.graph import ConflictGraph
from measurement.scheduling.ticks import PER_SECOND, Ticks, at_least, at_most, seconds
from measurement.scheduling.values import Job, Schedule
from measurement.units import format_rate, format_share

MOST_BARS = 4000
MOST_IN_MATRIX = 30
_ROW, _LANE, _SPEND = 12, 11, 70
_LEFT, _WIDTH, _RIGHT, _AXIS = 170, 930, 30, 26
# Okabe and Ito's colours, told apart by the colour-blind too; tools take them in order of name.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#555555")
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; color: #1a1a1a; max-width: 1140px; margin: 1.5em auto;
  padding: 0 1em }
h1 { font-size: 1.4em; margin: 0 0 .2em } h2 { font-size: 1.1em; margin: 1.4em 0 .4em }
svg { width: 100%; height: auto; display: block } svg text { font: 11px system-ui, sans-serif; fill: #333 }
svg text.in { font-size: 9px; fill: #fff }
table { border-collapse: collapse; font-size: 12px } th, td { padding: 2px 8px; text-align: left }
tr + tr td { border-top: 1px solid #ddd }
table.matrix th, table.matrix td { padding: 0; width: 16px; height: 16px; text-align: center;
  border: 1px solid #ddd }
table.matrix th:first-child { width: auto; padding: 0 6px; text-align: left; font-weight: normal }
td.x { background: #d55e00 } td.o { background: #eee }
.key span { display: inline-block; width: 12px; height: 12px; margin: 0 4px 0 14px; vertical-align: -1px }
.key span:first-child { margin-left: 0 } .key .wait { height: 2px; vertical-align: 4px; background: #999 }
p.note { color: #555; margin: .2em 0 }
@media print {
  body { margin: 0; max-width: none } h2 { break-after: avoid } svg, table { break-inside: avoid }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
}
"""


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of the round that is drawn, and where."""

    since: Ticks
    until: Ticks

    def x(self, instant: Ticks) -> float:
        """The horizontal place of an instant, held inside the picture."""
        inside = min(max(instant, self.since), self.until)
        return round(_LEFT + _WIDTH * (inside - self.since) / (self.until - self.since), 2)


def page(schedule: Schedule, *, title: str, since: float = 0.0, until: float | None = None) -> str:
    """The page.

    :param since: seconds into the round at which the picture begins.
    :param until: and ends; None: the end of the round.  At most 4000 runs are drawn;
        how many are not is said.
    :raises ValueError: if that is no part of the round.
    """
    end = schedule.hyperperiod if until is None else at_most(until)
    window = _Window(at_least(since), min(end, schedule.hyperperiod))
    if not 0 <= window.since < window.until:
        raise ValueError(f"since {since:g} s, until {until} s: not a part of the round")
    jobs = [job for job in schedule.jobs if job.release < window.until and job.finish > window.since]
    shown = jobs[:MOST_BARS]
    body = [
        f"<h1>{escape(title)}</h1>",
        *_summary(schedule, window, len(jobs) - len(shown)),
        _key(schedule),
        _timeline(schedule, window, shown),
        *_agreement(schedule, window),
        *_conflicts(schedule),
        *_tasks(schedule),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n'
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _summary(schedule: Schedule, window: _Window, left_out: int) -> Iterator[str]:
    yield (
        f'<p class="note">{len(schedule.tasks)} tasks, {len(schedule.jobs)} runs in a round of '
        f"{_span(schedule.hyperperiod)}; utilisation {schedule.utilisation:.2f}; drawn: "
        f"{_span(window.since)} to {_span(window.until)}.</p>"
    )
    if left_out:
        yield f'<p class="note">{left_out} later runs of this part are not drawn: ask for a shorter part.</p>'


def _key(schedule: Schedule) -> str:
    colours = _colours(schedule)
    items = "".join(
        f'<span style="background:{colour}"></span>{escape(tool)}' for tool, colour in colours.items()
    )
    waits = '<span class="wait"></span>waiting since its release'
    return f'<p class="note key">{items}{waits}</p>'


def _colours(schedule: Schedule) -> dict[str, str]:
    tools = sorted({task.tool for task in schedule.tasks.values()})
    return {tool: _COLOURS[number % len(_COLOURS)] for number, tool in enumerate(tools)}


def _timeline(schedule: Schedule, window: _Window, jobs: Sequence[Job]) -> str:
    colours = _colours(schedule)
    parts, top = [], float(_AXIS)
    rows = sorted({point for task in schedule.tasks.values() for point in task.points})
    for point in rows:
        here = [job for job in jobs if point in schedule.tasks[job.task].points]
        lanes = _lanes(here)
        height = _LANE * max(lanes.values(), default=0) + _LANE + 6
        parts.append(
            f'<text x="{_LEFT - 8}" y="{top + height / 2 + 4:g}" text-anchor="end">{_short(point)}</text>'
        )
        tops = {job: top + 3 + _LANE * lane for job, lane in lanes.items()}
        parts += [_wait(window, job, tops[job]) for job in here if job.release < job.start]
        parts += [_bar(schedule, window, job, tops[job], colours) for job in here]
        top += height
        parts.append(_rule(top))
    return _svg([*_axis(window, top), *parts], top + 4, "Runs on each measurement point over time")


def _lanes(jobs: Iterable[Job]) -> dict[Job, int]:
    """Runs of one point that do not conflict may overlap: each gets the first lane that is free."""
    free_from: list[Ticks] = []
    lanes = {}
    for job in jobs:
        lane = next((number for number, free in enumerate(free_from) if free <= job.start), len(free_from))
        free_from[lane : lane + 1] = [job.finish]
        lanes[job] = lane
    return lanes


def _wait(window: _Window, job: Job, top: float) -> str:
    left, right = window.x(job.release), window.x(job.start)
    return f'<path d="M{left:g} {top + 4.5:g}H{right:g}" stroke="#999" stroke-width="1.5"/>'


def _bar(schedule: Schedule, window: _Window, job: Job, top: float, colours: Mapping[str, str]) -> str:
    task = schedule.tasks[job.task]
    left, right = window.x(job.start), window.x(job.finish)
    wide = max(right - left, 1.0)
    told = (
        f"{job.task}, run {job.number} ({task.tool}, {task.source} to {task.destination}): "
        f"{_clock(job.start)} to {_clock(job.finish)}, "
        f"released {_clock(job.release)}, due {_clock(job.deadline)}"
    )
    room = int(wide / 5.5)
    name = (
        f'<text class="in" x="{left + 3:g}" y="{top + 8:g}">{_short(job.task, room)}</text>'
        if room > 11
        else ""
    )
    bar = (
        f'<rect x="{left:g}" y="{top:g}" width="{wide:g}" height="9" rx="1.5" fill="{colours[task.tool]}"'
        f"><title>{escape(told)}</title></rect>"
    )
    return bar + name


def _agreement(schedule: Schedule, window: _Window) -> Iterator[str]:
    spends = schedule.spend()
    if not spends:
        return
    yield "<h2>Measurement level agreement</h2>"
    parts: list[str] = []
    top = float(_AXIS)
    for where, spend in spends.items():
        parts += _spent(where, spend, window, top)
        top += _SPEND
    yield _svg([*_axis(window, top), *parts], top + 4, "Load offered to each link or domain over time")
    rows = [
        (
            where,
            format_rate(spend.allowed),
            format_rate(spend.peak),
            format_rate(spend.mean),
            format_share(_share(spend)),
        )
        for where, spend in spends.items()
    ]
    yield _table(("link or domain", "allowed", "peak", "mean", "peak of allowed"), rows)


def _spent(where: str, spend: Spend, window: _Window, top: float) -> list[str]:
    base, high = top + _SPEND - 10, _SPEND - 22
    most = max(spend.allowed, spend.peak, 1)

    def y(rate: int) -> float:
        return round(base - high * rate / most, 2)

    ends = [*spend.steps, (window.until, 0)]
    drawn = [
        f"V{y(rate):g}H{window.x(end):g}"
        for (start, rate), (end, _) in pairwise(ends)
        if end > window.since and start < window.until
    ]
    area = f"M{_LEFT} {base:g}{''.join(drawn)}V{base:g}Z"
    return [
        f'<text x="{_LEFT - 8}" y="{base - high / 2:g}" text-anchor="end">{_short(where)}</text>',
        f'<path d="{area}" fill="#56b4e9" stroke="#0072b2" stroke-width=".6"/>',
        f'<path d="M{_LEFT} {y(spend.allowed):g}H{_LEFT + _WIDTH}" stroke="#d55e00" stroke-dasharray="5 3"/>',
        f'<text x="{_LEFT + 4}" y="{y(spend.allowed) - 3:g}">allowed {format_rate(spend.allowed)}</text>',
        _rule(base),
    ]


def _conflicts(schedule: Schedule) -> Iterator[str]:
    graph = ConflictGraph.of(schedule.tasks.values())
    names = sorted(schedule.tasks)
    count = sum(1 for _ in graph.edges())
    yield f"<h2>Conflicts</h2><p class='note'>{count} pairs of tasks never run at the same time.</p>"
    if len(names) > MOST_IN_MATRIX:
        return
    head = "".join(f'<th title="{escape(name)}">{number}</th>' for number, name in enumerate(names, 1))
    yield f'<table class="matrix"><tr><th></th>{head}</tr>'
    for number, name in enumerate(names, 1):
        cells = "".join(_cell(name, other, graph) for other in names)
        yield f"<tr><th>{number} {_short(name, 40)}</th>{cells}</tr>"
    yield "</table>"


def _cell(name: str, other: str, graph: ConflictGraph) -> str:
    if name == other:
        return '<td class="o"></td>'
    if other not in graph.neighbours[name]:
        return "<td></td>"
    return f'<td class="x" title="{escape(name)} conflicts with {escape(other)}"></td>'


def _tasks(schedule: Schedule) -> Iterator[str]:
    graph = ConflictGraph.of(schedule.tasks.values())
    waits: dict[str, Ticks] = dict.fromkeys(schedule.tasks, 0)
    for job in schedule.jobs:
        waits[job.task] = max(waits[job.task], job.start - job.release)
    rows = [
        (
            name,
            task.tool,
            f"{task.source} → {task.destination}",
            f"{task.period:g} s",
            f"{task.duration:g} s",
            f"{seconds(waits[name]):g} s",
            str(len(graph.neighbours[name])),
        )
        for name, task in sorted(schedule.tasks.items())
    ]
    yield "<h2>Tasks</h2>"
    yield _table(("task", "tool", "from, to", "period", "lasts", "longest wait", "conflicts"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{titles}</tr>{lines}</table>"


def _axis(window: _Window, bottom: float) -> Iterator[str]:
    """Vertical lines at round times, a dozen at most."""
    length = window.until - window.since
    step = next((each for each in _STEPS if length <= 12 * each * PER_SECOND), _STEPS[-1]) * PER_SECOND
    first = -(-window.since // step) * step
    for instant in range(first, window.until + 1, step):
        x = window.x(instant)
        yield f'<path d="M{x:g} {_AXIS - 6}V{bottom:g}" stroke="#ddd"/>'
        yield f'<text x="{x:g}" y="{_ROW}" text-anchor="middle">{_clock(instant)}</text>'


def _svg(parts: Iterable[str], height: float, label: str) -> str:
    box = f"0 0 {_LEFT + _WIDTH + _RIGHT} {height:g}"
    inside = "\n".join(parts)
    return f'<svg viewBox="{box}" role="img" aria-label="{escape(label)}" fill="none">\n{inside}\n</svg>'


def _rule(y: float) -> str:
    return f'<path d="M{_LEFT} {y:g}H{_LEFT + _WIDTH}" stroke="#bbb" stroke-width=".7"/>'


def _short(name: str, most: int = 26) -> str:
    return escape(name if len(name) <= most else name[: max(most - 1, 0)] + "…")


def _clock(instant: Ticks) -> str:
    whole, rest = divmod(instant, PER_SECOND)
    told = f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
    return told if rest == 0 else f"{told}.{rest:03}"


def _span(ticks: Ticks) -> str:
    return f"{_clock(ticks)} h"


def _share(spend: Spend) -> float:
    return spend.peak / spend.allowed if spend.allowed else 0.0
