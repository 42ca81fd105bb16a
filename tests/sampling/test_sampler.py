import math
import pickle
from decimal import Decimal
from itertools import pairwise

import numpy as np
import oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_kind

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.sampling.proposals import AdaptiveWalk, AnnealedWalk, RandomWalk, ScaledWalk, ShapedWalk, TargetedWalk
from fourierwalk.sampling.sampler import MOST_NORM, Metropolis, State, norms
from fourierwalk.solving.least_squares import LeastSquares, Solution

N_FREQUENCIES, N_STEPS, REGULARIZATION, REFIT_EVERY = 7, 45, 0.1, 4
ADAPT_AFTER, MAX_NORM = 12, 2.5


def target(n_outputs, n_rows=60):
    """Two inputs, of which the first wants larger frequencies."""
    x = np.random.default_rng(0).standard_normal((n_rows, 2))
    return x, np.column_stack([np.sin((3 + j) * x[:, 0]) + 0.3 * x[:, 1] for j in range(n_outputs)])


def least_squares(backend, n_outputs, kind=None, regularization=REGULARIZATION):
    x, y = (backend.asarray(part) for part in target(n_outputs))
    return LeastSquares(Rows(x, y), ComplexExponentials() if kind is None else kind.features, regularization)


def walked(walk, minimize, start, seed, n_steps=N_STEPS):
    """The states of a walk, from the first."""
    states, rng = [walk.init(minimize, start)], np.random.default_rng(seed)
    states += [state for state, _ in walk.sample(minimize, states[0], rng, n_steps)]
    return states


def last_with_refit(walk, minimize, start, seed):
    """The last line of the algorithms: amplitudes solved for again."""
    state, _ = walk.refit(walked(walk, minimize, start, seed)[-1], minimize)
    return state


class Recorder:
    """A minimiser that remembers what it was asked and what it said."""

    def __init__(self, minimize):
        self.minimize, self.asked, self.told = minimize, [], []

    def __call__(self, frequencies):
        self.asked.append(frequencies)
        self.told.append(self.minimize(frequencies))
        return self.told[-1]


# The algorithms as printed


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("exponent", [1.0, 4.0])
def test_algorithm_1(n_outputs, exponent, anywhere):
    minimize = least_squares(anywhere, n_outputs)
    walk = Metropolis(RandomWalk(0.8), exponent, REFIT_EVERY)
    state = last_with_refit(walk, minimize, anywhere.asarray(np.zeros((N_FREQUENCIES, 2))), seed=5)
    omega, beta = oracle.algorithm_1(
        *target(n_outputs), N_FREQUENCIES, N_STEPS, 0.8, exponent, REGULARIZATION, REFIT_EVERY, np.random.default_rng(5)
    )
    assert state.step == N_STEPS >= 40
    assert_allclose(anywhere.host(state.frequencies), omega, rtol=0, atol=1e-9)
    assert_allclose(anywhere.host(state.amplitudes), beta, rtol=0, atol=1e-9)
    assert np.abs(omega).min() > 0  # every frequency has moved


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_algorithm_2(n_outputs, anywhere):
    minimize = Recorder(least_squares(anywhere, n_outputs))
    walk = Metropolis(AdaptiveWalk(0.8, ADAPT_AFTER), 4.0, REFIT_EVERY, MAX_NORM)
    state = last_with_refit(walk, minimize, anywhere.asarray(np.zeros((N_FREQUENCIES, 2))), seed=5)
    omega, beta, covariance = oracle.algorithm_2(
        *target(n_outputs),
        N_FREQUENCIES,
        N_STEPS,
        0.8,
        4.0,
        REGULARIZATION,
        REFIT_EVERY,
        ADAPT_AFTER,
        MAX_NORM,
        np.random.default_rng(5),
    )
    assert state.step == N_STEPS >= 40 > ADAPT_AFTER
    assert_allclose(anywhere.host(state.frequencies), omega, rtol=0, atol=1e-9)
    assert_allclose(anywhere.host(state.amplitudes), beta, rtol=0, atol=1e-9)
    root = anywhere.host(state.proposal.root)
    assert_allclose(root @ root.T, covariance, rtol=0, atol=1e-8)
    assert np.linalg.eigvalsh(covariance)[1] > 2 * np.linalg.eigvalsh(covariance)[0]  # adapted, and no circle
    for part in (state.proposal.total, state.proposal.products):
        assert anywhere.owns(part)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_largest_norm_refuses_what_the_ratio_would_accept(n_outputs):
    """The walk of `test_algorithm_2`, step by step: its bound is active."""
    minimize = Recorder(least_squares(Plain, n_outputs))
    walk = Metropolis(AdaptiveWalk(0.8, ADAPT_AFTER), 4.0, 10**9, MAX_NORM)
    states = walked(walk, minimize, np.zeros((N_FREQUENCIES, 2)), seed=5)
    rng, refused, kept = np.random.default_rng(5), 0, 0
    for (before, after), proposed, solution in zip(
        pairwise(states), minimize.asked[1:], minimize.told[1:], strict=True
    ):
        rng.standard_normal(proposed.shape)
        threshold = rng.random(N_FREQUENCIES)
        passes = (norms(solution.amplitudes) / norms(before.amplitudes)) ** 4.0 > threshold
        inside = np.linalg.norm(proposed, axis=1) < MAX_NORM
        moved = np.any(after.frequencies != before.frequencies, axis=1)
        assert_array_equal(moved, passes & inside)
        refused, kept = refused + np.sum(passes & ~inside), kept + np.sum(passes & inside)
    assert refused > 0
    assert kept > 0
    assert np.linalg.norm(states[-1].frequencies, axis=1).max() < MAX_NORM


