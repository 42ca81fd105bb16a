import math
import pickle

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_kind

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.sampling.proposals import AdaptiveWalk, AnnealedWalk, RandomWalk, ScaledWalk, ShapedWalk, TargetedWalk
from fourierwalk.sampling.resampling import Resampling, _copies, effective_size, systematic
from fourierwalk.sampling.sampler import MOST_NORM, State
from fourierwalk.solving.least_squares import LeastSquares, Solution

N_FREQUENCIES, N_STEPS, REGULARIZATION, MAX_NORM = 9, 35, 0.1, 3.0
SIZES = st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1e6)), min_size=1, max_size=20)


def target(n_outputs, n_rows=60):
    x = np.random.default_rng(0).standard_normal((n_rows, 2))
    return x, np.column_stack([np.sin((3 + j) * x[:, 0]) + 0.3 * x[:, 1] for j in range(n_outputs)])


def least_squares(backend, n_outputs=1, features=None, regularization=REGULARIZATION):
    x, y = (backend.asarray(part) for part in target(n_outputs))
    return LeastSquares(Rows(x, y), features or ComplexExponentials(), regularization)


def start(n=N_FREQUENCIES, d=2, seed=1):
    return np.random.default_rng(seed).standard_normal((n, d))


def walked(walk, minimize, first, seed=5, n_steps=N_STEPS):
    states = [walk.init(minimize, first)]
    states += [state for state, _ in walk.sample(minimize, states[0], np.random.default_rng(seed), n_steps)]
    return states


class Fixed:
    """A generator that draws one given number."""

    def __init__(self, uniform):
        self.uniform = uniform

    def random(self):
        return self.uniform


# Drawing


@given(SIZES, st.floats(0.001, 0.999))
def test_systematic_resampling_is_its_definition(size, uniform):
    chosen = systematic(Fixed(uniform), np.array(size), len(size))
    expected = oracle.systematic(size, uniform) if sum(size) > 0 else range(len(size))
    if not sum(size) > 0 or off_the_steps(size, uniform):
        assert_array_equal(chosen, list(expected))


def off_the_steps(size, uniform):
    """Whether no point lies within rounding of a step of the cumulative shares."""
    points = (uniform + np.arange(len(size))) / len(size)
    return np.min(np.abs(points[:, None] - np.cumsum(size) / sum(size))) > 1e-12


@given(SIZES, st.integers(0, 99))
def test_counts_are_the_expected_ones_rounded_down_or_up(size, seed):
    size = np.array(size)
    chosen = systematic(np.random.default_rng(seed), size, len(size))
    assert len(chosen) == len(size)
    assert_array_equal(chosen, np.sort(chosen))
    counts = np.bincount(chosen, minlength=len(size))
    shares = size / size.sum() if size.sum() > 0 else np.full(len(size), 1 / len(size))
    assert np.all(counts >= np.floor(len(size) * shares - 1e-9))
    assert np.all(counts <= np.ceil(len(size) * shares + 1e-9))


@pytest.mark.parametrize("size", [[1.0, 2.0, 3.5], [0.0, 1e-3, 1.0, 0.3], [1e-9, 5.0, 5.0, 0.0, 1.0]], ids=str)
def test_draws_are_unbiased(size):
    rng, size = np.random.default_rng(0), np.array(size)
    counts = [np.bincount(systematic(rng, size, len(size)), minlength=len(size)) for _ in range(5000)]
    assert_allclose(np.mean(counts, axis=0), len(size) * size / size.sum(), rtol=0, atol=0.03)
    even = [np.bincount(systematic(Fixed((i + 0.5) / 5000), size, len(size)), minlength=len(size)) for i in range(5000)]
    assert_allclose(np.mean(even, axis=0), len(size) * size / size.sum(), rtol=0, atol=1e-3)


def test_sizes_of_zero_choose_everything_once():
    assert_array_equal(systematic(np.random.default_rng(0), np.zeros(5), 5), np.arange(5))


def test_what_has_no_size_is_not_drawn():
    for seed in range(50):
        assert_array_equal(systematic(np.random.default_rng(seed), np.array([0.0, 1.0, 0.0]), 3), [1, 1, 1])


# Effective size


@given(SIZES)
def test_effective_size(size):
    found = effective_size(np.array(size))
    assert 1 - 1e-9 <= found <= len(size) * (1 + 1e-9)
    if sum(size) > 0:
        assert found == pytest.approx(sum(size) ** 2 / sum(one**2 for one in size))
        assert effective_size(1000 * np.array(size)) == pytest.approx(found)


