"""Tables of K by method, from cells made by hand."""

import pytest

from fourierwalk.paper import tables
from fourierwalk.paper.cases import CASES

CASE = CASES["case2"]


def cell(experiment, width, seed, error, gpu=None):
    chosen = next(each for each in CASE.experiments if each.name == experiment)
    machine = {"gpu": gpu} if gpu else {}
    return f"case2/{experiment}/K{width:05d}-seed{seed:02d}", {
        "settings": {"width": width, "seed": seed, "experiment": {"method": chosen.method}},
        "result": {"rms_modulus": error},
        "provenance": {"commit": "abc", "machine": machine},
    }


FOUND = dict(
    [
        cell("algorithm-1", 8, 0, 0.5),
        cell("algorithm-1", 8, 1, 0.7),
        cell("algorithm-1", 16, 0, 0.25, "H200"),
        cell("gradient", 8, 0, 0.125, "H200"),
    ]
)


def test_a_row_per_width_and_a_column_per_method():
    caption, columns, rows = tables.width_table(FOUND, CASE, "rms_modulus", "error (no unit)")
    assert caption == "error (no unit), mean ± standard deviation of 1 to 2 seeds"
    assert columns == ["K", "Algorithm 1", "stochastic gradient from N(0,1)"]
    assert rows == [["8", "0.60 ± 0.14", "0.125"], ["16", "†0.25", "–"]]


def test_what_ran_on_a_gpu_is_marked_and_the_gradient_never_does():
    assert tables.is_on_gpu(FOUND, "case2", "algorithm-1", 16)
    assert not tables.is_on_gpu(FOUND, "case2", "algorithm-1", 8)
    assert not tables.is_on_gpu(FOUND, "case2", "gradient", 8)
    assert tables.gpu_note(FOUND, "case2") == "† computed on a GPU (H200); all else on processors."
    assert tables.gpu_note(FOUND, "case1") == ""


@pytest.mark.parametrize("provenance", [{}, {"commit": None}])
def test_cells_without_a_machine_are_of_no_gpu(provenance):
    (_, bare) = cell("algorithm-1", 8, 0, 1.0)
    assert tables.gpu_of({**bare, "provenance": provenance}) == ""
