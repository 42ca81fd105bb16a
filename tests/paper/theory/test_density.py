"""The search finds |f̂|, so that no other density passes for the optimum."""

import numpy as np
import pytest

from fourierwalk.paper.theory import density
from fourierwalk.paper.verdicts import Verdict


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_another_power_is_not_the_optimum(power):
    claim = density.OPTIMUM.judge(density.optimum(lambda omega: density._transform(omega) ** power))
    assert claim.verdict is Verdict.FAILS


def test_a_slightly_perturbed_density_is_not_the_optimum():
    claim = density.OPTIMUM.judge(density.optimum(lambda w: density._transform(w) * (1 + 0.2 * np.sin(5 * w))))
    assert claim.verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("variances", "verdict"),
    [((2.0, 1.5, 1.1), Verdict.HOLDS), ((5.8, 1.5, 1.1), Verdict.PARTLY), ((2.0, 2.1, 1.1), Verdict.FAILS)],
)
def test_the_sampled_density(variances, verdict):
    laws = ((1.0, 2.0), (2.0, 1.5), (10.0, 1.1))
    rows = [[gamma, value, 0.01, expected] for (gamma, expected), value in zip(laws, variances, strict=True)]
    claim = density.SAMPLED.judge({"rows": rows, "with_rows": [12.0, 2.0]})
    assert claim.verdict is verdict
    assert "with 400 rows the variance is 12.0 ± 2.0" in claim.restriction
