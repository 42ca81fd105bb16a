from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, every_kind

from fourierwalk.arrays.library import to_host
from fourierwalk.data.affine import Affine
from fourierwalk.data.scaling import Scaling
from fourierwalk.model import FourierModel
from fourierwalk.training.accumulation import Accumulation
from fourierwalk.training.assembly import Member

K, REGULARIZATION = 5, 1e-3
ONE = (Member(K, REGULARIZATION),)


def rows(n=80, n_outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    x = 3 + rng.standard_normal((n, 2))
    return x, 10 + np.sin(x @ rng.standard_normal((2, n_outputs))), rng.uniform(0.5, 2, n)


def model_of(kind, asarray=np.asarray, scaled=True, bounds=None):
    x, y, _ = rows()
    scaling = Scaling.fit(asarray(x), asarray(y), standardize=scaled)
    frequencies = asarray(kind.frequencies(K, 2))
    nothing = asarray(np.zeros((K, 2), dtype=complex))
    return FourierModel(frequencies, nothing, scaling.targets.center, kind.features, scaling, bounds)


def minimiser(kind, model, x, y, weight, regularization=REGULARIZATION):
    """The definition: centred targets, one dense system."""
    mean = np.average(y, axis=0, weights=weight)
    s = kind.design(model.scaling.inputs.apply(x), kind.frequencies(K, 2))
    root = np.sqrt(weight)[:, None]
    matrix = (root * s).conj().T @ (root * s) + regularization * weight.sum() * np.eye(s.shape[1])
    return kind.amplitudes(np.linalg.solve(matrix, s.conj().T @ (weight[:, None] * (y - mean)))), mean


@every_kind
def test_amplitudes_are_the_minimiser_over_all_parts(kind):
    model = model_of(kind)
    parts = [rows(n, seed=n) for n in (30, 1, 47)]
    sums = sum((Accumulation.of(model, ONE, *part) for part in parts[1:]), Accumulation.of(model, ONE, *parts[0]))
    found = sums.solved(model, ONE)
    amplitudes, mean = minimiser(kind, model, *(np.concatenate(each) for each in zip(*parts, strict=True)))
    assert_allclose(found.amplitudes, amplitudes, rtol=1e-10, atol=1e-11)
    assert_allclose(found.offset, mean)


def test_without_scaling_targets_are_not_centred():
    kind, (x, y, weight) = FEATURES["cos-sin"], rows()
    model = model_of(kind, scaled=False)
    found = Accumulation.of(model, ONE, x, y, weight).solved(model, ONE)
    assert_array_equal(found.offset, [0, 0])
    s, w = kind.design(x, kind.frequencies(K, 2)), weight[:, None]
    matrix = s.T @ (w * s) + REGULARIZATION * weight.sum() * np.eye(2 * K)
    assert_allclose(found.amplitudes, kind.amplitudes(np.linalg.solve(matrix, s.T @ (w * y))), rtol=1e-10, atol=1e-11)


def test_averaged_models_are_solved_for_by_themselves():
    kind, (x, y, weight) = FEATURES["complex"], rows()
    model = model_of(kind)
    members = (Member(2, 1e-2), Member(1, np.inf), Member(2, 1e-4))
    found = Accumulation.of(model, members, x, y, weight).solved(model, members).amplitudes
    assert_array_equal(found[2], [0, 0])  # a constant model
    for part, member in ((slice(0, 2), members[0]), (slice(3, 5), members[2])):
        alone = replace(model, frequencies=model.frequencies[part])
        expected = Accumulation.of(alone, (member,), x, y, weight).solved(alone, (member,)).amplitudes
        assert_allclose(found[part], expected / 3, rtol=1e-12)


@given(st.floats(0.01, 100))
def test_the_size_of_all_weights_changes_nothing(factor):
    kind, (x, y, weight) = FEATURES["cos-sin"], rows()
    model = model_of(kind)
    one = Accumulation.of(model, ONE, x, y, weight)
    many = Accumulation.of(model, ONE, x, y, factor * weight)
    assert_allclose(one.times(factor).weight, many.weight)
    for other in (one.times(factor), many):
        assert_allclose(other.solved(model, ONE).amplitudes, one.solved(model, ONE).amplitudes, rtol=1e-9, atol=1e-10)


def test_bounds_are_the_range_of_all_targets_and_a_margin():
    kind, (x, y, _) = FEATURES["cos-sin"], rows()
    model = model_of(kind, bounds=np.zeros((2, 2)))
    sums = Accumulation.of(model, ONE, x, y) + Accumulation.of(model, ONE, x[:1], np.array([[100.0, y[3, 1]]]))
    low, high = y.min(axis=0), np.array([100.0, y[:, 1].max()])
    expected = np.stack((low - 0.1 * (high - low), high + 0.1 * (high - low)))
    assert_allclose(sums.solved(model, ONE, 0.1).bounds, expected)
    free = replace(model, bounds=None)
    assert sums.solved(free, ONE, 0.1).bounds is None


@pytest.mark.parametrize("name", ["complex", "cos-sin"])
def test_sums_stay_in_their_library(name, xp):
    x, y, weight = rows()
    here, there = model_of(FEATURES[name]), model_of(FEATURES[name], xp.asarray)
    sums = Accumulation.of(there, ONE, *(xp.asarray(part) for part in (x, y, weight)))
    expected = Accumulation.of(here, ONE, x, y, weight).solved(here, ONE)
    assert_allclose(xp.host((sums + sums).solved(there, ONE).amplitudes), expected.amplitudes, rtol=1e-9, atol=1e-10)
    moved = sums.moved(to_host)
    assert type(moved.equations[0].gram) is type(moved.lowest) is np.ndarray
    assert_allclose(moved.solved(here, ONE).amplitudes, expected.amplitudes, rtol=1e-9, atol=1e-10)


def test_large_offsets_lose_no_digits():
    """Targets are summed in the scaled units of the first part."""
    kind, (x, y, weight) = FEATURES["cos-sin"], rows()
    model, far = model_of(kind), 1e8
    shifted = replace(model, scaling=replace(model.scaling, targets=Affine(np.full(2, far), np.ones(2))))
    near = Accumulation.of(model, ONE, x, y, weight).solved(model, ONE).amplitudes
    found = Accumulation.of(shifted, ONE, x, y + far, weight).solved(shifted, ONE)
    assert_allclose(found.amplitudes, near, atol=1e-6)
