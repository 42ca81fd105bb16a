"""Which figures of a fit have a target; the fits themselves are in the tests of gpu."""

import pytest

from fourierwalk.benchmarks import gpu_tables
from fourierwalk.benchmarks.gpu_tables import MeasuredFit
from fourierwalk.comparison.datasets import find

SLOW, QUICK = MeasuredFit(1.0, 20.0, 8), MeasuredFit(1.1, 10.0, 16)


def figures(name, gpu, double, cpu, **options):
    found = list(gpu_tables._figures(find(name), gpu, double, cpu, **options))
    return {figure.what: figure for figure in found}


def test_ratios():
    found = figures("diabetes", QUICK, SLOW, SLOW)
    assert not found["error over that of double precision throughout"].met
    assert found["seconds over those of double precision throughout"].value == 0.5
    assert found["default: frequencies"].value == 16
    assert found["seconds over those of two CPU cores"].target is None  # 353 rows


def test_a_large_table_must_be_faster_than_two_cores():
    found = figures("diabetes", SLOW, SLOW, QUICK, faster_from=353)
    assert not found["seconds over those of two CPU cores"].met


def test_no_error_at_all_can_be_divided_by():
    none, one = MeasuredFit(0.0, 1.0, 8), MeasuredFit(100 / 36, 1.0, 8)  # of 36 test rows
    found = figures("wine", one, none, none)
    assert found["error over that of double precision throughout"].value == pytest.approx(3.0)
