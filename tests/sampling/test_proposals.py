import math
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fourierwalk.sampling.proposals import (
    AdaptiveWalk,
    AnnealedWalk,
    RandomWalk,
    ScaledWalk,
    ShapedWalk,
    TargetedWalk,
    covariance_root,
)

ROUND = [
    RandomWalk(0.3),
    AdaptiveWalk(0.3, 1),
    TargetedWalk(RandomWalk(0.3), 0.5),
    TargetedWalk(AdaptiveWalk(0.3, 1), 0.5),
    AnnealedWalk(RandomWalk(0.3), 0.1, 4),
]
WALKS = [
    *ROUND,
    ShapedWalk(0.3),
    ShapedWalk(0.3, 2.0),
    ScaledWalk(RandomWalk(0.3), 0.5),
    AnnealedWalk(ScaledWalk(ShapedWalk(0.3)), 0.1, 4),
]
every_walk = pytest.mark.parametrize("walk", WALKS, ids=str)


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def amplitudes(n, n_outputs=2, seed=5):
    return drawn(n, n_outputs, seed=seed) + 1j * drawn(n, n_outputs, seed=seed + 1)


@pytest.mark.parametrize("d", [2, 9])
@every_walk
def test_one_seed_proposes_the_same_in_every_library(walk, d, anywhere):
    start = drawn(6, d)

    def proposals(asarray):
        rng, omega, beta = np.random.default_rng(1), asarray(start), asarray(amplitudes(6))
        state = walk.init(omega)
        for _ in range(5):
            omega = walk.propose(rng, state, omega)
            state = walk.update(state, omega, beta, 0.7)
        return omega

    assert_allclose(anywhere.host(proposals(anywhere.asarray)), proposals(np.asarray), rtol=0, atol=1e-12)


@every_walk
def test_proposals_leave_what_they_are_given_alone(walk):
    omega = drawn(6, 2)
    state, beta = walk.init(omega), amplitudes(6)
    before = pickle.dumps((omega, state, beta))
    walk.update(state, walk.propose(np.random.default_rng(0), state, omega), beta, 0.5)
    assert pickle.dumps((omega, state, beta)) == before


@pytest.mark.parametrize("walk", ROUND, ids=str)
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
        state = walk.update(state, omega, None, 0.5)
    expected = np.cov(np.concatenate(past).T, bias=True) if n_steps > adapt_after else np.eye(3)
    assert state.n_steps == n_steps
    assert_allclose(state.root @ state.root.T, expected, atol=1e-8)


def test_adapted_proposals_have_the_spread_of_the_covariance():
    """Fails where the adapted covariance is not used: steps would be as wide in each direction."""
    turned = np.array([[3.0, 0.0], [1.0, 0.1]])
    walk, past = AdaptiveWalk(0.5, 0), drawn(20000, 2) @ turned.T
    state = walk.update(walk.init(past), past, None, 0.5)
    moves = walk.propose(np.random.default_rng(3), state, past) - past
    assert_allclose(np.cov(moves.T), 0.25 * turned @ turned.T, rtol=0.05)


def test_adaptation_starts_after_its_step():
    walk, past = AdaptiveWalk(1.0, 2), 10 * drawn(50, 2)
    state = walk.init(past)
    roots = []
    for _ in range(3):
        state = walk.update(state, past, None, 0.5)
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


NO_COVARIANCE = {
    "indefinite": [[4.0, 7.0], [7.0, 9.0]],
    "negative": [[4.0, 0.0], [0.0, -1e-9]],
}


@pytest.mark.parametrize("covariance", NO_COVARIANCE.values(), ids=NO_COVARIANCE)
def test_what_rounding_left_no_covariance_has_the_root_of_its_diagonal(covariance, anywhere):
    root = anywhere.host(covariance_root(anywhere.asarray(np.array(covariance))))
    assert_allclose(root, np.diag(np.sqrt(np.maximum(np.diag(covariance), 1e-10 * np.trace(covariance) / 2))))


