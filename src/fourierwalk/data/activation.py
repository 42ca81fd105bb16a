"""Real features s(ω·x + b) for any activation s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import array_api_compat as compat

from fourierwalk.arrays.library import Array, namespace
from fourierwalk.arrays.products import matmul
from fourierwalk.data.rows import Block

HALF_STEP = 1e-5
"""Half the distance of the two points of a central difference."""


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
        The activation. It gets an array of phases ω·x + b, in the array library of the data, and returns an array of
        the same shape with real, finite numbers. A model can be pickled if this is a function at the top of a module.
    bias : bool
        Whether there is a bias b.
    name : str
        A name for tables and messages.
    derivative : callable, optional
        The derivative of the activation, for descent. None: a central difference.

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
    single_columns: ClassVar[None] = None  # values may be larger than one

    def __post_init__(self) -> None:
        for name, function in (("function", self.function), ("derivative", self.derivative or self.function)):
            if not callable(function):
                raise TypeError(f"Activation({name}=…) must be a callable, got {type(function).__name__}.")

    def dimension(self, n_features: int) -> int:
        """The components of a frequency: one more than inputs if there is a bias."""
        return n_features + 1 if self.bias else n_features

    def columns(self, block: Block, frequencies: Array) -> Array:
        """The activation of the phases."""
        return self._values(self._phases(block, frequencies))

    def gradient(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """Half of ∂/∂ωₖ of the block's Σw|f − y|² at fixed amplitudes, (K, d)."""
        phases = self._phases(block, frequencies)
        xp = namespace(phases)
        residual = matmul(self._values(phases), amplitudes) - block.y
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

    def _values(self, phases: Array) -> Array:
        return _checked(self.function(phases), phases, f"the activation {self.name!r}")

    def _slope(self, phases: Array) -> Array:
        if self.derivative is not None:
            return _checked(self.derivative(phases), phases, f"the derivative of the activation {self.name!r}")
        return (self._values(phases + HALF_STEP) - self._values(phases - HALF_STEP)) / (2 * HALF_STEP)

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """The sums, unchanged."""
        return gram, moment

    def matrix(self, columns: Array) -> Array:
        """The columns, unchanged."""
        return columns

    def amplitudes(self, unknowns: Array) -> Array:
        """The unknowns are the amplitudes."""
        return unknowns

    def coefficients(self, amplitudes: Array) -> Array:
        """The amplitudes are the coefficients."""
        return amplitudes


def _checked(values: Any, phases: Array, whose: str) -> Array:
    """The values; an error unless they are an array of real numbers of the phases' shape."""
    wanted = f"{whose} must return an array of real numbers of the phases' shape {tuple(phases.shape)}"
    if not compat.is_array_api_obj(values):
        raise TypeError(f"{wanted}, got {type(values).__name__}.")
    if tuple(values.shape) != tuple(phases.shape):
        raise ValueError(f"{wanted}, got the shape {tuple(values.shape)}.")
    if not namespace(values).isdtype(values.dtype, "real floating"):
        raise TypeError(f"{wanted}, got {values.dtype} numbers: convert them to the phases' type.")
    return values


def sigmoid() -> Activation:
    """The features of Experiment 5: s(ω·x) = 1/(1 + exp(−ω·x)) with a component that is one added to x."""
    return Activation(_logistic, name="sigmoid", derivative=_logistic_slope)
