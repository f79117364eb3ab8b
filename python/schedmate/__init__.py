# SPDX-License-Identifier: Apache-2.0
"""SchedMate: what GPU jobs are, when they start, how long they run, how far they are and why they
failed.

    >>> import schedmate
    >>> facts = schedmate.facts("examples/classifier", command="python train.py --epochs 20")
    >>> facts["facts"]["length"]["value"]
    {'amount': 20, 'unit': 'epochs'}

Each function gives the document that the command of its name prints with --json, as a dict:
docs/formats describes them all. Keys end in their unit: _s are seconds, _mib 2^20 bytes, _pct 0 to
100. What is not known is None, never a guess. Errors are a SchedMateError with a code.

Any thread may call. While a call runs, other Python threads do, too; Ctrl-C is seen when it ends.
Files are read, nothing of a job is run, and nothing is printed.
"""

from typing import Any, Callable, List, Mapping, Optional, Sequence, Union

from . import _library, _simulate, plots, policies
from ._library import Document, SchedMateError, path as _path, version
from ._session import Path, Session, number_of as _number
from .estimates import Estimates, Outlook
from .policies import Cluster, Job, KnownJob, Plan, View
from .results import Run, Simulation, Table

__all__ = ["Cluster", "Document", "Estimates", "Job", "KnownJob", "Outlook", "Plan", "Run",
           "SchedMateError", "Session", "Simulation", "Table", "View", "advise", "ask", "diagnose",
           "eta", "facts", "finish", "plots", "policies", "simulate", "track", "version"]
__version__ = version

Confidence = Union[float, str, None]
#: "NAME[:key=value,...][@LABEL]", or a policy written in Python, or a class of such.
OnePolicy = Union[str, Callable[[View, Plan], Any], Callable[[], Callable[[View, Plan], Any]]]
Policies = Union[OnePolicy, Sequence[OnePolicy], Mapping[str, OnePolicy]]


def _call(use_case: str, session: Optional[Session], request: Document) -> Document:
    return _library.call(use_case, _number(session), request)


def _paths(given: Union[Path, Sequence[Path]]) -> List[Optional[str]]:
    if isinstance(given, (str, bytes)) or hasattr(given, "__fspath__"):
        return [_path(given)]
    return [_path(each) for each in given]


def _confidence(given: Confidence) -> Optional[str]:
    return None if given is None else str(given)


def facts(dir: Path, *, command: str, workdir: str = "", gpus: Optional[int] = 1,
          nodes: Optional[int] = 1, gpu_type: Optional[str] = None, roots: Sequence[str] = (),
          log: Optional[Path] = None, monitoring: Optional[Path] = None, explain: bool = False,
          min_confidence: Confidence = None,
          session: Optional[Session] = None) -> Document:
    """What a job is, each value with the line that proves it (schedmate.facts.v1).

    dir: root folder of the job, a repository or snapshot. command: as submitted. workdir: where it
    runs, below dir. gpus, nodes: as requested, over all nodes; None is what the command asks for.
    roots: "AS=FOLDER", absolute paths of the command and what they are below dir. log, monitoring:
    of an earlier attempt, for a language model. explain: also what was found and not used.
    min_confidence: 0 to 1; facts that are less sure are left out. "auto": so that 97 % of the rest
    is right.

    Gives {"facts": {FIELD: {"value", "confidence" (0 to 1), "source", "evidence": [{"file", "line"
    (from 1), "text"}]}}, "expect", "runs", "files_read", "degraded", "cost", ...} with the fields
    model_name, batch_size (of a device and a micro-step), length ({"amount", "unit"}), optimizer
    and so on.
    """
    return _call("facts", session, {
        "dir": _path(dir), "command": command, "workdir": workdir, "gpus": gpus, "nodes": nodes,
        "gpu_type": gpu_type, "roots": list(roots), "log": _path(log),
        "monitoring": _path(monitoring), "explain": explain,
        "min_confidence": _confidence(min_confidence)})


