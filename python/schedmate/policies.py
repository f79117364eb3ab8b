# SPDX-License-Identifier: Apache-2.0
"""What policies and estimators written in Python see: View, Plan, Job, Cluster, KnownJob.

    >>> def first_fit(view, plan):
    ...     for job in list(view.waiting.values()):
    ...         plan.start(job)

A policy is called with a View and a Plan whenever a job arrived or ended in one virtual cluster, or
at the time that it asked for. It decides by calling the plan; each decision is carried out at once,
so that the next question sees it. A policy that is a class has one object for each virtual cluster,
an object is copied (copy.deepcopy) for each; what a function keeps elsewhere is shared by all.

Attributes that a policy may have: name (text), estimator ("last_k" and its like, or an estimator in
Python; default "oracle", which knows run times), uses_estimates (False: it does not look at them),
shares (True: it lets jobs share GPUs), preempts (True: it takes jobs off their GPUs).

Times are whole seconds on the trace's clock; durations are seconds.
"""

import ctypes
import math
from types import MappingProxyType
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _library, _structs
from ._library import SchedMateError

_calls, _call = _library.plan_calls, _library.call_plan
_NO_NODE = 2**32 - 1

#: GPUs of one node: its number, and the numbers of the GPUs there, from 0.
Slice = Tuple[int, Tuple[int, ...]]


class Range(NamedTuple):
    """Seconds that 10, 50 and 90 of a hundred such jobs do not exceed."""
    p10: float
    p50: float
    p90: float


class Use(NamedTuple):
    """What a job does to each of its GPUs. sharing_score: 0 light, 1 medium, 2 heavy."""
    gpu_util_pct: float
    memory_util_pct: float
    memory_mib: float
    sharing_score: int


class KnownJob(NamedTuple):
    """A job as an estimator knows it: how long it runs is not in here.

    number: row of the trace. user, vc: numbers. gpus: of the whole gang. submit: seconds.
    """
    number: int
    id: str
    user: int
    vc: int
    gpus: int
    submit: int


_STATIC = ("number", "user", "gpus", "submit", "entered", "estimate", "expected", "advised", "p10",
           "p50", "p90", "gpu_util_pct", "memory_util_pct", "memory_mib", "sharing_score")
_STATE = ("running", "run_since", "attained", "overhead", "sharing", "alone", "speed")


class Job:
    """A job of one virtual cluster, the same object as long as it is there.

    number: in its virtual cluster, by entry. id: as in the trace. user: a number. gpus: of the whole
    gang. submit, entered: when it was submitted, and joined this queue. estimate: predicted run time
    in seconds, fixed on entry. expected: the same, where advice is kept apart. distribution: Range
    around it or None. advised: share of the estimate that is advice, 0 to 1. use: Use or None.

    What changes is as of the begin of the present call (afterwards: as last seen): running;
    run_since, start of the present run or None; attained, seconds of earlier runs; overhead, seconds
    that preemptions added; sharing, alone; speed, relative to running alone, or None.
    """

    __slots__ = ("number", "user", "gpus", "submit", "entered", "estimate", "expected", "advised",
                 "id", "distribution", "use", "_world", "_seen", "_state", "__weakref__")

    def __init__(self, world: "_World", id: str, values: Tuple[Any, ...]) -> None:
        (self.number, self.user, self.gpus, self.submit, self.entered, self.estimate,
         self.expected, self.advised) = values[:8]
        self.id: str = id
        p10, gpu_util_pct = values[8], values[11]
        self.distribution: Optional[Range] = None if math.isnan(p10) else Range(*values[8:11])
        self.use: Optional[Use] = None if math.isnan(gpu_util_pct) else Use(*values[11:15])
        self._world = world
        self._seen = -1
        self._state: Tuple[Any, ...] = (0, _structs.NEVER, 0, 0, 0, 0, math.nan)

    def __repr__(self) -> str:
        return f"<Job {self.number} ({self.id}): {self.gpus} GPUs>"

    def _now(self) -> Tuple[Any, ...]:
        world = self._world
        if self._seen != world.serial and world.plan:
            world.refresh([self])
        return self._state

    @property
    def running(self) -> bool:
        return bool(self._now()[0])

    @property
    def run_since(self) -> Optional[int]:
        since: int = self._now()[1]
        return None if since == _structs.NEVER else since

    @property
    def attained(self) -> int:
        attained: int = self._now()[2]
        return attained

    @property
    def overhead(self) -> int:
        overhead: int = self._now()[3]
        return overhead

    @property
    def sharing(self) -> bool:
        return bool(self._now()[4])

    @property
    def alone(self) -> bool:
        return bool(self._now()[5])

    @property
    def speed(self) -> Optional[float]:
        speed: float = self._now()[6]
        return None if math.isnan(speed) else speed

    def run_time(self, now: int) -> int:
        """Seconds so far, in all runs."""
        since = self.run_since
        return self.attained + (now - since if self.running and since is not None else 0)

    def remaining(self, now: int) -> float:
        """Estimated seconds still needed, overhead included; negative when overdue."""
        estimate: float = self.estimate
        return estimate + self.overhead - self.run_time(now)


