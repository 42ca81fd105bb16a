import re

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.class_weight import compute_class_weight
from tables import problem

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor, inputs

LABELS = st.lists(st.integers(0, 3), min_size=5, max_size=30).filter(lambda labels: len(set(labels)) > 1)


# Weights


def test_equal_weights_are_no_weights():
    x, y, _ = problem(4)
    found = inputs.data(AdaptiveFourierRegressor(), x, y, [3, 0, 3, 3], None, None)
    assert found.weight is None
    assert_array_equal(found.x, x[[0, 2, 3]])


# Groups


@pytest.mark.parametrize(
    "groups",
    [
        [7, 3, 7, 10],
        np.array([0.5, -1.0, 0.5, 2.0]),
        ["b", "a", "b", "c"],
        np.array(["b", "a", "b", "c"], dtype=object),
        pd.Series(["b", "a", "b", "c"], index=[9, 8, 7, 6]),
        pd.Series(["b", "a", "b", "c"], dtype="category"),
        pd.Series([7, 3, 7, 10], dtype="Int64"),
        np.array(["2021", "2020", "2021", "2022"], dtype="M8[Y]"),
    ],
)
def test_groups_are_codes(groups):
    found = inputs.groups(groups, 4)
    assert type(found) is np.ndarray
    assert found.dtype.kind == "i"
    assert_array_equal(found, [1, 0, 1, 2])


def test_groups_of_any_library_are_codes_on_the_host(xp):
    found = inputs.groups(xp.asarray(np.array([7, 3, 7, 10])), 4)
    assert type(found) is np.ndarray
    assert_array_equal(found, [1, 0, 1, 2])


def test_no_groups_are_none():
    assert inputs.groups(None, 4) is None