@pytest.mark.parametrize(
    ("size", "expected"), [([2.0] * 7, 7), ([0, 3.0, 0], 1), ([0.0] * 4, 4), ([1, 1, 0, 0], 2), ([3, 1], 1.6)], ids=str
)
def test_effective_sizes_of_known_cases(size, expected, anywhere):
    found = effective_size(anywhere.asarray(np.array(size, dtype=float)))
    assert type(found) is float
    assert found == pytest.approx(expected)


# Copies


@given(st.lists(st.integers(0, 5), min_size=6, max_size=6).map(sorted), st.integers(1, 3))
def test_copies_share_an_amplitude(chosen, n_outputs):
    omega, beta = start(6), start(6, n_outputs, seed=2) + 1j * start(6, n_outputs, seed=3)
    copied, shared, is_copy = _copies(omega, beta, np.array(chosen))
    assert_array_equal(copied, omega[chosen])
    for k in set(chosen):
        here = np.array(chosen) == k
        assert_allclose(shared[here], np.tile(beta[k] / here.sum(), (here.sum(), 1)))
        assert_array_equal(is_copy[here], [False] + [True] * (here.sum() - 1))


def test_copies_leave_the_model_unchanged(xp):
    """The chosen frequencies' part of it, with one copy each and with several."""
    x, omega, beta = target(1)[0], start(6), start(6, 2, seed=2) + 1j * start(6, 2, seed=3)
    chosen = np.array([0, 0, 2, 3, 3, 3])
    copied, shared, is_copy = _copies(xp.asarray(omega), xp.asarray(beta), xp.asarray(chosen))
    values = oracle.features(x, xp.host(copied)) @ xp.host(shared)
    assert_allclose(values, oracle.features(x, omega[[0, 2, 3]]) @ beta[[0, 2, 3]], atol=1e-13)
    assert_array_equal(xp.host(is_copy), [False, True, False, False, True, True])


# The walk


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("exponent", [None, 2.0])
@pytest.mark.parametrize("max_norm", [math.inf, MAX_NORM])
@pytest.mark.parametrize("threshold", [1.0, 0.8])
def test_the_walk_is_its_definition(threshold, max_norm, exponent, n_outputs, xp):
    minimize = least_squares(xp, n_outputs)
    walk = Resampling(RandomWalk(0.8), threshold, exponent, max_norm)
    state = walked(walk, minimize, xp.asarray(start()))[-1]
    omega, beta, counts = oracle.resampling(
        *target(n_outputs),
        start(),
        N_STEPS,
        0.8,
        threshold,
        exponent,
        max_norm,
        REGULARIZATION,
        np.random.default_rng(5),
    )
    assert state.step == N_STEPS >= 30
    assert_allclose(xp.host(state.frequencies), omega, rtol=0, atol=1e-7)
    assert_allclose(xp.host(state.amplitudes), beta, rtol=0, atol=1e-7)
    n_copies, n_refused, n_beyond = counts
    assert (n_copies > 0) == (n_refused > 0) == (exponent is not None)
    assert (n_beyond > 0) == (max_norm < math.inf)


PROPOSALS = [
    RandomWalk(0.8),
    AdaptiveWalk(0.8, 3),
    ShapedWalk(0.5),
    AnnealedWalk(ScaledWalk(ShapedWalk(0.5)), 0.1, 20),
    TargetedWalk(RandomWalk(0.8), 0.9),
]
every_proposal = pytest.mark.parametrize("proposal", PROPOSALS, ids=str)
with_and_without_test = pytest.mark.parametrize("exponent", [None, 4.0], ids=["untested", "tested"])


@with_and_without_test
@every_proposal
def test_one_seed_walks_one_walk_in_every_library(proposal, exponent, xp):
    walk = Resampling(proposal, exponent=exponent)
    here = walked(walk, least_squares(Plain, 2), start())[-1]
    there = walked(walk, least_squares(xp, 2), xp.asarray(start()))[-1]
    assert_allclose(xp.host(there.frequencies), here.frequencies, rtol=0, atol=1e-6)
    assert_allclose(xp.host(there.amplitudes), here.amplitudes, rtol=0, atol=1e-6)


@pytest.mark.parametrize("n", [6, 7, 9, 11, 16, 17])
def test_amplitudes_that_are_all_equal_walk_one_walk_too(n, xp):
    """At zero the effective size is K up to rounding, which must not decide whether a number is drawn."""
    walk = Resampling(RandomWalk(0.8))
    here = walked(walk, least_squares(Plain), np.zeros((n, 2)), n_steps=3)[-1]
    there = walked(walk, least_squares(xp), xp.asarray(np.zeros((n, 2))), n_steps=3)[-1]
    assert_allclose(xp.host(there.frequencies), here.frequencies, rtol=0, atol=1e-8)


