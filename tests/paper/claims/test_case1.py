"""Case 1's claims on cells made by hand."""

import numpy as np
import pytest
from paper_cells import cell, errors, law, scattered

from fourierwalk.paper.claims import case1
from fourierwalk.paper.targets import sine_integral, transform_modulus
from fourierwalk.paper.verdicts import Verdict

WIDTHS = [16, 32, 64, 128, 256, 512, 1024, 2048]


def made(**means):
    found = {}
    for name, values in means.items():
        found |= errors("case1", name.replace("_", "-"), scattered(values))
    return found


def test_a_wider_start_is_judged_at_every_width():
    narrow, wide = law(WIDTHS, 0.0, 0.3), law(WIDTHS, -0.5, 0.7)
    assert case1.wider_start(made(gradient=narrow, gradient_50=wide)).verdict is Verdict.PARTLY
    assert case1.wider_start(made(gradient=narrow, gradient_50=law(WIDTHS, -0.5, 0.2))).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("gradient", "walk", "verdict"),
    [(0.0, -0.5, Verdict.HOLDS), (0.0, 0.0, Verdict.PARTLY), (-0.5, -0.5, Verdict.FAILS)],
)
def test_stagnation(gradient, walk, verdict):
    found = made(gradient_50=law(WIDTHS, gradient), algorithm_1=law(WIDTHS, walk))
    assert case1.gradient_stagnates(found).verdict is verdict


def test_the_page_says_where_the_gradient_is_better():
    found = made(algorithm_1=law(WIDTHS, -0.5, 0.6), gradient=law(WIDTHS, 0, 0.5), gradient_50=law(WIDTHS, -0.3, 0.35))
    claim = case1.walk_against_gradient(found)
    assert claim.verdict is Verdict.PARTLY
    assert "higher at K = 16 to 128" in claim.evidence


def test_the_better_of_two_curves_keeps_its_scatter():
    first = case1.curve(made(gradient={16: 1.0, 32: 0.1}), "case1", "gradient")
    second = case1.curve(made(gradient_50={16: 0.5, 32: 0.2}), "case1", "gradient-50")
    line = case1.better(first, second)
    np.testing.assert_allclose(line.mean, [0.5, 0.1])
    np.testing.assert_allclose(line.deviation, [0.01, 0.002])


@pytest.mark.parametrize(("second", "verdict"), [(0.04, Verdict.HOLDS), (0.2, Verdict.PARTLY)])
def test_no_tuning_needs_both_walks_below_both_gradients(second, verdict):
    figures = {"algorithm_1": 0.05, "algorithm_2": second, "gradient": 0.3, "gradient_50": 0.1}
    found = made(**{name: {2048: value} for name, value in figures.items()})
    assert case1.no_tuning(found).verdict is verdict
    assert case1.no_tuning(made(algorithm_1={2048: 0.05})).verdict is Verdict.NOT_TESTABLE


@pytest.mark.parametrize(
    ("walk", "verdict"), [((1.0, 0.05), Verdict.HOLDS), ((1.2, 0.8), Verdict.PARTLY), ((0.8, 1.2), Verdict.FAILS)]
)
def test_equal_amplitudes(walk, verdict):
    found = errors("case1", "algorithm-1", scattered(dict(zip((16, 2048), walk, strict=True))), "amplitude_variation")
    found |= errors("case1", "fixed", scattered({16: 1.5, 2048: 4.0}), "amplitude_variation")
    assert case1.equal_amplitudes(found).verdict is verdict


def frequencies(walk, fixed):
    found = {}
    for name, values in (("algorithm-1", walk), ("algorithm-2", walk), ("fixed", fixed)):
        found |= cell("case1", name, 2048, 0, {"frequencies": values.tolist()})
    return found


def drawn(n, power=1.0):
    omega, modulus = transform_modulus(lambda x: sine_integral(x, 1e-3), 20_000)
    weight = np.where(omega <= 1_000, modulus, 0) ** power
    return np.random.default_rng(0).choice(omega, n, p=weight / weight.sum())


def test_the_sampled_distribution():
    normal = np.abs(np.random.default_rng(1).standard_normal(2048))
    assert case1.optimal_distribution(frequencies(drawn(2048), normal)).verdict is Verdict.HOLDS
    near = case1.optimal_distribution(frequencies(drawn(2048) * 2, normal))
    assert near.verdict is Verdict.PARTLY
    assert "2048 draws from p* would stay below 0.03" in near.evidence
    assert case1.optimal_distribution(frequencies(normal, normal)).verdict is Verdict.FAILS


def test_distance_to_the_transform_by_sampling_it():
    assert case1.distance_to_transform(drawn(4000)) < 0.03
    assert case1.distance_to_transform(drawn(4000, 0.5), 0.5) < 0.03
    assert case1.distance_to_transform(np.abs(np.random.default_rng(0).standard_normal(4000))) > 0.4


def test_without_cells_nothing_is_told():
    assert {claim({}).verdict for claim in case1.CLAIMS} == {Verdict.NOT_TESTABLE}
