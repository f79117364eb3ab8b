# SPDX-License-Identifier: Apache-2.0
"""The C face (schedmate.h, schedmate_policy.h) by ctypes. While a call runs, other Python threads
do, too."""

import ctypes
import json
import math
import os
from pathlib import Path
from typing import Any, Callable, Dict, Optional, TypeVar

from . import _structs

Document = Dict[str, Any]
Self = TypeVar("Self")

_OK = 0
_UNAVAILABLE = 3
_CODES = ("ok", "invalid", "not_found", "unavailable", "timeout", "bad_reply", "refused",
          "conflict", "unsupported", "bad_call", "internal", "stopped")


class SchedMateError(Exception):
    """What could not be answered.

    code: what to do next: "invalid" (the input is wrong), "not_found" (no such name), "unavailable"
    (try later), "timeout", "bad_reply" (of a language model), "refused" (rights or budget),
    "conflict", "unsupported", "bad_call" (a closed session, a plan of another round or thread),
    "internal" (SchedMate is at fault).
    message: what is wrong, where, and how to mend it. mend: what the caller does, in a sentence.
    """

    def __init__(self, code: str, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.mend = mend

    def __reduce__(self) -> Any:
        return (SchedMateError, (self.code, self.message, self.mend))


class Outlook(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("now_s", ctypes.c_int64), *(
        (name, ctypes.c_double) for name in (
            "run_time_s", "p10_s", "p50_s", "p90_s", "advised", "gpu_util_pct", "memory_util_pct",
            "memory_mib")), ("sharing_score", ctypes.c_int32), ("blind", ctypes.c_int32)]


def _load() -> ctypes.CDLL:
    """The library that SCHEDMATE_LIBRARY names, that of the wheel, or the system's."""
    beside = Path(__file__).with_name("libschedmate.so")
    name = os.environ.get("SCHEDMATE_LIBRARY") or (
        str(beside) if beside.exists() else "libschedmate.so.0")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(
            f"libschedmate.so cannot be loaded ({error}): install SchedMate (pip install ., or "
            "make install), or name the library in SCHEDMATE_LIBRARY") from error
    size, text = ctypes.c_size_t, ctypes.c_char_p
    reply = ctypes.POINTER(ctypes.c_void_p)
    library.schedmate_version.restype = text
    library.schedmate_open.argtypes = (text, size, ctypes.POINTER(ctypes.c_uint64), reply)
    library.schedmate_close.argtypes = (ctypes.c_uint64,)
    library.schedmate_free.argtypes = (ctypes.c_void_p,)
    number, second = ctypes.c_uint64, ctypes.c_int64
    library.schedmate_estimates_open.argtypes = (number, text, size, ctypes.POINTER(number), reply)
    library.schedmate_estimates_predict.argtypes = (number, text, ctypes.POINTER(Outlook), reply)
    library.schedmate_estimates_learn.argtypes = (number, text, second, reply)
    library.schedmate_estimates_close.argtypes = (number,)
    for name in ("facts", "advise", "track", "diagnose", "ask", "eta", "finish", "simulate"):
        getattr(library, "schedmate_" + name).argtypes = (ctypes.c_uint64, text, size, reply)
    library.schedmate_simulate_with.argtypes = (
        ctypes.c_uint64, text, size, ctypes.POINTER(_structs.Hooks), reply)
    return library


def _load_plan() -> ctypes.PyDLL:
    """What a policy calls: short, so the interpreter's lock is kept."""
    plan = ctypes.PyDLL(_library._name, handle=_library._handle)
    reply = ctypes.POINTER(ctypes.c_void_p)
    number, job = ctypes.c_uint64, ctypes.c_uint32
    pointer = ctypes.POINTER
    plan.schedmate_plan_start.argtypes = (number, job, reply)
    plan.schedmate_plan_start_on.argtypes = (number, job, pointer(_structs.Slices), reply)
    plan.schedmate_plan_preempt.argtypes = (number, job, reply)
    plan.schedmate_plan_evict.argtypes = (number, job, reply)
    plan.schedmate_plan_wake_at.argtypes = (number, ctypes.c_int64, reply)
    plan.schedmate_plan_fits.argtypes = (number, ctypes.c_int32, reply)
    plan.schedmate_plan_gpus.argtypes = (number, pointer(_structs.Gpus), reply)
    plan.schedmate_plan_jobs.argtypes = (number, pointer(_structs.Numbers),
                                         pointer(pointer(_structs.Jobs)), reply)
    plan.schedmate_plan_free.argtypes = (number, pointer(pointer(ctypes.c_uint64)),
                                         pointer(ctypes.c_size_t), reply)
    plan.schedmate_plan_held.argtypes = (number, job, pointer(_structs.Slices), reply)
    plan.schedmate_plan_residents.argtypes = (number, pointer(_structs.Gpu),
                                              pointer(_structs.Numbers), reply)
    return plan


_library = _load()
plan_calls = _load_plan()

#: Of libschedmate.so, such as "0.1.0".
version: str = _library.schedmate_version().decode()


def _take(code: int, reply: ctypes.c_void_p) -> Document:
    """The document of a reply, which is freed."""
    try:
        text = ctypes.string_at(reply.value) if reply.value else b"{}"
    finally:
        _library.schedmate_free(reply)
    document: Document = json.loads(text)
    if code == _OK:
        return document
    name = _CODES[code] if 0 <= code < len(_CODES) else "internal"
    raise SchedMateError(document.get("code", name), document.get("message", name),
                         document.get("mend", ""))


def open_session(options: Document) -> int:
    text = json.dumps(options).encode()
    session, reply = ctypes.c_uint64(), ctypes.c_void_p()
    code = _library.schedmate_open(text, len(text), ctypes.byref(session), ctypes.byref(reply))
    _take(code, reply)
    return session.value


def close_session(session: int) -> None:
    _library.schedmate_close(session)


class Opened:
    """Something of the library, by its number, until it is closed: 0 before and after."""

    def __init__(self, close: Callable[[int], None]) -> None:
        self._close = close  # modules may be gone before the last one
        self._number = 0

    def close(self) -> None:
        """Calls that run go on to their end; later ones are errors (bad_call)."""
        number, self._number = self._number, 0
        if number:
            self._close(number)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_number", 0):
            self.close()


def call(use_case: str, session: int, request: Document, *more: Any) -> Document:
    """What is None is not asked for. `more`: what the function takes behind the request."""
    given = {key: value for key, value in request.items() if value is not None}
    text = json.dumps(given).encode()
    reply = ctypes.c_void_p()
    function = getattr(_library, "schedmate_" + use_case)
    return _take(function(session, text, len(text), *more, ctypes.byref(reply)), reply)


def call_plan(function: Any, *words: Any) -> bool:
    """Whether the plan could do it; its errors are raised."""
    reply = ctypes.c_void_p()
    code = function(*words, ctypes.byref(reply))
    if code == _UNAVAILABLE and not reply.value:
        return False
    if code != _OK:
        _take(code, reply)
    return True


def open_estimates(session: int, request: Document) -> int:
    number = ctypes.c_uint64()
    call("estimates_open", session, request, ctypes.byref(number))
    return number.value


def close_estimates(number: int) -> None:
    _library.schedmate_estimates_close(number)


def call_estimates(use_case: str, number: int, job: Any, word: Any) -> None:
    """A call is short: what it costs is mostly the way there."""
    reply = ctypes.c_void_p()
    function = getattr(_library, "schedmate_estimates_" + use_case)
    code = function(number, text(job, "job"), word, ctypes.byref(reply))
    if code != _OK:
        _take(code, reply)


def text(given: Any, what: str) -> bytes:
    """As C takes it, where a text ends at its first zero byte."""
    mend = "correct the input that the message names"
    try:
        made = str(given).encode()
    except UnicodeEncodeError as error:
        raise SchedMateError("invalid", f"{what} {given!r} is no UTF-8: {error.reason}",
                             mend) from None
    if b"\0" in made:
        raise SchedMateError("invalid", f"{what} {given!r} has a zero byte", mend)
    return made


def second(given: float) -> int:
    """A time as C takes it; one that has no room there is as late as any, which is an error there."""
    if math.isnan(given):
        raise ValueError("a time in seconds cannot be NaN")
    return int(min(max(given, -2.0**62), 2.0**62))


def path(given: Any) -> Optional[str]:
    """A path or None as the library takes it; a name that is no UTF-8 is an error there."""
    return None if given is None else os.fsdecode(os.fspath(given))
