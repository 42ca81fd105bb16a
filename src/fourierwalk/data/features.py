"""How inputs and frequencies become columns: complex exponentials, cosine-sine pairs, the user's own activation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from fourierwalk.arrays.complexes import complex_of, hermitian
from fourierwalk.arrays.cosines import cos_sin
from fourierwalk.arrays.library import Array, namespace
from fourierwalk.arrays.products import matmul
from fourierwalk.data.rows import Block


class Features(Protocol):
    """What a least squares problem asks of the features.

    All sums over the data are of *real* columns. The complex exponentials need no others: with S = C + iD,
    SᴴS = (CᵀC + DᵀD) + i(CᵀD − DᵀC), at the price of the Hermitian update. (In single precision NumPy's BLAS is faster
    with S itself.)
    """

    n_columns: ClassVar[int]  # real columns per frequency
    n_unknowns: ClassVar[int]  # unknowns per frequency in the least squares problem

    @property
    def name(self) -> str:
        """A word for tables."""

    def dimension(self, n_features: int) -> int:
        """Components of one frequency for inputs of `n_features` columns."""

    def columns(self, block: Block, frequencies: Array) -> Array:
        """The real columns of a block, (n, n_columns · K)."""

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """Matrix and right-hand side of the unknowns, from the sums over the real columns."""

    def matrix(self, columns: Array) -> Array:
        """What multiplies the unknowns: S itself, (n, n_unknowns · K)."""

    def amplitudes(self, unknowns: Array) -> Array:
        """The amplitudes (K, q) in the unknowns."""

    def coefficients(self, amplitudes: Array) -> Array:
        """What multiplies the real columns to give the real part of the model, (n_columns · K, q)."""

    # A features object with `gradient(block, frequencies, amplitudes)`, half of ∂/∂ωₖ of the block's Σw|f − y|² at
    # fixed amplitudes, can be descended on; one without can only walk. One with
    # `slopes(block, frequencies, amplitudes)`, ∂f/∂φₖ of one output at each row, has gradients with respect to x.


FEW_MOMENTS = 64
"""Outputs times inputs up to which, unless there are fewer columns, a gradient is one product of the columns.

