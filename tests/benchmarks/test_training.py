"""The hard jobs run at toy sizes, and their data are what they say."""

import numpy as np
import pytest
import scipy.sparse

from fourierwalk.benchmarks import training
from fourierwalk.training.policy import DEFAULT

QUICK = [name for name in training.BENCHES if name not in ("irrelevant", "many-rows")]


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.filterwarnings("ignore:Nothing was found:UserWarning")  # toy sizes
def test_a_job_at_toy_size(name):
    figures = list(training.BENCHES[name](50))
    assert len(figures) >= 2
    assert all(np.isfinite(figure.value) for figure in figures)
    if name in ("noise", "after-the-data"):  # these hold at every size
        assert all(figure.met for figure in figures)


def test_texts_are_sparse_counts_whose_classes_differ():
    x, y = training.texts(400)
    assert scipy.sparse.issparse(x)
    assert x.shape == (400, training.N_WORDS)
    assert set(y) == {0, 1}
    np.testing.assert_array_equal(x.sum(axis=1), training.WORDS_A_TEXT)
    means = [np.asarray(x[np.flatnonzero(y == label)].mean(axis=0)) for label in (0, 1)]
    assert np.max(np.abs(means[0] - means[1])) > 0.05
    same, labels = training.texts(400)
    assert (same != x).nnz == 0
    np.testing.assert_array_equal(labels, y)


def test_predictions_beyond_the_range_are_measured():
    days = np.arange(40.0)[:, None]
    y = np.where(days[:, 0] < 20, np.sin(days[:, 0]), 9.0)
    assert training._beyond(days, y, slice(0, 20), 0) <= DEFAULT.margin
