# SPDX-License-Identifier: Apache-2.0
"""How far a simulation is: a line in a terminal, a bar in a notebook, or a call."""

import contextlib
import html
import sys
import time
from typing import Any, Callable, Iterator, Optional, Union

Report = Callable[[str, float], None]

_WIDTH = 30
_PAUSE_S = 0.1


def _notebook() -> Any:
    """IPython.display in a notebook, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython import display
    return display


class _Bar:
    """Shows at most ten states a second, and always the last."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, label: str, done: float) -> None:
        now = time.monotonic()
        if now < self._next and done < 1:
            return
        self._next = now + _PAUSE_S
        self.show(label, done)

    def show(self, label: str, done: float) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class _Line(_Bar):
    def __init__(self, stream: Any) -> None:
        super().__init__()
        self._stream = stream
        self._length = 0

    def show(self, label: str, done: float) -> None:
        full = int(done * _WIDTH)
        text = f"{label} [{'#' * full}{' ' * (_WIDTH - full)}] {done:4.0%}"
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length = len(text)

    def close(self) -> None:
        if self._length:
            self._stream.write("\r" + " " * self._length + "\r")
            self._stream.flush()


class _Notebook(_Bar):
    def __init__(self, display: Any) -> None:
        super().__init__()
        self._display = display
        self._handle: Any = None

    def show(self, label: str, done: float) -> None:
        bar = self._display.HTML(
            f'<progress max="1" value="{done:.3f}"></progress> {html.escape(label)} {done:.0%}')
        if self._handle is None:
            self._handle = self._display.display(bar, display_id=True)
        else:
            self._handle.update(bar)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.update(self._display.HTML(""))


@contextlib.contextmanager
def shown(progress: Union[bool, Report, None]) -> Iterator[Optional[Report]]:
    """What is told how far it is, or None. None: a bar in a terminal and in a notebook."""
    if callable(progress):
        yield progress
        return
    display = None if progress is False else _notebook()
    bar: Optional[_Bar] = None
    if display is not None:
        bar = _Notebook(display)
    elif progress or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
        bar = _Line(sys.stderr)
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()
