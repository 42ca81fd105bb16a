"""A point tells each seed, its seconds, the commit and the GPU."""

import numpy as np

from fourierwalk.paper import points, results
from fourierwalk.paper.cases import CASES, Cell


def stored(case, number, width, seed, gpu=None, **result):
    cell = Cell(CASES[case], CASES[case].experiments[number], width, seed)
    origin = {"commit": "abc", "machine": {"gpu": gpu} if gpu else {}}
    return cell.key, {"settings": results.settings(cell, "paper"), "result": result, "provenance": origin}


def test_a_point_of_a_curve():
    case = CASES["case1"]
    found = dict(
        [
            stored("case1", 0, 4, 0, "H200", rms_modulus=0.25, seconds=2.0),
            stored("case1", 0, 4, 1, rms_modulus=0.375, seconds=2.5),
            stored("case1", 0, 4, 2, rms_modulus=None, seconds=2.5),
            stored("case1", 0, 8, 0, rms_modulus=9.0, seconds=9.0),
            stored("case1", 1, 4, 0, rms_modulus=9.0, seconds=9.0),
        ]
    )
    assert points.told(found, case, case.experiments[0], 4, "rms_modulus").splitlines() == [
        "Experiment 1: Algorithm 1, K = 4",
        "seed 0: 0.25 in 2 s",
        "seed 1: 0.375 in 2.5 s",
        "commit abc",
        "on a GPU: H200",
    ]


def test_a_point_of_a_trace():
    experiment = CASES["case3"].experiments[0]
    trace = [[100, 1.5, 0.5, 0.4], [200, 3.0, 0.25, 0.2]]
    found = dict([stored("case3", 0, 256, 0, "H200", trace=trace)])
    words = points.told_trace(found, experiment, np.array(trace))
    assert words[1] == "Experiment 1: Algorithm 1\nstep 200: 0.25 after 3 s\nseed 0, commit abc"
    found |= dict([stored("case3", 0, 256, 1, trace=trace)])  # one from a processor is shown where there is one
    assert points.told_trace(found, experiment, np.array(trace))[0].endswith("seed 1, commit abc")


def test_experiments_of_ours_have_no_number():
    tuned = next(each for each in CASES["case4"].experiments if each.name == "tuned")
    assert points.titled(tuned) == tuned.label
