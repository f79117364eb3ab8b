# SPDX-License-Identifier: Apache-2.0
"""The settings that calls go by, and who holds them open."""

import os
import threading
from typing import Any, List, Mapping, Optional, Union

from . import _library
from ._library import path as _path

Path = Union[str, "os.PathLike[str]"]


class Session(_library.Opened):
    """The settings that calls go by.

    config: settings file (TOML); None is schedmate/config.toml of the user and, below it, of the site.
    state_dir: folder of the history. settings: {key: value} above the file, such as
    {"llm.use": "none", "seed": 3}; `schedmate config` lists the keys.

    Functions without a session share one with the user's own settings, which is opened at the first
    call. A session is closed by close(), by `with`, or with its last owner.
    """

    def __init__(self, *, config: Optional[Path] = None, state_dir: Optional[Path] = None,
                 settings: Optional[Mapping[str, Any]] = None) -> None:
        options = {"config": _path(config), "state_dir": _path(state_dir),
                   "settings": None if settings is None else dict(settings)}
        super().__init__(_library.close_session)
        self._number = _library.open_session(options)


_usual: List[Session] = []
_lock = threading.Lock()


def number_of(session: Optional[Session]) -> int:
    """Of an open one, without which the user's own is opened, once."""
    if session is None:
        with _lock:
            if not _usual:
                _usual.append(Session())
        session = _usual[0]
    return session._number