def test_the_adapted_covariance_is_used():
    """Fails where it is built and dropped: past t₀ the walk is another, and its steps have the covariance's shape."""

    class Round(AdaptiveWalk):
        def update(self, state, frequencies, amplitudes, acceptance):
            return super().update(state, frequencies, amplitudes, acceptance)._replace(root=np.eye(2))

    start = np.random.default_rng(1).standard_normal((300, 2)) * [4.0, 0.5]
    minimize = Recorder(least_squares(Plain, 1))
    adapted = walked(Metropolis(AdaptiveWalk(0.3, 5), 4.0, 10**9), minimize, start, seed=2, n_steps=12)
    round_ = walked(Metropolis(Round(0.3, 5), 4.0, 10**9), least_squares(Plain, 1), start, seed=2, n_steps=12)
    assert_array_equal(adapted[6].frequencies, round_[6].frequencies)
    assert np.abs(adapted[7].frequencies - round_[7].frequencies).max() > 0.1

    def widths(step):
        """Of the moves that this step proposed, along the directions of the covariance in use."""
        moves = (minimize.asked[step] - adapted[step - 1].frequencies) / 0.3
        return np.std(moves @ directions, axis=0)

    squares, directions = np.linalg.eigh(adapted[11].proposal.root @ adapted[11].proposal.root.T)
    assert squares[1] > 10 * squares[0]
    assert_allclose(widths(6), [1, 1], rtol=0.15)
    assert_allclose(widths(12), np.sqrt(squares), rtol=0.15)


# One step


POSITIVE = st.floats(1e-12, 1e12)


@given(
    before=st.lists(POSITIVE, min_size=4, max_size=4),
    after=st.lists(POSITIVE, min_size=4, max_size=4),
    exponent=st.one_of(st.floats(0.1, 30), st.just(2350.0)),
    seed=st.integers(0, 99),
)
def test_acceptance_is_the_ratio_of_the_paper(before, after, exponent, seed):
    """(|β'|/|β|)^γ > r in arithmetic that cannot overflow."""
    uniform = np.random.default_rng(seed)
    uniform.standard_normal((4, 1))
    r = uniform.random(4)
    powers = [(Decimal(b) / Decimal(a)) ** Decimal(exponent) for a, b in zip(before, after, strict=True)]
    assume(all(abs(power / Decimal(float(one)) - 1) > 1e-9 for power, one in zip(powers, r, strict=True)))
    state = one_step(before, after, exponent, seed)
    expected = [power > Decimal(float(one)) for power, one in zip(powers, r, strict=True)]
    assert_array_equal(state.frequencies[:, 0] != 0, expected)
    assert_array_equal(np.abs(state.amplitudes[:, 0]), np.where(expected, after, before))