@every_kind
@with_and_without_test
def test_every_kind_of_features_walks(kind, exponent):
    minimize = least_squares(Plain, 2, kind.features)
    states = walked(Resampling(ShapedWalk(0.5), exponent=exponent), minimize, start(d=2 + kind.extra), n_steps=10)
    for state in states:
        assert_allclose(state.amplitudes, minimize(state.frequencies).amplitudes)
    assert np.abs(states[-1].frequencies - states[0].frequencies).min() > 0


def has_equal_frequencies(walk):
    """After any step of a few walks."""
    states = [state for seed in range(5) for state in walked(walk, least_squares(Plain), start(), seed)]
    return any(len(np.unique(state.frequencies, axis=0)) < N_FREQUENCIES for state in states)


@pytest.mark.parametrize(
    ("exponent", "max_norm"), [(None, math.inf), (4.0, math.inf), (None, MAX_NORM), (4.0, MAX_NORM)]
)
@every_proposal
def test_no_two_frequencies_are_equal_after_a_step(proposal, exponent, max_norm):
    assert not has_equal_frequencies(Resampling(proposal, exponent=exponent, max_norm=max_norm))


@with_and_without_test
def test_no_frequency_goes_to_the_largest_norm(exponent):
    bound, free = (
        walked(Resampling(RandomWalk(0.8), exponent=exponent, max_norm=most), least_squares(Plain), start())
        for most in (MAX_NORM, math.inf)
    )
    assert max(np.linalg.norm(state.frequencies, axis=1).max() for state in free) > MAX_NORM
    for state in bound:
        assert np.linalg.norm(state.frequencies, axis=1).max() < MAX_NORM


def test_a_frequency_that_would_leave_stays_where_it_was():
    def minimize(frequencies):
        return Solution(np.arange(1.0, 6.0)[:, None], 0.0, None)

    walk = Resampling(RandomWalk(4.0), max_norm=5.0)
    first = walk.init(minimize, start(5))
    state, _ = walk.step(np.random.default_rng(0), first, minimize)
    rng = np.random.default_rng(0)
    chosen = systematic(rng, np.arange(1.0, 6.0), 5)
    proposed = start(5)[chosen] + 4 * rng.standard_normal((5, 2))
    inside = np.linalg.norm(proposed, axis=1) < 5
    assert 0 < inside.sum() < 5
    assert_array_equal(state.frequencies, np.where(inside[:, None], proposed, start(5)))


@pytest.mark.parametrize("step_size", [1e3 * MOST_NORM, 1e200])
def test_no_walk_goes_where_squares_overflow(step_size):
    minimize, walk = least_squares(Plain), Resampling(RandomWalk(step_size))
    with np.errstate(over="ignore"):
        states = walked(walk, minimize, start(), n_steps=3)
    assert_array_equal(states[-1].frequencies, start())


def test_a_walk_on_noise_stays_finite():
    """Nothing holds frequencies back where none is better than another: they grow by a factor per step."""
    rng = np.random.default_rng(0)
    minimize = LeastSquares(Rows(*rng.standard_normal((2, 40, 1))), FEATURES["cos-sin"].features, 0.1)
    states = walked(Resampling(ScaledWalk(ShapedWalk(3.0))), minimize, start(4, 1), n_steps=300)
    largest = np.abs(states[-1].frequencies).max()
    assert 1e90 < largest < MOST_NORM


# One step


def one_step(walk, before, after, seed=0):
    """A step from given amplitudes, where every solve gives the same ones."""
    state = State(0, start(len(before)), np.array(before)[:, None] + 0j, walk.proposal.init(start(len(before))))
    told = Solution(np.array(after)[:, None] + 0j, 0.5, "inside")
    return walk.step(np.random.default_rng(seed), state, lambda frequencies: told)


class Seen(RandomWalk):
    """Moves nothing, and remembers what it was given."""

    asked: list
    told: list

    def propose(self, rng, state, frequencies):
        self.asked.append(frequencies)
        return frequencies + self.step_size

    def update(self, state, frequencies, amplitudes, acceptance):
        self.told.append((frequencies, amplitudes, acceptance))


def seen():
    walk = Seen(0.25)
    object.__setattr__(walk, "asked", [])
    object.__setattr__(walk, "told", [])
    return walk


@pytest.mark.parametrize(("threshold", "resampled"), [(0.0, False), (0.39, False), (0.41, True), (1.0, True)])
def test_resampling_is_due_at_the_threshold(threshold, resampled):
    proposal, size = seen(), [3.0, 1.0, 0.0, 0.0]  # of effective size 1.6
    one_step(Resampling(proposal, threshold), size, size)
    changed = np.any(proposal.asked[0] != start(4))
    assert changed == resampled


