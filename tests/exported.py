"""Models of every kind beside rows to predict, and how each export predicts them. A new kind is one more row."""

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, FourierModel
from fourierwalk.tables.table import MOMENTS, WORDS, Table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)) * [1, 5, 0.1] + [0, 100, 1]
Y = np.sin(2 * X[:, 0]) + X[:, 0] * np.cos(X[:, 1])
CODES = np.digitize(Y, [-0.5, 0.5])
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]


class Case(NamedTuple):
    """A fitted model and rows for it."""

    model: Any
    rows: Any

    @property
    def expected(self):
        """What Python gives: predictions, probabilities, features or values."""
        if isinstance(self.model, FourierModel):
            return self.model(self.rows)
        names = ("predict_proba", "transform", "predict")
        return getattr(self.model, next(name for name in names if hasattr(self.model, name)))(self.rows)

    @property
    def codes(self):
        """The rows as numbers, for torch and C."""
        if not isinstance(self.model, FourierModel) and self.model.encoder_ is not None:
            return self.model.encoder_.codes(self.rows)
        return self.rows.toarray() if scipy.sparse.issparse(self.rows) else self.rows


def regressor(x=X, y=Y, rows=None, **settings):
    model = AdaptiveFourierRegressor(8, random_state=0, **{"sampler": "fixed", **settings}).fit(x, y)
    return Case(model, x if rows is None else rows)


def classifier(labels, codes=CODES):
    return Case(AdaptiveFourierClassifier(8, sampler="fixed", random_state=0).fit(X, np.asarray(labels)[codes]), X)


def transformer(**settings):
    return Case(AdaptiveFourierFeatures(8, sampler="fixed", random_state=0, **settings).fit(X, Y), X)


def table(n_rows=200, seed=0, unknown=False):
    """Numbers, words of few and of many levels, truth values, dates and times; some are missing."""
    rng = np.random.default_rng(seed)
    towns = np.array(["Graz", "Łódź", "Zürich", '"??/*'] + ["Oslo"] * unknown, dtype=object)
    streets = np.array([f"street {i}" for i in range(30 + 10 * unknown)], dtype=object)
    columns = {
        "area": np.where(rng.random(n_rows) < 0.1, np.nan, rng.uniform(30, 200, n_rows)),
        "town": np.where(rng.random(n_rows) < 0.1, None, rng.choice(towns, n_rows)),
        "sold": np.datetime64("2015-01-01", "us") + rng.integers(10**14, size=n_rows).astype("timedelta64[us]"),
        "street": rng.choice(streets, n_rows),
        "rooms": rng.integers(1, 6, n_rows),
        "built": (np.datetime64("1950-01-01") + rng.integers(20_000, size=n_rows).astype("timedelta64[D]")).astype(
            "datetime64[us]"
        ),
        "garden": rng.random(n_rows) < 0.5,
    }
    columns["sold"][::11] = np.datetime64("NaT", "us")
    columns["rooms"] = np.where(np.arange(n_rows) % 7 == 3, np.nan, columns["rooms"]) if unknown else columns["rooms"]
    return pd.DataFrame(columns)


def with_holes(x=X):
    return np.where(np.random.default_rng(1).random(x.shape) < 0.2, np.nan, x)


def numbered():
    """An array with a category of numbers, one of them missing."""
    levels = np.where(np.arange(200) % 13 == 5, np.nan, np.arange(200) % 4 + 0.5)
    x = np.column_stack((X, levels))
    rows = np.column_stack((X, np.where(np.arange(200) % 17 == 5, 77.0, levels)))
    return regressor(x, rows=rows, categorical_features=[3])


