"""Sizes of a model's files: our own, ONNX and C."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fourierwalk.benchmarks.figures import Figure
from fourierwalk.estimators import AdaptiveFourierRegressor

LARGEST = 50.0
"""The target, in kB."""


def sizes(shrink: int) -> Iterator[Figure]:
    """The files of a regressor with 10 inputs, trained by default settings and by the longest walk."""
    rng, n_frequencies = np.random.default_rng(0), 256 // shrink
    x = rng.standard_normal((3000 // shrink, 10))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(len(x))
    for sampler in ("auto", "metropolis"):
        model = AdaptiveFourierRegressor(n_frequencies, sampler=sampler, random_state=0).fit(x, y)
        case = f"file of a model, K = {model.n_frequencies_}, d = 10, sampler {sampler!r}"
        for what, kilobytes in _written(model):
            yield Figure(case, f"kB, {what}", kilobytes, LARGEST if "numbers" not in what else None)


def _written(model: Any) -> Iterator[tuple[str, float]]:
    """The size of each file, in kB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        yield "save", model.save(path).stat().st_size / 1000
        for dtype in ("float64", "float32"):
            model.to_onnx(path, dtype=dtype)
            yield f"ONNX, {dtype}", path.stat().st_size / 1000
        for what, readable in (("C", False), ("C, constants as numbers", True)):
            model.to_c(path, readable=readable)
            yield what, path.stat().st_size / 1000


BENCHES = {"file-size": sizes}
