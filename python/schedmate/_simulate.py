# SPDX-License-Identifier: Apache-2.0
"""Policies and estimators of Python as callbacks of the library, and what it tells in return."""

import contextlib
import copy
import ctypes
import math
import re
import signal
import threading
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _library, _progress, _structs
from ._library import Document
from .policies import KnownJob, _World
from .results import Run, Simulation, run_of

Report = Callable[[str, float], None]


def _name_of(given: Any) -> str:
    """For files: its own name, or that of its class."""
    name = getattr(given, "name", None)
    if not isinstance(name, str):
        name = getattr(given, "__name__", None) or type(given).__name__
    return re.sub(r"[^A-Za-z0-9._+-]", "_", name).lstrip(".")[:80] or "own"


def _copy_of(given: Any) -> Any:
    """For one virtual cluster."""
    return given() if isinstance(given, type) else copy.deepcopy(given)


class _Calls:
    """The callbacks of one simulation. What one of them raises ends it, and is raised there."""

    def __init__(self) -> None:
        self.raised: Optional[BaseException] = None
        self.policies: Dict[str, _structs.Policy] = {}
        self.estimators: Dict[str, _structs.Estimator] = {}
        self.runs: Dict[str, Run] = {}
        self._guard_code: Any = None

    def _guard(self, work: Callable[..., None]) -> Callable[..., int]:
        def guarded(_: Any, *words: Any) -> int:
            try:
                work(*words)
            except BaseException as error:  # pylint: disable=broad-exception-caught
                self.raised = self.raised or error
            return 0 if self.raised is None else 1
        self._guard_code = guarded.__code__
        return guarded

    @contextlib.contextmanager
    def heeding_interrupts(self) -> Iterator[None]:
        """Ctrl-C during the library's own work comes as a callback begins, before it is in its try:
        ctypes would print it and go on."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            yield
            return

        def heed(number: int, frame: Any) -> None:
            try:
                before(number, frame)
            except BaseException as error:  # pylint: disable=broad-exception-caught
                if frame is None or frame.f_code is not self._guard_code:
                    raise
                self.raised = self.raised or error

        signal.signal(signal.SIGINT, heed)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def add_policy(self, given: Any) -> str:
        """The name by which the request calls it."""
        name = self._free_name(given, self.policies)
        worlds: Dict[int, _World] = {}

        def decide(told: Any) -> None:
            world = worlds.get(told.contents.copy)
            if world is None:
                world = worlds[told.contents.copy] = _World(_copy_of(given))
            world.call(told.contents)

        traits = (0 if getattr(given, "uses_estimates", True) else _structs.IGNORES_ESTIMATES) \
            | (_structs.SHARES if getattr(given, "shares", False) else 0) \
            | (_structs.PREEMPTS if getattr(given, "preempts", False) else 0)
        estimator = getattr(given, "estimator", None)
        if estimator is not None and not isinstance(estimator, str):
            estimator = self.add_estimator(estimator)
        self.policies[name] = _structs.Policy(
            name.encode(), None if estimator is None else estimator.encode(), traits,
            _structs.Decide(self._guard(decide)), None)
        return name

    def add_estimator(self, given: Any) -> str:
        name = self._free_name(given, self.estimators)
        copies: Dict[int, Any] = {}

        def own(number: int) -> Any:
            if number not in copies:
                copies[number] = _copy_of(given)
            return copies[number]

        def predict(number: int, job: Any, now: int, into: Any) -> None:
            asked = own(number)
            said = getattr(asked, "predict", asked)(_known(job.contents), now)
            into.contents.run_time, *around = _prediction(said)
            into.contents.p10, into.contents.p50, into.contents.p90 = around

        def learn(number: int, job: Any, end: int, run_time: int, state: bytes) -> None:
            own(number).learn(_known(job.contents), run_time, state.decode(), end)

        learns = hasattr(given, "learn")
        self.estimators[name] = _structs.Estimator(
            name.encode(), _structs.Predict(self._guard(predict)),
            _structs.Learn(self._guard(learn)) if learns else _structs.Learn(), None)
        return name

    @staticmethod
    def _free_name(given: Any, taken: Mapping[str, Any]) -> str:
        first = name = "own." + _name_of(given)
        number = 1
        while name in taken:
            number += 1
            name = f"{first}-{number}"
        return name

    def _finished(self, told: Any) -> None:
        run = run_of(told.contents)
        self.runs[run.label] = run

    def hooks(self, report: Optional[Report]) -> _structs.Hooks:
        """They refer to what is in here."""
        policies = (_structs.Policy * len(self.policies))(*self.policies.values())
        estimators = (_structs.Estimator * len(self.estimators))(*self.estimators.values())
        progress = _structs.Progress()
        if report is not None:
            show = report
            progress = _structs.Progress(
                self._guard(lambda label, done: show(label.decode(), done)))
        return _structs.Hooks(
            ctypes.sizeof(_structs.Hooks), policies, len(policies), estimators, len(estimators),
            progress, _structs.Finished(self._guard(self._finished)), None)


def _known(job: Any) -> KnownJob:
    return KnownJob(job.number, job.id.decode("utf-8", "replace"), job.user, job.vc, job.gpus,
                    job.submit)


def _prediction(said: Any) -> Tuple[float, float, float, float]:
    if isinstance(said, (tuple, list)) and len(said) == 4:
        return float(said[0]), float(said[1]), float(said[2]), float(said[3])
    if isinstance(said, (str, bytes)) or not hasattr(said, "__float__"):
        raise TypeError(f"an estimator gives seconds, or (seconds, p10, p50, p90), not {said!r}")
    return float(said), math.nan, math.nan, math.nan


def _spec(policy: Any, calls: _Calls, label: Optional[str], estimator: Optional[str]) -> str:
    """NAME[:key=value,...][@LABEL] of a policy, whatever it is."""
    if isinstance(policy, str):
        front, at, own_label = policy.partition("@")
        label = label or (own_label if at else None)
        default = None
    elif callable(policy):
        front = calls.add_policy(policy)
        default = front[len("own."):]
    else:
        raise TypeError(f"a policy is a text or is called with a view and a plan: {policy!r}")
    if estimator is not None and "estimate=" not in front:
        front += (":" if ":" not in front else ",") + "estimate=" + estimator
    label = label or default
    return front if label is None else f"{front}@{label}"


def simulate(session: int, request: Document, policy: Any, estimator: Any,
             progress: Union[bool, Report, None]) -> Simulation:
    calls = _Calls()
    named: Sequence[Tuple[Optional[str], Any]]
    if isinstance(policy, Mapping):
        named = list(policy.items())
    elif isinstance(policy, str) or callable(policy):
        named = [(None, policy)]
    else:
        named = [(None, each) for each in policy]
    if estimator is not None and not isinstance(estimator, str):
        estimator = calls.add_estimator(estimator)
    specs: List[str] = [_spec(each, calls, label, estimator) for label, each in named]
    with _progress.shown(progress) as report:
        hooks = calls.hooks(report)
        try:
            with calls.heeding_interrupts():
                document = _library.call("simulate_with", session,
                                         {**request, "policies": specs}, hooks)
        except _library.SchedMateError:
            if calls.raised is None:
                raise
        if calls.raised is not None:
            raise calls.raised
    return Simulation(document, calls.runs)
