# SPDX-License-Identifier: Apache-2.0
"""What schedmate.simulate() gives: a dict with the figures, and the jobs of each replay as columns.

Columns are NumPy arrays where NumPy is installed, else lists; Table.frame() is a pandas frame where
pandas is. What did not happen is NaN in an array and None in a list.
"""

import html
import math
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from . import _structs, plots
from ._library import Document, SchedMateError

_STATUS = ("finished", "infeasible", "stalled")
_TEXTS = ("job_id", "user", "vc", "nodes")
_COUNTS = ("gpus", "preemptions", "evictions")
_TIMES = ("submit_s", "duration_s", "start_s", "end_s", "queue_s")
_BINS = ("busy_gpus", "stranded_gpus", "queued_jobs", "queued_gpus", "running_jobs", "used_gpus")
_ORDER = ("job_id", "user", "vc", "gpus", "submit_s", "duration_s", "start_s", "end_s", "queue_s",
          "jct_s", "preemptions", "nodes", "evictions", "held_gpu_s", "status")


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _column(values: List[Any]) -> Any:
    """Numbers as an array where that can be, None as NaN."""
    numpy = _numpy()
    if numpy is None:
        return values
    if values and all(isinstance(each, str) for each in values):
        return numpy.array(values, dtype=object)
    if any(each is None for each in values):
        return numpy.array([math.nan if each is None else each for each in values], dtype=float)
    return numpy.array(values)


class Table(Mapping[str, Any]):
    """Columns by name, all of one length (rows). A name ends in its unit: _s are seconds."""

    def __init__(self, columns: Mapping[str, List[Any]]) -> None:
        self._lists: Dict[str, List[Any]] = dict(columns)
        self._columns: Dict[str, Any] = {}

    @property
    def rows(self) -> int:
        return len(next(iter(self._lists.values()), []))

    def __getitem__(self, name: str) -> Any:
        """The column: a NumPy array where NumPy is installed, else a list."""
        if name not in self._columns:
            self._columns[name] = _column(self._lists[name])
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lists)

    def __len__(self) -> int:
        return len(self._lists)

    def lists(self) -> Dict[str, List[Any]]:
        """The same as lists of Python's own values, None for what did not happen."""
        return {name: list(values) for name, values in self._lists.items()}

    def frame(self) -> Any:
        """A pandas.DataFrame. Errors: unavailable, where pandas is not installed."""
        try:
            import pandas
        except ImportError as error:
            raise SchedMateError("unavailable", "frames need pandas, which is not installed",
                                 "pip install pandas") from error
        return pandas.DataFrame({name: self[name] for name in self})

    def __repr__(self) -> str:
        return f"<Table: {self.rows} rows of {', '.join(self)}>"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        def row(cells: Sequence[Any], tag: str) -> str:
            return "".join(f"<{tag}>{html.escape(str(each))}</{tag}>" for each in cells)
        body = "".join(f"<tr>{row(cells, 'td')}</tr>"
                       for cells in zip(*[values[:10] for values in self._lists.values()]))
        return f"<table><tr>{row(list(self), 'th')}</tr>{body}</table><p>{self.rows} rows</p>"


class Run:
    """One replay.

    label: as in the document. figures: its part of it. total_gpus: of all virtual clusters.

    jobs: a row a job of the trace, in its order: job_id, user, vc (texts), gpus, submit_s,
    duration_s, start_s (first start), end_s, queue_s, jct_s (end - submission), preemptions, nodes
    ("NODE:GPU,GPU;..." of the last run), evictions, held_gpu_s (GPU seconds), status ("finished",
    "infeasible": larger than its cluster, "stalled"). Times are on the trace's clock.

    timeline: a row for each step of time: time_s and the means until the next: busy_gpus,
    stranded_gpus, queued_jobs, queued_gpus, running_jobs, used_gpus.
    """

    def __init__(self, label: str, jobs: Table, timeline: Table, total_gpus: int) -> None:
        self.label = label
        self.jobs = jobs
        self.timeline = timeline
        self.total_gpus = total_gpus
        self.figures: Document = {}

    def __repr__(self) -> str:
        return f"<Run {self.label}: {self.jobs.rows} jobs>"

    def plot_gantt(self, path: Optional[plots.Path] = None, *, most: int = 200) -> plots.Figure:
        """The nodes over time, with the jobs on them (plots.gantt)."""
        return plots.gantt(self, path, most=most)


class Simulation(Dict[str, Any]):
    """The document of schedmate.simulate(), which is a dict, and runs: {label: Run}.

    jobs, timeline: of all runs, one below the other, with a column label in front.
    """

    def __init__(self, document: Document, runs: Dict[str, Run]) -> None:
        super().__init__(document)
        self.runs = runs
        for label, run in runs.items():
            run.figures = self.get("labels", {}).get(label, {})

    def _joined(self, name: str) -> Table:
        columns: Dict[str, List[Any]] = {"label": []}
        for run in self.runs.values():
            table: Table = getattr(run, name)
            columns["label"] += [run.label] * table.rows
            for column, values in table.lists().items():
                columns.setdefault(column, []).extend(values)
        return Table(columns)

    @property
    def jobs(self) -> Table:
        return self._joined("jobs")

    @property
    def timeline(self) -> Table:
        return self._joined("timeline")

    def plot_cdf(self, path: Optional[plots.Path] = None, *,
                 column: str = "jct_s") -> plots.Figure:
        """Which share of the jobs was done within which time (plots.cdf)."""
        return plots.cdf(self, path, column=column)

    def plot_timeline(self, path: Optional[plots.Path] = None, *,
                      column: str = "busy_gpus") -> plots.Figure:
        """What was used or waited, over time (plots.timeline)."""
        return plots.timeline(self, path, column=column)


def _texts(values: Any, count: int) -> List[str]:
    return [text.decode("utf-8", "replace") for text in values[:count]]


def run_of(told: Any) -> Run:
    """A copy of what the library tells of a replay (_structs.Outcomes)."""
    count = told.count
    columns: Dict[str, List[Any]] = {}
    for name in _TEXTS:
        columns[name] = _texts(getattr(told, name), count)
    for name in _COUNTS + ("held_gpu_s",):
        columns[name] = getattr(told, name)[:count]
    for name in _TIMES:
        columns[name] = [None if each == _structs.NEVER else each
                         for each in getattr(told, name)[:count]]
    columns["jct_s"] = [None if end is None else end - submit
                        for end, submit in zip(columns["end_s"], columns["submit_s"])]
    columns["status"] = [_STATUS[each] for each in told.status[:count]]
    bins = told.bins
    timeline = {"time_s": [told.first_s + told.step_s * i for i in range(bins)]}
    for name in _BINS:
        timeline[name] = getattr(told, name)[:bins]
    return Run(told.label.decode(), Table({name: columns[name] for name in _ORDER}),
               Table(timeline), told.total_gpus)
