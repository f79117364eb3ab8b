# SPDX-License-Identifier: Apache-2.0
"""The structs of schedmate_policy.h, field by field."""

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint8, \
    c_uint32, c_uint64, c_void_p

#: A time that did not come.
NEVER = -2**63

IGNORES_ESTIMATES, SHARES, PREEMPTS = 1, 2, 4


class Jobs(ctypes.Structure):
    _fields_ = [
        ("count", c_size_t), ("number", POINTER(c_uint32)), ("id", POINTER(c_char_p)),
        ("user", POINTER(c_uint32)), ("gpus", POINTER(c_int32)), ("submit", POINTER(c_int64)),
        ("entered", POINTER(c_int64)), ("estimate", POINTER(c_double)),
        ("expected", POINTER(c_double)), ("p10", POINTER(c_double)), ("p50", POINTER(c_double)),
        ("p90", POINTER(c_double)), ("advised", POINTER(c_double)),
        ("gpu_util_pct", POINTER(c_double)), ("memory_util_pct", POINTER(c_double)),
        ("memory_mib", POINTER(c_double)), ("sharing_score", POINTER(c_int32)),
        ("running", POINTER(c_uint8)), ("run_since", POINTER(c_int64)),
        ("attained", POINTER(c_int64)), ("overhead", POINTER(c_int64)),
        ("sharing", POINTER(c_uint8)), ("alone", POINTER(c_uint8)), ("speed", POINTER(c_double))]


class Gpus(ctypes.Structure):
    _fields_ = [("total", c_int32), ("free", c_int32), ("stranded", c_int32),
                ("per_node", c_int32), ("nodes", c_int32)]


class Slice(ctypes.Structure):
    _fields_ = [("node", c_uint32), ("gpus", c_uint64)]


class Slices(ctypes.Structure):
    _fields_ = [("slices", POINTER(Slice)), ("count", c_size_t)]


class Numbers(ctypes.Structure):
    _fields_ = [("jobs", POINTER(c_uint32)), ("count", c_size_t)]


class Gpu(ctypes.Structure):
    _fields_ = [("node", c_uint32), ("gpu", c_int32)]


class Round(ctypes.Structure):
    _fields_ = [
        ("plan", c_uint64), ("copy", c_uint32), ("now", c_int64), ("arrived", POINTER(Jobs)),
        ("ended", Numbers), ("withdrawn", Numbers), ("gpus", Gpus), ("preemption", c_int64 * 2)]


Decide = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Round))


class Policy(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("estimator", c_char_p), ("traits", c_uint32),
                ("decide", Decide), ("context", c_void_p)]


class KnownJob(ctypes.Structure):
    _fields_ = [("number", c_uint64), ("id", c_char_p), ("user", c_uint32), ("vc", c_uint32),
                ("gpus", c_int32), ("submit", c_int64)]


class Prediction(ctypes.Structure):
    _fields_ = [("run_time", c_double), ("p10", c_double), ("p50", c_double), ("p90", c_double)]


Predict = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint32, POINTER(KnownJob), c_int64,
                           POINTER(Prediction))
Learn = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint32, POINTER(KnownJob), c_int64, c_int64, c_char_p)


class Estimator(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("predict", Predict), ("learn", Learn), ("context", c_void_p)]


class Outcomes(ctypes.Structure):
    _fields_ = [
        ("label", c_char_p), ("count", c_size_t), ("job_id", POINTER(c_char_p)),
        ("user", POINTER(c_char_p)), ("vc", POINTER(c_char_p)), ("gpus", POINTER(c_int32)),
        ("submit_s", POINTER(c_int64)), ("duration_s", POINTER(c_int64)),
        ("start_s", POINTER(c_int64)), ("end_s", POINTER(c_int64)), ("queue_s", POINTER(c_int64)),
        ("preemptions", POINTER(c_int32)), ("evictions", POINTER(c_int32)),
        ("held_gpu_s", POINTER(c_double)), ("status", POINTER(c_uint8)),
        ("nodes", POINTER(c_char_p)), ("bins", c_size_t), ("first_s", c_int64),
        ("step_s", c_int64), ("busy_gpus", POINTER(c_double)), ("stranded_gpus", POINTER(c_double)),
        ("queued_jobs", POINTER(c_double)), ("queued_gpus", POINTER(c_double)),
        ("running_jobs", POINTER(c_double)), ("used_gpus", POINTER(c_double)),
        ("total_gpus", c_int32)]


Progress = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_double)
Finished = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Outcomes))


class Hooks(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("policies", POINTER(Policy)), ("policy_count", c_size_t),
                ("estimators", POINTER(Estimator)), ("estimator_count", c_size_t),
                ("progress", Progress), ("finished", Finished), ("context", c_void_p)]
