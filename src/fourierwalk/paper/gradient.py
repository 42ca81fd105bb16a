"""Experiment 4's baseline: the stochastic gradient method, one sample a step.

The model is f(x) = Σₖ βₖ exp(iωₖ·x). A step looks at one sample (xₙ, yₙ) and goes down the gradient of |f(xₙ) − yₙ|²
(λ = 0) in both frequencies and amplitudes. With eₖ = exp(iωₖ·xₙ) and r = f(xₙ) − yₙ, both from before the step:

    βₖ ← βₖ − 2Δt r conj(eₖ)
    ωₖ ← ωₖ − 2Δt Re(conj(r) i βₖ eₖ) xₙ
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "GradientState",
    "Kernel",
    "StochasticGradient",
    "advance",
    "advance_plain",
    "drawn",
    "in_order",
    "updates_per_second",
]

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]


class GradientState(NamedTuple):
    """What the next step needs."""

    frequencies: Floats  # (K, d)
    amplitudes: Complexes  # (K,)
    step: int = 0


Kernel = Callable[[GradientState, ArrayLike, ArrayLike, float], GradientState]


@dataclass(frozen=True)
class StochasticGradient:
    """The stochastic gradient method of the paper's Experiment 4.

    Parameters
    ----------
    step_size : float
        Δt of the parameter table: 1.5e-4 in Case 1, 3e-4 in Case 2, 1.5e-3 in Case 3.
    n_steps : int
        M, one sample each: 1e7 in Cases 1 and 2, 3e7 in Case 3.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((1000, 1))
    >>> y = np.cos(2 * x[:, 0])
    >>> method = StochasticGradient(step_size=1e-2, n_steps=2000)
    >>> start = method.init(rng, n_frequencies=8, n_inputs=1, spread=2.0)
    >>> for state in method.run(start, drawn(x, y, rng, chunk_size=1000), kernel=advance_plain):
    ...     f = np.exp(1j * x @ state.frequencies.T) @ state.amplitudes
    ...     print(state.step, bool(np.mean(abs(f - y) ** 2) < 0.1))
    1000 True
    2000 True
    """

    step_size: float
    n_steps: int

    def __post_init__(self) -> None:
        if not self.step_size > 0:
            raise ValueError(f"step_size must be positive, got {self.step_size}")
        if self.n_steps < 0:
            raise ValueError(f"n_steps must not be negative, got {self.n_steps}")

    def init(self, rng: np.random.Generator, n_frequencies: int, n_inputs: int, spread: float = 1.0) -> GradientState:
        """Frequencies from N(0, spread²) and amplitudes of zero.

        The paper gives the frequencies' distribution (a spread of 1, or of 50 in Case 1) but no initial amplitudes.
        Zero adds no parameter and no noise: the first error is that of predicting nothing, whatever K is. The gradient
        in ω is proportional to β, so the first step moves the amplitudes only; from the second on both move. Random
        amplitudes of size 1/K or 1/√K end at the same error (Case 1, K = 64, one seed: within 0.001); those of
        size 1 start far off and end worse.
        """
        frequencies = spread * rng.standard_normal((n_frequencies, n_inputs))
        return GradientState(frequencies, np.zeros(n_frequencies, np.complex128))

    def run(
        self, state: GradientState, chunks: Iterable[tuple[ArrayLike, ArrayLike]], kernel: Kernel | None = None
    ) -> Iterator[GradientState]:
        """Yield the state after each chunk of rows (x, y), visited in their order, until n_steps rows are used.

        The rows may be streamed: no chunk is kept. The last chunk is cut to end at exactly n_steps. `kernel` is
        `advance` by default.
        """
        kernel = advance if kernel is None else kernel
        remaining = self.n_steps - state.step
        for x, y in chunks if remaining > 0 else ():
            state = kernel(state, np.asarray(x)[:remaining], np.asarray(y)[:remaining], self.step_size)
            yield state
            remaining = self.n_steps - state.step
            if remaining <= 0:
                return
        if remaining > 0:
            raise ValueError(f"the rows ran out after {state.step:,} of {self.n_steps:,} steps")


def drawn(
    x: NDArray[Any], y: NDArray[Any], rng: np.random.Generator, chunk_size: int = 100_000
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """An endless stream of rows drawn uniformly with replacement. The chunk size does not change which rows are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = next(drawn(np.arange(6.0).reshape(3, 2), np.arange(3.0), np.random.default_rng(0), chunk_size=5))
    >>> x.shape, y.shape
    ((5, 2), (5,))
    """
    while True:
        rows = rng.integers(len(x), size=chunk_size)
        yield x[rows], y[rows]


def in_order(
    x: NDArray[Any], y: NDArray[Any], chunk_size: int = 100_000
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Each row once, as in Case 3, where N = M.

    Examples
    --------
    >>> import numpy as np
    >>> [y.tolist() for x, y in in_order(np.zeros((3, 1)), np.arange(3.0), chunk_size=2)]
    [[0.0, 1.0], [2.0]]
    """
    for first, last in pairwise([*range(0, len(x), chunk_size), len(x)]):
        yield x[first:last], y[first:last]


