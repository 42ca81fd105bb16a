from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourierwalk.chunks import Blocks
from fourierwalk.chunks.survey import TableFacts, surveyed
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
        ({"x": np.full((5, 3), np.inf)}, "X must be finite in blocks, got NaN or infinity in block 2"),
        ({"y": np.full(5, np.inf)}, "y must be finite in blocks, got NaN or infinity in block 2"),
        ({"x": np.full((5, 3), 1e200)}, "X must have values below 1e.150, got 1e.200 in block 2"),
        ({"x": np.ones((5, 4))}, "the same columns, got 3 columns in block 0 and 4 columns in block 2"),
        ({"y": np.ones((5, 2))}, "got 3 columns in block 0 and 3 columns and 2 outputs in block 2"),
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


FRAME = pd.DataFrame(
    {
        "size": [3.0, np.nan, 1.0, 2.0],
        "make": pd.Categorical(["audi", "bmw", None, "audi"]),
        "built": np.array(["2020-01-01", "2020-06-01T12:00", "NaT", "2019-01-01"], dtype="datetime64[us]"),
        "code": pd.Series([1, 2, "x", None], dtype=object),
    }
)


@given(st.lists(st.integers(0, 4), max_size=5).map(sorted), st.booleans())
@settings(deadline=None)
def test_facts_about_tables_do_not_depend_on_the_division(places, is_weighted):
    weight = [np.array([1.0, 2.0, 3.0, 4.0])] if is_weighted else []
    ends = [0, *places, 4]
    blocks = [(FRAME[i:j], np.ones(j - i), *(w[i:j] for w in weight)) for i, j in pairwise(ends)]
    survey = surveyed(Blocks(blocks), counts_labels=False)
    size, make, built, code = survey.inputs.columns
    assert survey.names == ("size", "make", "built", "code")
    assert (size.has_gaps, size.low) == (True, 1.0)
    assert make.weights == ({"audi": 5, "bmw": 2, None: 3} if is_weighted else {"audi": 2, "bmw": 1, None: 1})
    assert (built.kind, built.has_gaps, built.has_hours) == ("moments", True, True)
    assert abs(built.low - 2019) < 0.01
    assert code.levels == ("1", "2", "x", None)  # also where a block has numbers only


def test_missing_values_make_a_table_of_arrays():
    gaps = np.where(np.arange(N)[:, None] == 7, np.nan, X)
    survey = surveyed(Blocks([(X, Y), (gaps, Y), (X[:0], Y[:0])]), counts_labels=False)
    assert isinstance(survey.inputs, TableFacts)
    assert survey.names is None
    assert [(one.name, one.has_gaps) for one in survey.inputs.columns] == [("x0", True), ("x1", True), ("x2", True)]
    assert survey.inputs.columns[0].low == X[:, 0].min()


def test_named_categories_are_counted_in_arrays():
    x = np.column_stack((np.arange(N) % 3, X))
    survey = surveyed(Blocks([(x[:20], Y[:20]), (x[20:], Y[20:])]), False, categories=[0])
    assert survey.inputs.columns[0].weights == {"0": 20, "1": 20, "2": 20}
    assert survey.inputs.columns[1].weights is None


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            FRAME.rename(columns={"make": "brand"}),
            r"'make', .* in block 0 and the columns \['size', 'brand', .* block 1",
        ),
        (FRAME[["size"]], r"and the columns \['size'\] in block 1"),
        (FRAME.assign(size=np.inf), "finite or missing in column 'size', got inf in row 0, in block 1"),
        (FRAME.assign(built=["a"] * 4), "one kind in column 'built', got dates in block 0 and words in block 1"),
        (FRAME.assign(built=[1, 2, 3, 4]), "one kind in column 'built', got dates in block 0 and numbers in block 1"),
    ],
)
def test_blocks_of_other_columns_are_named(frame, message):
    with pytest.raises(ValueError, match=message):
        surveyed(Blocks([(FRAME, np.ones(4)), (frame, np.ones(4))]), counts_labels=False)


def test_a_column_of_words_that_is_no_category_is_named_with_its_block():
    blocks = Blocks([(FRAME[["size"]].assign(make=1), np.ones(4)), (FRAME[["size", "make"]], np.ones(4))])
    with pytest.raises(ValueError, match="got None, but column 'make' holds 'audi', in block 1"):
        surveyed(blocks, False, categories=None)


def test_tensors_have_neither_gaps_nor_categories():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="X must be finite in blocks, got NaN or infinity in block 0"):
        surveyed(Blocks([(torch.full((2, 1), torch.nan), torch.ones(2))]), False)
    with pytest.raises(ValueError, match="needs X as a frame or a dense NumPy array, got Tensor, in block 0"):
        surveyed(Blocks([(torch.ones(2, 1), torch.ones(2))]), False, categories=[0])
