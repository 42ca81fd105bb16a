import math
import pickle
from itertools import pairwise

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tables import FEATURES, Plain, every_differentiable_kind

from fourierwalk.data.features import ComplexExponentials, CosineSine
from fourierwalk.data.rows import Rows
from fourierwalk.sampling.descent import MOST_TRIALS, SHORTENING, Curvature, Descent
from fourierwalk.sampling.sampler import State
from fourierwalk.solving.least_squares import LeastSquares, Solution

N_FREQUENCIES, REGULARIZATION = 5, 0.01


def target(n_outputs=1, n_rows=60):
    x = np.random.default_rng(0).standard_normal((n_rows, 2))
    return x, np.column_stack([np.sin((2 + j) * x[:, 0]) + 0.3 * np.cos(x[:, 1]) for j in range(n_outputs)])


def least_squares(backend=Plain, n_outputs=1, features=None, regularization=REGULARIZATION, of_y=1.0, of_x=1.0):
    x, y = target(n_outputs)
    rows = Rows(backend.asarray(of_x * x), backend.asarray(of_y * y))
    return LeastSquares(rows, features or ComplexExponentials(), regularization)


def start(d=2, n=N_FREQUENCIES, seed=4):
    return np.random.default_rng(seed).standard_normal((n, d))


def descended(descent, minimize, first, n_steps):
    """The states, from the first, and what is said of each step."""
    states, infos = [descent.init(minimize, first)], []
    for state, info in descent.sample(minimize, states[0], None, n_steps):
        states.append(state)
        infos.append(info)
    return states, infos


def rms(values):
    return np.sqrt(np.mean(values**2))


class Problem:
    """A loss and a gradient that are written down."""

    def __init__(self, loss, gradient, amplitudes):
        self.loss, self._gradient, self.amplitudes = loss, gradient, amplitudes

    def __call__(self, frequencies):
        return Solution(self.amplitudes, self.loss(frequencies), "inside")

    def gradient(self, frequencies, amplitudes):
        return self._gradient(frequencies)


# The definition


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize(
    "settings", [{}, {"memory": 3, "longest_step": 0.05}, {"max_norm": 1.9}, {"damping": 0.1}], ids=str
)
def test_descent_is_its_definition(settings, n_outputs, anywhere):
    descent = Descent(**settings)
    states, infos = descended(descent, least_squares(anywhere, n_outputs), anywhere.asarray(start()), 20)
    omega, beta, losses = oracle.descent(
        *target(n_outputs),
        start(),
        20,
        descent.memory,
        descent.first_step,
        descent.longest_step,
        descent.damping,
        descent.max_norm,
        REGULARIZATION,
    )
    assert states[-1].step == len(infos) == 20
    assert_allclose([info.loss for info in infos], losses, rtol=1e-9)
    assert_allclose(anywhere.host(states[-1].frequencies), omega, rtol=0, atol=1e-8)
    assert_allclose(anywhere.host(states[-1].amplitudes), beta, rtol=0, atol=1e-8)
    learnt = states[-1].proposal
    for part in (learnt.gradient, *learnt.moves, *learnt.changes):
        assert anywhere.owns(part)
    assert len(learnt.moves) >= min(descent.memory, 6)  # that shaped the last moves
    assert losses[-1] < 0.9 * losses[0]


@every_differentiable_kind
def test_the_same_everywhere(kind, anywhere):
    first = start(2 + kind.extra)
    here, _ = descended(Descent(), least_squares(Plain, 2, kind.features), first, 12)
    there, _ = descended(Descent(), least_squares(anywhere, 2, kind.features), anywhere.asarray(first), 12)
    assert_allclose(anywhere.host(there[-1].frequencies), here[-1].frequencies, rtol=0, atol=1e-6)
    assert_allclose(anywhere.host(there[-1].amplitudes), here[-1].amplitudes, rtol=0, atol=1e-6)


