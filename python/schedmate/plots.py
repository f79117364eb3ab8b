# SPDX-License-Identifier: Apache-2.0
"""Plots of a simulation by matplotlib, where that is installed.

Each gives a Figure, which notebooks show, and writes it where a path is given; its ending says how
(.png, .svg, .pdf). No window is opened. Errors: SchedMateError (unavailable) without matplotlib.
"""

import io
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from ._library import SchedMateError

if TYPE_CHECKING:
    from .results import Run, Simulation

#: A matplotlib.figure.Figure.
Figure = Any
Path = Union[str, "os.PathLike[str]"]

_HOUR = 3600.0


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Plain
    except ImportError as error:
        raise SchedMateError("unavailable", "plots need matplotlib, which is not installed",
                             "pip install matplotlib") from error

    class Shown(Plain):  # type: ignore[misc, unused-ignore]
        """Notebooks show it, whether or not pyplot is at work."""

        def _repr_png_(self) -> bytes:
            into = io.BytesIO()
            self.savefig(into, format="png", bbox_inches="tight")
            return into.getvalue()

    figure = Shown(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def _done(figure: Any, path: Optional[Path]) -> Any:
    if path is not None:
        figure.savefig(os.fspath(path), bbox_inches="tight")
    return figure


def cdf(result: "Simulation", path: Optional[Path] = None, *, column: str = "jct_s") -> Figure:
    """The share of jobs with at most so many hours of jct_s, queue_s or duration_s, a line a run."""
    figure = _figure(7, 4)
    axes = figure.subplots()
    for label, run in result.runs.items():
        values = sorted(each for each in run.jobs.lists()[column] if each is not None)
        shares = [(i + 1) / len(values) for i in range(len(values))]
        axes.plot([max(each, 1) / _HOUR for each in values], shares, label=label)
    axes.set_xscale("log")
    axes.set_xlabel(f"{column[:-2]} (hours)")
    axes.set_ylabel("share of jobs")
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    return _done(figure, path)


def timeline(result: "Simulation", path: Optional[Path] = None, *,
             column: str = "busy_gpus") -> Figure:
    """A column of the timelines over days, a line a run."""
    figure = _figure(9, 3.5)
    axes = figure.subplots()
    for label, run in result.runs.items():
        lists = run.timeline.lists()
        first = lists["time_s"][0] if lists["time_s"] else 0
        days = [(each - first) / (24 * _HOUR) for each in lists["time_s"]]
        axes.plot(days, lists[column], label=label, linewidth=1)
    axes.set_xlabel("days")
    axes.set_ylabel(column.replace("_", " "))
    axes.grid(alpha=0.3)
    axes.legend()
    return _done(figure, path)


def _runs_of(gpus: List[int]) -> List[Tuple[int, int]]:
    """GPUs in a row, as (first, how many)."""
    runs: List[Tuple[int, int]] = []
    for gpu in gpus:
        if runs and sum(runs[-1]) == gpu:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((gpu, 1))
    return runs


def _bars(jobs: Dict[str, List[Any]], most: int) -> List[Tuple[Tuple[str, int], int, int, int]]:
    """Of the first jobs (node, row, first GPU, GPUs), a node being a virtual cluster's."""
    rows = [row for row, end in enumerate(jobs["end_s"]) if end is not None and jobs["nodes"][row]]
    rows.sort(key=lambda row: jobs["start_s"][row])
    bars = []
    for row in rows[:most]:
        for part in jobs["nodes"][row].split(";"):
            node, gpus = part.split(":")
            for first, count in _runs_of([int(gpu) for gpu in gpus.split(",")]):
                bars.append(((jobs["vc"][row], int(node)), row, first, count))
    return bars


def gantt(run: "Run", path: Optional[Path] = None, *, most: int = 200) -> Figure:
    """The GPUs of each node over time, a bar for each job there: the `most` jobs that started first.

    A job that was stopped in between is shown from its first start to its end, where it ran last.
    """
    jobs = run.jobs.lists()
    bars = _bars(jobs, most)
    nodes = sorted({node for node, *_ in bars}, reverse=True)
    places = {node: place for place, node in enumerate(nodes)}
    height = 0.85 / max((first + count for _, _, first, count in bars), default=1)
    begin = min((jobs["start_s"][row] for _, row, _, _ in bars), default=0)
    figure = _figure(10, max(2.0, min(14.0, 0.25 * len(nodes) + 1)))
    axes = figure.subplots()
    for node, row, first, count in bars:
        start, end = jobs["start_s"][row], jobs["end_s"][row]
        axes.barh(places[node] + first * height, (end - start) / _HOUR, align="edge",
                  left=(start - begin) / _HOUR, height=count * height, color=f"C{row % 10}",
                  edgecolor="white", linewidth=0.2)
    axes.set_yticks([place + 0.42 for place in places.values()],
                    labels=[f"{vc}/{node}" for vc, node in nodes], fontsize=5)
    axes.set_xlabel("hours since the first start")
    axes.set_title(f"{run.label}: the first {len({row for _, row, _, _ in bars})} jobs")
    return _done(figure, path)