def test_a_mean_far_larger_than_the_spread_is_adapted_to(anywhere):
    """The sums of Algorithm 2 cancel: what is left of C̄ is rounding, and not positive definite."""
    walk = AdaptiveWalk(0.01, 0)
    state = walk.init(anywhere.asarray(np.zeros((1, 2))))
    for i in range(20):
        past = np.array([[1e3, -2e3]]) + 1e-6 * drawn(1, 2, seed=i)
        state = walk.update(state, anywhere.asarray(past), None, 0.5)
        root = anywhere.host(state.root)
        assert np.all(np.isfinite(root))
        assert np.all(np.diag(root) > 0)
    covariance = anywhere.host(state.products) / 20 - np.outer(*[anywhere.host(state.total) / 20] * 2)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(covariance)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.1, 0.9))
def test_the_step_follows_the_acceptance(acceptances, target):
    walk, omega = TargetedWalk(RandomWalk(2.0), target), np.zeros((3, 1))
    state, logarithm, most = walk.init(omega), 0.0, math.log(10)
    for i, acceptance in enumerate(acceptances, start=1):
        state = walk.update(state, omega, None, acceptance)
        logarithm = min(max(logarithm + (acceptance - target) / math.sqrt(i), -most), most)
    assert state.n_steps == len(acceptances)
    assert walk.length(state) == pytest.approx(2.0 * math.exp(logarithm))
    moves = walk.propose(np.random.default_rng(0), state, omega)
    assert_allclose(moves, walk.length(state) * np.random.default_rng(0).standard_normal((3, 1)))


@pytest.mark.parametrize("most", [1.0, 4.0, 10.0])
@pytest.mark.parametrize(("acceptance", "power"), [(1.0, 1), (0.0, -1)], ids=["all", "none"])
def test_the_factor_of_a_targeted_walk_is_bounded(acceptance, power, most):
    """Without a bound it would be exp(±98)."""
    walk, omega = TargetedWalk(RandomWalk(2.0), 0.5, most), np.zeros((3, 1))
    state = walk.init(omega)
    for _ in range(10000):
        state = walk.update(state, omega, None, acceptance)
    assert type(state.factor) is float
    assert walk.length(state) == pytest.approx(2.0 * most**power)
    back = walk.update(state, omega, None, 1 - acceptance)
    assert most == 1 or abs(math.log(back.factor)) < abs(math.log(state.factor))  # it is not stuck there


def test_factors_of_walks_side_by_side_are_bounded_each(anywhere):
    walk, omega = TargetedWalk(RandomWalk(2.0), 0.5), anywhere.asarray(np.zeros((3, 4, 1)))
    state, acceptance = walk.init(omega), anywhere.asarray(np.array([0.0, 0.5, 1.0])[:, None, None])
    for _ in range(30):
        state = walk.update(state, omega, None, acceptance)
    assert_allclose(anywhere.host(state.factor)[:, 0, 0], [0.1, 1.0, 10.0])


def test_a_targeted_walk_keeps_what_its_inner_walk_learns():
    inner, omega = AdaptiveWalk(1.0, 0), 10 * drawn(200, 2)
    walk = TargetedWalk(inner, 0.5)
    state = walk.update(walk.init(omega), omega, None, 0.5)
    assert_array_equal(state.inner.root, inner.update(inner.init(omega), omega, None, 0.5).root)
    assert state.inner.root[0, 0] > 5


# Shape


def second_moment(omega, weight):
    """Σ wₖ ωₖωₖᵀ / Σ wₖ."""
    total = np.zeros((omega.shape[1], omega.shape[1]))
    for one, w in zip(omega, weight, strict=True):
        total = total + w * np.outer(one, one)
    return total / sum(weight)