Else a matrix of their size is made beside them."""


class _Fourier:
    """What the two Fourier kinds share: f(x) = Re Σ βₖ exp(iωₖ·x) = Σ Re βₖ cos(ωₖ·x) − Im βₖ sin(ωₖ·x)."""

    n_columns: ClassVar[int] = 2
    is_complex: ClassVar[bool]

    def dimension(self, n_features: int) -> int:
        return n_features

    def columns(self, block: Block, frequencies: Array) -> Array:
        shape = self._shape(block, frequencies)
        return block.columns(self, frequencies, lambda: cos_sin(block.projector(frequencies), shape))

    def single_columns(self, block: Block, frequencies: Array, precision: str) -> Array:
        """The columns in single precision, of phases in double; for bf16 products of torch rounded to that."""
        phases, shape = block.projector(frequencies, precision), self._shape(block, frequencies)
        return cos_sin(phases, shape, precision, interleaved=self.is_complex)

    def _shape(self, block: Block, frequencies: Array) -> tuple[int, int]:
        return int(block.x.shape[-2]), int(frequencies.shape[-2])

    def coefficients(self, amplitudes: Array) -> Array:
        xp = namespace(amplitudes)
        return xp.concat((xp.real(amplitudes), -xp.imag(amplitudes)), axis=-2)

    def gradient(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """Half of ∂/∂ωₖ of the block's Σw|f − y|² at fixed amplitudes, (K, d): Σₙ r·∂f/∂φₖ xₙ."""
        columns, xp, n = self.columns(block, frequencies), namespace(frequencies), frequencies.shape[0]
        residual = matmul(columns, self.coefficients(amplitudes)) - block.y
        if self.is_complex:  # the imaginary part of the model is a residual too
            turned = -1j * amplitudes
            residual = xp.concat((residual, matmul(columns, self.coefficients(turned))), axis=1)
            amplitudes = xp.concat((amplitudes, turned), axis=1)
        if block.weight is not None:
            residual = residual * block.weight[:, None]
        cosine_share, sine_share = xp.imag(amplitudes), xp.real(amplitudes)  # ∂f/∂φ = −Re β sin φ − Im β cos φ
        if block.center is None and residual.shape[1] * frequencies.shape[1] <= min(FEW_MOMENTS, 2 * n):
            moments = block.moments(columns, residual)
            return -xp.sum(
                sine_share[:, :, None] * moments[n:, ...] + cosine_share[:, :, None] * moments[:n, ...], axis=1
            )
        pull = (residual @ sine_share.T) * columns[:, n:] + (residual @ cosine_share.T) * columns[:, :n]
        return -block.gather(pull)

    def slopes(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """∂f/∂φₖ at each row, (n, K), of one output f = Re Σ βₖ exp(iφₖ) with amplitudes (K,)."""
        columns, xp, n = self.columns(block, frequencies), namespace(frequencies), frequencies.shape[0]
        return -(xp.real(amplitudes)[None, :] * columns[:, n:] + xp.imag(amplitudes)[None, :] * columns[:, :n])


@dataclass(frozen=True)
class ComplexExponentials(_Fourier):
    """The paper's features, S_nk = exp(iωₖ·xₙ), with complex amplitudes."""

    name: ClassVar[str] = "complex"
    is_complex: ClassVar[bool] = True
    n_unknowns: ClassVar[int] = 1

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """SᴴS and Sᴴy, from the sums over cosines and sines; sums over S itself are those."""
        if namespace(gram).isdtype(gram.dtype, "complex floating"):
            return gram, moment
        n = moment.shape[-2] // 2
        return hermitian(gram), complex_of(moment[..., :n, :], -moment[..., n:, :])

    def matrix(self, columns: Array) -> Array:
        """S itself."""
        n = columns.shape[-1] // 2
        return complex_of(columns[..., :n], columns[..., n:])

    def amplitudes(self, unknowns: Array) -> Array:
        """The unknowns are the amplitudes."""
        return unknowns


@dataclass(frozen=True)
class CosineSine(_Fourier):
    """Pairs aₖ cos(ωₖ·x) + bₖ sin(ωₖ·x) with real amplitudes; βₖ = aₖ − i bₖ, so ``|βₖ|² = aₖ² + bₖ²``."""

    name: ClassVar[str] = "cos-sin"
    is_complex: ClassVar[bool] = False
    n_unknowns: ClassVar[int] = 2

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """The sums as they are."""
        return gram, moment

    def matrix(self, columns: Array) -> Array:
        """The columns as they are."""
        return columns

    def amplitudes(self, unknowns: Array) -> Array:
        """β = a − ib."""
        n = unknowns.shape[-2] // 2
        return complex_of(unknowns[..., :n, :], -unknowns[..., n:, :])


_APART = 1e-5  # of the two phases of a central difference, half


def _logistic_slope(phases: Array) -> Array:
    value = _logistic(phases)
    return value * (1.0 - value)


def _logistic(phases: Array) -> Array:
    return 0.5 * (1.0 + namespace(phases).tanh(0.5 * phases))  # 1/(1 + e^{−φ}) that cannot overflow


@dataclass(frozen=True)
class Activation:
    """Real features s(ωₖ·x + bₖ) for any activation s; the bias bₖ is the last component of ωₖ (Experiment 5).

    Parameters
    ----------
    function : callable
        The activation: an array of phases in, an array of the same shape out. It gets arrays of the library that the
        data came in.
    bias : bool
        Whether a component that is one is added to every x.
    name : str
        A word for tables.
    derivative : callable, optional
        The activation's derivative, for descent; none means a central difference.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> from fourierwalk.data.features import Activation
    >>> x = np.linspace(-2, 2, 200)[:, None]
    >>> model = AdaptiveFourierRegressor(16, features=Activation(np.tanh), random_state=0)
    >>> model.fit(x, np.tanh(3 * x[:, 0])).frequencies_.shape
    (16, 2)
    """

    function: Callable[[Array], Array]
    bias: bool = True
    name: str = "activation"
    derivative: Callable[[Array], Array] | None = None
    n_columns: ClassVar[int] = 1
    n_unknowns: ClassVar[int] = 1

    def dimension(self, n_features: int) -> int:
        """One more with a bias."""
        return n_features + 1 if self.bias else n_features

    def columns(self, block: Block, frequencies: Array) -> Array:
        """The activation of the phases."""
        return self.function(self._phases(block, frequencies))

    def gradient(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """Half of ∂/∂ωₖ of the block's Σw|f − y|² at fixed amplitudes, (K, d)."""
        phases = self._phases(block, frequencies)
        xp = namespace(phases)
        residual = matmul(self.function(phases), amplitudes) - block.y
        pull = (residual @ amplitudes.T) * self._slope(phases)
        if block.weight is not None:
            pull = pull * block.weight[:, None]
        gathered = block.gather(pull)
        return xp.concat((gathered, xp.sum(pull, axis=0)[:, None]), axis=1) if self.bias else gathered

    def slopes(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """∂f/∂φₖ at each row, (n, K), of one output f = Σ βₖ s(φₖ) with amplitudes (K,)."""
        return self._slope(self._phases(block, frequencies)) * amplitudes[None, :]

    def _phases(self, block: Block, frequencies: Array) -> Array:
        if not self.bias:
            return block.project(frequencies)
        return block.project(frequencies[..., :-1]) + frequencies[..., None, :, -1]

    def _slope(self, phases: Array) -> Array:
        if self.derivative is not None:
            return self.derivative(phases)
        return (self.function(phases + _APART) - self.function(phases - _APART)) / (2 * _APART)

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """The sums as they are."""
        return gram, moment

    def matrix(self, columns: Array) -> Array:
        """The columns as they are."""
        return columns

    def amplitudes(self, unknowns: Array) -> Array:
        """The unknowns are the amplitudes."""
        return unknowns

    def coefficients(self, amplitudes: Array) -> Array:
        """The amplitudes are the coefficients."""
        return amplitudes


def sigmoid() -> Activation:
    """The features of Experiment 5: s(ω·x) = 1/(1 + exp(−ω·x)) with a component that is one added to x."""
    return Activation(_logistic, name="sigmoid", derivative=_logistic_slope)


KINDS: dict[str, Callable[[], Features]] = {"cos-sin": CosineSine, "complex": ComplexExponentials, "sigmoid": sigmoid}


def named(kind: str | Features) -> Features:
    """The features object of a name; an object is returned as it is."""
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"features must be one of {sorted(KINDS)} or a features object, got {kind!r}.")
        return KINDS[kind]()
    if not callable(getattr(kind, "columns", None)):
        raise TypeError(f"features must be one of {sorted(KINDS)} or a features object, got {type(kind).__name__}.")
    return kind


def name_of(features: Features) -> str:
    """The name that gives back this very object: what a file keeps of it.

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