class _World:
    """One virtual cluster in one replay: its policy, its jobs, and the call that is under way."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.jobs: Dict[int, Job] = {}
        self.waiting: Dict[int, Job] = {}
        self.running: Dict[int, Job] = {}
        self.shown = tuple(MappingProxyType(each)
                           for each in (self.jobs, self.waiting, self.running))
        self.plan = 0
        self.serial = 0
        self.gone: List[int] = []
        self.moves: List[Tuple[bool, Job]] = []
        self.fault: Optional[SchedMateError] = None

    def call(self, told: _structs.Round) -> None:
        self.plan = told.plan
        self.serial += 1
        view = View(self, told)
        try:
            self.policy(view, Plan(self, told.plan))
        finally:
            self.plan = 0
        if self.fault is not None:
            raise self.fault
        for starts, job in self.moves:
            source, target = ((self.waiting, self.running) if starts
                              else (self.running, self.waiting))
            source.pop(job.number, None)
            target[job.number] = job
        self.moves.clear()
        for number in self.gone:
            del self.jobs[number]

    def enter(self, told: _structs.Jobs) -> List[Job]:
        count = told.count
        if count == 0:
            return []
        ids = [text.decode("utf-8", "replace") for text in told.id[:count]]
        rows = zip(*[getattr(told, name)[:count] for name in _STATIC])
        jobs = [Job(self, id, row) for id, row in zip(ids, rows)]
        for job in jobs:
            self.jobs[job.number] = self.waiting[job.number] = job
        return jobs

    def leave(self, numbers: List[int]) -> List[Job]:
        for number in numbers:
            self.running.pop(number, None)
            self.waiting.pop(number, None)
        return [self.jobs[number] for number in numbers]

    def refresh(self, jobs: Sequence[Job]) -> None:
        each = (ctypes.c_uint32 * len(jobs))(*[job.number for job in jobs])
        numbers = _structs.Numbers(each, len(jobs))
        told = ctypes.POINTER(_structs.Jobs)()
        _call(_calls.schedmate_plan_jobs, self.plan, numbers, ctypes.byref(told))
        columns = [getattr(told.contents, name)[:len(jobs)] for name in _STATE]
        for job, state in zip(jobs, zip(*columns)):
            job._state, job._seen = state, self.serial

    def number_of(self, job: Union[Job, int]) -> int:
        """Of a job that is here."""
        if isinstance(job, Job):
            if self.jobs.get(job.number) is job:
                number: int = job.number
                return number
            raise SchedMateError("not_found", f"job {job.id} has ended, or is of another virtual "
                                 "cluster: a policy that is a class has an object for each")
        if not isinstance(job, int) or isinstance(job, bool):
            raise TypeError(f"a job or its number is wanted, not {job!r}")
        if job in self.jobs or 0 <= job < 2**32:
            return job
        raise SchedMateError("not_found", f"no job {job} waits or runs in this virtual cluster")

    def decide(self, starts: bool, function: Any, plan: int, job: Union[Job, int],
               *words: Any) -> bool:
        """What is impossible ends the simulation, even if the policy goes on."""
        try:
            number = self.number_of(job)
            if not _call(function, plan, number, *words):
                return False
        except SchedMateError as error:
            self.keep(error)
            raise
        self.moves.append((starts, self.jobs[number]))
        return True

    def keep(self, error: SchedMateError) -> None:
        """The first fault counts. What is asked of a plan that is over is none of this call's."""
        if error.code != "bad_call" and self.fault is None:
            self.fault = error


def _node(number: int) -> int:
    """As the library takes it."""
    return number if 0 <= number < _NO_NODE else _NO_NODE


def _bits(gpus: Iterable[int]) -> int:
    mask = 0
    for gpu in gpus:
        if not 0 <= gpu < 64 or mask >> gpu & 1:
            raise SchedMateError("invalid", f"GPU {gpu}: numbers are 0 to 63, each once")
        mask |= 1 << gpu
    return mask


def _numbers(mask: int) -> Tuple[int, ...]:
    return tuple(gpu for gpu in range(mask.bit_length()) if mask >> gpu & 1)


