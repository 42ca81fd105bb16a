"""What is measured of a fit: its errors on test rows, and properties of its frequencies and amplitudes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.data.affine import Affine
from fourierwalk.data.features import Features
from fourierwalk.data.scaling import Scaling
from fourierwalk.model import FourierModel
from fourierwalk.paper.cases import Cell
from fourierwalk.paper.data import Realisation


class Outcome(NamedTuple):
    """Frequencies (K, d), amplitudes (K, q), the seconds of the method, and what to record beside the errors."""

    features: Features
    frequencies: Array
    amplitudes: Array
    seconds: float
    notes: dict[str, Any]


def errors(features: Features, frequencies: Array, amplitudes: Array, data: Realisation) -> dict[str, Any]:
    """e_K as printed (no 1/Ñ, modulus), the root mean squares of modulus and real part, and the share misclassified.

    If test targets have noise, `_clean` errors are against the targets without it.
    """
    xp = namespace(amplitudes)
    q = amplitudes.shape[1]
    model = FourierModel(frequencies, amplitudes, like(np.zeros(q), frequencies), features, _identity(data))
    values = model.complex_values(data.x_test) if features.n_columns == 2 else model(data.x_test)
    residual = xp.abs(values - data.y_test)
    real = values if features.n_columns == 1 else xp.real(values)
    n = data.y_test.shape[0]
    modulus_sum, real_sum = float(xp.sum(residual**2)), float(xp.sum((real - data.y_test) ** 2))
    result = {
        "error_as_printed": math.sqrt(modulus_sum),
        "rms_modulus": math.sqrt(modulus_sum / n),
        "rms_real": math.sqrt(real_sum / n),
    }
    if data.truth is not None:
        clean = xp.abs(values - data.truth)
        result["rms_modulus_clean"] = math.sqrt(float(xp.sum(clean**2)) / n)
        result["rms_real_clean"] = math.sqrt(float(xp.sum((real - data.truth) ** 2)) / n)
    if q == 1:
        return result
    truth = xp.argmax(data.y_test, axis=1)
    for name, score in (("modulus", xp.abs(values)), ("real", real)):
        wrong = xp.astype(xp.argmax(score, axis=1) != truth, xp.float64)
        result[f"misclassified_{name}"] = 100 * float(xp.mean(wrong))
    return result


def describe(cell: Cell, fitted: Outcome) -> dict[str, Any]:
    """The amplitudes' coefficient of variation, the frequencies' spread, and in Cases 1 and 3 further details."""
    frequencies, amplitudes = to_host(fitted.frequencies), np.linalg.norm(to_host(fitted.amplitudes), axis=1)
    notes: dict[str, Any] = {
        "amplitude_variation": float(np.std(amplitudes) / np.mean(amplitudes)) if np.mean(amplitudes) > 0 else None,
        "frequency_spread": float(np.sqrt(np.mean(frequencies**2))),
    }
    if cell.case.d == 1 and cell.seed == 0 and cell.width >= 64 and cell.experiment.features == "complex":
        notes["frequencies"] = np.round(np.sort(frequencies[:, 0]), 3).tolist()
    if cell.case.d == 2:
        notes["covariance"] = np.cov(frequencies.T).tolist()
    if cell.case.d > 2:
        notes["norm_quartiles"] = np.percentile(np.linalg.norm(frequencies, axis=1), [25, 50, 75]).tolist()
    return notes


def _identity(data: Realisation) -> Scaling:
    nothing = [Affine(like(np.zeros(n), data.x), like(np.ones(n), data.x)) for n in (data.x.shape[1], data.y.shape[1])]
    return Scaling(nothing[0], nothing[1], "none")
