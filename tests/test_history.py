import pickle

import numpy as np
from numpy.testing import assert_array_equal

from fourierwalk.history import History
from fourierwalk.sampler import Info
from fourierwalk.selection import Check

INFOS = [Info(1, 0.5, 2.0, 9.0), Info(2, 0.25, 3.0, 8.0), Info(3, 1.0, 4.0, 7.0)]
CHECKS = [Check(0, 5.0, 0.1, np.zeros((2, 1))), Check(3, 4.0, 0.2, np.ones((2, 1)))]


def test_columns():
    history = History(INFOS, CHECKS, ("one decision",))
    assert_array_equal(history.step, [1, 2, 3])
    assert history.step.dtype == np.int64
    assert_array_equal(history.acceptance, [0.5, 0.25, 1.0])
    assert_array_equal(history.step_size, [2.0, 3.0, 4.0])
    assert_array_equal(history.loss, [9.0, 8.0, 7.0])
    assert_array_equal(history.validation, [[0, 5.0], [3, 4.0]])


def test_an_empty_history_has_empty_columns():
    history = History([])
    for column in (history.step, history.acceptance, history.step_size, history.loss):
        assert column.shape == (0,)
    assert history.validation.shape == (0, 2)
    assert tuple(history.decisions) == ()


def test_histories_pickle():
    history = pickle.loads(pickle.dumps(History(INFOS, CHECKS, ("one decision",))))
    assert list(history.infos) == INFOS
    assert history.decisions == ("one decision",)
    assert_array_equal(history.checks[1].frequencies, CHECKS[1].frequencies)