@pytest.mark.parametrize("damping", [0.0, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_first_move_is_the_gradient_over_amplitudes_squared(n_outputs, damping):
    minimize, descent = least_squares(n_outputs=n_outputs), Descent(damping=damping)
    first = descent.init(minimize, start())
    state, info = descent.step(None, first, minimize)
    beta = minimize(start()).amplitudes
    squares = np.sum(abs(beta) ** 2, axis=1)
    direction = -minimize.gradient(start(), beta) / (squares + damping * squares.mean())[:, None]
    direction *= 0.03 * rms(start()) / rms(direction)
    assert_allclose(state.frequencies - start(), direction, rtol=0, atol=1e-12)
    assert info.step_size == pytest.approx(0.03 * rms(start()))


@given(
    n_pairs=st.integers(0, 6),
    shape=st.tuples(st.integers(1, 5), st.integers(1, 3)),
    damping=st.sampled_from([0.0, 0.5, 3.0]),
    seed=st.integers(0, 99),
)
def test_the_two_loops_are_the_updates_of_a_matrix(n_pairs, shape, damping, seed):
    """A step that is taken whole, from any past of positive curvature."""
    rng = np.random.default_rng(seed)
    omega, gradient, beta = rng.standard_normal(shape), rng.standard_normal(shape), rng.standard_normal((shape[0], 2))
    size = omega.size
    curvature = np.cov(rng.standard_normal((size, 3 * size + 3)), bias=True).reshape(size, size) + 0.1 * np.eye(size)
    moves = [rng.standard_normal(size) for _ in range(n_pairs)]
    changes = [curvature @ move for move in moves]
    past = Curvature(0.0, gradient, *(tuple(one.reshape(shape) for one in part) for part in (moves, changes)))
    always = Problem(lambda omega: -1e9, lambda omega: 0 * omega, beta)
    descent = Descent(damping=damping, longest_step=1e9)
    state, _ = descent.step(None, State(0, omega, beta, past), always)
    squares = np.sum(beta**2, axis=1)
    diagonal = np.repeat(1 / (squares + damping * squares.mean()), shape[1])
    direction = -oracle.inverse_hessian(diagonal, moves, changes) @ gradient.ravel()
    if not moves:
        direction *= 0.03 * rms(omega) / rms(direction)
    assert_allclose((state.frequencies - omega).ravel(), direction, rtol=1e-6, atol=1e-8 * np.abs(direction).max())


def test_a_quadratic_is_solved_by_its_curvature():
    """With as many pairs as unknowns BFGS knows a quadratic, however stretched."""
    scales, center = np.array([[1.0, 100.0], [10.0, 0.1]]), np.array([[1.0, 2.0], [-1.0, 0.5]])
    bowl = Problem(
        lambda omega: float(np.sum(scales * (omega - center) ** 2)),
        lambda omega: 2 * scales * (omega - center),
        np.ones((2, 1)),
    )
    states, _ = descended(Descent(), bowl, np.ones((2, 2)), 60)
    assert_allclose(states[-1].frequencies, center, atol=1e-5)


# What it promises


@every_differentiable_kind
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_loss_never_rises(kind, n_outputs):
    minimize = least_squares(Plain, n_outputs, kind.features)
    states, infos = descended(Descent(), minimize, start(2 + kind.extra), 40)
    losses = [minimize(states[0].frequencies).loss, *(info.loss for info in infos)]
    assert all(after <= before for before, after in pairwise(losses))
    assert losses[-1] < 0.9 * losses[0]
    for state, loss in zip(states, losses, strict=True):
        solution = minimize(state.frequencies)
        assert state.proposal.loss == loss == solution.loss
        assert_array_equal(state.amplitudes, solution.amplitudes)
        assert_array_equal(state.proposal.gradient, minimize.gradient(state.frequencies, solution.amplitudes))


@given(seed=st.integers(0, 999), regularization=st.sampled_from([1e-6, 1e-2, 1.0]), spread=st.floats(0.1, 10))
def test_the_loss_never_rises_from_any_start(seed, regularization, spread):
    minimize = least_squares(features=CosineSine(), regularization=regularization)
    states, _ = descended(Descent(), minimize, spread * start(seed=seed), 8)
    losses = [minimize(state.frequencies).loss for state in states]
    assert all(after <= before for before, after in pairwise(losses))


@pytest.mark.parametrize("longest", [0.01, 0.05])
def test_no_move_is_longer_than_the_longest(longest):
    minimize = least_squares()
    states, infos = descended(Descent(longest_step=longest, first_step=0.005), minimize, start(), 20)
    shares = [
        rms(after.frequencies - before.frequencies) / rms(before.frequencies) for before, after in pairwise(states)
    ]
    assert max(shares) <= longest * (1 + 1e-12)
    assert max(shares) == pytest.approx(longest)  # some would be longer
    lengths = [rms(after.frequencies - before.frequencies) for before, after in pairwise(states)]
    assert_allclose([info.step_size for info in infos], lengths, rtol=1e-12)
    _, free = descended(Descent(longest_step=10.0, first_step=0.005), minimize, start(), 20)
    assert max(info.step_size for info in free) > max(lengths)


def test_no_frequency_goes_to_the_largest_norm():
    minimize = least_squares()
    bound, free = (descended(Descent(max_norm=most), minimize, start(), 30)[0] for most in (1.9, math.inf))
    assert np.linalg.norm(start(), axis=1).max() < 1.9
    assert np.linalg.norm(free[-1].frequencies, axis=1).max() > 1.9
    for state in bound:
        assert np.linalg.norm(state.frequencies, axis=1).max() < 1.9
    assert bound[-1].proposal.loss < 0.7 * bound[0].proposal.loss


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20, 1e-6, 1e6])
@pytest.mark.parametrize("unit", ["y", "x"])
def test_units_do_not_matter(unit, factor):
    """y times c: amplitudes times c, and the same frequencies. x times c: frequencies over c."""
    first = start()
    plain, _ = descended(Descent(), least_squares(), first, 20)
    of_y, of_x = (factor, 1.0) if unit == "y" else (1.0, factor)
    scaled, _ = descended(Descent(), least_squares(of_y=of_y, of_x=of_x), first / of_x, 20)
    assert len(scaled) == len(plain) == 21
    exact = math.log2(factor).is_integer()  # rounding is the same in units of powers of two
    for one, other in zip(plain, scaled, strict=True):
        near = {"rtol": 0, "atol": 0 if exact else 1e-6}
        assert_allclose(other.frequencies * of_x, one.frequencies, **near)
        assert_allclose(other.amplitudes / of_y, one.amplitudes, **near)


