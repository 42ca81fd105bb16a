"""Where a cell is computed: the processor, or a GPU that holds its rows."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array
from fourierwalk.paper.cases import Case, Cell
from fourierwalk.paper.data import Realisation, split


class Place(NamedTuple):
    """Where a cell is computed, and the folder of MNIST's files."""

    device: str = "cpu"
    data_dir: str | None = None

    def put(self, values: np.ndarray) -> Array:
        """The values on the device."""
        if self.device == "cpu":
            return values
        if not self.device.startswith("cuda"):
            raise ValueError(f"--device must be cpu or cuda, got {self.device!r}.")
        try:
            import torch
        except ImportError as error:
            raise ImportError(f"--device {self.device} needs torch: pip install 'fourierwalk[torch]'.") from error
        if not torch.cuda.is_available():
            raise ValueError(f"--device {self.device} needs a CUDA device, and torch {torch.__version__} sees none.")
        return torch.asarray(values, device=self.device)

    def put_all(self, data: Realisation) -> Realisation:
        """All rows on the device. They were scaled on the host."""
        truth = None if data.truth is None else self.put(data.truth)
        rows = [self.put(part) for part in (data.x, data.y, data.x_test, data.y_test)]
        return Realisation(rows[0], rows[1], rows[2], rows[3], data.scaling, truth)

    def rows_of(self, cell: Cell) -> Realisation:
        """A cell's rows on the device. Those of the last cell are kept."""
        return _rows_there(self, type(self).__name__, cell.case, cell.seed)


@lru_cache(maxsize=1)
def _rows_there(place: Place, kind: str, case: Case, seed: int) -> Realisation:
    """The kind is a key too: tuples of two kinds are equal if their fields are."""
    return place.put_all(split(case, seed, place.data_dir))