@given(st.floats(0.9, 1.1), st.integers(0, 99))
def test_acceptance_near_one_with_the_exponent_of_mnist(ratio, seed):
    """γ = 2,350: |β|^γ itself is 0 or ∞ in doubles."""
    uniform = np.random.default_rng(seed)
    uniform.standard_normal((1, 1))
    r = uniform.random(1)[0]
    assume(abs(2350 * math.log(ratio) - math.log(r)) > 1e-6)
    for size in (1e-3, 1.0, 1e3):
        moved = one_step([size], [size * ratio], 2350.0, seed).frequencies[0, 0] != 0
        assert moved == (2350 * math.log(ratio) > math.log(r))


@pytest.mark.parametrize(("before", "after", "moves"), [(0.0, 1.0, True), (1.0, 0.0, False), (0.0, 0.0, False)])
def test_amplitudes_of_zero_are_tested_without_division(before, after, moves):
    assert (one_step([before], [after], 3.0, 0).frequencies[0, 0] != 0) == moves


def one_step(before, after, exponent, seed):
    """A step from zero frequencies with given amplitudes before and after."""
    before, after = (np.array(values)[:, None] + 0j for values in (before, after))
    walk = Metropolis(RandomWalk(1.0), exponent, refit_every=10**9)
    start = State(0, np.zeros((len(before), 1)), before, None)
    state, _ = walk.step(np.random.default_rng(seed), start, lambda frequencies: Solution(after, 0.0, None))
    return state


def test_several_outputs_are_tested_by_their_euclidean_norm(anywhere):
    amplitudes = np.array([[3.0, 4.0j], [0.0, 1.0]])
    assert_allclose(anywhere.host(norms(anywhere.asarray(amplitudes))), [5.0, 1.0])


def test_only_every_mth_step_ends_with_a_refit():
    minimize = Recorder(least_squares(Plain, 1))
    walk = Metropolis(RandomWalk(0.8), 1.0, refit_every=3)
    start = np.random.default_rng(1).standard_normal((30, 2))
    states = walked(walk, minimize, start, seed=0, n_steps=9)
    assert len(minimize.asked) == 1 + 9 + 3
    solved = [minimize.minimize(state.frequencies).amplitudes for state in states]
    fresh = [np.allclose(state.amplitudes, own, rtol=0, atol=1e-12) for state, own in zip(states, solved, strict=True)]
    assert fresh == [True, *[False, False, True] * 3]


def test_infos_say_what_happened():
    minimize = Recorder(least_squares(Plain, 1))
    walk = Metropolis(TargetedWalk(RandomWalk(0.8), 0.5), 1.0, refit_every=3)
    state, rng = walk.init(minimize, np.zeros((5, 2))), np.random.default_rng(0)
    infos, lengths = [], []
    for _ in range(6):
        before, asked = state, len(minimize.told)
        lengths.append(walk.proposal.length(state.proposal))
        state, info = walk.step(rng, state, minimize)
        infos.append(info)
        assert info.acceptance == np.mean(np.any(state.frequencies != before.frequencies, axis=1))
        assert info.loss == minimize.told[-1].loss
        assert len(minimize.told) - asked == (2 if info.step % 3 == 0 else 1)
    assert [info.step for info in infos] == [1, 2, 3, 4, 5, 6]
    assert [info.step_size for info in infos] == lengths
    assert len(set(lengths)) == 6


def test_the_proposal_learns_from_what_was_accepted():
    """Frequencies and amplitudes after the test and before a refit, and the share that moved."""
    told = []

    class Listening(RandomWalk):
        def update(self, state, frequencies, amplitudes, acceptance):
            told.append((frequencies, amplitudes, acceptance))

    minimize = Recorder(least_squares(Plain, 2))
    walk = Metropolis(Listening(0.8), 4.0, refit_every=2)
    states, rng = [walk.init(minimize, np.random.default_rng(1).standard_normal((9, 2)))], np.random.default_rng(0)
    for _ in range(6):
        before, asked = states[-1], len(minimize.told)
        state, info = walk.step(rng, before, minimize)
        states.append(state)
        frequencies, amplitudes, acceptance = told[-1]
        moved = np.any(state.frequencies != before.frequencies, axis=1)
        assert_array_equal(frequencies, state.frequencies)
        assert_array_equal(amplitudes, np.where(moved[:, None], minimize.told[asked].amplitudes, before.amplitudes))
        assert acceptance == info.acceptance == np.mean(moved)
    assert 0 < np.mean([acceptance for *_, acceptance in told]) < 1


