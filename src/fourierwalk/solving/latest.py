"""The cache of a least squares problem. The same problem at another λ shares it."""

from __future__ import annotations

from typing import Any, NamedTuple

from fourierwalk.data.kept import Kept
from fourierwalk.data.rows import Rows
from fourierwalk.solving.budget import Budget
from fourierwalk.solving.fourier_space import FourierSpace
from fourierwalk.solving.paths import Path
from fourierwalk.solving.system import System


class _Posed(NamedTuple):
    path: Path
    precision: str
    system: System


class Latest(Kept):
    """The last path, its equations, the rows' Fourier space, and the last CUDA graph.

    Parameters
    ----------
    budget : Budget, optional
        The memory that solves may take.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        super().__init__()
        self.budget = Budget() if budget is None else budget
        self.descends = False  # whether a gradient was computed: then the choice of a path counts the next one's cost
        self.recording: Any = None  # see `recording.recorded`
        self._posed: _Posed | None = None
        self._space: FourierSpace | None = None

    def forget(self) -> None:
        """Empty the cache."""
        self.recording = self._posed = None
        super().forget()

    def system(self, path: Path, precision: str) -> System:
        """The equations of a path, from the cache if they are the last ones."""
        if self._posed is not None and self._posed.path is path and self._posed.precision == precision:
            return self._posed.system
        self._posed = None  # free the memory before the next equations need it
        self._posed = _Posed(path, precision, path.system(precision))
        return self._posed.system

    def space(self, rows: Rows, max_bytes: float) -> FourierSpace:
        """The rows' Fourier space, from the cache if it is the last one."""
        if self._space is None or self._space.rows is not rows:
            self._space = FourierSpace(rows, max_bytes)
        return self._space

    def mark(self) -> dict[str, Any]:
        """What the choice of a path, and the bits of its sums, depend on beside the frequencies."""
        return {"descends": self.descends, "space": None if self._space is None else self._space.mark()}

    def restore(self, mark: dict[str, Any], space: FourierSpace | None) -> None:
        """Go back to a state that `mark` gave."""
        self.descends = mark["descends"]
        if space is not None and mark["space"] is not None:
            space.restore(mark["space"])
