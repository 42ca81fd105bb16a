"""Linear differential operators: sums of derivatives, each times a number and functions of x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.calculus.waves import require_affine, require_waves

Coefficient = Callable[[Any], Any]


class Derivative(NamedTuple):
    """A mixed derivative of one output, at x or at a point beside it. On exp(iω·x) it multiplies by its symbol."""

    inputs: tuple[int, ...] = ()  # ∂/∂xⱼ for each entry j, ascending; none: the value itself
    output: int = 0
    shift: tuple[float, ...] = ()  # taken at x + shift; none: at x

    def symbol(self, omega: Array) -> Array:
        """Π iωⱼ · exp(iω·shift) of each frequency, (K,), complex."""
        xp = namespace(omega)
        waves = xp.astype(omega, xp.complex128)
        product = xp.astype(xp.ones_like(omega[:, 0]), xp.complex128)
        for j in self.inputs:
            product = product * (1j * waves[:, j])
        return product if not self.shift else product * xp.exp(1j * (waves @ self._shift(waves)))

    def slopes(self, omega: Array) -> Array:
        """∂ symbol / ∂ωⱼ of each frequency and input, (K, d), complex."""
        xp, d = namespace(omega), int(omega.shape[1])
        columns = []
        for j in range(d):
            total = xp.astype(xp.zeros_like(omega[:, 0]), xp.complex128)
            if j in self.inputs:
                rest = list(self.inputs)
                rest.remove(j)
                total = 1j * self.inputs.count(j) * self._replace(inputs=tuple(rest)).symbol(omega)
            if self.shift and self.shift[j]:
                total = total + 1j * self.shift[j] * self.symbol(omega)
            columns.append(total)
        return xp.stack(columns, axis=1)

    def _shift(self, waves: Array) -> Array:
        return like(np.asarray(self.shift, dtype=np.complex128), waves)


class Term(NamedTuple):
    """A derivative times a number and functions of x."""

    derivative: Derivative
    number: float = 1.0
    functions: tuple[Coefficient, ...] = ()

    def at(self, points: Array) -> np.ndarray:
        """The coefficient at each point, (n,)."""
        total = np.full(int(points.shape[0]), float(self.number))
        for function in self.functions:
            values = np.asarray(_host(function(points)), dtype=np.float64)
            if values.shape not in ((), total.shape):
                raise ValueError(
                    f"a function that multiplies an operator must return one number for each of {total.size} points, "
                    f"got the shape {values.shape}."
                )
            total = total * values
        return total


@dataclass(frozen=True)
class Operator:
    """A linear differential operator: a sum of terms. Operators are added, and multiplied by numbers and functions.

    Parameters
    ----------
    terms : tuple of Term
        The terms.

    See Also
    --------
    identity, d, laplacian, divergence, at : What operators are made of.

    Examples
    --------
    The heat equation with a conductivity that depends on x:

    >>> from fourierwalk.operators import d
    >>> heat = d(1) - (lambda x: 1 + x[:, 0] ** 2) * d(0, 0)
    >>> heat
    d(1) - function·d(0, 0)
    """

    terms: tuple[Term, ...]
    __array_ufunc__ = None  # NumPy numbers and arrays leave the product to this class

    def __add__(self, other: Any) -> Operator:
        return Operator((*self.terms, *other.terms)) if isinstance(other, Operator) else NotImplemented

    def __neg__(self) -> Operator:
        return -1.0 * self

    def __sub__(self, other: Any) -> Operator:
        return self + (-other) if isinstance(other, Operator) else NotImplemented

    def __radd__(self, other: Any) -> Operator:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # the start of `sum`

    def __rmul__(self, factor: Any) -> Operator:
        if isinstance(factor, Operator):
            raise TypeError("operators cannot be multiplied by each other: write d(0, 1) for a derivative of d(0).")
        if callable(factor):
            return Operator(tuple(term._replace(functions=(*term.functions, factor)) for term in self.terms))
        if isinstance(factor, bool) or np.ndim(factor) or not np.isreal(factor):
            raise TypeError(
                f"an operator can be multiplied by a real number or by a function of x, got {type(factor).__name__}: "
                "for values at the points, multiply by a function that returns them."
            )
        return Operator(tuple(term._replace(number=float(factor) * term.number) for term in self.terms))

    __mul__ = __rmul__

    def __call__(self, model: Any, x: Any) -> Array:
        """The operator of a fitted model at x, (n,), exactly and in the units of x.

        Parameters
        ----------
        model : FourierModel
            A model with Fourier features, whose scaling does not clip the inputs.
        x : array of shape (n, d)
            Where it is evaluated.
        """
        require_waves(model, "an operator")
        require_affine(model, "an operator")
        self.require(int(model.frequencies.shape[1]), int(model.amplitudes.shape[1]))
        xp, omega = namespace(model.frequencies), model.frequencies / model.scaling.inputs.scale[None, :]
        of = [term.derivative for term in self.terms]
        beta = xp.stack([one.symbol(omega) * model.amplitudes[:, one.output] for one in of], axis=1)
        offset = xp.stack([(0.0 if one.inputs else 1.0) * model.offset[one.output] for one in of])
        values = replace(model, amplitudes=beta, offset=offset, bounds=None)(x)
        coefficients = np.stack([term.at(x) for term in self.terms], axis=1)
        return xp.sum(values * like(coefficients, values), axis=1)

    def of(self, output: int) -> Operator:
        """The same operator of another output of a model with several."""
        return Operator(
            tuple(term._replace(derivative=term.derivative._replace(output=int(output))) for term in self.terms)
        )

    @property
    def order(self) -> int:
        """The highest order of a derivative."""
        return max(len(term.derivative.inputs) for term in self.terms)

    @property
    def n_outputs(self) -> int:
        """The number of outputs that it needs."""
        return 1 + max(term.derivative.output for term in self.terms)

    def require(self, n_inputs: int, n_outputs: int | None = None) -> None:
        """Raise a `ValueError` if it needs an input, or an output, that is not there."""
        if n_outputs is not None and self.n_outputs > n_outputs:
            raise ValueError(f"an operator of output {self.n_outputs - 1} needs a model with it, got {n_outputs}.")
        for term in self.terms:
            missing = [j for j in term.derivative.inputs if not 0 <= j < n_inputs]
            if missing:
                raise ValueError(
                    f"d({missing[0]}) needs an input {missing[0]}, got points of {n_inputs} inputs: they are counted "
                    "from 0."
                )
            if term.derivative.shift and len(term.derivative.shift) != n_inputs:
                raise ValueError(
                    f"at(shift) must have one entry for each of {n_inputs} inputs, got {len(term.derivative.shift)}."
                )

    def __repr__(self) -> str:
        text = " + ".join(_shown(term) for term in self.terms)
        return text.replace("+ -", "- ")


def identity() -> Operator:
    """The value of f itself.

    Examples
    --------
    >>> 2 * identity()
    2·identity
    """
    return Operator((Term(Derivative()),))


def d(*inputs: int) -> Operator:
    """The derivative ∂/∂xⱼ of each input given: ``d(0)``, ``d(0, 0)`` for ∂²/∂x₀², ``d(0, 1)`` for ∂²/∂x₀∂x₁.

    Examples
    --------
    >>> d(1, 1) - 4 * d(0, 0)
    d(1, 1) - 4·d(0, 0)
    """
    wrong = [j for j in inputs if isinstance(j, bool) or not isinstance(j, int | np.integer) or j < 0]
    if wrong or not inputs:
        got = repr(wrong[0]) if wrong else "none"
        raise ValueError(f"d(…) needs one or more inputs, as integers from 0, got {got}.")
    return Operator((Term(Derivative(tuple(sorted(int(j) for j in inputs)))),))


def laplacian(*inputs: int) -> Operator:
    """Σ ∂²/∂xⱼ² over the inputs given.

    Examples
    --------
    >>> laplacian(0, 1)
    d(0, 0) + d(1, 1)
    """
    if not inputs:
        raise ValueError("laplacian(…) needs the inputs that it sums over, such as laplacian(0, 1), got none.")
    return Operator(tuple(term for j in inputs for term in d(j, j).terms))


def divergence(n_inputs: int) -> Operator:
    """Σ ∂fⱼ/∂xⱼ of a vector field: output j is its component along input j.

    Examples
    --------
    >>> divergence(2)
    d(0) + d(1).of(1)
    """
    return Operator(tuple(term for j in range(n_inputs) for term in d(j).of(j).terms))


def at(*shift: float) -> Operator:
    """The value of f at x + shift, for periodic conditions.

    Examples
    --------
    >>> identity() - at(1.0, 0.0)
    identity - at(1, 0)
    """
    return Operator((Term(Derivative((), 0, tuple(float(part) for part in shift))),))


def _shown(term: Term) -> str:
    derivative, number = term.derivative, term.number
    if derivative.shift:
        name = f"at({', '.join(f'{part:g}' for part in derivative.shift)})"
        name += f".d{derivative.inputs}" if derivative.inputs else ""
    elif derivative.inputs:
        name = f"d({', '.join(map(str, derivative.inputs))})"
    else:
        name = "identity"
    name += f".of({derivative.output})" if derivative.output else ""
    factors = ["function"] * len(term.functions)
    if abs(number) != 1:
        factors.insert(0, f"{abs(number):g}")
    return ("-" if number < 0 else "") + "·".join([*factors, name])


def _host(values: Any) -> Any:
    return values if isinstance(values, int | float | list) else to_host(values)
