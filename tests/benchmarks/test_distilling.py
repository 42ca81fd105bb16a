import os
from pathlib import Path

import numpy as np
import pytest

from fourierwalk.benchmarks import distilling
from fourierwalk.comparison.datasets import find

DATA = Path(os.environ.get("FOURIERWALK_DATA", Path(__file__).parents[3] / "shared" / "data"))


def test_without_data_there_is_no_benchmark():
    assert distilling.benches(None) == {}
    assert list(distilling.benches("somewhere")) == ["distill", "distill-trees"]


def test_a_bag_is_of_eight_tuned_ensembles():
    pytest.importorskip("lightgbm")
    diabetes = find("diabetes")
    teacher = distilling.bag(diabetes, diabetes.splits(0), 0)
    assert len(teacher.estimators_) == 8
    assert np.all(np.isfinite(teacher.predict(diabetes.splits(0).x_test)))


def test_figures_of_one_table():
    pytest.importorskip("lightgbm")
    if not (DATA / "tabular").is_dir():
        pytest.skip("the tables of the suite are not here")
    figures = list(distilling.distilled(16, str(DATA), ["stock"], 2))
    assert [figure.target for figure in figures] == [1.03, None, 5.0, 5.0]
    assert all(np.isfinite(figure.value) and figure.value > 0 for figure in figures)
    assert all(figure.case.startswith("distill, stock, ") for figure in figures)
