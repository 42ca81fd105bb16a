"""The demo, at toy size: every method at every width, a table, a page with all figures."""

import numpy as np
import pytest

from fourierwalk import cli
from fourierwalk.commands import demo


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(demo, "WIDTHS", (4, 8))
    monkeypatch.setattr(demo, "SEEDS", (0, 1))
    monkeypatch.setattr(demo, "SPREADS", (0.1, 1.0))


def test_page_and_tables(toy, tmp_path, capsys):
    assert cli.main(["demo", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "adaptive" in shown
    assert "K = 8" in shown
    html = (tmp_path / "index.html").read_text()
    assert html.count("data:image/png;base64,") == 5
    assert html.count("<table>") == 2


def test_study_fills_every_cell():
    problem = demo._step_problem()
    counted = []
    result = demo.study(problem, (4,), (0,), lambda: counted.append(1))
    assert len(counted) == len(demo.METHODS)
    assert set(result.models) == set(demo.METHODS)
    for values in result.errors.values():
        assert values.shape == (1, 1)
        assert np.all((values > 0) & (values < 2))


def test_the_adaptive_model_is_the_default_estimator():
    problem = demo._step_problem()
    x, _, y, _ = problem.split(0)
    model = demo.fit("adaptive", problem.estimator(4, random_state=0), x, y, 0)
    assert model.get_params() == problem.estimator(4, random_state=0).get_params()
    assert demo.fit("fixed N(0,1)", problem.estimator(4, random_state=0), x, y, 0).n_steps_ == 0
