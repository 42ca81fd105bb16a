"""A sampler that is followed from one start, and goes on where an earlier fit was left."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tables import QUICK, automatic, data, drained, run, settings

from fourierwalk.data.features import CosineSine
from fourierwalk.data.scaling import Scaling
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Info, Metropolis
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.minibatch import Minibatch
from fourierwalk.solving.solver import Solver
from fourierwalk.training.ensemble import Ensemble
from fourierwalk.training.history import Decision
from fourierwalk.training.selection import Look
from fourierwalk.training.starts import Start
from fourierwalk.training.task import Task

# A search


def test_what_is_followed_yields_its_steps_and_looks():
    one = settings(early_stopping=True)
    search = one.resolve(data())
    start = one.start(CosineSine(), data(), None)
    panel = Task(one, data(), search, start, CosineSine(), Solver(), 7, None).prepared()[1]
    yielded, found = drained(search.search(panel, Start(6, 2, 2), np.random.default_rng(0)))
    events = [type(each) for each in yielded if isinstance(each, Info | Look)]
    assert events == [Look, *[*[Info] * 3, Look] * 4]
    assert sum(isinstance(each, Ensemble) for each in yielded) == 16  # the best so far, after each step and each look
    assert found.state.step == 12
    best = min((each for each in yielded if isinstance(each, Look)), key=lambda look: look.error)
    assert found.members[0].look.step == best.step
    assert found.judges[0].held_out.x.shape == (30, 2)
    assert Decision("12 steps: all steps done") in yielded


@pytest.mark.parametrize("sampler", ["resampling", "descent"])
def test_other_samplers_lower_the_loss_and_keep_their_last_state(sampler):
    fit = run(sampler=sampler, n_steps=40, step_size=None, exponent=None)
    assert fit.history.loss[-1] < 0.9 * fit.history.loss[0]
    assert_array_equal(fit.model.frequencies, fit.resume.state.frequencies)
    assert set(fit.history.phase) == {sampler}


def test_batches_are_drawn_in_every_walk(monkeypatch):
    drawn = []
    monkeypatch.setattr(Minibatch, "__call__", lambda self, omega: drawn.append(1) or self.problem(omega))
    batches = {"solver": Solver("direct", batch_size=20)}
    for sampler in ("metropolis", "resampling"):
        run(sampler=sampler, exponent=None, step_size=None, **batches)
        assert len(drawn) >= 12, sampler
        drawn.clear()
    run(sampler="descent", **batches)  # on all rows: its line search compares losses
    automatic(**batches).run(data(), np.random.default_rng(0))
    assert drawn == []


def test_frequencies_that_run_away_end_the_walk_with_advice():
    """Steps of a million, and a test that accepts all of them."""
    wild = Metropolis(RandomWalk(1e6), 1e-9, 3)
    with pytest.warns(RuntimeWarning, match="a smaller step_size, a max_norm, or a larger regularization"):
        fit = run(sampler=wild, n_steps=100)
    assert fit.resume.state.step == 3
    assert any("the frequencies grew without end" in words for words in fit.history.decisions)
    assert np.all(np.isfinite(fit.model(data().x)))
    assert run(sampler=replace(wild, max_norm=10.0), n_steps=9).resume.state.step == 9  # and no warning


# The state that is kept


def test_the_best_state_is_kept():
    fit = run(seed=1, early_stopping=True, n_steps=60, step_size=2.0)
    errors = fit.history.validation[:, 1]
    best = fit.history.looks[int(np.argmin(errors))]
    assert 0 < np.argmin(errors) < len(errors) - 1  # else the test shows nothing
    short = run(seed=1, early_stopping=True, n_steps=best.step, step_size=2.0)
    assert_array_equal(fit.model.frequencies, short.resume.state.frequencies)
    assert np.any(fit.model.frequencies != fit.resume.state.frequencies)
    assert fit.resume.best_step == best.step
    kept = f"the state of step {best.step} was kept, with held-out error {best.error:.4g}"
    assert kept in fit.history.decisions


def test_the_last_state_is_kept_where_there_is_no_choice():
    fit = run()
    assert_array_equal(fit.model.frequencies, fit.resume.state.frequencies)
    assert not any("was kept" in words for words in fit.history.decisions)


def test_states_are_looked_at_when_amplitudes_are_fresh_and_at_the_end():
    fit = run(early_stopping=True, n_steps=10, refit_every=4)
    assert_array_equal(fit.history.validation[:, 0], [0, 4, 8, 10])
    assert [look.phase for look in fit.history.looks] == ["walk"] * 4


def test_patience_ends_the_walk():
    fit = run(seed=1, early_stopping=True, n_steps=300, step_size=2.0, patience=3)
    errors = fit.history.validation[:, 1]
    assert len(errors) - 1 - np.argmin(errors) == 3
    assert fit.resume.state.step == fit.history.step[-1] == fit.history.validation[-1, 0] < 300


# Warm starts


def test_a_resumed_walk_is_unbroken(xp):
    first = settings(n_steps=7)
    rng = np.random.default_rng(0)
    part = first.run(data(xp), rng)
    whole, resumed = run(xp), settings(n_steps=5).run(data(xp), rng, part.resume)
    assert_array_equal(xp.host(resumed.model.frequencies), xp.host(whole.model.frequencies))
    assert_array_equal(xp.host(resumed.model.amplitudes), xp.host(whole.model.amplitudes))
    assert resumed.resume.state.step == 12


def test_a_warm_start_keeps_its_held_out_rows_and_its_best_state():
    rng = np.random.default_rng(0)
    first = settings(early_stopping=True).run(data(), rng)
    second = settings(early_stopping=True, n_steps=3).run(data(), rng, first.resume)
    assert second.resume.split_seed == first.resume.split_seed
    best = min(first.history.looks, key=lambda look: look.error)
    assert second.history.looks[0] == best
    assert first.resume.best_step == best.step
    assert second.history.looks[1].step == first.resume.state.step
    assert min(look.error for look in second.history.looks) <= best.error


def test_a_warm_start_of_an_average_with_another_sampler_keeps_all_frequencies():
    rng = np.random.default_rng(0)
    first = automatic(replace(QUICK, widening=0.9), n_frequencies=23).run(data(n_rows=300), rng)  # growth does not pay
    assert len(first.resume.state.frequencies) < 23  # of one member
    second = settings(sampler="descent", n_frequencies=23, n_steps=0).run(data(n_rows=300), rng, first.resume)
    assert_array_equal(second.model.frequencies, first.model.frequencies)


def test_a_warm_start_with_another_sampler_walks_on_from_its_frequencies():
    rng = np.random.default_rng(0)
    first = settings(sampler="resampling").run(data(), rng)
    second = settings(sampler="descent").run(data(), rng, first.resume)
    problem = LeastSquares(Scaling.fit(*data()[:3]).rows(*data()[:3]), CosineSine(), 0.1)
    state = Descent().init(problem, first.resume.state.frequencies)._replace(step=12)
    *_, (descended, _) = Descent().sample(problem, state, None, 12)
    assert second.resume.state.step == descended.step == 24
    assert_allclose(second.model.frequencies, descended.frequencies, atol=1e-9)


@pytest.mark.parametrize("changes", [{"adapt_after": 2}, {"step_size": None}, {"step_size": 0.1}], ids=str)
def test_a_warm_start_with_another_proposal_walks_on_from_its_frequencies(changes):
    rng = np.random.default_rng(0)
    first = settings(early_stopping=False).run(data(), rng)
    stayed = settings(early_stopping=False, n_steps=0, **changes).run(data(), rng, first.resume)
    assert_array_equal(stayed.model.frequencies, first.resume.state.frequencies)
    moved = settings(early_stopping=False, n_steps=4, **changes).run(data(), rng, first.resume)
    assert moved.resume.state.step == first.resume.state.step + 4
    assert np.any(moved.model.frequencies != stayed.model.frequencies)


@pytest.mark.parametrize("sampler", ["metropolis", "descent"])
@pytest.mark.parametrize("early_stopping", [True, False])
def test_a_deadline_ends_any_sampler_with_the_best_model_so_far(sampler, early_stopping):
    seen = []
    one = settings(sampler=sampler, n_steps=10_000, early_stopping=early_stopping)
    fit = one.run(data(), np.random.default_rng(0), watchers=[lambda event: seen.append(event) or len(seen) > 40])
    taken = [event for event in seen if isinstance(event, Info)]
    assert len(taken) < 60
    assert fit.resume.state.step == len(taken) - 1 or early_stopping  # a step counts once the walk can go on from it
    assert np.any(fit.model.amplitudes)
    assert fit.history.decisions[-2].startswith("a callback ended the fit: the best model so far")