@given(power=st.sampled_from([0.0, 0.5, 1.0, 2.0]), n_outputs=st.integers(1, 3), seed=st.integers(0, 99))
def test_the_shape_is_the_second_moment_weighted_by_amplitudes(power, n_outputs, seed):
    omega, beta = drawn(12, 3, seed=seed) * [1, 5, 0.2] + [3, 0, -1], amplitudes(12, n_outputs, seed)
    walk = ShapedWalk(0.4, power)
    first = walk.init(omega)
    assert_allclose(first.T @ first, second_moment(omega, np.ones(12)), rtol=0, atol=1e-8)
    factor = walk.update(first, omega, beta, 0.5)
    expected = second_moment(omega, [np.sqrt(np.sum(abs(one) ** 2)) ** power for one in beta])
    assert factor.shape == (3, 3)
    assert_array_equal(factor, np.triu(factor))
    assert_allclose(factor.T @ factor, expected, rtol=0, atol=1e-8)
    assert walk.length(factor) == pytest.approx(0.4 * math.sqrt(np.trace(expected) / 3))


@given(power=st.sampled_from([0.0, 1.0, 2.0]), n=st.integers(1, 6), n_more=st.integers(1, 5), seed=st.integers(0, 99))
def test_with_fewer_frequencies_than_inputs_the_factor_is_made_of_them(power, n, n_more, seed):
    omega, beta, walk = drawn(n, n + n_more, seed=seed), amplitudes(n, seed=seed), ShapedWalk(0.4, power)
    first = walk.init(omega)
    factor = walk.update(first, omega, beta, 0.5)
    expected = second_moment(omega, [np.sqrt(np.sum(abs(one) ** 2)) ** power for one in beta])
    assert first.shape == factor.shape == omega.shape
    assert_allclose(first.T @ first, second_moment(omega, np.ones(n)), rtol=0, atol=1e-12)
    assert_allclose(factor.T @ factor, expected, rtol=0, atol=1e-12)
    assert walk.length(factor) == pytest.approx(0.4 * math.sqrt(np.trace(expected) / (n + n_more)))


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_shaped_proposals_have_the_spread_of_the_shape(power):
    omega, beta = drawn(20000, 2) * [3.0, 0.2], drawn(20000, 1, seed=1)
    beta[np.abs(omega[:, 0]) < 3] *= 5  # other powers have other shapes
    walk = ShapedWalk(0.5, power)
    moves = walk.propose(np.random.default_rng(3), walk.update(None, omega, beta, 0.5), omega) - omega
    shapes = {p: 0.25 * second_moment(omega, abs(beta[:, 0]) ** p) for p in (0.0, 1.0, 2.0)}
    assert_allclose(np.var(moves, axis=0), np.diag(shapes[power]), rtol=0.05)
    for other in shapes.keys() - {power}:
        assert abs(np.var(moves[:, 0]) / shapes[other][0, 0] - 1) > 0.1


@pytest.mark.parametrize("n", [3, 5, 40])
def test_any_number_of_proposals_has_the_spread_of_the_shape(n):
    """From the factor of `n` frequencies of 5 inputs, with fewer, as many and more of them."""
    omega, walk = drawn(n, 5) * [3.0, 0.2, 1.0, 1.0, 2.0], ShapedWalk(0.5)
    beta = amplitudes(n)
    moves = walk.propose(np.random.default_rng(3), walk.update(None, omega, beta, 0.5), np.zeros((100000, 5)))
    expected = 0.25 * second_moment(omega, np.linalg.norm(beta, axis=1))
    assert_allclose(moves.T @ moves / 100000, expected, rtol=0, atol=0.02 * np.max(expected))


