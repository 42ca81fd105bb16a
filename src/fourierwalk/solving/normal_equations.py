"""The sums over rows that make the normal equations."""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat

from fourierwalk.arrays.library import Array, namespace, scalar
from fourierwalk.arrays.products import products
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Block
from fourierwalk.solving.system import System


@dataclass(frozen=True)
class NormalEquations:
    """Sums over rows, for columns Φ: ΦᴴWΦ, ΦᴴWy, Σw|y|² and Σw. The sums of two parts of the data add up by ``+``."""

    gram: Array
    moment: Array
    target_energy: Array
    weight: float

    def __add__(self, other: NormalEquations) -> NormalEquations:
        return NormalEquations(
            self.gram + other.gram,
            self.moment + other.moment,
            self.target_energy + other.target_energy,
            self.weight + other.weight,
        )

    @classmethod
    def of_block(
        cls, block: Block, features: Features, frequencies: Array, precision: str = "double"
    ) -> NormalEquations:
        """The sums over one block."""
        columns, y = weighted(block, features, frequencies, precision)
        xp = namespace(columns)
        weight = float(columns.shape[-2]) if block.weight is None else scalar(xp.sum(block.weight))
        gram, moment = products(columns, y, precision, block.thirds if block.weight is None else None)
        return cls(gram, moment, xp.sum(y * y, axis=(-2, -1)), weight)

    def system(self, features: Features) -> System:
        """The equations of the features' unknowns."""
        return System(*features.system(self.gram, self.moment), self.target_energy, self.weight)


@dataclass(frozen=True)
class InNormalEquations:
    """The share of a block in the normal equations at some frequencies. It travels to where the rows are."""

    features: Features
    frequencies: Array
    precision: str = "double"

    def __call__(self, block: Block) -> NormalEquations:
        """The sums over the block."""
        return NormalEquations.of_block(block, self.features, self.frequencies, self.precision)


def weighted(block: Block, features: Features, frequencies: Array, precision: str = "double") -> tuple[Array, Array]:
    """Columns and targets, multiplied by the square roots of the weights."""
    y = block.y
    if y is None:
        raise ValueError("rows need targets y to solve for amplitudes, got none.")
    if precision == "double":
        columns = features.columns(block, frequencies)
    elif features.single_columns is not None:
        columns = features.single_columns(block, frequencies, precision)
    else:
        columns = features.columns(block, frequencies)
        columns = namespace(columns).astype(columns, namespace(columns).float32, copy=False)
    xp = namespace(columns)
    if block.weight is None:
        return columns, y
    root = xp.sqrt(block.weight)[:, None]
    short = xp.astype(root, xp.float64 if precision == "double" else xp.float32, copy=False)
    if compat.is_torch_array(columns) and features.single_columns is not None:
        return columns.mul_(short), y * root  # in place, to keep the memory layout that tensor cores need
    return columns * short, y * root
