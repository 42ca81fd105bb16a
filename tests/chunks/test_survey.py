from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourierwalk.chunks import Blocks
from fourierwalk.chunks.survey import surveyed
from fourierwalk.weights import weights as weights_in_memory

N = 60
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3)) * [1, 1e-6, 1e4] + [1e6, 0, 5]
Y, W = RNG.standard_normal(N), RNG.uniform(0.5, 2, N)

cuts = st.lists(st.integers(0, N), max_size=8).map(sorted)


def divided(places, *arrays):
    """The arrays in blocks that end at some places; blocks may be empty."""
    ends = [0, *places, N]
    return Blocks([tuple(a[i:j] for a in arrays) for i, j in pairwise(ends)])


@given(cuts, st.booleans())
@settings(deadline=None)
def test_moments_do_not_depend_on_the_division(places, is_weighted):
    survey = surveyed(divided(places, X, Y, *([W] if is_weighted else [])), counts_labels=False)
    weight = W if is_weighted else np.ones(N)
    mean = np.average(X, axis=0, weights=weight)
    assert survey.n_rows == N
    assert np.allclose(survey.inputs.mean, mean, rtol=1e-13, atol=1e-15)
    assert np.allclose(survey.inputs.deviations, weight @ (X - mean) ** 2, rtol=1e-9)
    assert np.array_equal(survey.inputs.low, X.min(axis=0))
    assert np.array_equal(survey.inputs.high, X.max(axis=0))


@given(cuts)
@settings(deadline=None)
def test_labels_are_counted(places):
    labels = np.array(["a", "b", "c"])[np.arange(N) % 3]
    survey = surveyed(divided(places, X, labels), counts_labels=True)
    assert survey.targets.weights == {"a": 20, "b": 20, "c": 20}


@pytest.mark.parametrize("given_weights", [np.full(N, 7.0), np.arange(N) % 3, W, np.where(np.arange(N) < 9, 0.0, W)])
def test_weights_mean_what_they_mean_in_memory(given_weights):
    factor = surveyed(divided([20], X, Y, given_weights), counts_labels=False).weights.factor
    expected = weights_in_memory(given_weights, N)
    assert np.allclose((given_weights > 0) if factor is None else factor * given_weights, expected, rtol=1e-14)


def broken(**changes):
    """Blocks whose third is not like the others."""
    third = {"x": X[:5], "y": Y[:5], "weight": W[:5]} | changes
    return Blocks([(X, Y, W), (X[:0], Y[:0], W[:0]), tuple(third.values())])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": np.full((5, 3), np.nan)}, "X must be finite in blocks, got NaN or infinity in block 2"),
        ({"y": np.full(5, np.inf)}, "y must be finite in blocks, got NaN or infinity in block 2"),
        ({"x": np.full((5, 3), 1e200)}, "X must have values below 1e.150, got 1e.200 in block 2"),
        ({"x": np.ones((5, 4))}, "all blocks must have 3 columns like the first, got 4 columns in block 2"),
        ({"y": np.ones((5, 2))}, "got 3 columns and 2 outputs in block 2"),
        ({"y": np.array(["a"] * 5)}, "y must be real numbers, got <U1 in block 2"),
        ({"weight": -np.ones(5)}, "sample_weight must be finite and not negative, got a minimum of -1.0 in block 2"),
        ({"weight": np.ones((5, 1))}, "sample_weight must have one dimension, got 2 in block 2"),
    ],
)
def test_what_is_wrong_is_said_with_the_block(changes, message):
    with pytest.raises(ValueError, match=message):
        surveyed(broken(**changes), counts_labels=False)


def test_no_rows_and_no_weights_are_refused():
    with pytest.raises(ValueError, match="X must have at least one row, got none in any block"):
        surveyed(Blocks([(X[:0], Y[:0])]), counts_labels=False)
    with pytest.raises(ValueError, match="sample_weight must have a positive entry, got only zeros"):
        surveyed(Blocks([(X, Y, 0 * W)]), counts_labels=False)


def test_whole_numbers_and_single_precision_are_taken():
    survey = surveyed(Blocks([(np.arange(6).reshape(3, 2), np.arange(3)), (np.ones((1, 2), np.float32), [1.0])]), False)
    assert survey.inputs.mean.tolist() == [1.75, 2.5]
