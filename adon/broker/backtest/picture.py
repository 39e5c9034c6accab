"""A comparison as a picture (SVG): per flow two lines over time, today's version and the proposed one.

A bar is a stay on a path, in the path's colour; a gap with a thin line is waiting; a white mark is a move;
red above a bar: the QSpec was violated.  A bar that ends in a round dot finished there.  Nothing is fetched
and no script runs: it prints, and opens anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape

from adon.broker.backtest.comparison import Backtest, Compared
from adon.broker.backtest.run import Run
from adon.units import format_duration

MOST_FLOWS = 200
_LEFT, _WIDTH, _RIGHT, _TOP = 150, 900, 110, 92
_ROW, _LINE, _BAR = 46, 17, 10
# Okabe and Ito's colours, told apart by the colour-blind too; red is kept for violations.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#56b4e9", "#cc79a7", "#b8a800", "#777777")
_RED = "#d00000"
_STEPS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10800, 21600, 43200, 86400, 7 * 86400)
_STYLE = "text{font:12px system-ui,sans-serif;fill:#222} .s{font-size:11px;fill:#555} .h{font-size:16px}"


def picture(found: Backtest) -> str:
    """The picture; of more than :data:`MOST_FLOWS` flows those that differ most in time come first."""
    flows = found.flows
    if len(flows) > MOST_FLOWS:
        flows = tuple(sorted(flows, key=lambda one: -abs(one.saved or 0.0))[:MOST_FLOWS])
    scale = _Scale.of(found, flows)
    colours = _colours(flows)
    parts = [*_head(found, len(flows), colours), *_axis(scale, len(flows))]
    for row, one in enumerate(flows):
        parts += _flow(one, _TOP + row * _ROW, scale, colours)
    height = _TOP + len(flows) * _ROW + 14
    wide = _LEFT + _WIDTH + _RIGHT
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {height}" width="{wide}" '
        f'height="{height}" role="img" aria-label="{escape(_title(found))}">\n'
        f'<style>{_STYLE}</style><rect width="{wide}" height="{height}" fill="#fff"/>\n{inside}\n</svg>\n'
    )


class _Scale:
    """From times to places."""

    def __init__(self, since: float, until: float) -> None:
        self.since, self.until = since, max(until, since + 1.0)

    @classmethod
    def of(cls, found: Backtest, flows: Sequence[Compared]) -> _Scale:
        """From the first request to the last end, within the replay."""
        runs = [run for one in flows for run in (one.present, one.proposed)]
        ends = [run.moments[-1].at for run in runs if run.moments]
        going = any(run.outcome is None and not run.refused for run in runs)
        since = min((run.submitted_at for run in runs), default=found.since)
        return cls(since, found.until if going else max(ends, default=found.until))

    def x(self, at: float) -> float:
        """The horizontal place of a time, held inside the picture."""
        inside = min(max(at, self.since), self.until)
        return round(_LEFT + _WIDTH * (inside - self.since) / (self.until - self.since), 2)


def _title(found: Backtest) -> str:
    return f"{found.present} and {found.proposed} on {len(found.flows)} requests"


def _colours(flows: Sequence[Compared]) -> dict[str, str]:
    runs = (run for one in flows for run in (one.present, one.proposed))
    paths = sorted({stay.path for run in runs for stay in run.stays})
    return {path: _COLOURS[number % len(_COLOURS)] for number, path in enumerate(paths)}


def _head(found: Backtest, shown: int, colours: dict[str, str]) -> Iterator[str]:
    yield _text(_LEFT, 24, _title(found), "h")
    left_out = f"; the {shown} that differ most are drawn" if shown < len(found.flows) else ""
    saved = f"{format_duration(abs(found.saved))} {'saved' if found.saved >= 0 else 'lost'} in all"
    before, after = (
        found.violations([getattr(one, side) for one in found.flows]) for side in ("present", "proposed")
    )
    spans = f"QSpec violated {before[0]} times ({format_duration(before[1])}), then {after[0]} ("
    words = f"{found.moved} go another way; {saved}; {spans}{format_duration(after[1])}){left_out}"
    yield _text(_LEFT, 43, words, "s")
    x = float(_LEFT)
    for path, colour in (*colours.items(), ("QSpec violated", _RED)):
        high = 4 if colour == _RED else _BAR
        yield f'<rect x="{x:g}" y="{62 - high:g}" width="18" height="{high}" fill="{colour}"/>'
        yield _text(x + 24, 62, path, "s")
        x += 40 + 7 * len(path)


def _axis(scale: _Scale, rows: int) -> Iterator[str]:
    """Vertical lines at round times, a dozen at most."""
    length = scale.until - scale.since
    step = next((each for each in _STEPS if length <= 12 * each), _STEPS[-1])
    bottom = _TOP + rows * _ROW
    for number in range(math.ceil(scale.since / step), math.floor(scale.until / step) + 1):
        at = number * step
        form = "%d %b" if step >= 86400 else "%H:%M" if step >= 60 else "%H:%M:%S"
        yield f'<path d="M{scale.x(at):g} {_TOP - 8}V{bottom}" stroke="#e2e2e2"/>'
        told = datetime.fromtimestamp(at, UTC).strftime(form)
        yield f'<text class="s" x="{scale.x(at):g}" y="{_TOP - 12}" text-anchor="middle">{told}</text>'


def _flow(one: Compared, top: float, scale: _Scale, colours: dict[str, str]) -> Iterator[str]:
    yield f'<path d="M10 {top + _ROW - 3:g}H{_LEFT + _WIDTH + _RIGHT - 10}" stroke="#eee"/>'
    yield _text(10, top + 14, one.then.id, "")
    yield _text(10, top + 30, one.then.request.label[:18] or one.present.template[:18], "s")
    for line, run in enumerate((one.present, one.proposed)):
        yield _text(_LEFT - 52, top + 14 + line * _LINE, "present" if line == 0 else "new", "s")
        yield from _run(run, top + 5 + line * _LINE, scale, colours)
    if one.saved is not None:
        side = "saved" if one.saved > 0 else "lost"
        words = "the same" if abs(one.saved) < 0.05 else f"{format_duration(abs(one.saved))} {side}"
        yield _text(_LEFT + _WIDTH + 10, top + 14 + _LINE, words, "")


def _run(run: Run, top: float, scale: _Scale, colours: dict[str, str]) -> Iterator[str]:
    middle = top + _BAR / 2
    if run.refused:
        yield _text(scale.x(run.submitted_at), top + 9, f"refused: {run.refused[:60]}", "s")
        return
    ends = run.moments[-1].at if run.outcome is not None else scale.until
    since, until = scale.x(run.submitted_at), scale.x(ends)
    yield f'<path d="M{since:g} {middle:g}H{until:g}" stroke="#999"/>'
    for stay in run.stays:
        left, right = scale.x(stay.since), scale.x(min(stay.until, ends))
        told = escape(f"{stay.path}: {format_duration(min(stay.until, ends) - stay.since)}")
        yield (
            f'<rect x="{left:g}" y="{top:g}" width="{max(right - left, 1):g}" height="{_BAR}" '
            f'fill="{colours[stay.path]}"><title>{told}</title></rect>'
        )
        if stay is not run.stays[0]:
            yield f'<path d="M{left:g} {top - 1:g}V{top + _BAR + 1:g}" stroke="#fff" stroke-width="3"/>'
    for begins, over in run.violated(ends):
        left, right = scale.x(begins), scale.x(over)
        wide = max(right - left, 1)
        yield f'<rect x="{left:g}" y="{top - 3:g}" width="{wide:g}" height="3" fill="{_RED}"/>'
    if run.took is not None:
        yield f'<circle cx="{until:g}" cy="{middle:g}" r="4" fill="#222"/>'


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(words)}</text>'
