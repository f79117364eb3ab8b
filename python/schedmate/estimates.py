# SPDX-License-Identifier: Apache-2.0
"""What one of SchedMate's policies is told of the jobs of a trace, for a host that replays it
itself."""

import ctypes
import math
from typing import NamedTuple, Optional, Union

from . import _library
from ._session import Path, Session, number_of


class Outlook(NamedTuple):
    """Of one job. run_time and what is around it: seconds, alone on its GPUs; p10 to p90 are None
    where nobody knows how far off it is. advised: how much of it is advice, 0 to 1. The GPU use is
    that of similar jobs, None where there are none; sharing_score: 0 light, 1 medium, 2 heavy.
    blind: nothing is known of the job, and run_time is only a stand-in."""

    run_time: float
    p10: Optional[float]
    p50: Optional[float]
    p90: Optional[float]
    advised: float
    gpu_util_pct: Optional[float]
    memory_util_pct: Optional[float]
    memory_mib: Optional[float]
    sharing_score: Optional[int]
    blind: bool


class Estimates(_library.Opened):
    """Asked about each job that enters, and told of each that ended, in the order of time.

    trace: "FORMAT:PATH", as simulate() reads it. policy: "NAME[:key=value,...]", such as "lucid+sm":
    its estimator, with the advice beside it, as in simulate(). cluster: TOML file; None is the
    trace's own. Each virtual cluster learns of its own jobs alone. One thread at a time; another is
    an error (bad_call). Closed by close(), by `with`, or with its last owner.
    """

    def __init__(self, trace: str, policy: str, *, cluster: Optional[Path] = None,
                 session: Optional[Session] = None) -> None:
        super().__init__(_library.close_estimates)
        self._outlook = _library.Outlook(size=ctypes.sizeof(_library.Outlook))
        self._number = _library.open_estimates(
            number_of(session),
            {"trace": trace, "policy": policy, "cluster": _library.path(cluster)})

    def predict(self, job_id: Union[str, int], now: float) -> Outlook:
        """Of a job that enters at `now`, seconds of the trace's clock."""
        told = self._outlook
        told.now_s = _library.second(now)
        _library.call_estimates("predict", self._number, job_id, ctypes.byref(told))
        score = told.sharing_score
        return Outlook(told.run_time_s, _known(told.p10_s), _known(told.p50_s), _known(told.p90_s),
                       told.advised, _known(told.gpu_util_pct), _known(told.memory_util_pct),
                       _known(told.memory_mib), None if score < 0 else score, bool(told.blind))

    def learn(self, job_id: Union[str, int], end: float) -> None:
        """It has ended; its run time and state are those of the trace."""
        _library.call_estimates("learn", self._number, job_id, _library.second(end))


def _known(number: float) -> Optional[float]:
    return None if math.isnan(number) else number
