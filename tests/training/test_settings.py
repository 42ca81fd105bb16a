"""The settings of a fit: what they stand for, and their checks."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tables import QUICK, data, run, settings

from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import AdaptiveWalk, AnnealedWalk, RandomWalk, ScaledWalk, ShapedWalk
from fourierwalk.sampling.resampling import Resampling
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solver import Solver
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.data import Data
from fourierwalk.training.followed import Followed
from fourierwalk.training.policy import Policy
from fourierwalk.training.settings import LAST_STEP


def resolved(d, **changes):
    return settings(**changes).resolve(Data(np.zeros((3, d)), np.zeros((3, 1))))


def sampler_of(d, **changes):
    return resolved(d, **changes).sampler


@pytest.mark.parametrize("d", [1, 2, 5, 784])
def test_the_settings_of_the_paper(d):
    walk = sampler_of(d, step_size="paper", exponent="paper")
    assert walk.proposal == RandomWalk(2.4**2 / d)
    assert walk.exponent == 3 * d - 2
    assert walk.max_norm == math.inf


@pytest.mark.parametrize(("d", "exponent"), [(1, 1.0), (4, 10.0), (5, 10.0), (784, 10.0)])
def test_the_settings_of_none(d, exponent):
    walk = sampler_of(d, step_size=None, exponent=None)
    assert walk.exponent == exponent
    assert walk.proposal == RandomWalk(2.4**2 / d)


def test_a_start_of_adaptation_makes_algorithm_2():
    walk = sampler_of(2, adapt_after=7, max_norm=9.0)
    assert walk == Metropolis(AdaptiveWalk(0.8, 7), 4.0, 3, 9.0)
    assert sampler_of(2, adapt_after=7, step_size=None).proposal == AdaptiveWalk(0.1, 7)
    assert sampler_of(2, adapt_after=7, step_size="paper").proposal == AdaptiveWalk(2.4**2 / 2, 7)


def test_the_samplers_of_the_other_names():
    plain = {"step_size": None, "exponent": None}
    annealed = AnnealedWalk(ScaledWalk(ShapedWalk(Policy().wander)), LAST_STEP, 12)
    assert sampler_of(2, sampler="resampling", **plain) == Resampling(annealed)
    assert sampler_of(2, sampler="resampling", max_norm=9.0) == Resampling(RandomWalk(0.8), 1.0, 4.0, 9.0)
    assert sampler_of(2, sampler="resampling", exponent="paper").exponent == 4.0
    assert sampler_of(2, sampler="descent", **plain) == Descent()
    assert sampler_of(2, sampler="descent", max_norm=9.0) == Descent(max_norm=9.0)


def test_the_automatic_search_gets_the_settings_that_it_has_a_use_for():
    plain = {"sampler": "auto", "step_size": None, "exponent": None}
    assert resolved(2, **plain, n_steps=None, patience=None) == Automatic()
    assert resolved(2, **plain) == Automatic(n_steps=12, patience=100)
    assert resolved(2, **{**plain, "step_size": 0.8}, max_norm=9.0) == Automatic(
        proposal=RandomWalk(0.8), max_norm=9.0, n_steps=12, patience=100
    )
    assert resolved(2, **plain, adapt_after=3).proposal == AdaptiveWalk(0.1, 3)


def test_every_other_sampler_is_followed():
    walk = Metropolis(RandomWalk(0.8), 4.0, 3)
    assert resolved(2) == Followed(walk, 12, 3, 100, starts_at_zero=True)
    assert resolved(2, patience=None, n_steps=None) == Followed(walk, 1000, 3, 30, starts_at_zero=True)
    assert resolved(2, sampler="fixed") == Followed(walk, 0, 3, 100)
    assert resolved(2, sampler=walk) == resolved(2)
    assert resolved(2, sampler="descent") == resolved(2, sampler=Descent()) == Followed(Descent(), 12, 3, 100)
    resume = run().resume
    assert settings().resolve(data(), resume).resume is resume


def test_an_object_that_searches_is_used_as_it_is():
    mine = Automatic(QUICK)
    assert resolved(2, sampler=mine) is mine


def test_a_sampler_object_is_used_as_it_is():
    mine = Metropolis(RandomWalk(0.8), 4.0, 3)
    assert sampler_of(2, sampler=mine) is mine
    assert_array_equal(run(sampler=mine).model.frequencies, run().model.frequencies)
    for name, mine in (("resampling", Resampling(RandomWalk(0.8), exponent=4.0)), ("descent", Descent())):
        assert_array_equal(run(sampler=mine).model.frequencies, run(sampler=name).model.frequencies)


@pytest.mark.parametrize(
    ("sampler", "n_steps", "expected"), [("fixed", 50, 0), ("metropolis", None, 1000), ("descent", 7, 7)]
)
def test_the_number_of_steps(sampler, n_steps, expected):
    assert resolved(2, sampler=sampler, n_steps=n_steps).n_steps == expected


@pytest.mark.parametrize(("solver", "taken"), [("direct", {"direct"}), ("dual", {"dual"}), ("auto", {"direct"})])
def test_the_solver_is_the_one_asked_for(solver, taken, monkeypatch):
    paths, solve = set(), LeastSquares.__call__

    def recorded(self, frequencies):
        solution = solve(self, frequencies)
        paths.add(solution.info.path)
        return solution

    monkeypatch.setattr(LeastSquares, "__call__", recorded)
    run(solver=solver)
    assert paths == taken


# First frequencies


def test_starts():
    def first(**changes):
        return run(**changes, n_steps=0).model.frequencies

    mine = np.random.default_rng(9).standard_normal((6, 2))
    drawn = np.random.default_rng(0).standard_normal((6, 2))
    assert_array_equal(first(), np.zeros((6, 2)))
    assert_array_equal(first(sampler="fixed"), drawn)
    assert_array_equal(first(sampler="fixed", initial=0.5), 0.5 * drawn)
    assert_array_equal(first(sampler="resampling"), drawn)
    assert_array_equal(first(sampler="descent"), drawn)
    assert_array_equal(first(sampler="auto", initial=0.5, early_stopping=False), 0.5 * drawn)
    assert_array_equal(first(sampler="auto", initial=mine, early_stopping=False), mine)
    assert_array_equal(first(sampler=Metropolis(RandomWalk(1.0), 1.0)), np.zeros((6, 2)))
    assert_array_equal(first(initial=2), 2 * drawn)
    assert_array_equal(first(initial=mine), mine)
    assert_array_equal(first(initial=mine.tolist()), mine)
    assert_array_equal(first(initial=mine, n_frequencies="auto"), mine)
    assert_array_equal(first(initial=mine, n_frequencies="auto", sampler="auto", early_stopping=False), mine)
    assert first(n_frequencies="auto").shape == (Policy().usual, 2)
    assert first(n_frequencies="auto", initial=1.0).shape == (Policy().usual, 2)
    assert first(features="sigmoid").shape == (6, 3)


def test_a_start_of_another_library_is_taken(xp):
    mine = np.random.default_rng(9).standard_normal((6, 2))
    assert_array_equal(run(initial=xp.asarray(mine), n_steps=0).model.frequencies, mine)
    assert_array_equal(xp.host(run(xp, initial=mine, n_steps=0).model.frequencies), mine)


@pytest.mark.parametrize(
    ("initial", "sentence"),
    [
        (np.zeros((6, 3)), r"initial must be a number or an array of shape \(6, 2\), got shape \(6, 3\)"),
        (np.zeros(6), r"initial must .*got shape \(6,\)"),
        (np.full((6, 2), np.nan), "initial must be finite, got NaN or infinity"),
    ],
)
def test_starts_that_do_not_fit(initial, sentence):
    with pytest.raises(ValueError, match=sentence):
        run(initial=initial)


# Checks


def test_the_defaults_of_a_check_pass():
    settings().check()
    settings(sampler=Metropolis(RandomWalk(1.0), 1.0), max_norm=math.inf, initial=np.zeros((6, 2))).check()


@pytest.mark.parametrize(
    ("solver", "words"),
    [
        (Solver("qr"), r"solver.path must be one of .* got 'qr'"),
        (Solver(precision="half"), r"solver.precision must be one of .* got 'half'"),
        (Solver(batch_size=0), "solver.batch_size must be a whole number of at least 1, got 0"),
        (Solver(max_memory=-1), "solver.max_memory must be a finite number above 0 or None, got -1"),
    ],
)
def test_bad_solvers(solver, words):
    with pytest.raises(ValueError, match=words):
        settings(solver=solver).check()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_frequencies": 0}, "n_frequencies must be"),
        ({"n_frequencies": "many"}, "n_frequencies must be"),
        ({"clamp": "sometimes"}, "clamp must be one of"),
        ({"max_seconds": 0}, "max_seconds must be a finite number above 0 or None, got 0"),
        ({"sampler": "auto"}, "exponent must be None for sampler='auto', which has no Metropolis test, got 4.0"),
        ({"verbose": -1}, "verbose must be"),
        ({"standardize": "often"}, "standardize must be one of"),
    ],
    ids=str,
)
def test_bad_settings(changes, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        settings(**changes).check()


def test_settings_that_are_good():
    for changes in (
        {"n_frequencies": "auto", "sampler": "auto", "exponent": None},
        {"clamp": True},
        {"clamp": "auto"},
        {"max_seconds": 0.5},
        {"verbose": True},
        {"standardize": "robust"},
        {"sampler": Automatic(QUICK)},
    ):
        settings(**changes).check()
