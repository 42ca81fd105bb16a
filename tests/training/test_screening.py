"""Screening is its definition, in plain loops; it hears what kernels miss, and rarely anything in noise."""

import cmath
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fourierwalk.data.rows import Rows
from fourierwalk.training.exploring import explore
from fourierwalk.training.policy import Policy
from fourierwalk.training.screening import CHANCE, FEWEST, MOST, RIDGE, SIZE, STEP, heard, steepness


def single(*arrays):
    return [array.astype(np.float32) for array in arrays]


def plain_heard(x, y, weight):
    """Every wave of one or two inputs with its power, in loops; those above the bound."""
    n, d = x.shape
    n_lengths = min(MOST, int(SIZE / (d * math.sqrt(y.shape[1]))))
    singles = [(j, STEP * (i + 1) / np.std(x[:, j])) for j in range(d) for i in range(n_lengths)]
    pairs = [(one, other) for one in singles for other in singles if one[0] < other[0]]
    tried = [[wave] for wave in singles for _ in (0, 1)]  # the sum with a wave of length zero, and the difference
    tried += [[(j, sign * one), other] for (j, one), other in pairs for sign in (1, -1)]
    bound = math.log(2 * (len(singles) + 1) ** 2 / CHANCE)
    found, energy = [], sum((weight[row] * value) ** 2 for row in range(n) for value in y[row])
    for parts in tried:
        wave = np.zeros(d)
        for j, length in parts:
            wave[j] = length
        sums = [
            sum(weight[row] * y[row, i] * cmath.exp(1j * (wave @ x[row])) for row in range(n))
            for i in range(y.shape[1])
        ]
        if sum(abs(each) ** 2 for each in sums) / energy > bound:
            found.append(wave)
    return np.array(found)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_what_is_heard_is_its_definition(is_weighted):
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (60, 2)) * [1.0, 3.0]
    y = np.stack((np.sin(4 * x[:, 0]), 0.1 * x[:, 1]), axis=1)
    weight = rng.uniform(0.5, 2, 60) if is_weighted else np.ones(60)
    expected = plain_heard(x, y, weight)
    found = heard(*single(x, y), single(weight)[0] if is_weighted else None)
    assert 0 < len(expected) <= 30  # else some are left out
    order = [np.lexsort(np.round(waves, 4).T) for waves in (found, expected)]
    assert_allclose(found[order[0]], expected[order[1]], rtol=1e-4, atol=1e-4)


def test_random_targets_are_rarely_heard():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        found += len(heard(*single(rng.standard_normal((300, 5)), rng.standard_normal((300, 1))))) > 0
    assert found <= 8  # four times what is expected


def test_columns_that_do_not_vary_and_too_many_inputs_are_left_alone():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((200, 3))
    x[:, 1] = 0.0
    waves = heard(*single(x, np.sin(3 * x[:, :1])))
    assert len(waves) == 100  # half as many as rows, at most
    assert np.all(np.isfinite(waves))
    wide = rng.standard_normal((50, SIZE // FEWEST + 1))
    assert heard(*single(wide, wide[:, :1])).shape == (0, wide.shape[1])


def test_steepness_is_that_of_a_ridge_regression():
    rng = np.random.default_rng(2)
    x, y, waves = rng.standard_normal((50, 3)), rng.standard_normal((50, 2)), rng.standard_normal((12, 3))
    columns = np.concatenate((np.cos(x @ waves.T), np.sin(x @ waves.T)), axis=1)
    beta = np.linalg.solve(columns.T @ columns + RIDGE * 12 * 50 * np.eye(24), columns.T @ y)
    expected = [
        sum((beta[k, i] ** 2 + beta[12 + k, i] ** 2) * waves[k, j] ** 2 for k in range(12) for i in range(2))
        for j in range(3)
    ]
    assert_allclose(steepness(*single(x, y), waves), expected, rtol=1e-3)


@pytest.mark.parametrize(
    ("target", "inputs"),
    [
        (lambda x: np.sin(5 * x[:, 0]) + x[:, 1], {0, 1}),  # fine detail beside a smooth trend
        (lambda x: np.sin(3 * x[:, 0]) * x[:, 1] + x[:, 2] ** 2, {0, 1, 2}),  # a product beside a strong term
    ],
    ids=["fine", "masked"],
)
def test_what_a_kernel_misses_is_found(target, inputs):
    errors = []
    for seed in range(4, 8):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((1950, 6))
        y = (target(x) + 0.2 * rng.standard_normal(1950))[:, None]
        (found,) = explore([(Rows(x[:1600], y[:1600]), Rows(x[1600:], y[1600:]))], Policy())
        errors.append(found.fit.error)
        assert set(np.argsort(-found.shape.relevance)[: len(inputs)]) == inputs
    assert np.mean(errors) < 0.1  # 0.5 without screening; the noise is 0.04
