"""Averages, and whether they beat the mean of the targets."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from searches import KIND, panel

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.sampling.sampler import State
from fourierwalk.training.ensemble import Ensemble, averaged, doubt
from fourierwalk.training.policy import Policy
from fourierwalk.training.selection import Candidate, Look


def test_an_average_predicts_the_mean_of_its_members(xp):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, 2))
    models = [(rng.standard_normal((n, 2)), rng.standard_normal((2 * n, 3))) for n in (3, 4, 4)]
    models = [(omega, KIND.amplitudes(unknowns)) for omega, unknowns in models]
    members = [Candidate(Look(0, 1.0, 0.1), xp.asarray(omega), xp.asarray(beta)) for omega, beta in models]
    omega, beta = averaged(members)
    assert xp.host(omega).shape == (11, 2)

    def values(omega, beta):
        return (np.exp(1j * x @ omega.T) @ beta).real

    assert_allclose(
        values(xp.host(omega), xp.host(beta)), np.mean([values(*one) for one in models], axis=0), atol=1e-12
    )
    one = averaged(members[:1])
    assert_array_equal(xp.host(one[1]), models[0][1])


class Judge:
    """Gains that are given, in the place of a selection."""

    def __init__(self, *gains):
        self._gains = np.array(gains)

    def gains(self, member):
        return self._gains


def found_of(*judges):
    nothing = Candidate(Look(0, 1.0, 0.1), None, None)
    return Ensemble((nothing,) * len(judges), judges, State(0, None, None, None))


def sure_by(n):
    return replace(Policy(), sure=n)


def test_a_model_must_beat_the_mean_surely():
    """By so many standard errors of all held-out rows together."""
    gains = np.array([1.0, -1.0, 1.0, 1.0])
    ratio = np.mean(gains) / (np.std(gains) / math.sqrt(4))
    for judges in ((Judge(*gains),), (Judge(*gains[:2]), Judge(*gains[2:]))):
        assert found_of(*judges).beats_the_mean(sure_by(0.99 * ratio))
        assert not found_of(*judges).beats_the_mean(sure_by(1.01 * ratio))
    assert not found_of(Judge(0.0, 0.0)).beats_the_mean(sure_by(0.0))


def test_the_doubt_of_a_gain_is_its_standard_error():
    """Of the mean over all distinct validation rows. A common weight of all rows, or rows twice, change nothing."""
    one = panel(n_rows=200).split(0)
    judge, rng = one.selection, np.random.default_rng(0)
    candidates = [judge.look(0, rng.standard_normal((n, 2))) for n in (2, 5, 9)]
    errors = [
        (candidate.values(judge.held_out, KIND.features) - judge.held_out.y)[:, 0] ** 2 for candidate in candidates
    ]
    gains = errors[0] - errors[1], errors[1] - errors[2]
    n = len(gains[0])
    assert doubt([judge], candidates[:1], candidates[1:2]) == pytest.approx(np.std(gains[0]) / math.sqrt(n))
    both = doubt([judge, judge], candidates[:2], candidates[1:])
    assert both == pytest.approx(np.std(np.concatenate(gains)) / math.sqrt(2 * n))
    heavier = replace(judge, held_out=replace(judge.held_out, weight=np.full(n, 3.0)))
    twice = replace(judge, held_out=judge.held_out.take(np.tile(np.arange(n), 2)))
    for same in (heavier, twice):
        assert doubt([same], candidates[:1], candidates[1:2]) == pytest.approx(np.std(gains[0]) / math.sqrt(n))


def test_a_model_that_wins_every_fold_beats_the_mean():
    unsure = Judge(-1.0, 1.4)  # a gain of 0.2 where the error is 1: a sixth of the mean's
    assert found_of(*[unsure] * 5).beats_the_mean(sure_by(10.0))
    assert not found_of(*[unsure] * 4).beats_the_mean(sure_by(10.0))
    one_gains_a_twentieth = found_of(*[unsure] * 4, Judge(-1.0, 1.1))
    assert not one_gains_a_twentieth.beats_the_mean(sure_by(10.0))


def test_a_model_that_leaves_next_to_nothing_beats_the_mean_in_one_fold():
    heavy = Judge(*[0.01] * 30, 50.0)  # most of the gain is one row's
    for error, beats in ((0.01, True), (1.0, False)):
        member = Candidate(Look(0, error, 0.1), None, None)
        found = Ensemble((member,), (heavy,), State(0, None, None, None))
        assert found.beats_the_mean(sure_by(3.0)) is beats
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 2))
    model = AdaptiveFourierRegressor(16, random_state=0).fit(x[:160], x[:160, 0] ** 2)
    assert model.score(x[160:], x[160:, 0] ** 2) > 0.9


def test_a_constant_model_is_the_mean_of_the_targets_from_whatever_they_are_measured():
    split = panel().split(0)
    member = split.selection.look(0, np.random.default_rng(0).standard_normal((5, 2)))
    for mean, expected in ((None, 0.0), (np.array([0.7]), 0.7)):
        judge = replace(split.selection, mean=mean)
        (constant,) = Ensemble.of([member], [judge]).constant().members
        assert constant.is_constant
        assert constant.frequencies.shape == (5, 2)
        assert_allclose(constant.values(judge.held_out, KIND.features), np.full((len(judge.held_out), 1), expected))


def test_the_gains_of_a_judge_are_those_over_the_constant_model():
    where = panel()
    split = where.split(0)
    member = split.selection.look(0, np.random.default_rng(0).standard_normal((20, 2)))
    targets, mask = where.y[where.mask(0)], where.mask(0)
    values = (np.exp(1j * where.x[mask] @ member.frequencies.T) @ member.amplitudes).real
    gains = (targets**2 - (values - targets) ** 2)[:, 0]
    expected = np.mean(gains) / (np.std(gains) / math.sqrt(len(gains)))
    held_out = split.selection.held_out
    n = len(held_out)
    for rows in (held_out, held_out.take(np.tile(np.arange(n), 3)), replace(held_out, weight=np.full(n, 3.0))):
        judge = replace(split.selection, held_out=rows)
        found = Ensemble((member,), (judge,), State(0, None, None, None))
        assert found.beats_the_mean(sure_by(0.99 * expected))
        assert not found.beats_the_mean(sure_by(1.01 * expected))