CASES = {
    "cos-sin": regressor,
    "complex": lambda: regressor(features="complex", sampler="metropolis", n_steps=20),
    "sigmoid": lambda: regressor(features="sigmoid"),
    "robust": lambda: regressor(standardize="robust"),
    "unscaled": lambda: regressor(standardize=False),
    "clamped": lambda: regressor(clamp=True, rows=X + 3 * RNG.normal(size=X.shape)),
    "automatic": lambda: regressor(y=np.sin(2 * X[:, 0]), sampler="auto"),
    "outputs": lambda: regressor(y=np.column_stack((Y, X[:, 0], -3 * Y)), clamp=True),
    "one column": lambda: regressor(y=Y[:, None]),
    "features of one input": lambda: regressor(X[:, :1]),
    "float32": lambda: regressor(rows=X.astype(np.float32).astype(np.float64)),
    "sparse": lambda: regressor(scipy.sparse.csr_array(np.maximum(X, 0))),
    "wide": lambda: regressor(np.random.default_rng(2).normal(size=(60, 300)), Y[:60]),
    "holes of predict": lambda: regressor(rows=with_holes()),
    "holes of fit": lambda: regressor(with_holes()),
    "robust holes": lambda: regressor(with_holes(), standardize="robust"),
    "numbers as levels": numbered,
    "frame": lambda: regressor(pd.DataFrame(X, columns=["variable", "Cos_1", "a b"])),
    "table": lambda: regressor(table(), rows=table(150, 1, unknown=True)),
    "table of outputs": lambda: regressor(table(), np.column_stack((Y, X)), rows=table(150, 1, unknown=True)),
    "robust table": lambda: regressor(table(), standardize="robust"),
    "one column of words": lambda: regressor(table()[["town"]]),
    "two classes": lambda: classifier([3, 8], 1 * (CODES > 0)),
    "three classes": lambda: classifier([-1, 0, 5]),
    "words as classes": lambda: classifier(["no", 'may"be??', "ÿes"]),
    "truth values": lambda: classifier([False, True], 1 * (CODES > 0)),
    "doubles as classes": lambda: classifier([1.0, 2.0, 4.0]),
    "transformer": transformer,
    "sigmoid transformer": lambda: transformer(features="sigmoid"),
    "model": lambda: Case(regressor(clamp=True, standardize="robust").model.model_, X),
}


@cache
def case(name):
    return CASES[name]()


every_case = pytest.mark.parametrize("name", CASES)


def feeds(model, rows, real=np.float64):
    """The inputs of an ONNX session."""
    if not hasattr(model, "feature_names_in_"):
        return {"X": (rows.toarray() if scipy.sparse.issparse(rows) else np.asarray(rows)).astype(real)}
    return fed(Table.of(rows), model.encoder_.columns_, real)


def fed(given, encoders, real):
    found = {}
    for name, column, kind, encoder in zip(given.names, given.columns, given.kinds, encoders, strict=True):
        if kind == MOMENTS:
            column = column.astype("datetime64[us]").astype(np.int64)
        elif kind == WORDS:
            column = np.array(["" if word is None else word for word in column.tolist()], dtype=object)
        else:
            assert encoder.kind == "number"
            column = column.astype(real)
        found[name] = column[:, None]
    return found


def run_onnx(proto, feed):
    """All outputs by their names, from onnxruntime."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([each.name for each in session.get_outputs()], session.run(None, feed), strict=True))


def compiled(text, folder, name="model", compiler="cc", flags=STRICT):
    """A library of the header, compiled by the real compiler, that predicts many rows."""
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler} on this machine")
    folder = Path(folder)
    (folder / "header.h").write_text(text, encoding="ascii")
    is_class = f"int {name}_class(" in text
    result = f"{name}_class(x)" if is_class else "0"
    (folder / "main.c").write_text(
        '#include "header.h"\n'
        '#ifdef __cplusplus\n#define OUTSIDE extern "C"\n#else\n#define OUTSIDE extern\n#endif\n'
        "OUTSIDE void predict(int n, const double *x, double *y, int *best);\n"
        "OUTSIDE void predict(int n, const double *x, double *y, int *best)\n{\n"
        f"    for (int i = 0; i < n; i++, x += {name}_INPUTS, y += {name}_OUTPUTS) {{\n"
        f"        {name}_predict(x, y);\n        best[i] = {result};\n    }}\n}}\n"
    )
    target = Path(tempfile.mkdtemp(dir=folder)) / "library.so"
    command = [compiler, *flags, "-shared", "-fPIC", "main.c", "-o", str(target), "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(target))


def run_c(library, rows, n_outputs):
    """What the C function writes for each row, and the index of each row's class."""
    x = np.ascontiguousarray(rows, dtype=np.float64)
    y, best = np.full((len(x), n_outputs), np.nan), np.zeros(len(x), dtype=np.int32)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (x, y, best)]
    library.predict(len(x), *pointers)
    return y, best


def assert_close(values, expected, scale=None):
    """Equal to 1e-12 of the largest expected value."""
    expected = np.asarray(expected)
    values = np.asarray(values).reshape(expected.shape)
    assert np.array_equal(np.isnan(values), np.isnan(expected))
    largest = np.nanmax(np.abs(expected)) if scale is None else scale
    assert np.nanmax(np.abs(values - expected), initial=0) <= 1e-12 * largest
