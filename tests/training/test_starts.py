"""Each kind of draw, and the spread by trial."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from searches import start

from fourierwalk.arrays.library import to_host
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.training.selection import Candidate, Look
from fourierwalk.training.starts import KINDS, MOST_DOUBLINGS, Drawing, Shape, drawn, spread_by_trial


def drawing(root=None, width=2.0, frequencies=None, amplitudes=None, step=0.1, together=3):
    root = np.diag([1.0, 2.0, 0.0, 0.5]) if root is None else root
    return Drawing(Shape(root, width), frequencies, amplitudes, RandomWalk(step), together)


def draw(kind, n=20_000, seed=0, **settings):
    return KINDS[kind](drawing(**settings), n, np.random.default_rng(seed))


def test_every_kind_draws_as_many_as_wanted():
    with_model = {"frequencies": np.ones((3, 4)), "amplitudes": np.ones((3, 2), dtype=complex)}
    for kind in KINDS:
        assert draw(kind, 7, **with_model).shape == (7, 4), kind
        assert np.all(np.isfinite(draw(kind, 7, **with_model)))


def test_isotropic_ones_spread_alike_in_all_directions():
    omega = draw("isotropic")
    assert_allclose(omega.T @ omega / len(omega), np.eye(4) / 2.0**2, atol=0.01)


def test_shaped_ones_have_the_covariance_of_the_shape():
    root = np.random.default_rng(1).standard_normal((2, 4))
    omega = draw("shaped", root=root)
    assert_allclose(omega.T @ omega / len(omega), root.T @ root, atol=0.05 * np.max(root.T @ root))
    assert_allclose(Shape(root, 1.0).relevance, np.diag(root.T @ root))


@pytest.mark.parametrize(("kind", "low", "high"), [("long", 0.5, 4.0), ("long sparse", 1.0, 8.0)])
def test_long_ones_are_longer_by_factors_of_uniform_logarithms(kind, low, high):
    """Along one input all the rest is a normal number."""
    omega = draw(kind, 200_000, root=np.array([[1.0]]), together=1)
    factors = np.exp(np.linspace(math.log(low), math.log(high), 10_001))
    assert np.mean(omega**2) == pytest.approx(np.mean(factors**2), rel=0.03)
    assert np.mean(np.abs(omega)) == pytest.approx(math.sqrt(2 / math.pi) * np.mean(factors), rel=0.02)
    assert np.max(np.abs(omega)) < high * 5.5


@pytest.mark.parametrize("together", [1, 2, 3, 9])
@pytest.mark.parametrize("kind", ["sparse", "long sparse"])
def test_sparse_ones_have_few_inputs_picked_by_relevance(kind, together):
    omega = draw(kind, together=together)
    assert set(np.count_nonzero(omega, axis=1)) == set(range(1, min(together, 3) + 1))
    assert not np.any(omega[:, 2])  # the third of the four inputs has no relevance
    picked = np.mean(omega != 0, axis=0)
    assert picked[1] > picked[0] > picked[3] > 0


def test_one_two_or_three_inputs_are_equally_likely():
    n_inputs = np.count_nonzero(draw("sparse", root=np.eye(5)), axis=1)
    assert_allclose(np.bincount(n_inputs, minlength=6) / len(n_inputs), [0, 1 / 3, 1 / 3, 1 / 3, 0, 0], atol=0.02)


def test_sparse_ones_of_one_input_follow_the_relevance():
    omega = draw("sparse", together=1)
    relevance = np.array([1.0, 4.0, 0.0, 0.25])
    assert_allclose(np.mean(omega != 0, axis=0), relevance / np.sum(relevance), atol=0.02)
    spread = [math.sqrt(np.mean(omega[omega[:, j] != 0, j] ** 2)) for j in (0, 1, 3)]
    assert_allclose(spread, [1.0, 2.0, 0.5], rtol=0.1)


def test_inputs_are_drawn_without_replacement_in_proportion_to_their_relevance():
    """Of two of three inputs of shares p, both of i and j are picked with pᵢpⱼ/(1 − pᵢ) + pⱼpᵢ/(1 − pⱼ)."""
    p = np.array([0.6, 0.3, 0.1])
    omega = draw("sparse", 60_000, root=np.diag(np.sqrt(p)), together=2)
    pairs = omega[np.count_nonzero(omega, axis=1) == 2] != 0
    for i, j in ((0, 1), (0, 2), (1, 2)):
        expected = p[i] * p[j] / (1 - p[i]) + p[j] * p[i] / (1 - p[j])
        assert np.mean(pairs[:, i] & pairs[:, j]) == pytest.approx(expected, abs=0.01)


def test_a_walk_needs_a_model():
    assert draw("walk", 5) is None
    assert draw("walk", 5, frequencies=np.ones((3, 4)), amplitudes=np.zeros((3, 1), dtype=complex)) is None


def test_a_walk_copies_frequencies_by_the_size_of_their_amplitudes():
    frequencies = np.array([[1.0, 0.0], [0.0, 10.0], [5.0, 5.0]])
    amplitudes = np.array([[3.0 + 4.0j], [0.0], [5.0j]]) * [[1.0, 0.0]]  # of sizes 5, 0 and 5
    moved = draw("walk", 100, frequencies=frequencies, amplitudes=amplitudes, step=1e-6)
    nearest = np.argmin(np.linalg.norm(moved[:, None] - frequencies[None], axis=2), axis=1)
    assert_array_equal(np.bincount(nearest, minlength=3), [50, 0, 50])
    steps = (moved - frequencies[nearest]) / 1e-6
    assert np.std(steps) == pytest.approx(1.0, abs=0.2)


def test_new_frequencies_of_each_kind_in_turn():
    named = list(drawn(("sparse", "walk", "isotropic"), drawing(), 6, 0, np.random.default_rng(0)))
    assert [kind for kind, _ in named] == ["sparse", "isotropic"]  # nothing to walk from
    assert [omega.shape for _, omega in named] == [(6, 4), (6, 4)]


def test_a_bias_is_a_normal_number_beside():
    model = {"frequencies": np.full((3, 5), 7.0), "amplitudes": np.ones((3, 1))}
    named = dict(drawn(("shaped", "sparse", "walk"), drawing(**model), 5000, 1, np.random.default_rng(0)))
    assert {kind: omega.shape for kind, omega in named.items()} == dict.fromkeys(
        ("shaped", "sparse", "walk"), (5000, 5)
    )
    for kind in ("shaped", "sparse"):
        assert np.std(named[kind][:, -1]) == pytest.approx(1.0, abs=0.05)
        assert abs(np.mean(named[kind][:, -1])) < 0.06
    assert np.mean(named["walk"][:, -1]) == pytest.approx(7.0, abs=0.1)  # a walk moves the bias that there is


# The spread


def bowl(best):
    """Looks whose error is the distance of the spread from a best one, in powers of two."""
    asked = []

    def look(frequencies):
        spread = math.sqrt(np.mean(to_host(frequencies) ** 2))
        asked.append(spread)
        return Candidate(Look(0, abs(math.log2(spread / best)), 0.1), frequencies, None)

    return look, asked


@pytest.mark.parametrize("power", [-6, -1, 0, 1, 2, 7])
def test_the_spread_is_the_best_power_of_two(power, xp):
    normal = np.random.default_rng(0).standard_normal((50, 3))
    size = math.sqrt(np.mean(normal**2)) / math.sqrt(3)
    look, asked = bowl(size * 2.0**power * 1.1)
    found = spread_by_trial(look, start(50, 3), xp.asarray(np.zeros(1)), np.random.default_rng(0))
    assert_allclose(xp.host(found.frequencies), 2.0**power / math.sqrt(3) * normal, rtol=1e-12)
    tried = np.round(np.log2(np.array(asked) / size)).astype(int)
    assert {0, 1, power, power + (1 if power > 0 else -1)} <= set(tried)
    assert len(asked) <= abs(power) + 3


def test_the_spread_has_an_end():
    for best in (1e-300, 1e300):
        look, asked = bowl(best)
        spread_by_trial(look, start(5), np.zeros(1), np.random.default_rng(0))
        assert MOST_DOUBLINGS < len(asked) <= MOST_DOUBLINGS + 2


def test_a_spread_or_frequencies_that_are_given_are_not_tried():
    look, asked = bowl(1.0)
    mine = np.arange(6.0).reshape(3, 2)
    begin = start(3, frequencies=mine)
    assert spread_by_trial(look, begin, np.zeros(1), np.random.default_rng(0)).frequencies is mine
    found = spread_by_trial(look, start(3, spread=7.0), np.zeros(1), np.random.default_rng(0)).frequencies
    assert_array_equal(found, 7 * np.random.default_rng(0).standard_normal((3, 2)))
    assert len(asked) == 2