def advise(dir: Path, *, command: str, user: str, workdir: str = "", gpus: Optional[int] = 1,
           nodes: Optional[int] = 1, gpu_type: Optional[str] = None, roots: Sequence[str] = (),
           branch: Optional[str] = None, partition: Optional[str] = None,
           time_limit_s: Optional[int] = None, job_id: Optional[str] = None,
           submit_time_s: Optional[int] = None, record: bool = False,
           log: Optional[Path] = None, monitoring: Optional[Path] = None,
           min_confidence: Confidence = None, session: Optional[Session] = None) -> Document:
    """How long a submission runs and what it uses, by similar jobs (schedmate.advice.v1).

    As facts(), and user: a name for the history. time_limit_s: 0 or None is none. submit_time_s:
    since 1970; None is now. record: remember the submission as job_id.

    Gives {"source": "resubmission", "similar", "user_history" or "none", "duration_s": {"mean",
    "p10", "p50", "p90"} or None, "gpu_util_pct", "gpu_memory_mib", "similar": [{"job_id", "score"
    (0 to 1), "why", "duration_s", "state"}], "facts", ...}.
    """
    return _call("advise", session, {
        "dir": _path(dir), "command": command, "user": user, "workdir": workdir, "gpus": gpus,
        "nodes": nodes, "gpu_type": gpu_type, "roots": list(roots), "branch": branch,
        "partition": partition, "time_limit_s": time_limit_s, "job_id": job_id,
        "submit_time_s": submit_time_s, "record": record, "log": _path(log),
        "monitoring": _path(monitoring), "min_confidence": _confidence(min_confidence)})


def track(logs: Union[Path, Sequence[Path]], *, min_confidence: Confidence = None,
          session: Optional[Session] = None) -> Document:
    """How far a job is, by its log or the logs of its ranks (schedmate.progress.v1).

    min_confidence: as facts(); values that are less sure are None.

    Gives {"step", "total_steps", "epoch", "total_epochs", "step_time_s" (median of the last lines),
    "loss", "throughput": {"value", "unit"}, "remaining_s", "confidence": {FIELD: 0 to 1},
    "lines", "by", ...}.
    """
    return _call("track", session, {
        "logs": _paths(logs), "min_confidence": _confidence(min_confidence)})


def diagnose(logs: Union[Path, Sequence[Path]], *, job: Optional[Path] = None,
             good: Optional[Path] = None, kernel_logs: Sequence[str] = (), nvml: bool = False,
             nvml_from: Sequence[Path] = (), locate: Optional[str] = None,
             classify: Optional[str] = None, min_confidence: Confidence = None,
             session: Optional[Session] = None) -> Document:
    """Why a job ended, with the line that says so (schedmate.diagnosis.v1).

    logs: of one job, one for each rank, or the id of a job of the history. job: file of what the
    scheduler knows of it (JSON). good: log of a run that went well. kernel_logs: FILE or NODE=FILE.
    nvml: ask the GPUs of this machine. nvml_from: files of GPU states. min_confidence: as facts();
    a verdict or a line that is less sure is None.

    Gives {"class": "infrastructure", "framework", "user_script", "other", "none" or None (nothing
    to judge, or not sure enough), "component", "root_file", "root_line" (from 1), "reason",
    "evidence", "nodes", "recommendation", "confidence" and "root_confidence" (0 to 1), "witness",
    "by", ...}.
    """
    return _call("diagnose", session, {
        "logs": _paths(logs), "job": _path(job), "good": _path(good),
        "kernel_logs": list(kernel_logs), "nvml": nvml, "nvml_from": _paths(nvml_from),
        "locate": locate, "classify": classify,
        "min_confidence": _confidence(min_confidence)})


def ask(log: Path, question: str, *, job: Optional[Path] = None,
        session: Optional[Session] = None) -> Document:
    """What a log says, in words and lines (schedmate.answers.v1).

    log: a file, or the id of a job of the history. question: one or several, with "?" between. job:
    file of what the scheduler knows of it.

    Gives {"answers": [{"question", "answer" or None, "by", "answered", "lines": [{"line" (from 1),
    "text"}]}], "model", "notes", ...}.
    """
    return _call("ask", session, {"log": _path(log), "question": question, "job": _path(job)})


