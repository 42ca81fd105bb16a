import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.class_weight import compute_class_weight

from fourierwalk import inputs

LABELS = st.lists(st.integers(0, 3), min_size=5, max_size=30).filter(lambda labels: len(set(labels)) > 1)


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
