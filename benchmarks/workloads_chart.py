"""The workload suite as a picture: one row per policy, one dot per workload.

``python -m benchmarks.workloads_chart RESULT.json IMAGE``: from what the benchmark has kept.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.workloads import OURS, names, ratios, shares

OURS_COLOUR, OTHERS_COLOUR = "#0072b2", "#9d9da1"
FAR = 30.0
"""Multiples of the best offline; what is beyond is drawn there."""


def chart(results: Mapping[str, Any], file: Path) -> None:
    """Draw it (PNG or SVG by the file's name)."""
    from plotly.subplots import make_subplots  # heavy, and needed for the pictures only

    titles = ["mean completion / best offline", "deadlines met", "time with the QSpec missed"]
    figure = make_subplots(cols=3, shared_yaxes=True, subplot_titles=titles, horizontal_spacing=0.03)
    for policy in reversed(names(results)):
        columns = (
            [min(FAR, ratio) for ratio in ratios(results, policy, "mean")],
            shares(results, policy, "deadlines"),
            shares(results, policy, "violations"),
        )
        colour = OURS_COLOUR if policy == OURS else OTHERS_COLOUR
        for column, values in enumerate(columns, 1):
            dots = {"color": colour, "size": 7, "opacity": 0.5}
            figure.add_scatter(
                x=values, y=[policy] * len(values), mode="markers", marker=dots, row=1, col=column
            )
            middle = {"color": "black", "size": 14, "symbol": "line-ns-open", "line": {"width": 2}}
            figure.add_scatter(
                x=[statistics.median(values)], y=[policy], mode="markers", marker=middle, row=1, col=column
            )
    figure.update_xaxes(type="log", tickvals=[1, 1.5, 2, 3, 5, 10, 30], col=1)
    figure.update_xaxes(tickformat=".0%", range=[-0.03, 1.03], col=2)
    figure.update_xaxes(tickformat=".0%", range=[-0.03, 1.03], col=3)
    figure.update_layout(
        template="simple_white", width=1000, height=380, margin={"t": 40, "b": 40, "l": 90}, showlegend=False
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.write_image(file)


if __name__ == "__main__":
    chart(json.loads(Path(sys.argv[1]).read_text())["results"], Path(sys.argv[2]))
