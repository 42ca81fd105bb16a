"""Case 4's claims on cells made by hand."""

import math

import numpy as np
import pytest
from paper_cells import cell, errors, scattered
from scipy.stats import t as student

from fourierwalk.paper.claims import case4
from fourierwalk.paper.printed import PRINTED, TABLE_COLUMNS
from fourierwalk.paper.summary import curve
from fourierwalk.paper.verdicts import Verdict

MODULUS = "misclassified_modulus"


def column(index, scatter=0.01, **changed):
    means = {width: row[index] for width, row in PRINTED.items()} | {int(k[1:]): v for k, v in changed.items()}
    return errors("case4", TABLE_COLUMNS[index], scattered(means, scatter), MODULUS)


def test_the_printed_column_is_reproduced_by_itself():
    for index in range(3):
        assert case4.column(index)(column(index)).verdict is Verdict.HOLDS


def test_one_width_off_is_said():
    claim = case4.column(2)(column(2, k8192=2.14))
    assert claim.verdict is Verdict.PARTLY
    assert "outside at K = 8192: 1.98 % printed, ours 2.14 % with a standard deviation of 0.02" in claim.evidence
    assert claim.restriction.startswith("5 realisations at every K")
    assert case4.largest_width(column(2, k8192=2.14)).verdict is Verdict.FAILS
    assert case4.largest_width(column(2)).verdict is Verdict.HOLDS
    below_all = case4.largest_width(column(2, k8192=2.02))
    assert below_all.verdict is Verdict.PARTLY
    assert "5 walks from 1.99 to 2.05 %; the printed run is inside the interval" in below_all.evidence


def test_better_is_not_reproduced():
    everything = {f"k{width}": 0.5 * row[2] for width, row in PRINTED.items()}
    assert case4.column(2)(column(2, **everything)).verdict is Verdict.FAILS


def test_the_distance_is_that_of_a_prediction_interval():
    line = curve(column(2, scatter=0.1), "case4", "algorithm-1", MODULUS)
    half = student.ppf(0.975, 4) * 0.1 * PRINTED[16][2] * math.sqrt(1.2)
    assert case4.distance(line, 16, PRINTED[16][2] + half) == pytest.approx(1)
    assert math.isnan(case4.distance(line, 3, 1.0))
    equal = curve(errors("case4", "fixed", {(2, s): 88.65 for s in range(3)}, MODULUS), "case4", "fixed", MODULUS)
    assert case4.distance(equal, 2, 89.97) > 1e6


def test_both_readings_are_told():
    found = column(2)
    for made in found.values():
        made["result"]["misclassified_real"] = made["result"][MODULUS] - (4 if made["settings"]["width"] == 2 else 0)
    claim = case4.column(2)(found)
    assert claim.restriction.endswith("By the largest real part errors differ by up to 4.0 points (K = 2).")


def test_smallest_error_names_the_tuned_rival():
    found = column(2) | column(1) | errors("case4", "tuned", scattered({16: 50.0, 4096: 1.0}), MODULUS)
    claim = case4.smallest_error(found)
    assert claim.verdict is Verdict.HOLDS
    assert claim.restriction.endswith("it is lower at K = 16, and higher at K = 4096.")
    assert case4.smallest_error(column(2, k8192=4.0) | column(1)).verdict is Verdict.PARTLY


@pytest.mark.parametrize(("last", "verdict"), [(83.98, Verdict.HOLDS), (20.0, Verdict.FAILS)])
def test_fixed_frequencies_do_not_converge(last, verdict):
    means = {int(k): 90 * (last / 90) ** ((i + 1) / 13) for i, k in enumerate(PRINTED)}
    claim = case4.fixed_does_not_converge(errors("case4", "fixed", scattered(means, 0.003), MODULUS))
    assert claim.verdict is verdict
    assert f"to {last:.2f} ± " in claim.evidence


def test_changes_at_the_largest_width_are_told():
    found = column(2, k8192=2.14)
    for seed, wrong in enumerate((1.9, 2.1)):
        found |= cell("gap", "steps-200", 8192, seed, {MODULUS: wrong})
    assert case4.changes(found) == {"M = 200": "2.00 ± 0.10"}
    assert "2.00 ± 0.10 % with M = 200" in case4.largest_width(found).evidence


def test_without_cells_nothing_is_told():
    assert {claim({}).verdict for claim in case4.CLAIMS} == {Verdict.NOT_TESTABLE}
    assert np.all([claim({}).evidence for claim in case4.CLAIMS])