def eta(job_id: Optional[str] = None, *, from_: Optional[str] = None, at: Optional[str] = None,
        policy: Optional[str] = None, cluster: Optional[Path] = None,
        samples: Optional[int] = None, outcome: bool = False,
        session: Optional[Session] = None) -> Document:
    """When waiting jobs start and running ones end (schedmate.eta.v1).

    job_id: one job; None is all. from_: "slurm", a file with what scontrol or squeue and sinfo
    printed, or "trace:FORMAT:PATH" with at: seconds of its clock, a date or "+5d". policy: how the
    cluster is scheduled. samples: replays at most. outcome: of a trace, what then happened.

    Gives {"now", "policy", "samples", "jobs": [{"job_id", "state", "start_s" and "end_s": {"p10",
    "p50", "p90"} in seconds of the clock of "now", "blocked_by", ...}], "notes", ...}.
    """
    return _call("eta", session, {
        "job_id": job_id, "from": from_, "at": at, "policy": policy, "cluster": _path(cluster),
        "samples": samples, "outcome": outcome})


def finish(job_id: str, *, state: str, duration_s: int, gpu_util_pct: Optional[float] = None,
           gpu_memory_mib: Optional[float] = None, log: Optional[Path] = None,
           job: Optional[Path] = None, replace: bool = False,
           session: Optional[Session] = None) -> Document:
    """How a job ended that advise(record=True) stored, for later advice (schedmate.finish.v1).

    state: "completed", "failed", "cancelled", "timeout" and so on. duration_s: of its run. log: what
    track and diagnose find in it is kept. job: file of what the scheduler knows of it. replace: also
    where another end is recorded.

    Gives {"job_id", "state", "duration_s", "advice": {"p10_s", "p50_s", "p90_s", "inside",
    "p50_over_actual"} or None}.
    """
    return _call("finish", session, {
        "job_id": job_id, "state": state, "duration_s": duration_s, "gpu_util_pct": gpu_util_pct,
        "gpu_memory_mib": gpu_memory_mib, "log": _path(log), "job": _path(job),
        "replace": replace})


def simulate(trace: str, policy: Policies, *, cluster: Optional[Path] = None,
             tables: Optional[Path] = None, explain: Optional[str] = None,
             out: Optional[Path] = None, estimator: Union[str, Any, None] = None,
             progress: Union[bool, Callable[[str, float], None], None] = None,
             session: Optional[Session] = None) -> Simulation:
    """Policies replayed over a trace: the document of summary.json, and the jobs of each replay.

    trace: "FORMAT:PATH", such as "helios:venus.csv.gz". policy: one or several of
    "NAME[:key=value,...][@LABEL]" (`schedmate list policies` shows the names) and of policies
    written in Python: a callable of a View and a Plan, or a class of such (schedmate.policies); or
    {LABEL: policy}. cluster: TOML file; None is the trace's own. explain: id of a job, to tell why
    it waited. out: folder for LABEL.jobs.csv, summary.json and report.html; None writes nothing.

    estimator: for the policies that name none: "last_k" and its like, or an object whose
    predict(job, now) gives seconds, or (seconds, p10, p50, p90), for a KnownJob that enters. If it
    has learn(job, run_time, state, now), it is told of each that ended in its virtual cluster,
    state as "COMPLETED" or "FAILED". Like a policy it is a class or is copied: one for each virtual
    cluster.

    progress: True shows how far it is, False does not, None shows it in terminals and notebooks; or
    a call with the label and the share done, 0 to 1, from any thread.

    Gives {"labels": {LABEL: figures}, "trace", "cluster", "notes", "warnings", ...}; keys of times
    end in _s, seconds. It has runs, jobs and timeline, too (schedmate.results.Simulation).

    Errors: SchedMateError; what a policy or an estimator raises ends the simulation and is raised
    here, with its traceback. Ctrl-C does so while they are called.
    """
    return _simulate.simulate(_number(session), {
        "trace": trace, "cluster": _path(cluster), "tables": _path(tables), "explain": explain,
        "out": _path(out)}, policy, estimator, progress)