@pytest.mark.parametrize(("step_size", "moves"), [(1e-3 * MOST_NORM, True), (1e3 * MOST_NORM, False), (1e200, False)])
def test_no_walk_goes_where_squares_overflow(step_size, moves):
    def minimize(frequencies):
        return Solution(np.full((5, 1), 2.0 if np.any(frequencies) else 1.0), 0.0, None)

    walk = Metropolis(RandomWalk(step_size), 1.0, refit_every=10**9)
    with np.errstate(over="ignore"):
        state, info = walk.step(np.random.default_rng(0), walk.init(minimize, np.zeros((5, 2))), minimize)
    assert info.acceptance == (1.0 if moves else 0.0)
    assert np.all((state.frequencies != 0) == moves)


def test_a_frequency_far_out_that_hardly_moves_is_adapted_to():
    """The sums of Algorithm 2 cancel until what is left of C̄ is no covariance."""
    x = np.random.default_rng(0).standard_normal((80, 2))
    minimize = LeastSquares(Rows(x, np.sin(x[:, :1])), FEATURES["cos-sin"].features, 0.1)
    walk = Metropolis(AdaptiveWalk(0.01, 0), 4.0)
    states = walked(walk, minimize, np.array([[1e3, -2e3]]), seed=0, n_steps=60)
    assert np.all(np.isfinite(states[-1].frequencies))
    assert np.any(states[-1].frequencies != states[0].frequencies)


def test_a_step_changes_nothing_that_it_is_given():
    minimize = least_squares(Plain, 1)
    walk = Metropolis(AdaptiveWalk(0.8, 0), 1.0, refit_every=1)
    first = walk.init(minimize, np.zeros((5, 2)))
    before = pickle.dumps(first)
    walk.step(np.random.default_rng(0), first, minimize)
    assert pickle.dumps(first) == before


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [1.0, 2350.0])
@every_kind
def test_a_start_at_zero_neither_divides_nor_overflows(kind, exponent, anywhere):
    minimize = least_squares(anywhere, 2, kind)
    walk = Metropolis(RandomWalk(1.0), exponent, REFIT_EVERY)
    with np.errstate(all="raise", under="ignore"):
        states = walked(walk, minimize, anywhere.asarray(np.zeros((5, 2 + kind.extra))), seed=1, n_steps=10)
    for state in states:
        assert np.all(np.isfinite(anywhere.host(state.amplitudes)))
    assert np.any(anywhere.host(states[-1].frequencies) != 0)


def test_any_start_is_kept():
    start = np.random.default_rng(4).standard_normal((5, 2))
    minimize = least_squares(Plain, 1)
    state = Metropolis(RandomWalk(1.0), 1.0).init(minimize, start)
    assert_array_equal(state.frequencies, start)
    assert_allclose(state.amplitudes, oracle.minimizer(*target(1), start, REGULARIZATION), atol=1e-12)


# Walks


PROPOSALS = [
    RandomWalk(0.8),
    AdaptiveWalk(0.8, 3),
    TargetedWalk(AdaptiveWalk(0.8, 3), 0.5),
    AnnealedWalk(ScaledWalk(RandomWalk(0.8)), 0.2, 30),
]


