"""Integrals, moments and Sobol indices of a sum of waves, in closed form.

For independent inputs with centre c, the mean of exp(iω·(x − c)) is a product of one factor per input. The factors are
real, because the distributions are symmetric about c.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fourierwalk.arrays.library import Array, like, namespace
from fourierwalk.calculus.distributions import Gaussian, Uniform
from fourierwalk.calculus.waves import outputs, require_affine, require_waves

MOST_ENTRIES = 4_000_000
"""The most entries (pairs of frequencies times inputs) of an array of factors; more pairs are taken in parts."""


class Moments(NamedTuple):
    """Mean and variance of a model's output; with several outputs, one of each per output."""

    mean: Array
    variance: Array


class Sobol(NamedTuple):
    """Sobol indices: the shares of each input in the variance of the output, (d,); with several outputs (d, q)."""

    first: Array  # by the input alone
    total: Array  # with all its interactions


class Waves(NamedTuple):
    """offset + Re Σ βₖ exp(iωₖ·(x − c)) for independent inputs with centre c."""

    frequencies: Array  # (K, d), in the inputs' own units
    amplitudes: Array  # (K, q)
    offset: Array  # (q,)
    inputs: Uniform | Gaussian

    @classmethod
    def of(cls, model: Any, inputs: Uniform | Gaussian, what: str) -> Waves:
        """The waves of a model; an error if it has none."""
        if not isinstance(inputs, Uniform | Gaussian):
            raise TypeError(f"inputs must be a Uniform or a Gaussian distribution, got {type(inputs).__name__}.")
        require_waves(model, what)
        require_affine(model, what)
        scaling, xp = model.scaling.inputs, namespace(model.frequencies)
        center = like(inputs.center(int(model.frequencies.shape[1])), model.frequencies)
        turn = 1j * xp.astype(model.frequencies @ ((center - scaling.center) / scaling.scale), model.amplitudes.dtype)
        amplitudes = model.amplitudes * xp.exp(turn)[:, None]
        return cls(model.frequencies / scaling.scale[None, :], amplitudes, model.offset, inputs)

    def mean(self) -> Array:
        """The mean of the output, (q,)."""
        xp = namespace(self.frequencies)
        means = xp.prod(self.inputs.factors(self.frequencies), axis=1)
        return self.offset + means @ xp.real(self.amplitudes)

    def parts(self, most_entries: int = MOST_ENTRIES) -> Iterator[tuple[slice, Array, Array]]:
        """For some frequencies at a time: which ones, and the factors of all differences and sums with them, (b, K, d).

        The factors of the difference of frequencies k and l are the means of exp(iωₖⱼzⱼ) exp(−iωₗⱼzⱼ), z = x − c.
        """
        (n, d), omega = self.frequencies.shape, self.frequencies
        height = max(1, most_entries // (n * d))
        for start in range(0, n, height):
            part = slice(start, min(start + height, n))
            some = omega[part, None, :]
            yield part, self.inputs.factors(some - omega[None, :, :]), self.inputs.factors(some + omega[None, :, :])


def integral(model: Any, lower: Any, upper: Any) -> Array:
    """∫ f(x) dx over a box, without an axis; with several outputs (q,)."""
    box = Uniform(lower, upper)
    waves = Waves.of(model, box, "integral")
    low, high = box.bounds(int(model.frequencies.shape[1]))
    return outputs(waves.mean() * float((high - low).prod()))


def moments(model: Any, inputs: Uniform | Gaussian) -> Moments:
    """Mean and variance of the output for random inputs."""
    waves = Waves.of(model, inputs, "moments")
    xp = namespace(waves.frequencies)
    alone = xp.prod(inputs.factors(waves.frequencies), axis=1)
    variance = xp.zeros_like(waves.offset)
    for part, minus, plus in waves.parts():
        expected = alone[part, None] * alone[None, :]
        differences, sums = (xp.prod(factors, axis=2) - expected for factors in (minus, plus))
        variance = variance + _products(waves.amplitudes[part, :], waves.amplitudes, differences, sums)
    return Moments(outputs(waves.mean()), outputs(xp.clip(variance, 0.0, None)))


def sobol(model: Any, inputs: Uniform | Gaussian) -> Sobol:
    """First-order and total Sobol indices; all are zero if the output is constant."""
    waves = Waves.of(model, inputs, "sobol")
    xp, d = namespace(waves.frequencies), int(waves.frequencies.shape[1])
    factors = inputs.factors(waves.frequencies)
    others, alone = _all_but_one(factors), xp.prod(factors, axis=1)
    zero = xp.zeros_like(waves.offset)
    variance, first, total = zero, [zero] * d, [zero] * d
    for part, minus, plus in waves.parts():
        expected = alone[part, None] * alone[None, :]
        whole, rest = [xp.prod(each, axis=2) for each in (minus, plus)], [_all_but_one(each) for each in (minus, plus)]
        of = waves.amplitudes[part, :], waves.amplitudes
        variance = variance + _products(*of, whole[0] - expected, whole[1] - expected)
        for j in range(d):
            of_input = others[part, None, j] * others[None, :, j]  # the mean over all inputs but j
            first[j] = first[j] + _products(*of, *(of_input * each[..., j] - expected for each in (minus, plus)))
            mean = factors[part, None, j] * factors[None, :, j]  # the mean over input j alone
            total[j] = total[j] + _products(
                *of, *(pair - mean * each[..., j] for pair, each in zip(whole, rest, strict=True))
            )
    divisor = xp.where(variance > 0, variance, xp.ones_like(variance))
    shares = [xp.clip(xp.stack(each) / divisor, 0.0, None) for each in (first, total)]
    return Sobol(*(outputs(share) for share in shares))


def _products(some: Array, beta: Array, differences: Array, sums: Array) -> Array:
    """½ Re Σₖₗ βₖβₗ* Dₖₗ + βₖβₗ Sₖₗ of each output, (q,): the mean of a product of two sums of waves."""
    xp = namespace(differences)
    real, turned = differences + sums, differences - sums
    total = xp.real(some) * (real @ xp.real(beta)) + xp.imag(some) * (turned @ xp.imag(beta))
    return xp.sum(total, axis=0) / 2


def _all_but_one(factors: Array) -> Array:
    """For each entry of the last axis, the product of all others; no division, because factors may be zero."""
    xp, d = namespace(factors), int(factors.shape[-1])
    before, after = [xp.ones_like(factors[..., 0])], [xp.ones_like(factors[..., 0])]
    for j in range(d - 1):
        before.append(before[-1] * factors[..., j])
        after.append(after[-1] * factors[..., d - 1 - j])
    return xp.stack([one * other for one, other in zip(before, reversed(after), strict=True)], axis=-1)