MIXED = "groups must be all numbers or all strings with none missing, got a mix."
MISSING = "groups must not have missing entries, got NaN."


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1, 2, 3], "groups must have shape (4,), one entry per row of X, got shape (3,)."),
        ([[1], [2], [3], [4]], "groups must have shape (4,), one entry per row of X, got shape (4, 1)."),
        ("abcd", "groups must have shape (4,), one entry per row of X, got shape ()."),
        ([5, 5, 5, 5], "groups must name at least 2 groups, got 1."),
        ([1.0, 2.0, np.nan, 1.0], MISSING),
        (np.array([1.0, 2.0, np.nan, 1.0], dtype=object), MISSING),
        (np.array(["2021", "2020", "NaT", "2022"], dtype="M8[Y]"), MISSING),
        (np.array(["a", None, "b", "b"], dtype=object), MIXED),
        (np.array(["a", 1, "b", "b"], dtype=object), MIXED),
        (np.array(["a", np.nan, "b", "b"], dtype=object), MISSING),
        (np.array(["a", pd.NA, "b", "b"], dtype=object), MIXED),
    ],
)
def test_groups_that_are_wrong_are_refused_in_one_sentence(groups, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        inputs.groups(groups, 4)


@given(labels=LABELS, seed=st.integers(0, 9))
def test_balanced_weights_are_scikit_learns(labels, seed):
    names, codes = np.unique(labels, return_inverse=True)
    expected = compute_class_weight("balanced", classes=names, y=np.array(labels))
    assert_allclose(inputs.class_weighted("balanced", names, codes, None), expected[codes])
    own = np.random.default_rng(seed).integers(1, 4, codes.size)
    again = np.repeat(np.arange(codes.size), own)
    repeated = compute_class_weight("balanced", classes=names, y=np.array(labels)[again])
    assert_allclose(inputs.class_weighted("balanced", names, codes, own), own * repeated[codes])


@given(labels=LABELS)
def test_given_class_weights_multiply_those_of_rows(labels):
    names, codes = np.unique(np.array(list("dbca"))[labels], return_inverse=True)
    own = np.arange(codes.size) % 3 + 1
    assert inputs.class_weighted(None, names, codes, own) is own
    found = inputs.class_weighted({names[0]: 3, names[-1]: 2.5}, names, codes, own)
    factors = np.ones(names.size)
    factors[[0, -1]] = 3, 2.5
    assert_allclose(found, own * factors[codes])


# Labels


def test_classes_are_those_with_a_name_and_two_must_have_weight():
    names, codes = inputs.classes(np.array(["b", "a", "b", "c"]), [1, 1, 1, 0])
    assert list(names) == ["a", "b", "c"]
    assert_array_equal(codes, [1, 0, 1, 2])
    with pytest.raises(ValueError, match="y must have at least 2 classes, got 1 class"):
        inputs.classes(np.array(["b", "a", "b", "c"]), [1, 0, 1, 0])


def test_known_labels_are_codes(xp):
    assert_array_equal(inputs.known(xp.asarray(np.array([30, 10])), np.array([10, 20, 30])), [2, 0])
    with pytest.raises(ValueError, match=r"y_val must hold labels of y only, got .*25"):
        inputs.known(xp.asarray(np.array([30, 25])), np.array([10, 20, 30]))


def test_one_hot_targets_are_where_inputs_are(anywhere):
    found = inputs.one_hot(np.array([2, 0]), 3, anywhere.asarray(np.zeros((2, 5))))
    assert_array_equal(anywhere.host(found), [[0, 0, 1], [1, 0, 0]])
    assert type(inputs.one_hot(np.array([2, 0]), 3, scipy.sparse.csr_array(np.zeros((2, 5))))) is np.ndarray


# All of it together


def test_rows_without_weight_are_left_out(xp):
    x, y, _ = problem(6)
    found = inputs.data(AdaptiveFourierRegressor(), xp.asarray(x), xp.asarray(y), [1, 0, 2, 0, 1, 1], None, None)
    assert_array_equal(xp.host(found.x), x[[0, 2, 4, 5]])
    assert_array_equal(xp.host(found.y), y[[0, 2, 4, 5]])
    assert_array_equal(xp.host(found.weight), [1, 2, 1, 1])
    assert inputs.data(AdaptiveFourierRegressor(), xp.asarray(x), xp.asarray(y), np.ones(6), None, None).weight is None


def test_an_int_seeds_a_generator_and_a_random_state_draws_one():
    assert inputs.generator(3).random() == np.random.default_rng(3).random()
    own = np.random.default_rng(3)
    assert inputs.generator(own) is own
    expected = np.random.default_rng(np.random.RandomState(3).randint(2**31)).random()
    assert inputs.generator(np.random.RandomState(3)).random() == expected


@pytest.mark.parametrize("estimator", [AdaptiveFourierRegressor, AdaptiveFourierClassifier, AdaptiveFourierFeatures])
def test_numpy_goes_to_the_device_and_comes_back(estimator, monkeypatch):
    torch = pytest.importorskip("torch")
    seen = []

    def there(values, device):
        seen.append(device)
        return torch.as_tensor(values)

    x = np.random.default_rng(0).standard_normal((150, 2))
    y = (x[:, 0] > 0) * 1 if estimator is AdaptiveFourierClassifier else np.sin(2 * x[:, 0])
    settings = {"sampler": "metropolis", "n_steps": 5, "regularization": 0.1, "random_state": 0}
    here = estimator(8, **settings).fit(x, y)
    monkeypatch.setattr(inputs, "on_device", there)
    model = estimator(8, device="cuda", **settings).fit(x, y)
    apply = "transform" if estimator is AdaptiveFourierFeatures else "predict"
    found = getattr(model, apply)(x)
    assert set(seen) == {"cuda"}
    assert type(found) is type(model.frequencies_) is type(model.amplitudes_) is np.ndarray
    np.testing.assert_allclose(found, getattr(here, apply)(x), atol=1e-9)


@pytest.mark.parametrize(
    ("device", "words"), [("gpu", "device must be None, 'cpu' or 'cuda', got 'gpu'"), (0, "device must be None")]
)
def test_unknown_devices_are_refused(device, words):
    with pytest.raises(ValueError, match=words):
        AdaptiveFourierRegressor(4, device=device).fit(np.zeros((5, 1)), np.arange(5.0))


def test_a_device_that_is_not_there_is_named():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match="device='cuda' needs a GPU that torch can use, found none"):
        inputs.on_device(np.zeros((5, 1)), "cuda")
    with pytest.raises(ValueError, match="device must be None for arrays of torch on cpu"):
        inputs.on_device(torch.zeros((5, 1)), "cpu")
    assert inputs.on_device(np.zeros(3), "cpu").shape == (3,)


# Inputs of predictions


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
    monkeypatch.setattr(inputs, "_is_plain", lambda estimator, X: False)
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


# Categories and missing values of arrays


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