def advance_plain(state: GradientState, x: ArrayLike, y: ArrayLike, step_size: float) -> GradientState:
    """One step for each row of (x, y) in turn: the specification of `advance`, in plain NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> start = GradientState(np.array([[1.0]]), np.array([0j]))
    >>> advance_plain(start, [[0.0]], [1.0], step_size=0.25)
    GradientState(frequencies=array([[1.]]), amplitudes=array([0.5+0.j]), step=1)
    """
    x, y = _rows(state, x, y)
    omega, beta = state.frequencies, state.amplitudes
    for x_n, y_n in zip(x, y, strict=True):
        wave = np.exp(1j * (omega @ x_n))
        residual = beta @ wave - y_n
        slope = np.real(np.conj(residual) * 1j * beta * wave)
        beta = beta - 2 * step_size * residual * np.conj(wave)
        omega = omega - 2 * step_size * np.outer(slope, x_n)
    return GradientState(omega, beta, state.step + len(y))


def advance(state: GradientState, x: ArrayLike, y: ArrayLike, step_size: float) -> GradientState:
    """`advance_plain`, compiled: one step for each row of (x, y) in turn, without holding the interpreter lock.

    The polynomial sine and cosine are accurate to 1e-15 for |ωₖ·x| up to 6e6 (2²⁰ turns), which is far beyond what the
    paper's cases reach; ω·x itself is rounded to 1e-16 of its size, here as in NumPy. Needs numba.

    Examples
    --------
    >>> import numpy as np
    >>> start = GradientState(np.array([[1.0]]), np.array([0j]))
    >>> advance(start, [[0.0]], [1.0], step_size=0.25)
    GradientState(frequencies=array([[1.]]), amplitudes=array([0.5+0.j]), step=1)
    """
    x, y = _rows(state, x, y)
    n_frequencies, n_inputs = state.frequencies.shape
    work = _aligned_zeros(n_inputs + 4, n_frequencies + -n_frequencies % _LANES)
    omega, real, imaginary = work[:n_inputs, :n_frequencies], *work[n_inputs : n_inputs + 2, :n_frequencies]
    omega[:], real[:], imaginary[:] = state.frequencies.T, state.amplitudes.real, state.amplitudes.imag
    _compiled()(work, n_frequencies, x, y, 2.0 * step_size)
    return GradientState(omega.T.copy(), real + 1j * imaginary, state.step + len(y))


def updates_per_second(n_frequencies: int, n_inputs: int = 1, seconds: float = 0.5, kernel: Kernel = advance) -> float:
    """Frequencies updated per second, K times the steps, on one core.

    Examples
    --------
    >>> updates_per_second(16, seconds=0.001) > 0
    True
    """
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((10_000, n_inputs)), rng.standard_normal(10_000)
    state = StochasticGradient(1e-5, 0).init(rng, n_frequencies, n_inputs)
    state = kernel(state, x[:1], y[:1], 1e-5)
    first, start = state.step, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        state = kernel(state, x, y, 1e-5)
    return n_frequencies * (state.step - first) / elapsed


