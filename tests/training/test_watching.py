"""Searches that end by themselves, by a deadline, or by an interruption."""

import math
import time

import numpy as np
import pytest
from tables import (
    QUICK,
    automatic,
    data,
)

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.data.features import CosineSine
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.ensemble import Ensemble
from fourierwalk.training.history import Decision
from fourierwalk.training.progress import Progress
from fourierwalk.training.selection import Look
from fourierwalk.training.watching import watch


def search_of(*yields, ends=None):
    """A search that yields these, and then returns or raises."""
    yield from yields
    if isinstance(ends, BaseException):
        raise ends
    return ends


def watched(search, deadline=math.inf):
    return watch(search, [Decision("first")], deadline, [Progress(0).see])


def found_of(step):
    return Ensemble((step,), (None,), None)


def test_a_search_that_ends_by_itself_has_the_last_word():
    look = Look(3, 0.5, 0.1)
    seen = watched(search_of(look, found_of(1), ends=found_of(2)))
    assert seen == ((found_of(2)), [Decision("first"), look], False)


def test_an_interrupted_search_has_the_best_model_so_far():
    look = Look(3, 0.5, 0.1)
    seen = watched(search_of(found_of(1), found_of(2), look, ends=KeyboardInterrupt()))
    assert seen.ensemble == found_of(2)
    assert seen.interrupted
    assert seen.events == [Decision("first"), look, Decision("interrupted: the best model so far")]
    with pytest.raises(KeyboardInterrupt):  # there is nothing yet
        watched(search_of(look, ends=KeyboardInterrupt()))


def test_watchers_see_the_first_and_the_last_decision():
    told = []
    search = search_of(found_of(1), Look(1, 0.5, 0.1), ends=found_of(3))
    seen = watch(search, [Decision("first")], time.monotonic() - 1, [lambda event: bool(told.append(event))])
    assert told == seen.events == [Decision("first"), Decision("max_seconds have passed: the best model so far")]


def test_a_deadline_waits_for_the_first_model():
    search = search_of(Look(1, 0.5, 0.1), found_of(1), found_of(2), ends=found_of(3))
    seen = watched(search, time.monotonic() - 1)
    assert seen.ensemble == found_of(1)
    assert not seen.interrupted
    assert seen.events[-1] == Decision("max_seconds have passed: the best model so far")
    assert next(search, "closed") == "closed"


def test_max_seconds_end_a_fit_with_a_model():
    whole, short = (automatic(max_seconds=most).run(data(), np.random.default_rng(0)) for most in (None, 1e-9))
    assert len(short.history.infos) < len(whole.history.infos)
    assert short.model.frequencies.shape == (4, 2)
    assert "max_seconds have passed: the best model so far" in short.history.decisions
    assert not short.interrupted
    x, y = data()[:2]
    assert np.mean((short.model(x) - y) ** 2) < np.var(y)
    assert automatic(max_seconds=1e9).run(data(), np.random.default_rng(0)).history.decisions == whole.history.decisions


class Interrupted(CosineSine):
    """Features of a user who loses patience at the n-th gradient."""

    def __init__(self, n):
        object.__setattr__(self, "left", [n])

    def gradient(self, block, frequencies, amplitudes):
        self.left[0] -= 1
        if self.left[0] == 0:
            raise KeyboardInterrupt
        return super().gradient(block, frequencies, amplitudes)


@pytest.mark.parametrize("estimator", [AdaptiveFourierRegressor, AdaptiveFourierClassifier])
def test_an_interrupted_fit_leaves_its_best_model_and_is_interrupted(estimator):
    x, y = data()[:2]
    y = y[:, 0] > y.mean() if estimator is AdaptiveFourierClassifier else y[:, 0]
    features = Interrupted(25)
    model = estimator(sampler=Automatic(QUICK), features=features, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y)
    assert features.left == [0]  # nothing was searched for after that
    assert model.score(x, y) > 0.2
    assert model.n_frequencies_ == len(model.frequencies_) == len(model.amplitudes_) > 0
    assert "interrupted: the best model so far" in model.history_.decisions
    early = estimator(sampler=Automatic(QUICK), features=Interrupted(1), random_state=0)
    with pytest.raises(KeyboardInterrupt):
        early.fit(x, y)
    assert not hasattr(early, "model_")
