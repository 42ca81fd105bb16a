"""What ran on a GPU is marked, from cells made by hand."""

import pytest

from fourierwalk.paper import gpus
from fourierwalk.paper.cases import CASES

CASE = CASES["case2"]


def cell(experiment, width, seed, gpu=None):
    chosen = next(each for each in CASE.experiments if each.name == experiment)
    machine = {"gpu": gpu} if gpu else {}
    return f"case2/{experiment}/K{width:05d}-seed{seed:02d}", {
        "settings": {"width": width, "seed": seed, "experiment": {"method": chosen.method}},
        "result": {"rms_modulus": 1.0},
        "provenance": {"commit": "abc", "machine": machine},
    }


FOUND = dict(
    [
        cell("algorithm-1", 8, 0),
        cell("algorithm-1", 16, 0),
        cell("algorithm-1", 16, 1, "H200"),
        cell("algorithm-1", 32, 0, "H200"),
        cell("gradient", 8, 0, "H200"),
    ]
)


def test_rows_with_a_cell_from_a_gpu_are_marked():
    rows = [["8", "a"], ["16", "b"], ["32", "c"], ["16 to 32", "d"]]
    assert gpus.marked(FOUND, "case2", rows) == [["8", "a"], ["16 †", "b"], ["32 †", "c"], ["16 to 32", "d"]]


def test_the_note_says_which_methods_and_the_gradient_never_ran_there():
    assert gpus.widths(FOUND, "case2") == {"Algorithm 1": [16, 32]}
    expected = "† computed on a GPU (H200): Algorithm 1, K = 16 to 32. All else on processors."
    assert gpus.note(FOUND, "case2") == expected
    assert gpus.note(FOUND, "case1") == ""


@pytest.mark.parametrize("provenance", [{}, {"commit": None}])
def test_cells_without_a_machine_are_of_no_gpu(provenance):
    (_, bare) = cell("algorithm-1", 8, 0)
    assert gpus.gpu_of({**bare, "provenance": provenance}) == ""