@pytest.mark.parametrize("n", range(3, 30))
def test_a_threshold_of_one_is_always(n):
    state, _ = one_step(Resampling(RandomWalk(1.0)), [0.1] * n, [0.1] * n)
    rng = np.random.default_rng(0)
    rng.random()
    assert_array_equal(state.frequencies, start(n) + rng.standard_normal((n, 2)))


def test_copies_move_and_firsts_are_tested():
    """Amplitudes that all but vanish refuse every first, and no copy."""
    proposal = seen()
    state, info = one_step(Resampling(proposal, exponent=4.0), [1.0, 0, 0, 1.0, 0, 0], [1e-30] * 6)
    copies = start(6)[[0, 0, 0, 3, 3, 3]]
    moved = np.array([0, 1, 1, 0, 1, 1])
    assert_array_equal(state.frequencies, copies + 0.25 * moved[:, None])
    assert info.acceptance == np.mean(moved)
    frequencies, amplitudes, acceptance = proposal.told[0]
    assert_array_equal(frequencies, state.frequencies)
    assert_array_equal(amplitudes, state.amplitudes)
    assert acceptance == info.acceptance


def test_a_copy_is_tested_by_its_share():
    """|β| = 3 of one that is chosen three times is tested as 1: 1.01 passes whatever is drawn."""
    for seed in range(20):
        _, info = one_step(Resampling(RandomWalk(1.0), exponent=50.0), [3.0, 0, 0], [1.01] * 3, seed)
        assert info.acceptance == 1.0


def test_infos_say_what_happened():
    minimize, walk = least_squares(Plain), Resampling(TargetedWalk(RandomWalk(0.8), 0.5), exponent=4.0)
    state, rng, lengths = walk.init(minimize, start()), np.random.default_rng(0), []
    for i in range(1, 6):
        length = walk.proposal.length(state.proposal)
        state, info = walk.step(rng, state, minimize)
        solution = minimize(state.frequencies)
        assert (info.step, info.phase, info.step_size) == (i, "resampling", length)
        assert (info.loss, info.solve) == (solution.loss, solution.info)
        assert 0 < info.acceptance < 1
        assert_array_equal(state.amplitudes, solution.amplitudes)
        lengths.append(length)
    assert len(set(lengths)) == 5


@pytest.mark.parametrize(("exponent", "expected"), [(None, 1), (2.0, 2)])
def test_an_untested_step_solves_once_and_a_tested_one_twice(exponent, expected):
    minimize, asked = least_squares(Plain), []
    walk = Resampling(RandomWalk(0.8), exponent=exponent)
    first = walk.init(minimize, start())
    walk.step(np.random.default_rng(0), first, lambda omega: asked.append(omega) or minimize(omega))
    assert len(asked) == expected


def test_a_refit_solves_again():
    walk, minimize = Resampling(RandomWalk(0.8)), least_squares(Plain)
    state = walk.init(minimize, start())
    other = least_squares(Plain, regularization=1.0)
    again, loss = walk.refit(state, other)
    assert_array_equal(again.frequencies, state.frequencies)
    assert_array_equal(again.amplitudes, other(start()).amplitudes)
    assert loss == other(start()).loss


def test_a_step_changes_nothing_that_it_is_given():
    minimize, walk = least_squares(Plain), Resampling(AdaptiveWalk(0.8, 0), exponent=4.0, max_norm=3.0)
    first = walk.init(minimize, start())
    before = pickle.dumps(first)
    walk.step(np.random.default_rng(0), first, minimize)
    assert pickle.dumps(first) == before


@every_proposal
@with_and_without_test
def test_stopped_pickled_and_resumed_is_unbroken(exponent, proposal, xp):
    minimize, walk = least_squares(xp, 2), Resampling(proposal, exponent=exponent, max_norm=6.0)
    unbroken = walked(walk, minimize, xp.asarray(start()), n_steps=12)[-1]
    rng = np.random.default_rng(5)
    *_, (state, _) = walk.sample(minimize, walk.init(minimize, xp.asarray(start())), rng, 5)
    state, rng = pickle.loads(pickle.dumps((state, rng)))
    *_, (state, _) = walk.sample(minimize, state, rng, 7)
    assert state.step == unbroken.step == 12
    assert_array_equal(xp.host(state.frequencies), xp.host(unbroken.frequencies))
    assert_array_equal(xp.host(state.amplitudes), xp.host(unbroken.amplitudes))


@with_and_without_test
def test_a_walk_finds_what_the_target_needs(exponent):
    minimize = LeastSquares(Rows(*target(1, 300)), FEATURES["cos-sin"].features, 0.01)
    walk = Resampling(AnnealedWalk(ShapedWalk(0.5), 0.1, 60), exponent=exponent)
    states = walked(walk, minimize, start(16), n_steps=60)
    assert minimize(states[-1].frequencies).loss < 0.2 * minimize(states[0].frequencies).loss
