import numpy as np

from fourierwalk.benchmarks import predictions


def test_predictions_are_beside_others_of_the_same_run():
    figures = {figure.what: figure for figure in predictions.many_rows(16)}
    assert figures.keys() == {
        "seconds",
        *(f"times the seconds of {name}" for name in ("MLPRegressor", "KernelRidge", "HistGradientBoosting")),
        "largest difference between a row alone and among all",
    }
    assert all(np.isfinite(figure.value) and figure.value >= 0 for figure in figures.values())
    assert figures["seconds"].target == 1.5
    assert figures["largest difference between a row alone and among all"].met


def test_one_row_is_measured_in_microseconds():
    first, *others = predictions.one_row(16)
    assert (first.what, first.target) == ("µs", 150.0)
    assert len(others) == 3
    assert first.case == "predict, one row, d = 10, K = 16"