def _rows(state: GradientState, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The rows in the shape that the kernels need. The compiled one would read past the end of any other."""
    rows, targets = np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64)
    n_inputs = state.frequencies.shape[1]
    if rows.ndim != 2 or rows.shape[1] != n_inputs or targets.shape != rows.shape[:1]:
        raise ValueError(f"need x of shape (n, {n_inputs}) and y of shape (n,), got {rows.shape} and {targets.shape}")
    if state.amplitudes.shape != state.frequencies.shape[:1]:
        raise ValueError(f"{len(state.frequencies)} frequencies need as many amplitudes, got {state.amplitudes.shape}")
    return rows, targets


def _aligned_zeros(n_rows: int, n_columns: int) -> Floats:
    """Zeros that begin on a cache line. Vectors that straddle two lines cost the kernel up to 40 % of its speed."""
    spare = np.zeros(n_rows * n_columns + _LANES)
    first = -(spare.ctypes.data // spare.itemsize) % _LANES
    return spare[first : first + n_rows * n_columns].reshape(n_rows, n_columns)


@cache
def _compiled() -> Callable[..., None]:
    try:
        import numba
    except ImportError as error:
        raise ImportError("the compiled stochastic gradient needs numba: pip install 'fourierwalk[paper]'") from error
    # Reassociation lets the sums over k run in vector lanes. No "nnan" and "ninf": a diverged run must show as NaN.
    kernel: Callable[..., None] = numba.njit(fastmath={"contract", "reassoc"}, nogil=True, cache=True)(_kernel)
    return kernel


_LANES = 8  # one vector register of the widest common kind; fewer frequencies than lanes would not be vectorised
_PER_TURN = 0.15915494309189535  # 1 / 2π
_TURN_HIGH = 6.2831853069365025  # the first 33 bits of 2π: exact when multiplied by fewer than 2²⁰ turns
_TURN_LOW = 2.4308402026024769e-10  # 2π − _TURN_HIGH
# Near-minimax on |h| ≤ π/2 in z = h², to 4e-17: sin h = h + h z S(z) and cos h = 1 + z C(z).
_S0, _S1, _S2, _S3 = -0.16666666666666666, 0.008333333333333316, -0.00019841269841254974, 2.7557319219163234e-06
_S4, _S5, _S6, _S7 = -2.505210761699618e-08, 1.605897731246389e-10, -7.643970296792245e-13, 2.7314447669074988e-15
_C0, _C1, _C2, _C3 = -0.5, 0.04166666666666634, -0.0013888888888860709, 2.4801587292446213e-05
_C4, _C5, _C6, _C7 = -2.755731776732052e-07, 2.0876630867422618e-09, -1.1464689885708041e-11, 4.6276759848687014e-14


def _kernel(work: Floats, n_frequencies: int, x: Floats, y: Floats, rate: float) -> None:
    """All steps in place. The rows of `work` are ω (d rows), Re β, Im β and two scratch rows; rate = 2Δt.

    There is one array, whose two scratch rows change meaning. The compiler checks before each loop whether arrays
    overlap. With one array it checks less, and the result (so the order of a sum, and the speed) does not depend on
    where several arrays happen to be allocated.
    """
    n_inputs, padded = work.shape[0] - 4, work.shape[1]
    real, imaginary = work[n_inputs], work[n_inputs + 1]
    phase = sine = slope = work[n_inputs + 2]
    turns = cosine = work[n_inputs + 3]
    for n in range(len(y)):
        for k in range(padded):
            phase[k] = 0.0
        for j in range(n_inputs):
            x_j = x[n, j]
            for k in range(padded):
                phase[k] += work[j, k] * x_j
        # Two loops, with the difference stored between them: in one, reassociation could join the two parts of 2π.
        for k in range(padded):
            angle = phase[k]
            whole = np.rint(angle * _PER_TURN)
            turns[k], phase[k] = whole, angle - whole * _TURN_HIGH
        for k in range(padded):
            h = 0.5 * (phase[k] - turns[k] * _TURN_LOW)  # half the angle needs no choice of quadrant, so no branch
            z = h * h
            s = _S0 + z * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * (_S5 + z * (_S6 + z * _S7))))))
            c = _C0 + z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * (_C5 + z * (_C6 + z * _C7))))))
            s, c = h + h * z * s, 1.0 + z * c
            sine[k], cosine[k] = 2.0 * s * c, 1.0 - 2.0 * s * s
        f_real = f_imaginary = 0.0
        for k in range(padded):
            f_real += real[k] * cosine[k] - imaginary[k] * sine[k]
            f_imaginary += real[k] * sine[k] + imaginary[k] * cosine[k]
        r_real, r_imaginary = rate * (f_real - y[n]), rate * f_imaginary
        for k in range(padded):
            a, b, c, s = real[k], imaginary[k], cosine[k], sine[k]
            slope[k] = r_imaginary * (a * c - b * s) - r_real * (a * s + b * c)
            real[k] = a - (r_real * c + r_imaginary * s)
            imaginary[k] = b - (r_imaginary * c - r_real * s)
        for j in range(n_inputs):
            x_j = x[n, j]
            for k in range(padded):
                work[j, k] -= slope[k] * x_j
        for k in range(n_frequencies, padded):
            real[k] = imaginary[k] = 0.0
