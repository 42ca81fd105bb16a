"""The data of a realisation: normalised by the training statistics, shared by all experiments."""

from dataclasses import replace

import numpy as np
import pytest

from fourierwalk.paper import cases, data

SMALL = {name: replace(case, n_rows=300, n_test=200) for name, case in cases.CASES.items()}


@pytest.mark.parametrize("name", ["case1", "case2", "case3"])
def test_normalised_by_training_statistics(name):
    rows = data.split(SMALL[name], 0)
    for part in (rows.x, rows.y):
        np.testing.assert_allclose(part.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(part.std(axis=0, ddof=1), 1)
    assert np.all(np.abs(rows.x_test.mean(axis=0)) > 1e-8)
    x = rows.scaling.inputs.invert(rows.x_test)
    y = rows.scaling.targets.invert(rows.y_test)[:, 0]
    np.testing.assert_allclose(y, data.TARGETS[SMALL[name].target](x), atol=1e-10)


def test_the_sweep_is_raw_and_noisy():
    rows = data.split(SMALL["sweep"], 0)
    noise = rows.y[:, 0] - data.TARGETS["gaussian"](rows.x)
    assert 0.08 < noise.std() < 0.12
    assert rows.scaling is None
    np.testing.assert_array_equal(rows.truth[:, 0], data.TARGETS["gaussian"](rows.x_test))
    assert np.std(rows.y_test - rows.truth) > 0.08
    assert data.split(SMALL["case1"], 0).truth is None


def test_seeds_differ_and_repeat():
    first, again, other = (data.split(SMALL["case1"], seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.x, again.x)
    assert np.all(first.x != other.x)


def test_digits_are_one_hot_and_not_standardised():
    rows = data.split(cases.on_digits(cases.CASE_4), 0)
    assert rows.x.shape == (1437, 64)
    assert rows.x.min() == 0
    assert rows.x.max() == 1
    np.testing.assert_array_equal(rows.y.sum(axis=1), 1)


def test_the_stream_is_endless_fresh_and_normalised_alike():
    case = SMALL["case3"]
    scaling = data.split(case, 0).scaling
    chunks = data.stream(case, 0, scaling, 50)
    (x, y), (x_next, _) = next(chunks), next(chunks)
    assert x.shape == (50, 2)
    assert y.shape == (50,)
    assert np.all(x != x_next)
    raw = scaling.inputs.invert(x)
    np.testing.assert_allclose(scaling.targets.invert(y[:, None])[:, 0], data.TARGETS["anisotropic"](raw), atol=1e-12)
