"""Solves recorded as CUDA graphs: a replay launches all kernels at once, so that a GPU does not wait for the host."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import array_api_compat as compat

from fourierwalk.arrays.library import Array, is_remote, side_stream
from fourierwalk.arrays.memory import accelerator_free_bytes
from fourierwalk.data.features import KINDS, named
from fourierwalk.solving.direct import Direct
from fourierwalk.solving.latest import Latest
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solution import Solution

MOST_BYTES = 2.5e9
"""Larger solves are not recorded: they keep a GPU busy anyway, and a recording would hold their memory."""

FIRST_FREQUENCIES = 8
"""The frequencies of a small solve that sets up a stream before the recording."""

_RECORDING_LOCK = threading.Lock()
"""Only one thread may record, or replay, at a time."""


class Recorded:
    """``minimize.ahead`` for frequencies of one shape, as a CUDA graph.

    Parameters
    ----------
    minimize : LeastSquares
        The problem. Its solve must not wait for the device.
    frequencies : tensor of shape (K, d)
        Any frequencies; only their shape matters.
    """

    def __init__(self, minimize: LeastSquares, frequencies: Array) -> None:
        import torch

        own = self._own = replace(minimize, latest=Latest())  # an attribute, because the graph reads its rows
        self._frequencies, self._graph = frequencies.clone(), torch.cuda.CUDAGraph()
        device = frequencies.device
        current, side = torch.cuda.current_stream(device), side_stream(device, "recordings")
        own.ahead(self._frequencies)  # fill caches, compile kernels and load libraries before the recording
        with _RECORDING_LOCK:
            side.wait_stream(current)
            with torch.cuda.stream(side):
                own.ahead(frequencies[..., :FIRST_FREQUENCIES, :] + 0)
                own.latest.forget()
                self._graph.capture_begin(capture_error_mode="thread_local")
                try:
                    self._solution = own.ahead(self._frequencies)
                finally:
                    self._graph.capture_end()
            current.wait_stream(side)
        own.latest.forget()

    def ahead(self, frequencies: Array) -> Solution:
        """The minimiser, as `LeastSquares.ahead` gives it."""
        self._frequencies.copy_(frequencies)
        with _RECORDING_LOCK:
            self._graph.replay()
        amplitudes, loss, info = self._solution
        return Solution(amplitudes.clone(), loss.clone(), info._replace(trusted=info.trusted.clone()))


def recorded(minimize: Any, frequencies: Array, most_bytes: float = MOST_BYTES) -> Any:
    """The problem as a `Recorded` one if that helps and is possible; else the problem itself.

    A recording that waits for the device fails, and leaves torch in a bad state. So only the built-in features, which
    do not wait, are recorded. The last recording of a problem is cached with it.
    """
    if not isinstance(minimize, LeastSquares) or not compat.is_torch_array(frequencies) or not is_remote(frequencies):
        return minimize
    if minimize.features not in [named(kind) for kind in KINDS]:
        return minimize
    rows, path = minimize.rows, minimize.path(frequencies)
    if rows.in_chunks or rows.is_streamed or rows.x.ndim > 2 or not isinstance(path, Direct):
        return minimize
    if path.bytes() > min(most_bytes, accelerator_free_bytes(frequencies) / 4):
        return minimize
    of = (rows, minimize.features, minimize.regularization, minimize.solver, tuple(frequencies.shape))
    kept = minimize.latest.recording
    if kept is None or kept[0][0] is not rows or kept[0][1:] != of[1:]:
        minimize.latest.recording = None  # free the memory before the next recording needs it
        kept = minimize.latest.recording = of, Recorded(minimize, frequencies)
    return kept[1]
