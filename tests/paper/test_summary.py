"""Cells to curves, traces and lists of what is missing."""

import numpy as np
from paper_cells import cell, errors

from fourierwalk.paper import summary
from fourierwalk.paper.cases import CASES

GPU = {"machine": {"gpu": "some"}}


def test_every_width_counts_the_seeds_of_its_case():
    n = CASES["case4"].n_seeds
    found = errors("case4", "fixed", {(2, s): float(s) for s in range(n + 3)} | {(4, s): 1.0 for s in range(n)})
    line = summary.curve(found, "case4", "fixed")
    np.testing.assert_array_equal(line.n_seeds, [n, n])
    assert line.at(2) == np.mean(range(n))


def test_walks_below_double_precision_are_named():
    found = errors("case4", "algorithm-1", {(2, 0): 80.0, (4, 0): 70.0})
    assert summary.rounded(found, "case4") == ""
    settings = {width: found[f"case4/algorithm-1/K{width:05d}-seed00"]["settings"] for width in (2, 4)}
    settings[4]["experiment"]["precision"] = "bf16"
    assert summary.rounded(found, "case4").startswith("One walk (K = 4) had products in bf16,")
    settings[2]["experiment"]["precision"] = "bf16"
    assert summary.rounded(found, "case4").startswith("2 walks (K = 2 to 4) had products in bf16,")
    assert summary.rounded(found, "case1") == ""


def test_missing_cells_are_named():
    lines = summary.missing(errors("case1", "algorithm-1", {(2, 0): 1.0}), "paper")
    assert any("Algorithm 1: K = 2 (9 of 10), K = 4 (10 of 10)" in line for line in lines)


def test_time_to_an_error():
    line = np.array([[1, 0.5, 0.9, 0], [2, 1.0, 0.4, 0], [3, 1.5, 0.6, 0]])
    assert summary.time_to(line, 0.5) == 1.0
    assert summary.time_to(line, 0.1) == np.inf


def test_seconds_are_those_of_a_processor_and_not_of_a_gpu():
    rows = [[100, 9.0, 0.5, 0.4, 3.0]]
    found = cell("case3", "algorithm-1", 256, 0, {"trace": rows}, provenance=GPU)
    assert summary.trace(found, "algorithm-1") is None
    found |= cell("case3", "algorithm-1", 256, 1, {"trace": rows})
    np.testing.assert_array_equal(summary.trace(found, "algorithm-1"), [[100, 3.0, 0.5, 0.4]])
    assert summary.traces(found, "algorithm-1").shape == (2, 1, 2)


def test_the_sweep_is_of_fixed_frequencies_alone():
    found = errors("sweep", "spread-1.0", {(500, 0): 0.2, (500, 1): 0.4}) | errors(
        "sweep", "algorithm-1", {(500, 0): 9.0}
    )
    assert list(summary.sweep(found)) == [1.0]
    assert summary.sweep_by_seed(found, "rms_modulus") == {1.0: {0: 0.2, 1: 0.4}}
    assert summary.sweep_by_seed(found, "rms_modulus_clean") == {}
