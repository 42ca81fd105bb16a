"""Features: how inputs and frequencies become columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from fourierwalk.arrays.library import Array
from fourierwalk.data.activation import Activation, sigmoid
from fourierwalk.data.rows import Block
from fourierwalk.data.waves import ComplexExponentials, CosineSine

__all__ = ["Activation", "ComplexExponentials", "CosineSine", "Features", "named", "sigmoid"]


class Gradient(Protocol):
    """``features.gradient``: half of ∂/∂ωₖ of a block's Σw|f − y|² at fixed amplitudes, (K, d)."""

    def __call__(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """The gradient for frequencies (K, d) and amplitudes (K, q)."""


class Slopes(Protocol):
    """``features.slopes``: ∂f/∂φₖ of one output at each row of a block, (n, K), φₖ the k-th phase."""

    def __call__(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """The slopes for frequencies (K, d) and the amplitudes (K,) of the output."""


class SingleColumns(Protocol):
    """``features.single_columns``: the columns in single precision, of phases in double."""

    def __call__(self, block: Block, frequencies: Array, precision: str) -> Array:
        """The columns for products in "single", "tf32" or "bf16"; torch tensors are rounded to bf16 for "bf16"."""


@runtime_checkable
class Features(Protocol):
    """How inputs and frequencies become columns: the class to implement for features of your own.

    Columns are real. A model of K frequencies and q outputs is ``columns @ coefficients(amplitudes)``. Amplitudes are
    found by least squares, from the sums ``gram = columnsᵀ columns`` and ``moment = columnsᵀ y``. Complex exponentials
    need no other sums: with S = C + iD, SᴴS = (CᵀC + DᵀD) + i(CᵀD − DᵀC).

    Derive from this class. `gradient`, `slopes` and `single_columns` are optional: they are None unless you define
    them. For real features s(ω·x + b) with an activation s, use `Activation`.

    Attributes
    ----------
    name : str
        A name for tables and messages.
    n_columns : int
        Real columns per frequency.
    n_unknowns : int
        Unknowns per frequency in the least squares problem.
    gradient : callable or None
        ``gradient(block, frequencies, amplitudes)``: half of ∂/∂ωₖ of the block's Σw|f − y|² at fixed amplitudes,
        (K, d). Without it there is no descent.
    slopes : callable or None
        ``slopes(block, frequencies, amplitudes)``: ∂f/∂φₖ of one output at each row, (n, K), for amplitudes (K,) and
        the phases φₖ = ωₖ·x. Without it a model has no `feature_importances_`.
    single_columns : callable or None
        ``single_columns(block, frequencies, precision)``: the columns in single precision, all at most one in absolute
        value. Without it the columns are rounded to single precision if the user asks for that; precision "auto" stays
        in double.

    Examples
    --------
    Even functions, Σ aₖ cos(ωₖ·x):

    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> from fourierwalk.data import Features
    >>> class Cosines(Features):
    ...     name, n_columns, n_unknowns = "cosines", 1, 1
    ...     def dimension(self, n_features):
    ...         return n_features
    ...     def columns(self, block, frequencies):
    ...         return np.cos(block.project(frequencies))
    ...     def system(self, gram, moment):
    ...         return gram, moment
    ...     def matrix(self, columns):
    ...         return columns
    ...     def amplitudes(self, unknowns):
    ...         return unknowns
    ...     def coefficients(self, amplitudes):
    ...         return amplitudes
    >>> x = np.linspace(-2, 2, 200)[:, None]
    >>> y = np.cos(3 * x[:, 0])
    >>> model = AdaptiveFourierRegressor(8, sampler="resampling", features=Cosines(), random_state=0).fit(x, y)
    >>> bool(model.score(x, y) > 0.99)
    True
    """

    @property
    def gradient(self) -> Gradient | None:
        """Half of ∂/∂ωₖ of a block's Σw|f − y|² at fixed amplitudes."""
        return None

    @property
    def slopes(self) -> Slopes | None:
        """∂f/∂φₖ of one output at each row."""
        return None

    @property
    def single_columns(self) -> SingleColumns | None:
        """The columns in single precision."""
        return None

    @property
    def name(self) -> str:
        """A name for tables and messages."""

    @property
    def n_columns(self) -> int:
        """Real columns per frequency."""

    @property
    def n_unknowns(self) -> int:
        """Unknowns per frequency."""

    def dimension(self, n_features: int) -> int:
        """Components of one frequency for inputs of `n_features` columns."""

    def columns(self, block: Block, frequencies: Array) -> Array:
        """The real columns of a block, (n, n_columns · K); ``block.project(frequencies)`` gives the phases ωₖ·x."""

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """Matrix and right-hand side of the unknowns, from the sums over the real columns."""

    def matrix(self, columns: Array) -> Array:
        """What multiplies the unknowns: S itself, (n, n_unknowns · K)."""

    def amplitudes(self, unknowns: Array) -> Array:
        """The amplitudes (K, q) that belong to the unknowns."""

    def coefficients(self, amplitudes: Array) -> Array:
        """What multiplies the real columns to give the real part of the model, (n_columns · K, q)."""


KINDS: dict[str, Callable[[], Features]] = {"cos-sin": CosineSine, "complex": ComplexExponentials, "sigmoid": sigmoid}


MEMBERS = tuple(name for name in vars(Features) if not name.startswith("_"))
"""The members that a features object must have."""


def named(kind: str | Features) -> Features:
    """The features object of a name; a features object is checked and returned."""
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"features must be one of {sorted(KINDS)} or a features object, got {kind!r}.")
        return KINDS[kind]()
    if isinstance(kind, type) or not isinstance(kind, Features):
        missing = [name for name in MEMBERS if name not in dir(kind)]
        what = "the class itself" if isinstance(kind, type) else f"one without {', '.join(missing)}"
        raise TypeError(
            f"features must be one of {sorted(KINDS)} or an object with all that `Features` has, got "
            f"{kind.__name__ if isinstance(kind, type) else type(kind).__name__}, {what}."
        )
    return kind


def name_of(features: Features) -> str:
    """The name of built-in features, for a file; other features are an error.

    Examples
    --------
    >>> name_of(CosineSine())
    'cos-sin'
    """
    for name, make in KINDS.items():
        if features == make():
            return name
    raise ValueError(
        f"features must be one of {sorted(KINDS)} for a model to be saved in a file, because a file holds no code, got "
        f"{type(features).__name__}: joblib and pickle keep such a model."
    )
