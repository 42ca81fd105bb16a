"""Tables from cells made by hand."""

import pytest
from paper_cells import cell, errors, law, scattered

from fourierwalk.paper import tables
from fourierwalk.paper.cases import CASES
from fourierwalk.paper.summary import PRINTED

MODULUS = "misclassified_modulus"


def row_of(table, name):
    return dict(zip(table.columns, next(row for row in table.rows if row[0] == name), strict=True))


def test_errors_are_width_by_method():
    found = errors("case1", "algorithm-1", scattered({32: 0.5, 64: 0.25}, 0.1))
    found |= errors("case1", "fixed", scattered({64: 0.5}, 0.1, n_seeds=3))
    modulus = tables.tables(found, "case1")[0]
    assert modulus.columns == ["K", "n", "Algorithm 1", "fixed N(0,1)"]
    assert modulus.rows == [["32", "5", "0.5000 ± 0.0500", "–"], ["64", "3–5", "0.2500 ± 0.0250", "0.5000 ± 0.0500"]]


def test_exponents_are_between_neighbours_and_fitted():
    found = errors("case2", "algorithm-1", scattered(law([32, 64, 128], -0.5)))
    table = tables.exponent_table(found, CASES["case2"])
    assert [row[0] for row in table.rows] == ["32 to 64", "64 to 128", "fitted, K ≥ 32"]
    assert all(row[1].startswith("−0.50 ± ") for row in table.rows)


def test_table_1_has_both_readings_beside_the_printed_one():
    found = errors("case4", "algorithm-1", scattered({2: 81.0, 4: 70.0}, 0.01), MODULUS)
    for made in found.values():
        made["result"]["misclassified_real"] = made["result"][MODULUS] - 4
    modulus, real = tables.digit_tables(found)
    assert row_of(modulus, "2")["adaptive, printed (%)"] == f"{PRINTED[2][2]:.2f}"
    assert row_of(modulus, "2")["adaptive, ours (%)"] == "81.00 ± 0.81"
    assert row_of(modulus, "2")["fixed N(0,1), ours (%)"] == "–"
    assert row_of(real, "2")["adaptive, ours (%)"] == "77.00 ± 0.81"
    assert "adaptive, printed (%)" not in real.columns


def test_case_3_in_seconds_in_work_and_in_covariances():
    rows = [[100, 9.0, 0.6, 0.5, 4.0], [200, 18.0, 0.3, 0.3, 8.0]]
    result = {"trace": rows, "covariance": [[900.0, 0.0], [0.0, 0.5]]}
    found = cell("case3", "algorithm-1", 256, 0, result) | cell("case3", "algorithm-1", 256, 1, result)
    seconds, values, _, covariance = tables.tables(found, "case3")
    assert row_of(seconds, "0.7")["Algorithm 1 (s)"] == "4.0"
    assert row_of(seconds, "0.25")["Algorithm 1 (s)"] == "never"
    assert row_of(values, "0.35")["Algorithm 1 (n = 2)"] == f"{10_000 * 256 * 203 / 1e9:.2f} ± 0.00"
    assert row_of(covariance, "Algorithm 1")["variance of ω₂"] == "0.50 ± 0.00"
    assert row_of(covariance, "optimum")["variance of ω₁"] == "1024"


def test_the_sweep_has_a_column_for_each_way_of_measuring():
    found = cell("sweep", "spread-1.0", 500, 0, {"rms_modulus": 0.2, "rms_modulus_clean": 0.1})
    (table,) = tables.tables(found, "sweep")
    assert table.columns == ["σ_ω", "modulus, noisy targets (as printed)", "modulus, noise-free targets"]
    assert table.rows == [["1", "0.20000", "0.10000"]]


@pytest.mark.parametrize("case", CASES)
def test_no_cells_no_tables(case):
    assert tables.tables({}, case) == []