# Where no move is left


def test_where_nothing_changes_descent_is_stuck():
    minimize = least_squares(of_y=0.0)
    states, infos = descended(Descent(), minimize, start(), 50)
    assert [info.acceptance for info in infos] == [0.0]
    assert (infos[0].step_size, infos[0].loss, infos[0].phase) == (0.0, 0.0, "descent")
    assert states[-1].proposal.stuck
    assert states[-1].step == 1
    assert_array_equal(states[-1].frequencies, start())
    assert list(Descent().sample(minimize, states[-1], None, 10)) == []


def test_the_past_is_forgotten_before_descent_is_stuck():
    """At a loss that rises whichever way: once with a past, once without."""
    asked = []
    rising = Problem(lambda omega: 1.0 + len(asked), np.ones_like, np.ones((5, 1)))
    spy = Problem(lambda omega: asked.append(omega) or rising.loss(omega), np.ones_like, np.ones((5, 1)))
    pair = (start(seed=2),), (start(seed=2),)
    first = State(7, start(), np.ones((5, 1)), Curvature(1.0, np.ones((5, 2)), *pair))
    steps = list(Descent().sample(spy, first, None, 50))
    assert len(asked) == 2 * MOST_TRIALS
    assert [info.step for _, info in steps] == [8, 9]
    assert [info.acceptance for _, info in steps] == [0.0, 0.0]
    assert [state.proposal.stuck for state, _ in steps] == [False, True]
    assert [state.proposal.moves for state, _ in steps] == [(), ()]
    for state, info in steps:
        assert info.loss == state.proposal.loss == 1.0
        assert_array_equal(state.frequencies, start())


