import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.proposals import AdaptiveWalk, RandomWalk, TargetedWalk, covariance_root

WALKS = [
    RandomWalk(0.3),
    AdaptiveWalk(0.3, 1),
    TargetedWalk(RandomWalk(0.3), 0.5),
    TargetedWalk(AdaptiveWalk(0.3, 1), 0.5),
]
every_walk = pytest.mark.parametrize("walk", WALKS, ids=str)


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@every_walk
def test_one_seed_proposes_the_same_in_every_library(walk, anywhere):
    start = drawn(6, 2)

    def proposals(asarray):
        rng, omega = np.random.default_rng(1), asarray(start)
        state = walk.init(omega)
        for _ in range(5):
            omega = walk.propose(rng, state, omega)
            state = walk.update(state, omega, 0.7)
        return omega

    assert_allclose(anywhere.host(proposals(anywhere.asarray)), proposals(np.asarray), rtol=0, atol=1e-12)


@every_walk
def test_proposals_leave_what_they_are_given_alone(walk):
    omega = drawn(6, 2)
    state, before = walk.init(omega), omega.copy()
    walk.update(state, walk.propose(np.random.default_rng(0), state, omega), 0.5)
    assert_array_equal(omega, before)


@every_walk
def test_the_first_proposal_has_the_step_size_as_standard_deviation(walk):
    omega = np.zeros((20000, 2))
    state = walk.init(omega)
    assert walk.length(state) == 0.3
    assert_allclose(np.cov(walk.propose(np.random.default_rng(0), state, omega).T), 0.09 * np.eye(2), atol=0.003)


def test_random_walk_moves_from_where_it_is():
    omega = drawn(5, 2)
    moved = RandomWalk(0.5).propose(np.random.default_rng(7), None, omega)
    assert_array_equal(moved, omega + 0.5 * np.random.default_rng(7).standard_normal((5, 2)))


@given(n_steps=st.integers(1, 12), adapt_after=st.integers(0, 12))
def test_the_covariance_is_that_of_all_past_frequencies(n_steps, adapt_after):
    past = [drawn(4, 3, seed=i) * [1, 5, 0.2] + [3, 0, -1] for i in range(n_steps)]
    walk = AdaptiveWalk(1.0, adapt_after)
    state = walk.init(past[0])
    for omega in past:
        state = walk.update(state, omega, 0.5)
    expected = np.cov(np.concatenate(past).T, bias=True) if n_steps > adapt_after else np.eye(3)
    assert state.n_steps == n_steps
    assert_allclose(state.root @ state.root.T, expected, atol=1e-8)


def test_adapted_proposals_have_the_spread_of_the_covariance():
    """Fails where the adapted covariance is not used: steps would be as wide in each direction."""
    turned = np.array([[3.0, 0.0], [1.0, 0.1]])
    walk, past = AdaptiveWalk(0.5, 0), drawn(20000, 2) @ turned.T
    state = walk.update(walk.init(past), past, 0.5)
    moves = walk.propose(np.random.default_rng(3), state, past) - past
    assert_allclose(np.cov(moves.T), 0.25 * turned @ turned.T, rtol=0.05)


def test_adaptation_starts_after_its_step():
    walk, past = AdaptiveWalk(1.0, 2), 10 * drawn(50, 2)
    state = walk.init(past)
    roots = []
    for _ in range(3):
        state = walk.update(state, past, 0.5)
        roots.append(state.root)
    assert_array_equal(roots[0], np.eye(2))
    assert_array_equal(roots[1], np.eye(2))
    assert roots[2][0, 0] > 5


@given(st.integers(1, 6), st.integers(0, 99), st.sampled_from([1e-9, 1.0, 1e9]))
def test_covariance_root(d, seed, size):
    factor = size * drawn(d, d, seed=seed)
    covariance = factor @ factor.T
    root = covariance_root(covariance)
    assert_array_equal(root, np.tril(root))
    assert_allclose(root @ root.T, covariance, rtol=0, atol=2e-10 * max(np.trace(covariance), 1e-12))


@pytest.mark.parametrize("covariance", [np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 0.0])], ids=["0", "1", "flat"])
def test_a_singular_covariance_has_a_root(covariance, anywhere):
    root = anywhere.host(covariance_root(anywhere.asarray(covariance)))
    assert_allclose(root @ root.T, covariance, atol=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.1, 0.9))
def test_the_step_follows_the_acceptance(acceptances, target):
    walk, omega = TargetedWalk(RandomWalk(2.0), target), np.zeros((3, 1))
    state, logarithm = walk.init(omega), 0.0
    for i, acceptance in enumerate(acceptances, start=1):
        state = walk.update(state, omega, acceptance)
        logarithm += (acceptance - target) / math.sqrt(i)
    assert state.n_steps == len(acceptances)
    assert walk.length(state) == pytest.approx(2.0 * math.exp(logarithm))
    moves = walk.propose(np.random.default_rng(0), state, omega)
    assert_allclose(moves, walk.length(state) * np.random.default_rng(0).standard_normal((3, 1)))


def test_a_targeted_walk_keeps_what_its_inner_walk_learns():
    inner, omega = AdaptiveWalk(1.0, 0), 10 * drawn(200, 2)
    walk = TargetedWalk(inner, 0.5)
    state = walk.update(walk.init(omega), omega, 0.5)
    assert_array_equal(state.inner.root, inner.update(inner.init(omega), omega, 0.5).root)
    assert state.inner.root[0, 0] > 5
