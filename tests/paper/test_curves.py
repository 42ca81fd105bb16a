"""Standard errors, exponents and differences against numbers made by hand."""

import math

import numpy as np
import pytest
from paper_cells import errors, law, scattered

from fourierwalk.paper import curves
from fourierwalk.paper.curves import Curve, Measured
from fourierwalk.paper.summary import curve

WIDTHS = [16, 32, 64, 128, 256]


def line(means, **scatter):
    return curve(errors("case1", "fixed", scattered(means, **scatter)), "case1", "fixed")


def test_mean_deviation_and_standard_error():
    made = line({8: 2.0}, scatter=0.1, n_seeds=4)
    assert made.deviation[0] == pytest.approx(0.2)
    assert made.measured(8) == (pytest.approx(2.0), pytest.approx(0.1))
    assert math.isnan(made.measured(16).value)
    assert math.isnan(line({8: 2.0}, scatter=0, n_seeds=2).between(16).measured(8).value)


def test_a_single_realisation_has_no_standard_error_and_no_sign():
    one = curves.measured([3.0])
    assert math.isnan(one.error)
    assert one.sign == 0
    assert one.text(1) == "3.0"


@pytest.mark.parametrize(("value", "sign"), [(0.21, 1), (-0.21, -1), (0.19, 0)])
def test_a_sign_takes_two_standard_errors(value, sign):
    assert Measured(value, 0.1).sign == sign


def test_a_power_is_fitted_with_its_error():
    fitted = curves.exponent(line(law(WIDTHS, -0.5), scatter=0.02, n_seeds=4), 16)
    assert fitted.value == pytest.approx(-0.5)
    x = np.log(WIDTHS)
    assert fitted.error == pytest.approx(0.01 / math.sqrt(np.sum((x - x.mean()) ** 2)))
    assert math.isnan(curves.exponent(line(law(WIDTHS, -0.5)), 128).value)


def test_scatter_about_the_line_counts():
    means = law(WIDTHS, -0.5)
    bent = {width: mean * (1.3 if width == 64 else 1.0) for width, mean in means.items()}
    straight, crooked = (curves.exponent(line(each, scatter=0.01), 16) for each in (means, bent))
    assert crooked.error > 5 * straight.error


def test_realisations_that_agree_by_chance_do_not_decide_the_fit():
    exact = Curve(
        np.array([2, 4, 8, 16]), np.array([2.0, 1.0, 0.5, 0.25]), np.array([1e-17, 0.1, 0.05, 0.02]), np.full(4, 3)
    )
    assert curves.exponent(exact, 2).value == pytest.approx(-1)
    off = exact._replace(mean=np.array([1.0, 1.0, 0.5, 0.25]))
    assert -1 < curves.exponent(off, 2).value < -0.5


def test_local_exponents_have_errors():
    local = curves.local_exponents(line(law(WIDTHS, -0.7), scatter=0.02, n_seeds=4))
    assert list(local) == [(16, 32), (32, 64), (64, 128), (128, 256)]
    for each in local.values():
        assert each.value == pytest.approx(-0.7)
        assert each.error == pytest.approx(math.hypot(0.01, 0.01) / math.log(2))


def test_differences_are_by_common_width():
    found = curves.compared(line({16: 1.0, 32: 1.0}), line({32: 0.5, 64: 0.5}))
    assert list(found) == [32]
    assert found[32].sign == 1