def test_a_shape_of_many_inputs_takes_no_square_matrix():
    """One d × d matrix would take 3.2 GB; all of this takes less than 64 arrays of the frequencies' size."""
    omega, beta, walk = drawn(16, 20000), amplitudes(16), AnnealedWalk(ScaledWalk(ShapedWalk(0.3)), 0.1, 4)
    rng, state = np.random.default_rng(0), walk.init(omega)
    tracemalloc.start()
    for _ in range(5):
        moved = walk.propose(rng, state, omega)
        state = walk.update(state, moved, beta, 0.5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert state.inner.shape == moved.shape == (16, 20000)
    assert np.all(np.isfinite(moved))
    assert peak < 64 * omega.nbytes


@pytest.mark.parametrize("d", [2, 9])
def test_amplitudes_of_zero_weigh_all_frequencies_alike(d, anywhere):
    omega, walk = drawn(6, d), ShapedWalk(1.0, 2.0)
    factor = anywhere.host(walk.update(None, anywhere.asarray(omega), anywhere.asarray(np.zeros((6, 1))), 0.5))
    assert_allclose(factor.T @ factor, second_moment(omega, np.ones(6)), atol=1e-9)


@pytest.mark.parametrize("size", [1e-6, 1e6])
@every_walk
def test_the_size_of_amplitudes_does_not_matter(walk, size):
    omega = drawn(6, 2)
    one, other = (walk.update(walk.init(omega), omega, scale * amplitudes(6), 0.5) for scale in (1.0, size))
    moved = [walk.propose(np.random.default_rng(0), state, omega) for state in (one, other)]
    assert_allclose(moved[1], moved[0], rtol=0, atol=1e-12)


# Length


class Shift(RandomWalk):
    """A walk that moves every component by its step size."""

    def propose(self, rng, state, frequencies):
        return frequencies + self.step_size


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
def test_factors_are_log_normal(spread):
    walk, omega = ScaledWalk(Shift(2.0), spread), drawn(40000, 2)
    moves = walk.propose(np.random.default_rng(0), walk.init(omega), omega) - omega
    assert_allclose(moves[:, 0], moves[:, 1], atol=1e-9)  # one factor per frequency
    logarithms = np.log(moves[:, 0] / 2)
    assert np.mean(logarithms) == pytest.approx(0, abs=0.02)
    assert np.std(logarithms) == pytest.approx(spread, rel=0.02, abs=1e-9)
    assert np.mean(logarithms**3) == pytest.approx(0, abs=0.1)
    assert walk.length(None) == pytest.approx(2 * math.exp(spread**2 / 2))
    assert np.mean(moves) == pytest.approx(walk.length(None), rel=0.03)


@given(last=st.floats(0.001, 1), n_steps=st.integers(2, 30))
def test_annealed_steps_shrink_geometrically(last, n_steps):
    walk, omega = AnnealedWalk(Shift(2.0), last, n_steps), np.zeros((3, 2))
    state, moves = walk.init(omega), []
    for _ in range(n_steps + 3):
        moves.append(walk.propose(np.random.default_rng(0), state, omega)[0, 0])
        assert walk.length(state) == pytest.approx(moves[-1])
        state = walk.update(state, omega, None, 0.5)
    assert moves[0] == 2.0
    assert_allclose(np.divide(moves[1:n_steps], moves[: n_steps - 1]), last ** (1 / (n_steps - 1)))
    assert_allclose(moves[n_steps - 1 :], 2.0 * last)


def test_annealing_of_a_single_step_keeps_its_length():
    walk = AnnealedWalk(Shift(2.0), 0.1, 1)
    assert walk.length(walk.init(np.zeros((3, 2)))) == 2.0


@pytest.mark.parametrize("outer", [lambda walk: ScaledWalk(walk), lambda walk: AnnealedWalk(walk, 0.1, 9)])
def test_outer_walks_keep_what_their_inner_walk_learns(outer):
    omega, beta, inner = drawn(6, 2), amplitudes(6), ShapedWalk(1.0, 2.0)
    walk = outer(inner)
    state = walk.update(walk.init(omega), omega, beta, 0.5)
    learnt = getattr(state, "inner", state)
    assert_array_equal(learnt, inner.update(inner.init(omega), omega, beta, 0.5))
    assert np.abs(learnt - inner.init(omega)).max() > 0.01


def test_a_targeted_walk_passes_amplitudes_on():
    omega, beta, inner = drawn(6, 2), amplitudes(6), ShapedWalk(1.0, 2.0)
    walk = TargetedWalk(inner, 0.5)
    assert_array_equal(walk.update(walk.init(omega), omega, beta, 0.5).inner, inner.update(None, omega, beta, 0.5))