class Cluster:
    """The GPUs of one virtual cluster as they are now, decisions of this call included."""

    __slots__ = ("_world", "_plan")

    def __init__(self, world: _World, plan: int) -> None:
        self._world = world
        self._plan = plan

    def _gpus(self) -> _structs.Gpus:
        gpus = _structs.Gpus()
        _call(_calls.schedmate_plan_gpus, self._plan, gpus)
        return gpus

    @property
    def total_gpus(self) -> int:
        """Of nodes that are up."""
        return int(self._gpus().total)

    @property
    def free_gpus(self) -> int:
        return int(self._gpus().free)

    @property
    def stranded_gpus(self) -> int:
        """Free ones on nodes that also have busy ones."""
        return int(self._gpus().stranded)

    @property
    def gpus_per_node(self) -> int:
        return int(self._gpus().per_node)

    @property
    def nodes(self) -> int:
        """How many are up."""
        return int(self._gpus().nodes)

    def fits(self, gpus: int) -> bool:
        """Whether plan.start() would find room for a gang of so many."""
        return _call(_calls.schedmate_plan_fits, self._plan, min(max(gpus, -2**31), 2**31 - 1))

    def free(self) -> List[Tuple[int, ...]]:
        """By node, the numbers of its free GPUs; none of a node that is not up."""
        masks, count = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_size_t()
        _call(_calls.schedmate_plan_free, self._plan, ctypes.byref(masks), ctypes.byref(count))
        return [_numbers(mask) for mask in masks[:count.value]]

    def held(self, job: Union[Job, int]) -> List[Slice]:
        """The GPUs that a job has; empty when it waits."""
        held = _structs.Slices()
        _call(_calls.schedmate_plan_held, self._plan, self._world.number_of(job), held)
        return [(each.node, _numbers(each.gpus)) for each in held.slices[:held.count]]

    def residents(self, node: int, gpu: int) -> List[Job]:
        """The jobs on one GPU, in the order in which they came."""
        asked = _structs.Gpu(_node(node), min(max(gpu, -1), 64))
        jobs = _structs.Numbers()
        _call(_calls.schedmate_plan_residents, self._plan, asked, jobs)
        return [self._world.jobs[number] for number in jobs.jobs[:jobs.count]]


class View:
    """What one call of a policy sees. Of use until it returns.

    now: seconds. arrived, ended: jobs since the last call, in order. withdrawn: left the queue
    without a start. jobs, waiting, running: {number: Job} of all that are here, in order of entry, of
    return to the queue and of start; ended ones are in jobs alone. They change after the call, not
    within it. cluster: its GPUs, as they are now.
    """

    __slots__ = ("now", "arrived", "ended", "withdrawn", "jobs", "waiting", "running", "cluster",
                 "_preemption")

    def __init__(self, world: _World, told: _structs.Round) -> None:
        self.now: int = told.now
        ended, withdrawn = (each.jobs[:each.count] for each in (told.ended, told.withdrawn))
        self.ended: List[Job] = world.leave(ended)
        self.withdrawn: List[Job] = world.leave(withdrawn)
        self.arrived: List[Job] = world.enter(told.arrived.contents)
        world.gone = ended + withdrawn
        self.jobs: Mapping[int, Job] = world.shown[0]
        self.waiting: Mapping[int, Job] = world.shown[1]
        self.running: Mapping[int, Job] = world.shown[2]
        self.cluster = Cluster(world, told.plan)
        self._preemption = tuple(told.preemption)

    def preemption_cost(self, gpus: int) -> int:
        """Seconds of run time that a preemption adds to a job of so many GPUs."""
        return int(self._preemption[0 if gpus <= 8 else 1])


class Plan:
    """Decisions, each carried out at once. Of use to the thread that was called, until it returns.

    What is impossible is a SchedMateError and changes nothing: not_found (no such job or node),
    conflict (it has GPUs already, or none; it has ended; another job's GPU), invalid (not as many
    GPUs as it asks for). The simulation ends with the first, caught or not.
    """

    __slots__ = ("_world", "_plan")

    def __init__(self, world: _World, plan: int) -> None:
        self._world = world
        self._plan = plan

    def start(self, job: Union[Job, int]) -> bool:
        """Starts a waiting job where the simulator places it, if its gang has room now."""
        return self._world.decide(True, _calls.schedmate_plan_start, self._plan, job)

    def start_on(self, job: Union[Job, int], where: Iterable[Tuple[int, Iterable[int]]]) -> None:
        """Starts a waiting job on exactly these GPUs: [(node, [gpu, ...]), ...]."""
        try:
            slices = [_structs.Slice(_node(node), _bits(gpus)) for node, gpus in where]
        except SchedMateError as error:
            self._world.keep(error)
            raise
        given = _structs.Slices((_structs.Slice * len(slices))(*slices), len(slices))
        self._world.decide(True, _calls.schedmate_plan_start_on, self._plan, job, given)

    def start_with(self, job: Union[Job, int], resident: Union[Job, int]) -> None:
        """Starts a waiting job on all the GPUs of a running one (a policy with shares = True)."""
        try:
            where = Cluster(self._world, self._plan).held(resident)
        except SchedMateError as error:
            self._world.keep(error)
            raise
        self.start_on(job, where)

    def preempt(self, job: Union[Job, int]) -> None:
        """Takes a running job off its GPUs; it waits again, with its progress."""
        self._world.decide(False, _calls.schedmate_plan_preempt, self._plan, job)

    def evict(self, job: Union[Job, int]) -> None:
        """Takes a running job off its GPUs without a checkpoint: it will begin again."""
        self._world.decide(False, _calls.schedmate_plan_evict, self._plan, job)

    def wake_at(self, time: float) -> None:
        """Calls the policy again then, even if nothing happens; the earliest counts, once."""
        second = math.ceil(min(max(time, -2.0**62), 2.0**62))
        _call(_calls.schedmate_plan_wake_at, self._plan, second)