@pytest.mark.parametrize("proposal", PROPOSALS, ids=lambda proposal: type(proposal).__name__)
@pytest.mark.parametrize("stop", [1, 17])
def test_stopped_pickled_and_resumed_is_unbroken(proposal, stop, anywhere):
    minimize = least_squares(anywhere, 2)
    walk = Metropolis(proposal, 4.0, REFIT_EVERY, 8.0)
    start = anywhere.asarray(np.zeros((N_FREQUENCIES, 2)))
    unbroken = walked(walk, minimize, start, seed=3)[-1]
    rng = np.random.default_rng(3)
    for state, _ in walk.sample(minimize, walk.init(minimize, start), rng, N_STEPS):
        if state.step == stop:
            break
    state, rng = pickle.loads(pickle.dumps((state, rng)))
    *_, (state, _) = walk.sample(minimize, state, rng, N_STEPS - stop)
    assert state.step == unbroken.step == N_STEPS
    assert_array_equal(anywhere.host(state.frequencies), anywhere.host(unbroken.frequencies))
    assert_array_equal(anywhere.host(state.amplitudes), anywhere.host(unbroken.amplitudes))


@pytest.mark.parametrize("proposal", PROPOSALS, ids=lambda proposal: type(proposal).__name__)
@every_kind
def test_one_seed_walks_one_walk_in_every_library(kind, proposal, anywhere):
    walk = Metropolis(proposal, 4.0, REFIT_EVERY)
    start = np.zeros((N_FREQUENCIES, 2 + kind.extra))
    here = walked(walk, least_squares(Plain, 2, kind), start, seed=8)[-1]
    there = walked(walk, least_squares(anywhere, 2, kind), anywhere.asarray(start), seed=8)[-1]
    assert_allclose(anywhere.host(there.frequencies), here.frequencies, rtol=0, atol=1e-6)
    assert_allclose(anywhere.host(there.amplitudes), here.amplitudes, rtol=0, atol=1e-6)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_one_seed_walks_one_shaped_walk_in_every_library(power, anywhere):
    """From a start with a shape: at zero there is none."""
    walk = Metropolis(TargetedWalk(ShapedWalk(0.5, power), 0.5), 4.0, REFIT_EVERY)
    start = np.random.default_rng(1).standard_normal((N_FREQUENCIES, 2))
    here = walked(walk, least_squares(Plain, 2), start, seed=8)[-1]
    there = walked(walk, least_squares(anywhere, 2), anywhere.asarray(start), seed=8)[-1]
    assert_allclose(anywhere.host(there.frequencies), here.frequencies, rtol=0, atol=1e-6)
    assert anywhere.owns(there.proposal.inner)
    assert np.abs(here.frequencies - start).max() > 0.5


def test_another_seed_walks_another_walk():
    minimize, walk = least_squares(Plain, 1), Metropolis(RandomWalk(0.8), 1.0)
    one, other = (walked(walk, minimize, np.zeros((5, 2)), seed)[-1].frequencies for seed in (0, 1))
    assert np.abs(one - other).min() > 0


@pytest.mark.parametrize(("time", "step_size", "n_steps"), [(10.0, 1.0, 10), (1.0, 0.3, 11), (0.5, 1.0, 0)])
def test_sampling_time(time, step_size, n_steps):
    """M = ⌊T/δ²⌋ steps."""
    minimize, walk = least_squares(Plain, 1), Metropolis(RandomWalk(step_size), 1.0)
    by_time, by_count = (
        list(walk.sample(minimize, walk.init(minimize, np.zeros((3, 2))), np.random.default_rng(0), **how))
        for how in ({"sampling_time": time}, {"n_steps": n_steps})
    )
    assert len(by_time) == len(by_count) == int(time / step_size**2) == n_steps
    for (one, _), (other, _) in zip(by_time, by_count, strict=True):
        assert_array_equal(one.frequencies, other.frequencies)


def test_a_walk_needs_an_end():
    minimize, walk = least_squares(Plain, 1), Metropolis(RandomWalk(1.0), 1.0)
    state = walk.init(minimize, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="n_steps or sampling_time, got neither"):
        next(walk.sample(minimize, state, np.random.default_rng(0)))


def test_a_walk_finds_what_the_target_needs():
    minimize = LeastSquares(Rows(*target(1, 400)), FEATURES["cos-sin"].features, 0.01)
    states = walked(Metropolis(RandomWalk(0.4), 4.0), minimize, np.zeros((24, 2)), seed=0, n_steps=150)
    assert minimize(states[-1].frequencies).loss < 0.1 * minimize(states[0].frequencies).loss