@pytest.mark.parametrize("n_failures", [0, 1, 5, MOST_TRIALS - 1])
def test_moves_are_shortened_until_the_loss_falls(n_failures):
    asked = []

    def loss(omega):
        asked.append(omega)
        return 2.0 if len(asked) <= n_failures else -1e9

    problem = Problem(loss, np.ones_like, np.ones((5, 1)))
    state, info = Descent().step(None, State(0, start(), np.ones((5, 1)), Curvature(1.0, np.ones((5, 2)))), problem)
    assert len(asked) == n_failures + 1
    length = 0.03 * rms(start()) * SHORTENING**n_failures
    assert_allclose(state.frequencies, start() - length, atol=1e-12)
    assert info.step_size == pytest.approx(length)
    assert info.acceptance == 1.0


def test_a_loss_that_hardly_falls_is_not_enough():
    """A move must bring some of what the slope promises."""
    promised = 0.03 * rms(start()) * 10  # of a gradient of ones, over ten components
    for share, moves in ((1e-5, False), (2e-4, True)):
        problem = Problem(lambda omega, share=share: 1.0 - share * promised, np.ones_like, np.ones((5, 1)))
        first = State(0, start(), np.ones((5, 1)), Curvature(1.0, np.ones((5, 2))))
        _, info = Descent().step(None, first, problem)
        whole = info.step_size == pytest.approx(0.03 * rms(start()))
        assert whole == moves


def test_a_gradient_that_is_no_number_moves_nothing():
    problem = Problem(lambda omega: 1.0, lambda omega: np.full_like(omega, np.nan), np.ones((5, 1)))
    states, infos = descended(Descent(), problem, start(), 5)
    assert len(infos) == 1
    assert_array_equal(states[-1].frequencies, start())


@every_differentiable_kind
def test_frequencies_of_zero_stay(kind):
    """The length of moves is relative to the frequencies'."""
    states, infos = descended(Descent(), least_squares(features=kind.features), np.zeros((5, 2 + kind.extra)), 5)
    assert len(infos) == 1
    assert np.all(states[-1].frequencies == 0)


# What it learns


def test_the_last_moves_are_kept():
    minimize = least_squares()
    states, _ = descended(Descent(memory=4), minimize, start(), 12)
    assert [len(state.proposal.moves) for state in states[:6]] == [0, 1, 2, 3, 4, 4]
    last = states[-1].proposal
    for i, (move, change) in enumerate(zip(last.moves, last.changes, strict=True), start=len(states) - 4):
        assert_array_equal(move, states[i].frequencies - states[i - 1].frequencies)
        assert_array_equal(change, states[i].proposal.gradient - states[i - 1].proposal.gradient)


@pytest.mark.parametrize(
    ("n_bytes", "memory", "expected"),
    [(math.inf, 4, 4), (2e8, 4, 4), (3.9, 20, 3), (3.9, 2, 2), (3.9, 1, 1), (0.0, 20, 2)],
    ids=str,
)
def test_no_more_moves_are_kept_than_memory_allows(n_bytes, memory, expected):
    """A move and its change take two arrays of doubles: sizes below 20 are in their unit."""
    most_bytes = n_bytes * 2 * start().nbytes if n_bytes < 20 else n_bytes
    descent = Descent(memory=memory, most_bytes=most_bytes)
    states, infos = descended(descent, least_squares(), start(), 12)
    assert [len(state.proposal.moves) for state in states] == [min(i, expected) for i in range(13)]
    assert len(states[-1].proposal.changes) == expected
    losses = [states[0].proposal.loss, *(info.loss for info in infos)]
    assert all(after < before for before, after in pairwise(losses))
    assert losses[-1] < 0.9 * losses[0]


def test_few_moves_are_the_same_whether_memory_or_bytes_bound_them():
    by_count, by_bytes = Descent(memory=3), Descent(most_bytes=3 * 2 * start().nbytes)
    one, other = (descended(descent, least_squares(), start(), 12)[0][-1] for descent in (by_count, by_bytes))
    assert_array_equal(one.frequencies, other.frequencies)


