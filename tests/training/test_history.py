import pickle

import numpy as np
from numpy.testing import assert_array_equal

from fourierwalk.sampling.sampler import Info
from fourierwalk.training.history import Decision, History
from fourierwalk.training.selection import Look

INFOS = [Info(1, 0.5, 2.0, 9.0), Info(2, 0.25, 3.0, 8.0, None, "resampling"), Info(3, 1.0, 4.0, 7.0, None, "descent")]
LOOKS = [Look(0, 5.0, 0.1, "start"), Look(3, 4.0, 0.2)]


def test_columns():
    history = History(INFOS, LOOKS, ("one decision",))
    assert_array_equal(history.step, [1, 2, 3])
    assert history.step.dtype == np.int64
    assert_array_equal(history.acceptance, [0.5, 0.25, 1.0])
    assert_array_equal(history.step_size, [2.0, 3.0, 4.0])
    assert_array_equal(history.loss, [9.0, 8.0, 7.0])
    assert history.phase == ["walk", "resampling", "descent"]
    assert_array_equal(history.validation, [[0, 5.0], [3, 4.0]])


def test_a_history_of_events():
    """By their kind, in the order in which they came; what is neither is not kept."""
    one, two = Decision("one"), Decision("two")
    events = [one, LOOKS[0], INFOS[0], INFOS[1], two, INFOS[2], LOOKS[1], "something else"]
    history = History.of(iter(events))
    assert history == History(INFOS, LOOKS, ("one", "two"))
    assert History.of([]) == History([], [], ())


def test_an_empty_history_has_empty_columns():
    history = History([])
    for column in (history.step, history.acceptance, history.step_size, history.loss):
        assert column.shape == (0,)
    assert history.validation.shape == (0, 2)
    assert history.phase == []
    assert tuple(history.looks) == tuple(history.decisions) == ()


def test_histories_pickle():
    history = pickle.loads(pickle.dumps(History(INFOS, LOOKS, ("one decision",))))
    assert list(history.infos) == INFOS
    assert list(history.looks) == LOOKS
    assert history.decisions == ("one decision",)


def test_events_pickle():
    events = [Decision("one decision"), LOOKS[1], INFOS[2]]
    again = pickle.loads(pickle.dumps(events))
    assert again == events
    assert [type(event) for event in again] == [Decision, Look, Info]
