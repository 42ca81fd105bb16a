import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from tables import problem

from fourierwalk import AdaptiveFourierRegressor, inputs
from fourierwalk.inputs import arrays

FINE = np.random.default_rng(5).standard_normal((6, 2))
LATER = {
    "doubles": FINE,
    "singles": FINE.astype(np.float32),
    "columns first": np.asfortranarray(FINE),
    "every second": np.repeat(FINE, 2, axis=0)[::2],
    "huge": np.full((6, 2), 3e38, dtype=np.float32),  # the sum overflows, but no value is infinite
    "another order of bytes": FINE.astype(">f8"),
    "whole numbers": np.arange(12).reshape(6, 2),
    "halves": FINE.astype(np.float16),
    "a list": FINE.tolist(),
    "sparse": scipy.sparse.csr_array(FINE),
    "a frame": pd.DataFrame(FINE, columns=["a", "b"]),
    "NaN": np.where(np.arange(12).reshape(6, 2) == 3, np.nan, FINE),
    "infinity": np.where(np.arange(12).reshape(6, 2) == 3, np.inf, FINE),
    "both infinities": np.where(np.arange(12).reshape(6, 2) < 2, [np.inf, -np.inf], FINE),
    "three columns": np.zeros((6, 3)),
    "no rows": np.zeros((0, 2)),
    "one row": FINE[0],
    "three axes": np.zeros((6, 2, 1)),
    "complex": FINE + 1j,
    "words": np.array([["a", "b"]]),
    "torch": pytest.importorskip("torch").zeros((6, 2)),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")  # in scikit-learn, of ∞ − ∞
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("frame", [False, True], ids=["without names", "with names"])
@pytest.mark.parametrize("given", LATER.values(), ids=LATER)
def test_the_short_check_says_what_the_full_one_says(given, frame, standardize, monkeypatch):
    x, y, _ = problem(30)
    x = pd.DataFrame(x, columns=["a", "b"]) if frame else x
    model = AdaptiveFourierRegressor(4, sampler="fixed", standardize=standardize, random_state=0).fit(x, y)

    def said():
        try:
            return inputs.later(model, given, "X", model.frequencies_)
        except (ValueError, TypeError) as error:
            return type(error), str(error)

    short = said()
    monkeypatch.setattr(arrays, "_is_plain", lambda estimator, X: False)
    full = said()
    assert type(short) is type(full)
    if isinstance(full, tuple):
        assert short == full
    else:
        short, full = (part.toarray() if scipy.sparse.issparse(part) else part for part in (short, full))
        assert short.dtype == full.dtype
        assert_array_equal(short, full)


def test_plain_arrays_are_not_copied():
    x, y, _ = problem(30)
    model = AdaptiveFourierRegressor(4, sampler="fixed", random_state=0).fit(x, y)
    assert inputs.later(model, x, "X", model.frequencies_) is x


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, array_api_strict.asarray], ids=["sparse", "strict"])
def test_categories_need_a_dense_array_of_numpy(kind):
    x, y, _ = problem(20)
    with pytest.raises(ValueError, match="categorical_features needs X as a frame or a dense NumPy array, got"):
        inputs.numbers(AdaptiveFourierRegressor(categorical_features=[0]), kind(x), y)


def test_holes_make_a_table_and_nothing_else_does():
    x, y, _ = problem(20)
    model = AdaptiveFourierRegressor()
    assert inputs.numbers(model, x, y)[0] is x
    single = (1e38 * np.ones((20, 2))).astype(np.float32)  # its sum overflows: that is no infinity
    assert inputs.numbers(model, single, y)[0] is single
    x[3, 0] = np.nan
    found, _ = inputs.numbers(model, x, y)
    assert found.kinds == ("numbers",) * x.shape[1]
    assert_array_equal(found.columns[0], x[:, 0])


# Words


@pytest.mark.parametrize("words", [np.array(["a", "b"] * 3), np.array([1.0, "b"] * 3, dtype=object), ["a", "b"] * 3])
def test_labels_are_no_targets_of_a_regression(words):
    with pytest.raises(ValueError, match=r"^y must be numbers for a regression, got '[ab]': AdaptiveFourierClassifier"):
        AdaptiveFourierRegressor().fit(FINE, words)


def test_words_among_inputs_are_named():
    words = np.array([["1.5", "2"], ["3", "four"]])
    with pytest.raises(ValueError, match=r"^X must be numbers, got 'four': words may stand in a frame"):
        AdaptiveFourierRegressor().fit(words, [1.0, 2.0])
    x, y, _ = problem(30)
    model = AdaptiveFourierRegressor(4, sampler="fixed", random_state=0).fit(x, y)
    with pytest.raises(ValueError, match=r"^X must be numbers, got 'four'"):
        model.predict(words)


@pytest.mark.parametrize(("X", "kind"), [(None, "None"), ("data.csv", "str"), ({"a": [1.0]}, "dict")])
@pytest.mark.parametrize("check", [inputs.numbers, inputs.labels])
def test_what_is_no_table_of_rows_is_refused(check, X, kind):
    with pytest.raises(
        TypeError, match=f"^X must be an array, a frame, a sparse matrix or blocks of rows, got {kind}.$"
    ):
        check(AdaptiveFourierRegressor(), X, [1.0])