def test_curvature_that_is_not_positive_is_not_learnt():
    """Down a cap the gradient grows along the move."""
    cap = Problem(lambda omega: -float(np.sum(omega**2)), lambda omega: -2 * omega, np.ones((5, 1)))
    states, infos = descended(Descent(), cap, start(), 5)
    assert [info.acceptance for info in infos] == [1.0] * 5
    assert states[-1].proposal.moves == states[-1].proposal.changes == ()
    assert_allclose(states[-1].frequencies, 1.03**5 * start())


def test_a_refit_at_another_regularization_keeps_what_was_learnt():
    descent, other = Descent(), least_squares(regularization=1.0)
    state = descended(descent, least_squares(), start(), 6)[0][-1]
    again, loss = descent.refit(state._replace(proposal=state.proposal._replace(stuck=True)), other)
    solution = other(state.frequencies)
    assert_array_equal(again.frequencies, state.frequencies)
    assert_array_equal(again.amplitudes, solution.amplitudes)
    assert loss == again.proposal.loss == solution.loss != state.proposal.loss
    assert_array_equal(again.proposal.gradient, other.gradient(state.frequencies, solution.amplitudes))
    assert again.step == state.step == 6
    assert len(again.proposal.moves) == len(state.proposal.moves) > 0
    for one, same in zip(
        again.proposal.moves + again.proposal.changes, state.proposal[2] + state.proposal[3], strict=True
    ):
        assert one is same
    assert not again.proposal.stuck
    states = [one for one, _ in descent.sample(other, again, None, 5)]
    assert states[-1].proposal.loss < loss


@pytest.mark.parametrize("stop", [1, 7])
def test_stopped_pickled_and_resumed_is_unbroken(stop, anywhere):
    descent, minimize = Descent(memory=4, max_norm=3.0), least_squares(anywhere, 2)
    unbroken = descended(descent, minimize, anywhere.asarray(start()), 12)[0][-1]
    state = pickle.loads(pickle.dumps(descended(descent, minimize, anywhere.asarray(start()), stop)[0][-1]))
    *_, (state, _) = descent.sample(minimize, state, None, 12 - stop)
    assert state.step == unbroken.step == 12
    for one, other in zip(parts_of(state), parts_of(unbroken), strict=True):
        assert_array_equal(anywhere.host(one), anywhere.host(other))
    assert state.proposal.loss == unbroken.proposal.loss


def parts_of(state):
    learnt = state.proposal
    return [state.frequencies, state.amplitudes, learnt.gradient, *learnt.moves, *learnt.changes]


def test_a_step_changes_nothing_that_it_is_given():
    descent, minimize = Descent(), least_squares()
    state = descended(descent, minimize, start(), 3)[0][-1]
    before = pickle.dumps(state)
    descent.step(None, state, minimize)
    assert pickle.dumps(state) == before


def test_nothing_is_drawn():
    minimize, rng = least_squares(), np.random.default_rng(0)
    by_rng = list(Descent().sample(minimize, Descent().init(minimize, start()), rng, 5))
    assert_array_equal(by_rng[-1][0].frequencies, descended(Descent(), minimize, start(), 5)[0][-1].frequencies)
    assert rng.random() == np.random.default_rng(0).random()


def test_infos_say_what_happened():
    minimize = least_squares()
    states, infos = descended(Descent(), minimize, start(), 6)
    assert [info.step for info in infos] == [state.step for state in states[1:]] == [1, 2, 3, 4, 5, 6]
    assert {info.phase for info in infos} == {"descent"}
    assert {info.acceptance for info in infos} == {1.0}
    assert {info.solve for info in infos} == {minimize(start()).info}


def test_descent_finds_what_the_target_needs():
    x, y = target(1, 300)
    minimize = LeastSquares(Rows(x, y), FEATURES["cos-sin"].features, 1e-4)
    states, infos = descended(Descent(), minimize, start(), 60)
    assert infos[-1].loss < 0.05 * states[0].proposal.loss
